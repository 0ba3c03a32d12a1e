package mutants

// ofCheckout is every broken rule of a sale: who is told what, and when money goes back.
var ofCheckout = []mutant{
	// Sealed, and verified.
	{"request of a sale not sealed", drive, "TestRequestsAreSealed", []edit{
		{"agent/checkout/drive/journal/request.go", `if r.request, err = j.db.Seal(tx, requestCell(r.Key), body); err != nil {`, `if r.request = body; err != nil {`},
		{"agent/checkout/drive/journal/request.go", `return j.db.Unseal(r, requestCell(row.Key), row.request)`, `return row.request, nil`},
	}},
	{"a sale of the open batch purged", drive, "TestField_J10OldSalesArePurged", []edit{
		{"agent/checkout/drive/journal/purge.go", `(receipt = 0 OR batch < ?)`, `(receipt = 0 OR batch <= ?)`},
	}},
	{"row MAC of a sale not checked", drive, "TestTamperedRowIsShownAndNeverActedUpon", []edit{
		{"agent/checkout/drive/journal/row.go", `bad = bad || !bytes.Equal(s.mac, macOf(db, &r, s))`, `bad = bad || !bytes.Equal(s.mac, macOf(db, &r, s)) && false`},
	}},
	{"amount of a sale outside its MAC", drive, "TestEveryColumnOfASaleIsUnderItsMAC", []edit{
		{"agent/checkout/drive/journal/row.go", `s.phase, s.active, s.state, int64(r.Amount),
		r.Currency, s.method,`, `s.phase, s.active, s.state, int64(0),
		r.Currency, s.method,`},
	}},

	// Journalled before it is done or told.
	{"payment sent before its commit", drive, "TestMoneyB6_ACommandThatIsNotStoredSettlesNothing", []edit{
		{"agent/checkout/drive/perform/perform.go", "// Offline says", "// Service is the scheme's.\nfunc (p *Performer) Service() aapay.Service { return p.svc }\n\n// Offline says"},
		{"agent/checkout/drive/begin.go", "\tif err := d.j.Insert(tx, row); err != nil {\n\t\treturn err\n\t}\n\ttext :=",
			"\tif err := d.j.Insert(tx, row); err != nil {\n\t\treturn err\n\t}\n\t_, _ = d.p.Service().InitializeWithIdempotency(context.Background(), row.Key, aapay.Payment, req)\n\ttext :="},
	}},
	{"effects of an event although its commit failed", drive, "TestMoneyA1_NothingIsToldBeforeItIsStored", []edit{
		{"agent/checkout/drive/perform/apply.go", `p.j.Apply(ctx, key, e); err != nil {`, `p.j.Apply(ctx, key, e); errors.Is(err, checkout.ErrRefused) {`},
	}},
	{"abort answered before it is journalled", drive, "TestMoneyA5_AbortIsDurableBeforeItsAnswer", []edit{
		{"agent/checkout/drive/told.go", `d.p.Apply(ctx, wire.Key(id), checkout.Event{Name: checkout.AbortAsked})`,
			"d.j.Sale(ctx, wire.Key(id))\n\td.p.Later(func(ctx context.Context) { _, _ = d.p.Apply(ctx, wire.Key(id), checkout.Event{Name: checkout.AbortAsked}) })"},
	}},
	{"undo decided, and never accepted", drive, "TestMoneyB1_OwedFromTheRowAlone|TestMoneyA2_DeadNetworkIsAbortedAndOwed", []edit{
		{"agent/checkout/drive/journal/undo.go", "\tif err := j.opt.Outbox.Accept(tx, op); err != nil {\n\t\treturn fmt.Errorf(\"undo", "\tif err := error(nil); err != nil {\n\t\treturn fmt.Errorf(\"undo"},
	}},
	{"undo accepted outside the commit that decides it", drive, "TestCrashAtEveryJournalledStep", []edit{
		{"agent/checkout/drive/journal/undo.go", "import (\n", "import (\n\t\"context\"\n"},
		{"agent/checkout/drive/journal/undo.go", "\tif err := j.opt.Outbox.Accept(tx, op); err != nil {\n\t\treturn fmt.Errorf(\"undo",
			"\tgo func() {\n\t\t_ = j.db.Write(context.Background(), func(tx store.Tx) error { return j.opt.Outbox.Accept(tx, op) })\n\t}()\n\tif err := error(nil); err != nil {\n\t\treturn fmt.Errorf(\"undo"},
	}},
	{"sale accepted without reserved disk space", drive, "TestMoneyB1_NothingIsAcceptedOnAFullDisk", []edit{
		{"agent/checkout/drive/begin.go", `if err := reserved.Reserved(ctx); err != nil {`, `if err := reserved.Reserved(ctx); false {`},
	}},

	// At most one effect at the backend.
	{"new Key when a payment is sent again", drive, "TestMoneyB8_LostAnswersUnderOneKey", []edit{
		{"agent/checkout/drive/perform/send.go", `p.svc.InitializeWithIdempotency(call, row.Key, aapay.Payment, req)`, `p.svc.InitializeWithIdempotency(call, wire.NewKey(), aapay.Payment, req)`},
	}},
	{"plain route sent again after a lost answer", drive, "TestMoneyB8_PlainRouteIsUsedOnce", []edit{
		{"agent/checkout/payment.go", `if tries := s.Lost + s.Unsent; !s.Plain && tries <= maxResends {`, `if tries := s.Lost + s.Unsent; tries <= maxResends {`},
	}},
	{"plain route sent again after a restart", drive, "TestMoneyB8_PlainIsNotSentAgainAfterACrash", []edit{
		{"agent/checkout/payment.go", `case s.Plain: // never resent`, `case false:`},
	}},
	{"an attempt that may have arrived counts as never sent", checkout, "TestField_L7NeverSentIsNotUnknown", []edit{
		{"agent/checkout/payment.go", `if e.Failure == NotSent && e.Try == s.Unsent+1 {`, `if e.Try == s.Unsent+1 {`},
	}},
	{"attempts before the last are not counted as sent", checkout, "TestField_L7NeverSentIsNotUnknown", []edit{
		{"agent/checkout/payment.go", `if e.Failure == NotSent && e.Try == s.Unsent+1 {`, `if e.Failure == NotSent {`},
	}},
	{"a refusal of the backend counts as no connection", drive, "TestField_L7NoConnectionHasItsOwnAnswer", []edit{
		{"agent/checkout/drive/perform/send.go", `case wire.NeverSent(err) && wire.CodeOf(err) == wire.Unavailable:`, `case wire.CodeOf(err) == wire.Unavailable:`},
	}},
	{"response code 1 on the plain route is a repeat", checkout, "TestMoneyB9_ResponseCodes", []edit{
		{"agent/checkout/judge.go", `if said && code == aapay.CodeResend && !plain {`, `if said && code == aapay.CodeResend {`},
	}},
	{"an undone receipt is told like one that never was", drive, "TestField_L15AnUndoneReceiptSaysSo", []edit{
		{"agent/checkout/drive/told.go", `	case row.Held(), row.Undone(): // a register`, `	case row.Held(): // a register`},
	}},
	{"an approval that was undone is told as not paid", drive, "TestField_L15AnUndoneReceiptSaysSo", []edit{
		{"agent/checkout/drive/perform/tell.go", "		if r.Undone() {", "		if false {"},
	}},
	{"a register's repeated id is a new sale", drive, "TestSequenceJoins", []edit{
		{"agent/checkout/drive/ids.go", "\t\tkey = row.Key\n\t\treturn nil\n\t})\n\treturn key, reuse, d.stored(err)", "\t\treuse = u.Number + 2\n\t\treturn nil\n\t})\n\treturn key, reuse, d.stored(err)"},
	}},

	// What is an approval.
	{"a bad word approves", checkout, "TestMoneyA1_SuccessRule", []edit{
		{"agent/checkout/judge.go", "case aapay.Rejected, aapay.Cancelled, aapay.Failed:\n\t\tif committed {\n\t\t\treturn Success\n\t\t}\n\t\treturn Bad", "case aapay.Rejected, aapay.Cancelled, aapay.Failed:\n\t\tif committed {\n\t\t\treturn Success\n\t\t}\n\t\treturn Success"},
	}},
	{"COMMIT ignored beside a bad word", checkout, "TestMoneyA1_SuccessRule", []edit{
		{"agent/checkout/judge.go", "case aapay.Rejected, aapay.Cancelled, aapay.Failed:\n\t\tif committed {", "case aapay.Rejected, aapay.Cancelled, aapay.Failed:\n\t\tif committed && false {"},
	}},
	{"RESERVED approves without okCodes", checkout, "TestMoneyA1_SuccessRule", []edit{
		{"agent/checkout/judge.go", `if account != aapay.Rollback && slices.Contains(okWords, string(word)) && !waiting(word) {`, `if account != aapay.Rollback && (word == aapay.Reserved || slices.Contains(okWords, string(word))) && !waiting(word) {`},
	}},
	{"ROLLBACK approves beside a word of okCodes", checkout, "TestMoneyA1_SuccessRule", []edit{
		{"agent/checkout/judge.go", `if account != aapay.Rollback && slices.Contains`, `if slices.Contains`},
	}},
	{"the status of another transaction is taken", checkout, "TestForeignStatusIsNoAnswer", []edit{
		{"agent/intent/request.go", ` || n.ID != 0 && st.TransactionID != 0 && n.ID != st.TransactionID {`, ` {`},
	}},
	{"a sale that settles is not watched", drive, "TestMoneyA1_ReservedIsWatchedUntilCommit|TestMoneyA1_AnAcknowledgementDoesNotEndTheWatch", []edit{
		{"agent/checkout/approved.go", `s.Settling = s.Account != aapay.Commit`, `s.Settling = false`},
	}},

	// Told, and undone.
	{"a lost telling counts as told", drive, "TestMoneyA3_ToldRefusedLost", []edit{
		{"agent/checkout/drive/perform/tell.go", `ecr.Lost: checkout.Lost}`, `ecr.Lost: checkout.Told}`},
	}},
	{"a told sale is undone (CONFIRMED to REVERSING)", drive, "TestMoneyB6_OnlyOneOfTwoEventsWins", []edit{
		{"agent/checkout/table.go", `BatchClosed: closeBatch, Restarted: settleAgain},
		ignore: names{Replied, ReplyFailed, CodeBroken, Told, Refused, Lost, NextCommand, GraceOver, EndOfDay, ToldAborted, Restored},`, `BatchClosed: closeBatch, Restarted: settleAgain, GraceOver: startUndo},
		ignore: names{Replied, ReplyFailed, CodeBroken, Told, Refused, Lost, NextCommand, EndOfDay, ToldAborted, Restored},`},
	}},
	{"UNCONFIRMED touched twice (no compare-and-set)", drive, "TestMoneyB6_OnlyOneOfTwoEventsWins", []edit{
		{"agent/checkout/drive/perform/tell.go", "\tbusy := false\n\terr = p.db.Write(", "\tbusy := false\n\tread, _ := p.j.Sale(ctx, key)\n\terr = p.db.Write("},
		{"agent/checkout/drive/perform/tell.go", "\t\ts, err = p.j.Transit(tx, row, checkout.Event{Name: checkout.GraceOver})", "\t\trow = read\n\t\ts, err = p.j.Transit(tx, row, checkout.Event{Name: checkout.GraceOver})"},
	}},
	{"a sale is undone while it is being told", drive, "TestMoneyA3_NothingUndoesASaleWhileItIsBeingTold", []edit{
		{"agent/checkout/drive/sent.go", `e.Sync != checkout.Same && d.sales.Held(r.Key)`, `false`},
	}},
	{"grace timer ignored", drive, "TestMoneyA3_GraceIsTenMinutesExactly", []edit{
		{"agent/checkout/drive/perform/apply.go", `if row.State.Phase == checkout.Unconfirmed && !row.State.Till.Kept {`, `if row.State.Phase == checkout.Unconfirmed && false {`},
	}},
	{"grace ends with a command that failed", drive, "TestMoneyB6_ACommandThatIsNotStoredSettlesNothing", []edit{
		{"agent/checkout/drive/begin.go", `a.steps = nil`, `a.join = ""`},
	}},
	{"the register's next command does not undo", drive, "TestMoneyB6_LastReceiptOfTheNextCommand|TestMoneyB11_ARepeatedRequest", []edit{
		{"agent/checkout/approved.go", `case e.Sync == Same:`, `case true:`},
	}},
	{"end of day confirms what nobody acknowledged", drive, "TestMoneyB13_EndOfDay", []edit{
		{"agent/checkout/table.go", `GraceOver: graceOver, EndOfDay: endOfDay,`, `GraceOver: graceOver, EndOfDay: confirm,`},
	}},
	{"restart in a new boot does not undo", drive, "TestMoneyB12_ANewBootEndsTheDialogue", []edit{
		{"agent/checkout/drive/resume.go", `NewBoot: row.Boot != d.bootID}`, `NewBoot: false}`},
	}},
	{"a COMMIT after the abort approves", checkout, "TestMoneyA5_AbortIsFinal", []edit{
		{"agent/checkout/abort.go", "\tif !foreign(&s, e) {\n\t\ts = learn(s, e)\n\t}\n", "\tif !foreign(&s, e) {\n\t\ts = learn(s, e)\n\t}\n\tif s.Committed {\n\t\treturn approve(s, e)\n\t}\n"},
	}},
	{"a commit after the decline is kept", drive, "TestMoneyA1_CommitAfterDeclinedIsUndone", []edit{
		{"agent/checkout/declined.go", "case s.Account == aapay.Commit:\n\t\treturn undo(s, e, \"paid after it was declined\")\n\tcase !finalNo(s):", "case s.Account != aapay.Commit && !finalNo(s):"},
	}},
	{"an undo's no ends it", checkout, "TestMoneyB3_AnotherAttempt|TestMoneyB2_ProofEndsAnUndo", []edit{
		{"agent/checkout/undo.go", "case u.OK:\n\t\ts.Phase, s.UndoOpen = Done, false", "case u.OK || !u.InDoubt:\n\t\ts.Phase, s.UndoOpen = Done, false"},
	}},
	{"not found is proof at once", drive, "TestMoneyB2_NotFoundProvesOnlyAfterTheWindow", []edit{
		{"agent/checkout/undo.go", "\tcase e.Failure == NotFound && windowOver(s, e):", "\tcase e.Failure == NotFound:"},
	}},
	{"a final no is proof at once", drive, "TestMoneyB2_FinalBadProvesOnlyAfterItsWindow", []edit{
		{"agent/checkout/timers.go", `return asked >= clampSum(s.SentAt, s.Limits.Window()) && asked >= s.AnswerAt`, `return asked >= s.AnswerAt`},
	}},
	{"an answer from before the undo's is proof", checkout, "TestMoneyB2_AnAnswerFromBeforeProvesNothing", []edit{
		{"agent/checkout/timers.go", ` && asked >= s.AnswerAt`, ``},
	}},
	{"an open sale of a backup is not held", drive, "TestMoneyC3_AnOpenSaleOfARestoredJournalIsSetAside", []edit{
		{"agent/checkout/table.go", `ReplyFailed: failedLate, ToldAborted: answeredAborted, Restored: hold},`, `ReplyFailed: failedLate, ToldAborted: answeredAborted, Restored: waitAgain},`},
	}},
	{"a held sale ends by a word that can change", drive, "TestField2_M33WhatWasNotPaidIsClosed", []edit{
		{"agent/checkout/held.go", `case finalNo(s) && windowOver(s, e):`, `case finalNo(s):`},
	}},
	{"a held sale is told as it stood", drive, "TestField2_M33EveryAskerHearsThatItIsHeld", []edit{
		{"agent/checkout/drive/perform/tell.go", "	if r.Held() {", "	if false {"},
	}},
	{"a number of the lost days names a payment", drive, "TestField2_M3AReleasedNumberNamesAPayment", []edit{
		{"agent/checkout/drive/refusal.go", `case none, lost(numbers), req.Amount != row.Amount:`, `case none, req.Amount != row.Amount:`},
	}},
	{"a bare number names a payment of another amount", drive, "TestField2_M3AShortNumberNamesNoOthersPayment", []edit{
		{"agent/checkout/drive/refusal.go", `case none, lost(numbers), req.Amount != row.Amount:`, `case none, lost(numbers):`},
	}},
	{"the mark of another box is believed", "store/sqlite", "TestField2_M3TheEndIsKnownByItsOwnMarkAlone", []edit{
		{"store/sqlite/settle.go", `seen.mark.OK && end && (seen.Ours || seen.verdict.Afresh) && seen.Other == ""`, `seen.mark.OK && end`},
	}},
	{"a release approves what the register was told is not paid", drive, "TestField2_M33WhatARestoredJournalHoldsIsReadAndKept", []edit{
		{"agent/checkout/held.go", `return !s.ReadFirst && (s.Result == "" || s.Result == ecr.Approved)`, `return true`},
	}},
	{"an acknowledgement the store refused is forgotten", drive, "TestMoneyA3_AnAcknowledgementWaitsForTheStore|TestMoneyA3_WhatWasHeardIsStoredOnceTheStoreCan", []edit{
		{"agent/checkout/drive/perform/tell.go", "\tdefault:\n\t\tp.sales.Unrecorded(key, what)", "\tdefault:\n\t\tp.sales.Released(key, false)"},
	}},
	{"the next undo has the last one's Key", drive, "TestMoneyB3_EveryAttemptHasItsOwnKeyAndReference", []edit{
		{"agent/checkout/drive/journal/undo.go", `r.UndoKey = wire.NewKey()`, "if r.UndoKey == \"\" {\n\t\tr.UndoKey = wire.NewKey()\n\t}"},
	}},
	{"a refund is refused before the journal is taken up", drive, "TestField_L5NothingIsRefusedBeforeTheJournalIsTakenUp", []edit{
		{"agent/checkout/drive/begin.go", `return refuse(ecr.Resuming, "older sales are being resumed")`, `return refuse(ecr.NotReady, "starting")`},
	}},
	{"a refund that may have left is withdrawn", drive, "TestField_L4WhatMayHaveLeftIsToldInProgress", []edit{
		{"agent/gateway/aapay.go", `if u.m.Touched || !wire.NeverSent(err) {`, `if false {`},
	}},
	{"a withdrawn refund keeps its amount debited", drive, "TestField_L4WhatNeverLeftIsWithdrawn", []edit{
		{"agent/checkout/forward.go", "s = decide(s, ecr.Aborted, ecr.NoConnection, u.Text)\n\t\treturn s, []Effect{{Do: Release}, {Do: Tell}}", "s = decide(s, ecr.Aborted, ecr.NoConnection, u.Text)\n\t\treturn s, []Effect{{Do: Tell}}"},
	}},
	{"the timers of a method that was not chosen", drive, "TestField_J8TheChosenMethodsTimersCount", []edit{
		{"agent/checkout/drive/live/live.go", `l.seq, l.limits = seq, row.State.Limits`, "if l.seq = seq; l.limits.Long == 0 {\n\t\tl.limits = row.State.Limits\n\t}"},
	}},
	{"a dead disk keeps a register waiting", drive, "TestField_J8ADeadDiskEndsEveryDialogue", []edit{
		{"agent/checkout/drive/perform/late.go", `p.sales.Deadline(l)) - p.boot()`, `p.sales.Deadline(l)) + 10*time.Minute - p.boot()`},
	}},
	{"two sales at a time", drive, "TestOneSaleAtATime", []edit{
		{"agent/checkout/drive/begin.go", `if !r.Quarantined && checkout.Open(r.State) {`, `if !r.Quarantined && checkout.Open(r.State) && false {`},
	}},

	// Time.
	{"sale's timers by the wall clock", drive, "TestMoneyA4_WallClockDecidesNothing", []edit{
		{"agent/checkout/drive/drive.go", "\tif d.boot == nil {\n", "\td.boot = func() time.Duration { return time.Duration(d.now().UnixNano()) }\n\tif d.boot == nil {\n"},
	}},
	{"no deadline", drive, "TestMoneyA4_DeadlineOf85Seconds", []edit{
		{"agent/checkout/timers.go", `Patience = 85 * time.Second`, `Patience = 15000 * time.Second`},
	}},

	// Numbers, amounts, the ledger.
	{"receipt number given twice", drive, "TestMoneyB10_ReceiptsAreForApprovedSalesOnly", []edit{
		{"agent/checkout/drive/journal/counters.go", `if used == 0 {`, `if used >= 0 {`},
		{"agent/checkout/drive/journal/counters.go", `if err := setCounter(tx, "receipt", last); err != nil {`, `if err := setCounter(tx, "receipt", last-1); err != nil {`},
	}},
	{"receipt number given twice after 9999", drive, "TestMoneyB10_AroundAt9999NoReceiptIsGivenTwice", []edit{
		{"agent/checkout/drive/journal/counters.go", `if used == 0 {`, `if used >= 0 {`},
	}},
	{"refund ledger not debited", drive, "TestMoneyB7_OneLedgerForReversalsAndRefunds|TestMoneyB7_TheLedgerIsDebitedAtAcceptAndReleasedByAFinalNo", []edit{
		{"agent/checkout/drive/journal/undo.go", `orig.Debited += row.Amount`, `orig.Debited += 0`},
	}},
	{"second full reversal accepted", drive, "TestMoneyB7_OneLedgerForReversalsAndRefunds", []edit{
		{"agent/checkout/drive/journal/undo.go", `orig.Reversed = orig.Reversed || row.Kind == ecr.Reversal`, `orig.Reversed = false`},
		{"agent/checkout/drive/forward.go", `case req.Kind == ecr.Reversal && o.Debited != 0:`, `case false:`},
	}},
	{"a repeated refund is a second refund", drive, "TestMoneyB4_ARefundWhoseTellingWasLostIsNotMadeTwice", []edit{
		{"agent/checkout/drive/forward.go", `for _, row := range ended {`, `for _, row := range ended[:0] {`},
	}},
	{"another currency is taken", drive, "TestMoneyA6_Currency", []edit{
		{"agent/checkout/drive/begin.go", `case req.Currency != d.cfg.Currency:`, `case req.Currency == "":`},
	}},

	// What the referee sees on the wire.
	{"one reference under two Keys", "cross/campaign/upstream", "TestTheRefereeIsContent", []edit{
		{"agent/checkout/drive/perform/send.go", `p.svc.InitializeWithIdempotency(call, row.Key, aapay.Payment, req)`, `p.svc.InitializeWithIdempotency(call, wire.NewKey(), aapay.Payment, req)`},
	}},
	{"a resend on the plain route", "cross/campaign/upstream", "TestTheRefereeIsContent", []edit{
		{"agent/checkout/payment.go", `if tries := s.Lost + s.Unsent; !s.Plain && tries <= maxResends {`, `if tries := s.Lost + s.Unsent; tries <= maxResends {`},
	}},
	{"polls too early", "cross/campaign/upstream", "TestTheRefereeIsContent", []edit{
		{"agent/checkout/poll.go", `defaultFloor = 2 * time.Second`, `defaultFloor = time.Second`},
		{"agent/checkout/drive/perform/send.go", `floor = 2 * time.Second`, `floor = time.Second`},
	}},
	{"a refund that runs is not joined after a lost journal", "agent/checkout/drive", "TestARunningRefundIsJoinedAfterALoss", []edit{
		{"agent/checkout/drive/told.go", `if old && (known == nil || known.State.Phase != checkout.Forward && !known.Held()) {`, `if old {`},
	}},
}
