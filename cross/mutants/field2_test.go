package mutants

// ofMoney is what the second field report found about money, put back.
var ofMoney = []mutant{
	{"nexo reads null as absent", "ecr/nexo", "TestField2_R1_R5_NoValueIsNotAbsent", []edit{
		{"ecr/nexo/fields.go", `	if !f.has(name) {`, `	if f.o[name] == nil {`},
	}},
	{"an abort of nexo that overtook its payment is forgotten", "ecr/nexo", "TestField2_R7_AnAbortIsNotForgotten", []edit{
		{"ecr/nexo/line.go", `return e.Category == "Payment" && slices`, `return false && slices`},
	}},
	{"a reversal of 0 gives all back", "ecr/zvt", "TestField2_R6_ZeroIsNotAll", []edit{
		{"ecr/zvt/request.go", `case named && req.Amount == 0:`, `case false:`},
	}},
	{"an end of day that was told is told again", drive, "TestField2_R3_AnEndOfDayIsAskedForAgain", []edit{
		{"agent/checkout/drive/journal/closed.go", `case i < 0 || day.Askers[i].Told:`, `case i < 0:`},
	}},
	{"nobody remembers who closed a day", drive, "TestField2_R3_AnEndOfDayIsAskedForAgain", []edit{
		{"agent/checkout/drive/eod.go", `d.closeBatch(tx, d.askersOf(c)...)`, `d.closeBatch(tx)`},
	}},
	{"a day that no register closes stays open", drive, "TestField2_L4ADayClosesWithoutARegister", []edit{
		{"agent/checkout/drive/timed.go", `return err == nil, err`, `return false, err`},
	}},
	{"the terminal's own end of day undoes an approval", drive, "TestField2_L4ADayClosesWithoutARegister", []edit{
		{"agent/checkout/drive/timed.go", `r.State.Till.Kept && !d.sales.Held(r.Key)`, `!d.sales.Held(r.Key)`},
	}},
	{"the terminal's own end of day waits for no sale", drive, "TestField2_L4ADayClosesWithoutARegister", []edit{
		{"agent/checkout/drive/timed.go", `case blocks(r, nil):`, `case blocks(r, nil) && r.Quarantined:`},
	}},
	{"a full batch is ready", till, "TestField2_L4AFullBatchIsSaid", []edit{
		{"agent/readiness.go", `err == nil && left.Left == 0 {`, `err != nil {`},
	}},
	{"a client closes the day of others", till, "TestField2_L4AClientClosesTheDay", []edit{
		{"agent/port/salesapi/day.go", `"close or read the day of the whole terminal"); err != nil {`, `"close or read the day of the whole terminal"); err != nil && !wire.CallerOf(ctx).Own {`},
	}},
	{"the page shows no older sale that is open", "agent/view", "TestField2_L3WhatIsOpenIsShownWhateverCameSince", []edit{
		{"agent/view/day.go", `which.Stage, which.Before, which.Limit = journal.Open, rows`, `which.Stage, which.Before, which.Limit = journal.Unheard, rows`},
	}},
	{"what a lost journal may have given back is given back without a word", drive, "TestDecisions_WhatIsGivenBackAfterALossIsSaid", []edit{
		{"agent/checkout/drive/forward.go", `return d.j.GivenBackAfterLoss(tx, row, orig)`, `return nil`},
	}},
	{"a sale of which a reply was heard counts as never sent", checkout, "TestField2_M1WhatWasHeardWasSent", []edit{
		{"agent/checkout/state.go", `s.Sends == s.Unsent && !s.Heard && s.Wire`, `s.Sends == s.Unsent && s.Wire`},
	}},
	{"an attempt that memory does not know counts as one that rests", "agent/checkout/drive/live", "TestField2_M1MemoryProvesNothingOfAnEarlierRun", []edit{
		{"agent/checkout/drive/live/live.go", `l == nil || try == 0 || l.resting != try {`, `l == nil || l.resting != 0 && l.resting != try {`},
	}},
	{"a start goes on with a payment whose register was told aborted", drive, "TestField2_M21AStartUndoesWhatWasToldWithoutAJournal", []edit{
		{"agent/checkout/timers.go", `return now >= AnsweredBy(s, s.Limits.Deadline)`, `return false`},
	}},
	{"a dead disk after a start keeps a register waiting", drive, "TestField2_M21ADeadDiskAfterAStartKeepsNobodyWaiting", []edit{
		{"agent/checkout/drive/resume.go", `case checkout.Open(row.State): //`, `case false: //`},
	}},
	{"a refund of the unacknowledged sale undoes it", drive, "TestField2_M22WhatNamesAnApprovalHasHeardIt", []edit{
		{"agent/checkout/drive/sent.go", `if r.Key == known {`, `if false {`},
	}},
	{"a refund by another till's receipt shows nothing", drive, "TestField2_M22WhatNamesAnApprovalHasHeardIt", []edit{
		{"agent/checkout/drive/sent.go", ` && r.Key != known {`, ` {`},
	}},
	{"a refund of the last payment counts as knowledge", drive, "TestField2_M22WhatNamesAnApprovalHasHeardIt", []edit{
		{"agent/checkout/drive/sent.go", `|| asked == "" || asked == "L" {`, `|| asked == "no name at all" {`},
	}},
	{"a receipt that is asked for by its number stays unacknowledged", drive, "TestField2_M22WhatNamesAnApprovalHasHeardIt", []edit{
		{"agent/checkout/drive/told.go", `case row.State.Phase == checkout.Unconfirmed && known:`, `case false:`},
	}},
	{"a 404 to a repeat proves that a route is missing", "agent/upstream", "TestField2_M17RefusedAfterALostTry", []edit{
		{"agent/upstream/upstream.go", `status >= http.StatusBadRequest && status < http.StatusInternalServerError`, `status == http.StatusForbidden`},
	}},
	{"a route is missing after an attempt that may have arrived", checkout, "TestField2_M17OnlyTheFirstAttemptLeadsToThePlainRoute", []edit{
		{"agent/checkout/payment.go", `!s.NoRoute && !s.Heard && s.Lost == 0 && s.Sends == s.Unsent+1`, `!s.NoRoute`},
	}},
	{"the plain route is taken without a read", drive, "TestField2_M17ThePlainRouteNeedsProof", []edit{
		{"agent/checkout/payment.go", "\t\ts.Phase, s.NoRoute, s.BaseAt, s.WireAt = Waiting, true, e.Now, e.Now\n\t\treturn s, []Effect{{Do: ReadStatus}}", "\t\ts.Plain = true\n\t\treturn send(s, e.Now, 0)"},
	}},
	{"the plain route is taken after a read without an answer", checkout, "TestField2_M17OnlyTheFirstAttemptLeadsToThePlainRoute", []edit{
		{"agent/checkout/payment.go", `case s.NoRoute && e.Failure == NotFound:`, `case s.NoRoute:`},
	}},
	{"a route that has worked may be missing", drive, "TestField2_M17ThePlainRouteNeedsProof", []edit{
		{"agent/checkout/drive/perform/route.go", `if r.everWorked(ctx) {`, `if false {`},
	}},
	{"that a route has worked stands in memory alone", drive, "TestField2_M17ThePlainRouteNeedsProof", []edit{
		{"agent/checkout/drive/perform/route.go", `return journal.NoteRoute(tx, r.address, r.now())`, `return nil`},
	}},
	{"a route that has worked anywhere is missing nowhere", drive, "TestField2_M17ThePlainRouteNeedsProof", []edit{
		{"agent/checkout/drive/journal/route.go", `WHERE address = ?)`, `WHERE address = ? OR true)`},
	}},
	{"a 501 of the idempotent route is no missing route", "schemes/aapay", "TestField2_M8AMissingRouteWhateverTheBody", []edit{
		{"schemes/aapay/errors.go", `http.StatusMethodNotAllowed, http.StatusNotImplemented:`, `http.StatusMethodNotAllowed:`},
	}},
	{"a status is asked for by the name that an answer gave", drive, "TestField2_M15AnothersAnswerApprovesNothing", []edit{
		{"agent/checkout/drive/perform/send.go", `p.svc.Status(ctx, row.Reference, row`, `p.svc.Status(ctx, map[bool]string{true: row.State.PPRef, false: row.Reference}[row.State.PPRef != ""], row`},
	}},
	{"what a status tells of the request is not compared", drive, "TestField2_M15AnothersAnswerApprovesNothing", []edit{
		{"agent/checkout/drive/journal/transit.go", `e.Whose = whose(r, e)`, `e.Whose = intent.NotSaid`},
	}},
	{"one transaction is two sales'", drive, "TestField2_M15AnothersAnswerApprovesNothing", []edit{
		{"agent/checkout/drive/journal/transit.go", `if e.Whose == intent.NotSaid && r`, `if false && r`},
	}},
	{"an end under another's transaction is a refund", drive, "TestField2_M15AnothersEndIsNoRefund", []edit{
		{"agent/checkout/drive/journal/apply.go", `	if is && u.OK {`, `	if is && u.OK && r.ID == 0 {`},
	}},
	{"the answer to initialize outranks what the service tells", drive, "TestField2_M15AnothersAnswerApprovesNothing", []edit{
		{"agent/intent/request.go", `if n.Shown || verdict`, `if true || verdict`},
	}},
	{"a status that contradicts is believed at once", checkout, "TestField2_M15WhatContradictsTheAnswerIsReadAgain", []edit{
		{"agent/intent/request.go", `return !again`, `return again && false`},
	}},
	{"a receipt's amount is not compared", "agent/intent", "TestField2_M15AStatusIsJudgedByWhatItTells", []edit{
		{"agent/intent/request.go", `r.Amount != 0 && r.Amount != q.Hundredths && (q.Original == "" || r.Amount != -q.Hundredths), `, ``},
	}},
	{"a receipt's other reference says nothing", "agent/intent", "TestField2_M15AStatusIsJudgedByWhatItTells", []edit{
		{"agent/intent/request.go", "\t}\n\treturn Anothers\n", "\t}\n\treturn NotSaid\n"},
	}},
	{"a transaction from before the request may be its own", "agent/intent", "TestField2_M15AnOlderTransactionIsAnothers", []edit{
		{"agent/intent/request.go", `if q.before(st) || `, `if `},
	}},
	{"an undo is asked for by the name that an answer gave", "agent/gateway", "TestField2_M15AnothersAnswerEndsNoUndo", []edit{
		{"agent/gateway/undoread.go", "come with another's answer.\n\tst, err := u.svc.Status(ctx, u.p.Request.TerminalReference,", "come with another's answer.\n\tst, err := u.svc.Status(ctx, cmp.Or(u.m.Names.PPRef, u.p.Request.TerminalReference),"},
		{"agent/gateway/undoread.go", "import (\n", "import (\n\t\"cmp\"\n"},
	}},
	{"another's status ends an undo", "agent/gateway", "TestField2_M15AnothersAnswerEndsNoUndo", []edit{
		{"agent/gateway/undoread.go", `if u.m.Names.Other(whose, st) {`, `if false {`},
	}},
	{"a 201 that names nothing ends a refund", "agent/gateway", "TestField2_M15ARefusalThatIsAnothersEndsNothing", []edit{
		{"agent/gateway/aapay.go", "if rejected(reply) {\n\t\treturn u.refused(ctx, res)", "if rejected(reply) {\n\t\treturn u.end(outbox.Failed, res)"},
	}},
	{"a 201 that names nothing ends a sale", checkout, "TestField2_M15ARefusalHasToBeSeen", []edit{
		{"agent/checkout/payment.go", `s.Phase, s.Rejected, s.LastRead, s.Unheard = Declined, true`, `s.Phase, s.Rejected, s.LastRead, s.Unheard = Done, true`},
	}},
	{"the plain route of an undo is taken after an attempt that may have arrived", "agent/gateway", "TestField2_M17AnUndosPlainRouteNeedsTheFirstAttempt", []edit{
		{"agent/gateway/aapay.go", `if routeMissing(err) && first {`, `if routeMissing(err) && (first || true) {`},
	}},
	{"not found ends what was seen alive", checkout, "TestField2_M23NotFoundEndsNothingThatWasSeenAlive", []edit{
		{"agent/checkout/undo.go", `if !SeenAlive(s) {`, `if true {`},
	}},
	{"REVERSED from a service that does not know it is a proof", drive, "TestField2_M18ASiteThatDoesNotKnowItProvesNothing", []edit{
		{"agent/checkout/undo.go", `case u.OK && unread(s) &&`, `case u.OK && false &&`},
	}},
	{"a refund that was taken and is not found goes out again", "agent/gateway", "TestField2_M18NotFoundAfter202IsLiveAndThenInDoubt", []edit{
		{"agent/gateway/undoread.go", `if u.m.Answered { // what`, `if false { // what`},
	}},
	{"a payment that may have been heard is undone after a start", drive, "TestField2_M4PowerIsLostAsTheAnswerLeaves", []edit{
		{"agent/checkout/approved.go", `s.Leaves = s.Till.ByTCP && e.Listening`, `s.Leaves = false`},
	}},
	{"an exception stays that has proven wrong", drive, "TestField2_M6AnExceptionIsWithdrawn", []edit{
		{"agent/checkout/drive/journal/alert.go", `SET loud = 0 WHERE`, `SET loud = 1 WHERE`},
	}},
	{"no last read comes before the exception", checkout, "TestField2_M6OneLastReadBeforeTheException", []edit{
		{"agent/checkout/approved.go", "\t\ts.LastRead, s.LimitAt = true, e.Now\n\t\treturn s, []Effect{{Do: ReadStatus}}", "\t\treturn notSettled(s, e)"},
	}},
	{"a poll is repeated by the client", "agent/upstream", "TestField2_M7OneRequestAPoll", []edit{
		{"agent/upstream/upstream.go", `read && !wire.LeavesOnce(ctx) ||`, `read ||`},
	}},
	{"a 409 that may mean that it runs is doubt", "agent/gateway", "TestField2_M9A409ToAnUndoIsNoEnd", []edit{
		{"agent/outbox/verdict.go", `if may, _ := wire.MayRun(err); may {`, `if may, _ := wire.MayRun(err); may && false {`},
	}},
	{"a link that is not found cannot be paid", "agent/paylink", "TestField2_M18ALinkThatIsNotFoundMayBePaid", []edit{
		{"agent/paylink/undo.go", `case link == nil && !p.Deleted:`, `case false:`},
	}},
	{"a till's equal refund joins another till's", drive, "TestField2_M26TwoTillsAreTwoRefunds", []edit{
		{"agent/checkout/drive/forward.go", `row.Line == a.req.Line && sameKind`, `sameKind`},
	}},
	{"an untold end is joined on another day", drive, "TestField2_M26NothingElseJoinsAnUntoldEnd", []edit{
		{"agent/checkout/drive/journal/find.go", `told != ? AND batch = ?)`, `told != ? AND batch <= ?)`},
	}},
	{"an untold end is no alert", drive, "TestField2_M26AnUntoldEndIsAnAlert", []edit{
		{"agent/checkout/drive/journal/batch.go", `out = append(out, row.UntoldEnd())`, `_ = row.UntoldEnd()`},
	}},
	{"the last payment is another till's", drive, "TestField2_M24TheLastPaymentIsTheTillsOwn", []edit{
		{"agent/checkout/drive/forward.go", "LastPaymentOf(tx, req.Line)\n\t\terr = cmp.Or(", "LastPaymentOf(tx, \"two\")\n\t\terr = cmp.Or("},
	}},
	{"a batch takes a second currency", drive, "TestField2_M27ABatchHasOneCurrency", []edit{
		{"agent/checkout/drive/journal/currency.go", `return &no`, `return nil`},
	}},
	{"two currencies are one sum", drive, "TestField2_M27SumsAreKeptOnePerCurrency", []edit{
		{"agent/checkout/drive/journal/batch.go", `if row.Currency != t.Currency {`, `if false {`},
	}},
	{"an end of day goes on past its register's patience", drive, "TestField2_M30NotClosedIsToldOfAnOpenDayAlone", []edit{
		{"agent/checkout/drive/eod.go", `until = min(until, d.boot()+time.Until(end))`, `_ = end`},
	}},
	{"an acknowledgement counts for another telling", drive, "TestField2_M31AnAcknowledgementBelongsToItsTelling", []edit{
		{"agent/checkout/drive/live/live.go", `(what == ecr.Interim || l.interim == l.holds)`, `true`},
	}},
	{"an exception of a sale is a line of the report alone", drive, "TestField2_M5EveryExceptionIsOneAlert", []edit{
		{"agent/checkout/drive/journal/alert.go", `return j.alert(tx, r, short, text)`, `return nil`},
	}},
	{"an alert that COMMIT has proven wrong stays", drive, "TestField2_M5AnAlertThatIsProvenWrongGoes", []edit{
		{"agent/checkout/approved.go", `return now.Committed && !was.Committed && !now.Till.Kept`, `return false`},
	}},
	{"a sale is not known by its ppref", drive, "TestField2_M28ASaleIsKnownByEveryName", []edit{
		{"agent/checkout/drive/journal/sold.go", `return named(tx, r, r.State.PPRef)`, `return nil`},
	}},
	{"an original is taken back by a name that the backend alone knows", "agent/ownership", "TestField2_M28ARegistersSaleIsNotTakenBackByAnyName", []edit{
		{"agent/ownership/schemes.go", `return s.unsoldByStatus(ctx, op, req)`, `return nil`},
	}},
	{"a key is sent again after a boot before a true time was heard", "agent/outbox", "TestField2_M10TheUpperBoundOfAge", []edit{
		{"agent/outbox/clock.go", `return ms, c.trusted != nil && !c.sure`, `return ms, false`},
	}},
	{"a wall clock that ran ahead makes a key young", "agent/outbox", "TestField4_GatewayG10AnUntoldClockBoundsNoAge", []edit{
		{"agent/outbox/clock.go", `case c.guessed && c.trusted != nil && !c.sure:`, `case false:`},
	}},
	{"a cursor names no journal", "agent/view", "TestField2_M47ACursorCarriesTheJournal", []edit{
		{"agent/view/cursor.go", `c.Generation == newest.Generation && c.Inbox`, `c.Inbox`},
	}},
	{"what was lost of arrivals is not said", "agent/inbox", "TestField2_M47WhatWasLostIsSaid", []edit{
		{"agent/inbox/feed.go", `lost: after > 0`, `lost: false`},
	}},
	{"a loud client pushes out a quiet one's arrivals", "agent/inbox", "TestField2_M47EachClientHasAShare", []edit{
		{"agent/inbox/forget.go", `ORDER BY kept DESC, owner LIMIT 1`, `ORDER BY owner DESC LIMIT 1`},
	}},
}
