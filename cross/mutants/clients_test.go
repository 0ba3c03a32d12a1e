package mutants

// ofClients is every broken rule of what local clients are promised: their writes, the outbox, their things.
var ofClients = []mutant{
	// Sealed, and verified.
	{"payload of an operation not sealed", outbox, "TestPayloadsAreSealed", []edit{
		{"agent/outbox/accept.go", `r.digest, r.payload, r.dataKey = n.digest, n.sealed, n.dataKey`, `r.digest, r.payload, r.dataKey = n.digest, n.Payload, n.dataKey`},
		{"agent/outbox/row.go", `plain, err = o.db.UnsealOwn(r.dataKey, cell(r.key, column), sealed)`, `plain = sealed`},
	}},
	{"a client's key is free again after its operation was purged", offline, "TestField_J7APurgedOperationKeepsItsKey", []edit{
		{"agent/gateway/keys.go", `case ended != "":`, `case ended == "never":`},
	}},
	{"a client's key from an older program is free", offline, "TestKeysThatCameUnderAnOlderProgram", []edit{
		{"agent/gateway/keys.go", `FROM offline_keys WHERE digest = ?2`, `FROM offline_keys WHERE digest = ?2 AND ended <> ''`},
		{"agent/gateway/keys.go", `FROM offline_keys WHERE key = ?3 LIMIT 1`, `FROM offline_keys WHERE key = ?3 AND ended <> '' LIMIT 1`},
	}},
	{"a look-up by a key on two routes answers with one of them", offline, "TestAKeyOnTwoRoutesFindsBoth", []edit{
		{"agent/gateway/keys.go", `mac[:nameBytes], mac, maxNamed,`, `mac[:nameBytes], mac, 1,`},
	}},
	{"the newest of several operations under a key stands for all", "agent", "TestPaymentWithoutABackend", []edit{
		{"agent/view/operation.go", `if len(keys) == 1 {`, `if keys = keys[len(keys)-1:]; true {`},
	}},
	{"the document says that a card's token is never null", "schemes/backend", "TestRealAnswersFitTheDocument", []edit{
		{"schemes/wire/rest/openapi/schema.go", `secret := f.Type ==`, `secret := false && f.Type ==`},
	}},
	{"a foreign Host is refused as text", "agent/port", "TestGuardSaysWhatIsWanted", []edit{
		{"agent/port/guard.go", `if path := r.URL.Path; path == PagePath`, `if path := r.URL.Path; path != PagePath`},
	}},
	{"the log tells every refusal of a hook", "agent/inbox", "TestTheLogSaysWhyANotificationIsRefused", []edit{
		{"agent/inbox/inbox.go", `age >= 0 && age < warnEach {`, `age < 0 && age < warnEach {`},
	}},
	{"a client's key is forgotten with its operation", offline, "TestField_J7APurgedOperationKeepsItsKey", []edit{
		{"agent/gateway/keys.go", `WHERE op = ? AND key = ? RETURNING digest`, `WHERE op = -? AND key = ? RETURNING digest`},
	}},
	{"a payment beside its operation is not verified", offline, "TestAnAlteredPaymentBesideItsOperationIsNotUsed", []edit{
		{"agent/gateway/things.go", "return f.authentic(t, mac, err)\n}\n\n// grow", "return f.authentic(t, f.thingMAC(t), err)\n}\n\n// grow"},
	}},
	{"a payment beside its operation goes with the purge", offline, "TestField_J7APurgedOperationKeepsItsKey", []edit{
		{"agent/gateway/settled.go", "case err == nil && t.young:\n\t\terr = f.grow(tx, t)", "case err == nil && t.young:"},
	}},
	{"a payment beside its operation cannot be given to another client", offline, "TestAPaymentStandsBesideItsOperation", []edit{
		{"agent/gateway/dependants.go", `WHERE op = (SELECT id FROM outbox_ops WHERE key = ?) AND about = ?`, `WHERE op = -(SELECT id FROM outbox_ops WHERE key = ?) AND about = ?`},
	}},
	{"our Key is not made of the client's", offline, "TestField_J7ARestoredJournalMakesTheSameKey", []edit{
		{"agent/gateway/keys.go", `if w.key == "" {`, `if w.key != "none" {`},
	}},
	{"our Key is made of the thing as it was named", offline, "TestField_J7ANameIsNotAnotherThing", []edit{
		{"agent/gateway/keys.go", `return t, known, string(t.key), nil`, `return t, known, strings.ToLower(w.id), nil`},
	}},
	{"the caller secret is not kept beside the key", offline, "TestField_J7ARestoredJournalMakesTheSameKey", []edit{
		{"store/secret.go", `if string(saved) != string(secret) {`, `if false {`},
	}},
	{"a restored journal sends what may be a repeat", offline, "TestField_J7AnOldRestoredJournalHoldsKeys", []edit{
		{"agent/outbox/restored.go", `case age > o.ttl.Milliseconds():`, `case age < 0:`},
	}},
	{"the local id of a payment purged", offline, "TestField_J7APurgedOperationKeepsItsKey", []edit{
		{"agent/gateway/settled.go", `if !keptOf(op).Withdrawn {`, `if false {`},
	}},
	{"a hold that runs again leaves out what its first run has seen", outbox, "TestMoneyC3_AHoldThatRunsAgainHoldsAll", []edit{
		{"agent/outbox/restored.go", `n, upTo = 0, last`, `n, upTo = 0, max(upTo, last)`},
		{"agent/outbox/restored.go", `o.uncertain(tx, last)`, `o.uncertain(tx, upTo)`},
	}},
	{"an operation purged before its retention", outbox, "TestPurgeAfterRetention", []edit{
		{"agent/outbox/purge.go", `limit := o.clock.run() - o.keep.Milliseconds()`, `limit := o.clock.run() - o.keep.Milliseconds()/2`},
	}},
	{"an operation purged by its age, not by its end", outbox, "TestPurgeAfterRetention", []edit{
		{"agent/outbox/purge.go", `(b.open = 1 OR b.settled_run > ?)`, `(b.open = 1 OR b.accepted_run > ?)`},
	}},
	{"an altered row purged", outbox, "TestPurgeHoldsWhatWasAltered", []edit{
		{"agent/outbox/purge.go", `if err := o.verify(&r); err != nil {`, `if err := error(nil); err != nil {`},
	}},
	{"data key of an ended operation kept", outbox, "TestWhatAnOlderProgramAccepted", []edit{
		{"agent/outbox/step.go", `if err := o.db.Shred(tx, table, r.key); err != nil {`, `if err := error(nil); err != nil {`},
	}},
	{"row MAC of an operation not checked", outbox, "TestAlteredRowsAreHeld", []edit{
		{"agent/outbox/row.go", `if !bytes.Equal(o.sum(r), r.mac) {`, `if !bytes.Equal(o.sum(r), r.mac) && false {`},
	}},

	// Journalled before it is done or told.
	{"settled hook outside the commit", outbox, "TestSettledRunsInTheCommitAfterFollows", []edit{
		{"agent/outbox/step.go", "import (\n", "import (\n\t\"context\"\n"},
		{"agent/outbox/step.go", `if err := o.hook(k, tx, op); err != nil {`,
			"go func() {\n\t\t\t_ = o.db.Write(context.Background(), func(tx store.Tx) error { return o.hook(k, tx, op) })\n\t\t}()\n\t\tif err := error(nil); err != nil {"},
	}},
	{"attempt of an operation not durable before it leaves", outbox, "TestSentIsDurableBeforeTheFirstByte|TestCrashBetweenSendAndSettle", []edit{
		{"agent/outbox/table.go", `{verbs(leave), sendable, move{Sent, Sent,`, `{verbs(leave), sendable, move{"", "",`},
	}},

	// At most one effect at the backend.
	{"new Key when an undo is sent again", offline, "TestUndoIsSentAgainUnderItsKey", []edit{
		{"agent/gateway/aapay.go", `u.svc.InitializeWithIdempotency(ctx, u.op.Key, u.typ, u.p.Request)`, `u.svc.InitializeWithIdempotency(ctx, wire.NewKey(), u.typ, u.p.Request)`},
	}},
	{"new Key when a client's write is sent again", "cross/campaign/lossy", "TestLossy", []edit{
		{"agent/gateway/send.go", `r, err := b.send(asking, op.Key, id, body)`, `r, err := b.send(asking, wire.NewKey(), id, body)`},
	}},
	{"a client's Idempotency-Key is not stored with its write", offline, "TestPowerCutOfClientsWrites", []edit{
		{"agent/gateway/put.go", "if w.key != \"\" {\n\t\tif now", "if w.key == \"none\" {\n\t\tif now"},
		{"agent/gateway/keys.go", "if w.key == \"\" {", "if true {"},
	}},
	{"a link is sent under a Key that is not stored", offline, "TestPowerCutOfClientsWrites", []edit{
		{"agent/gateway/linkrows.go", `c, err := f.o.Links.Create(ctx, key, req)`, `c, err := f.o.Links.Create(ctx, wire.NewKey(), req)`},
	}},
	{"a token's local id does not lead to the backend's", offline, "TestPowerCutOfClientsWrites", []edit{
		{"agent/gateway/settled.go", `b.Makes && op.State == outbox.Done && k.Made != "" {`, `b.Makes && b.Thing != "token" && op.State == outbox.Done && k.Made != "" {`},
	}},
	{"what is done to a link's transaction is sent again unread", offline, "TestPowerCutOfClientsWrites", []edit{
		{"agent/gateway/send.go", `case !compared, !sent && known:`, `case !compared, !sent && known, b.Thing == "transaction":`},
	}},
	{"a link that is gone when its deletion is sent again is not taken for deleted", "cross/campaign/disk", "TestEveryOperationFailsUnderClients", []edit{
		{"agent/gateway/linkrows.go", `gone: true,`, `gone: false,`},
	}},
	{"the client's key of a token is not stored with it", "cross/campaign/disk", "TestEveryOperationFailsUnderClients", []edit{
		{"agent/gateway/put.go", "if w.key != \"\" {\n\t\tif now", "if w.key != \"\" && w.row.Service != Tokens {\n\t\tif now"},
		{"agent/gateway/keys.go", "if w.key == \"\" {", "if w.key == \"\" || w.row.Service == Tokens {"},
	}},
	{"a link is stored under a number that was given before", "cross/campaign/disk", "TestEveryOperationFailsUnderClients", []edit{
		{"agent/gateway/things.go", `t.local = strconv.FormatInt(firstLocal+id, 10)`, `t.local = strconv.FormatInt(firstLocal+id/2, 10)`},
	}},
	{"the terms of a recurring payment are sent under a new Key", "cross/campaign/lossy", "TestLossy", []edit{
		{"agent/gateway/tokens.go", `return svc.CreateRecurring(ctx, key, req)`, `return svc.CreateRecurring(ctx, wire.NewKey(), req)`},
	}},
	{"a card check is answered and not made", "cross/campaign/lossy", "TestLossy", []edit{
		{"agent/gateway/tokens.go", `return svc.Verify(ctx, key, id)`, `return tokens.Created{TokenizationID: id}, nil`},
	}},
	{"dependants are sent out of order over a bad link", "cross/campaign/lossy", "TestLossy", []edit{
		{"agent/outbox/attempt.go", `if err != nil || !waits {`, `if err != nil || true {`},
		{"agent/outbox/line.go", "NOT EXISTS (SELECT 1 FROM outbox_ops WHERE ` + inLine(`?4`, ` AND open = 1`) + `)", `1`},
	}},
	{"what is accepted while a probe is overdue waits for the next minute", outbox, "TestAcceptedForAServiceThatIsAway", []edit{
		{"agent/outbox/outbox.go", `s.down && (s.probing || s.next > run)`, `s.down && (s.probing || s.next > run || true)`},
	}},
	{"what follows is sent before the operation its aggregate is named after", outbox, "TestALineLedByItsKey", []edit{
		{"agent/outbox/line.go", "` OR leads = 1 AND key = substr(`", "` OR leads = 2 AND key = substr(`"},
	}},
	{"what follows a failed operation that its aggregate is named after is sent", outbox, "TestALineLedByItsKey", []edit{
		{"agent/outbox/line.go", "WHERE leads = 0 AND aggregate = ` + aggregate + and + `\n\t\tUNION", "WHERE leads = 3 AND aggregate = ` + aggregate + and + `\n\t\tUNION"},
	}},
	{"what an operation was is not taken off the report", outbox, "TestListGivesWhatItSays|TestModel", []edit{
		{"agent/outbox/schema.go", "(SELECT summed_id FROM outbox_clock) BEGIN\n\tUPDATE outbox_sums SET count = count - 1,", "(SELECT summed_id FROM outbox_clock) BEGIN\n\tUPDATE outbox_sums SET count = count,"},
	}},
	{"an operation's number is given again after a start", outbox, "TestField_U13NumbersAndSumsOverRollbacks", []edit{
		{"agent/outbox/accept.go", `SELECT MAX(COALESCE((SELECT MAX(id) FROM outbox_ops), 0), (SELECT purged_id FROM outbox_clock), ?) + 1`, `SELECT ? + 1`},
	}},
	{"an undo's failed read forgets the pace", offline, "TestAFailedReadKeepsThePace", []edit{
		{"agent/gateway/undoread.go", `v.State, v.After = outbox.Sent, max(v.After, u.rhythm())`, `v.State = outbox.Sent`},
	}},
	{"plain route of an undo sent again", offline, "TestPlainRouteIsUsedOnce|TestPlainRouteAndCrash", []edit{
		{"agent/gateway/aapay.go", `plain && u.op.Attempts != u.m.PlainAt:`, `plain && u.op.Attempts < u.m.PlainAt:`},
	}},
	{"why an operation waits names a card number", "agent/outbox", "TestNoReasonHoldsACardNumber", []edit{
		{"agent/outbox/attempt.go", `r.reason = wire.MaskPANs(v.Reason)`, `r.reason = v.Reason + wire.MaskPANs("")`},
	}},
	{"why a service is down names a card number", "agent/outbox", "TestNoReasonHoldsACardNumber", []edit{
		{"agent/outbox/health.go", `refused, wire.MaskPANs(reason)`, `refused, reason+wire.MaskPANs("")`},
	}},
	{"a technician's note keeps a card number", "agent/outbox", "TestNoReasonHoldsACardNumber", []edit{
		{"agent/outbox/verbs.go", `ByHand + wire.MaskPANs(note)`, `ByHand + note`},
	}},
	{"an id of ours looks like a card number", "schemes/wire", "TestAnIDIsNoCardNumber", []edit{
		{"schemes/wire/key.go", `if id := next(); MaskPANs(id) == id {`, `if id := next(); id != "" {`},
	}},
	{"an operation is ordered under a card number", "agent/gateway", "TestCardNumbers", []edit{
		{"agent/gateway/things.go", `case wire.MaskPANs(id) != id:`, `case false:`},
	}},
	{"a stored payment shows a card number for its number", "agent/gateway", "TestCardNumbers", []edit{
		{"agent/gateway/payments.go", `Number: wire.MaskReference(req.PaymentNumber)`, `Number: req.PaymentNumber`},
	}},
	{"a stored link shows a card number for its reference", "agent/gateway", "TestALinksReferenceHoldsNoCardNumber", []edit{
		{"agent/gateway/links.go", `*s = wire.MaskReference(*s)`, `_ = s`},
	}},
	{"a stored refusal tells a card number", "agent/gateway", "TestALinksReferenceHoldsNoCardNumber", []edit{
		{"agent/gateway/stored.go", `Msg: wire.MaskPANs(e.Msg)`, `Msg: e.Msg`},
	}},
	{"a client's own notice makes any operation its own", "agent/ownership", "TestField_P1ANoticeGivesNoForeignOperation", []edit{
		{"agent/ownership/orders.go", `		st, err := ask.State(ask1, of)`, `		st, err := ask.State(ask1, of)
		if st.Operation == nil {
			st.Operation = &hosted.Operation{OperationID: theirs}
		}`},
		{"agent/ownership/orders.go", `return func(ctx context.Context, _, of string) error {`, `return func(ctx context.Context, theirs, of string) error {`},
	}},
	{"one client's key meets another's at the backend", "agent/ownership", "TestField_P1KeysOfClientsAreApart", []edit{
		{"agent/ownership/naming.go", `"posagent client key 1", client, string(key))`, `"posagent client key 1", string(key))`},
	}},
	{"a link by which the register sold is taken back past the checkout", offline, "TestField_P1TheRegistersLinkIsNotTakenBack", []edit{
		{"agent/gateway/owner.go", `	if err == nil && sale != "" {`, `	if err == nil && sale == "\x00" {`},
	}},
	{"a Key accepted twice is two operations", outbox, "TestAcceptOnceByKey", []edit{
		{"agent/outbox/accept.go", `	if !same {`, `	if same {`},
	}},
	{"a Key the backend may have forgotten is sent", outbox, "TestForgottenKeyIsDoubt", []edit{
		{"agent/outbox/attempt.go", `stale := sentOnce && age > o.ttl.Milliseconds()`, `stale := sentOnce && age > o.ttl.Milliseconds() && false`},
	}},
	{"order within an aggregate not kept", outbox, "TestOrderWithinParallelAcross|TestAMarkIsOnlyAMark", []edit{
		{"agent/outbox/attempt.go", `if err != nil || !waits {`, `if err != nil || true {`},
	}},
	{"401 fails an operation", outbox, "TestFromError", []edit{
		{"agent/outbox/verdict.go", "!e.Nobody { // else a proxy may have put it in the place of the answer\n\t\t\tv.State = Pending", "!e.Nobody { // else a proxy may have put it in the place of the answer\n\t\t\tv.State = Failed"},
	}},
	{"an unanswered send is unsent", outbox, "TestFromError|TestUnsentStaysPendingSentNeverGoesBack", []edit{
		{"agent/outbox/verdict.go", "case wire.TooMany, wire.UnknownOutcome:\n", "case wire.TooMany, wire.UnknownOutcome:\n\t\tv.State = Pending\n"},
	}},

	// Told, and undone.
	{"a refund that timed out has failed at once", offline, "TestATimedOutRefundIsLiveForItsWindow", []edit{
		{"agent/gateway/undoread.go", `return u.since(&u.m.Late) < u.p.Window`, `return false`},
	}},
	{"a journal put back from a backup sends what it holds", outbox, "TestMoneyC3_ARestoredBackupSendsNothingByItself", []edit{
		{"agent/outbox/table.go", `{verbs(holdRestored), []State{Pending, Sent, Held}, move{Held, Sent,`, `{verbs(holdRestored), []State{Pending, Sent, Held}, move{"", Sent,`},
	}},
	{"an operation of a backup counts as never sent when it is released", outbox, "TestMoneyC3_AReleasedOperationOfAnOldBackupIsNotResent", []edit{
		{"agent/outbox/table.go", `{verbs(holdRestored), []State{Pending, Sent, Held}, move{Held, Sent,`, `{verbs(holdRestored), []State{Pending, Sent, Held}, move{Held, here,`},
	}},
	{"an operation under way is resolved by hand", outbox, "TestAnOperationUnderWayIsNotResolved", []edit{
		{"agent/outbox/verbs.go", `_, away := o.busy[r.id]`, `away := false`},
	}},

	// Time.
	{"outbox's ages by the wall clock", outbox, "TestMaxAgeCountsRunningTimeOnly|TestAWallClockThatJumpsExpiresNothing", []edit{
		{"agent/outbox/outbox.go", `o.clock = &clock{boot: opts.Boot, bootID`, `o.clock = &clock{boot: func() time.Duration { return time.Duration(o.now().UnixNano()) }, bootID`},
	}},

	// Numbers, amounts, the ledger.
	{"the end of a service's absence is not waited for", "agent/outbox", "TestNothingIsLookedForWhileItsServiceIsAway", []edit{
		{"agent/outbox/schedule.go", `wait = min(wait, s.next-run)`, `wait = min(wait, s.next-run+tick.Milliseconds())`},
	}},

	// Writes of local clients.
	{"a write is sent before its Key is stored", offline, "TestNothingIsSentBeforeItIsStored", []edit{
		{"agent/gateway/put.go", "err = f.o.DB.Write(ctx, func(tx store.Tx) (err error) {", "_, _ = w.row.send(ctx, key, w.id, w.body)\n\t\t\terr = f.o.DB.Write(ctx, func(tx store.Tx) (err error) {"},
	}},
	{"operations by the backend's id have a line of their own", offline, "TestCutForThreeHours", []edit{
		{"agent/gateway/things.go", `return about + "/" + t.local`, `return about + "/" + id`},
	}},
	{"what depends on a stored write is not behind it", offline, "TestOneKeyForEver|TestRefusedCreateFailsItsDependants", []edit{
		{"agent/gateway/put.go", `n.Owner, n.Aggregate, n.AmountMin, n.Currency = owner, about,`, `n.Owner, n.Aggregate, n.AmountMin, n.Currency = owner, string(key),`},
	}},
	{"401 fails a stored write", offline, "TestNothingFailsWithoutTheServicesWord", []edit{
		{"agent/outbox/verdict.go", "case wire.Unauthorized, wire.Forbidden:\n\t\tv.Reach = Refused", "case wire.Unauthorized, wire.Forbidden:\n\t\tv.State, v.Reach = Failed, Refused\n\t\treturn v"},
	}},
	{"each attempt has a Key of its own", offline, "TestOneKeyForEver", []edit{
		{"agent/gateway/send.go", `b.send(asking, op.Key, id, body)`, `b.send(asking, wire.NewKey(), id, body)`},
	}},
	{"local ids are sent", offline, "TestCutForThreeHours", []edit{
		{"agent/gateway/send.go", `			id = t.backend`, `			id = t.local`},
	}},
	{"what is stored is not counted", offline, "TestLimits", []edit{
		{"agent/gateway/put.go", `all, sum, err := addTotals(tx, w.currency, 1, w.row.bounded(w.amount))`, `all, sum, err := addTotals(tx, w.currency, 0, 0)`},
	}},
	{"a validation code is stored", offline, "TestValidationCodeIsNeverStored", []edit{
		{"agent/gateway/payments.go", `if w.keep = w.same; p.f.o.RefuseCards`, `if w.keep = w.body; p.f.o.RefuseCards`},
	}},
	{"a validation code waits for the backend", offline, "TestValidationCodeIsNeverStored", []edit{
		{"agent/gateway/payments.go", `card.ValidationCode, bare.CardDetails, w.part = "", &card, true`, `card.ValidationCode, bare.CardDetails, w.part = "", &card, false`},
	}},
	{"a caller is told of an attempt before it is recorded", offline, "TestAwayBeforeItIsRecorded", []edit{
		{"agent/gateway/accept.go", `if asked || down && st.now != "" {`, `if asked {`},
	}},
	{"clients share their keys", offline, "TestCallersKey", []edit{
		{"agent/gateway/keys.go", `f.o.DB.MAC(keyTable, w.row.Kind, client, about, string(w.key))`, `f.o.DB.MAC(keyTable, w.row.Kind, about, string(w.key))`},
		{"agent/gateway/keys.go", `f.o.DB.MAC(keyTable, "name", client, key)`, `f.o.DB.MAC(keyTable, "name", key)`},
	}},
	{"a client's key is stored as it is", offline, "TestCardNumbers", []edit{
		{"agent/gateway/keys.go", `digest: f.o.DB.MAC(keyTable, w.row.Kind, client, about, string(w.key))`, `digest: []byte(w.row.Kind + client + about + string(w.key))`},
	}},
	{"stored for a service that never answered", offline, "TestProvenOnce", []edit{
		{"agent/gateway/accept.go", "err := f.prove(ctx, b.Service)\n", "err := error(nil)\n"},
	}},
	{"a write nobody waits for is sent", offline, "TestNotStoredIsNotSentAfterARestart", []edit{
		{"agent/gateway/send.go", `		case unsent:
			v.State, v.Result`, `		case false:
			v.State, v.Result`},
	}},
	{"a final answer does not end what was set aside meanwhile", outbox, "TestHoldWhileUnderWay|TestMatrixOfStatesAndEvents", []edit{
		{"agent/outbox/table.go", `{verdicts(Done, reading, first, only, again), waiting,`, `{verdicts(Done, reading, first, only, again), sendable,`},
	}},
	{"an operation that another commit has moved is written over", outbox, "TestARowIsWrittenOnlyAsItWasRead", []edit{
		{"agent/outbox/row.go", `if err == nil && n == 0 {`, `if err == nil && n < 0 {`},
	}},
	{"what was withdrawn unsent counts as declined", offline, "TestValidationCodeIsNeverStored|TestWithdrawnIsNotDeclined", []edit{
		{"agent/outbox/withdraw.go", `return o.apply(tx, r, event{verb: withdraw})`, `return o.apply(tx, r, event{verb: fail})`},
	}},
	{"a write that may have had its effect is given up as never sent", outbox, "TestGivenUpUnsent", []edit{
		{"agent/outbox/table.go", `verdicts(Expired, reading, first, only)`, `verdicts(Expired, reading, first, only, again)`},
	}},
	{"what is read before a write leaves it sent in a power cut", outbox, "TestPowerCutWhileItIsRead", []edit{
		{"agent/outbox/attempt.go", "seen == nil {\n\t\t\t\treturn nil\n", "seen == nil {\n\t\t\t\t_, err := o.apply(tx, &r, event{verb: leave})\n\t\t\t\treturn err\n"},
	}},
	{"what is read before a write leaves it in doubt in a power cut", offline, "TestPowerCutOfClientsWrites", []edit{
		{"agent/outbox/attempt.go", "\t\tbefore := r.state\n", "\t\tbefore := r.state\n\t\tif seen != nil {\n\t\t\tbefore, r.sentAge = Pending, -1\n\t\t}\n"},
		{"agent/outbox/attempt.go", "seen == nil {\n\t\t\t\treturn nil\n", "seen == nil {\n\t\t\t\t_, err := o.apply(tx, &r, event{verb: leave})\n\t\t\t\treturn err\n"},
	}},
	{"a reading that fails counts as a send", outbox, "TestAReadingThatFailsProvesNothing", []edit{
		{"agent/outbox/table.go", `{verdicts(Sent, reading, first, again), waiting, move{unlessHeld, "",`, `{verdicts(Sent, reading, first, again), waiting, move{unlessHeld, Sent,`},
	}},
	{"a reading that is not understood leaves it in doubt", outbox, "TestAReadingThatFailsProvesNothing", []edit{
		{"agent/outbox/table.go", `{verdicts(Doubt, reading), waiting, move{unlessHeld, Pending, []effect{write, unsent, restShort}}}`, `{verdicts(Doubt, reading), waiting, move{Doubt, Sent, doubts}}`},
	}},
	{"a write is compared with an old reading", offline, "TestMoneyC2_ReadRightBeforeItLeaves", []edit{
		{"agent/outbox/attempt.go", `if k.Reads && r.sentAge < 0 {`, `if k.Reads && r.sentAge < 0 && r.memo == nil {`},
	}},
	{"a refusal after a lost answer is believed unread", offline, "TestMoneyC2_RefusedAgain", []edit{
		{"agent/gateway/send.go", `v.State, v.After = outbox.Sent, quiet
`, `v.State, v.Result = outbox.Failed, m.Refused
`},
	}},
	{"a refusal that comes again is in doubt for ever", offline, "TestMoneyC2_RefusedAgain|TestMoneyC3_RefusedAgainAndOld", []edit{
		{"agent/gateway/send.go", `case len(m.Refused) > 0:`, `case false:`},
	}},
	{"an effect that is there is not seen", offline, "TestMoneyC2_ReadAndCompare", []edit{
		{"agent/gateway/send.go", `case what == exactly, what == absent:`, `case false:`},
	}},
	{"any new entry is ours", offline, "TestMoneyC2_ReadAndCompare", []edit{
		{"agent/gateway/payments.go", `b.Entries == a.Entries+1 && b.Sum-a.Sum == want,`, `b.Entries > a.Entries && want > 0,`},
	}},
	{"a link's local id is not joined with the backend's", offline, "TestLinkIsStoredAndDelivered", []edit{
		{"agent/gateway/linkrows.go", `return reply{strconv.FormatInt(c.ID, 10), c, c`, `return reply{strconv.FormatInt(c.ID, 10)[:0], c, c`},
	}},
	{"a charge is sent again unread", offline, "TestMoneyC2_TransactionsAreReadAndCompared|TestField2_M42WhatReadingsProve", []edit{
		{"agent/gateway/linkrows.go", `Offline: Counted, Replay: outbox.Compare, Keyless: outbox.Compare,`, `Offline: Counted, Replay: outbox.Safe, Keyless: outbox.Safe,`},
	}},
	{"what a charge made beside its transaction is not looked for", offline, "TestField2_M42WhatReadingsProve", []edit{
		{"agent/gateway/linkread.go", `case same && len(made) == 0 && !was.Cut && !is.Cut:`, `case same:`},
	}},
	{"any refund is ours", offline, "TestField2_M42WhatReadingsProve", []edit{
		{"agent/gateway/linkread.go", `told && req.Amount != nil && is.Given-was.Given == *req.Amount,`, `told && req.Amount != nil && is.Given > was.Given,`},
	}},
	{"a deletion sent again fails because it succeeded", offline, "TestDeletionWhoseAnswerIsLost", []edit{
		{"agent/gateway/linkrows.go", `gone: true,`, `gone: false,`},
	}},
	{"ids of ours that were never given are sent", offline, "TestIDsThatAreOurs", []edit{
		{"agent/gateway/links.go", `if err == nil && !known && id >= paylinks.FirstLocalID {`, `if false {`},
	}},
	{"an old card payment is sent again without Keys", offline, "TestKeylessCreate", []edit{
		{"agent/gateway/send.go", `case sent && class == outbox.Never, sent`, `case sent`},
		{"agent/gateway/send.go", `case v.State == outbox.Sent && class == outbox.Never:`, `case false:`},
	}},
	{"money owed back waits for a free sender", "agent/outbox", "TestUrgentOnesDoNotWait", []edit{
		{"agent/outbox/schedule.go", `free == 0 && !c.urgent`, `free == 0`},
	}},
	{"what happened is told, whether or not it is committed", outbox, "TestRecord", []edit{
		{"agent/outbox/accept.go", "return o.changed(tx, &r)", "_ = o.changed(tx, &r)\n\treturn nil"},
	}},
	{"an altered record is released with the others", outbox, "TestReleaseEachLeavesWhatWasAltered", []edit{
		{"agent/outbox/all.go", `if last = r.id; o.verify(&r) != nil {`, `if last = r.id; false {`},
	}},

	// Hosted build: who tells, who hears, and how often an order is paid.
	{"any token is a notification's", inbox, "TestNotices", []edit{{"agent/inbox/build.go", `if err == nil && good != 1 {`, `if err == nil && good != 1 && false {`}}},
	{"the token of another order's session is good", inbox, "TestNotices", []edit{
		{"agent/inbox/build.go", `WHERE order_id IN (?, ?) ORDER BY n DESC LIMIT 100`, `WHERE order_id IN (?, ?) OR 1 = 1 ORDER BY n DESC LIMIT 100`},
	}},
	{"a build that was not kept is relayed", inbox, "TestNoBuildIsRelayedUnkept", []edit{
		{"agent/inbox/build.go", `	err = b.db.Write(context.WithoutCancel(ctx), func`, `	_ = b.db.Write(context.WithoutCancel(ctx), func`},
	}},
	{"the beginning of a token will do", inbox, "TestNotices", []edit{
		{"agent/inbox/build.go", `want := sha256.Sum256(token)`, `want := sha256.Sum256(token[:min(len(token), len(n.SecurityToken.Reveal()))])`},
	}},
	{"a notification is stored with its token", inbox, "TestNotices", []edit{{"agent/inbox/build.go", `delete(body, "securityToken")`, `delete(body, "")`}}},
	// The page for people.
	{"a link of another site opens the terminal's page", "agent/port", "TestThePageIsClosedToOtherPages", []edit{
		{"agent/port/guard.go", `origin == nil && (site == nil || only(site, "none") || only(site, "same-origin"))`, `origin == nil`},
	}},
	{"a form of another site is taken for the page's own", "agent/port", "TestThePageIsClosedToOtherPages", []edit{
		{"agent/port/guard.go", `return only(site, "same-origin") && (`, `return (`},
		{"agent/port/page.go", `ours := only(r.Header["Sec-Fetch-Site"], "same-origin")`, `ours := true`},
	}},
	{"the page is shown inside a frame", "agent/port", "TestThePageIsClosedToOtherPages", []edit{
		{"agent/port/guard.go", `(d == nil || only(d, dest))`, `(d == nil || len(d) > 0)`},
	}},
	{"wrong tokens shut good ones out", "agent/port", "TestField4_WrongTokensShutNobodyOut", []edit{
		{"agent/port/visits.go", `if c == nil && s.wrong >= wrongTries {`, `if s.wrong >= wrongTries {`},
	}},
	{"tokens can be guessed at the page for ever", "agent/port", "TestField4_WrongTokensShutNobodyOut", []edit{
		{"agent/port/visits.go", `if c == nil && s.wrong >= wrongTries {`, `if s.wrong < 0 {`},
	}},
	{"a visit to the page never ends", "agent/port", "TestVisitsEnd", []edit{
		{"agent/port/visits.go", `return now.Sub(v.last) > visitIdle || now.Sub(v.began) > visitLong`, `return false`},
	}},
	{"every client sees the register's day", "agent/view", "TestDay", []edit{
		{"agent/view/day.go", `wire.Allow(ctx, "", wire.MaySales)`, `wire.Allow(ctx, "", wire.MayRead)`},
	}},
	{"a text of the page is not escaped", "agent/port/pages", "TestEverythingIsEscaped", []edit{
		{"agent/port/pages/html.go", `w.b.WriteString(html.EscapeString(s))`, `w.b.WriteString(html.UnescapeString(s))`},
	}},
}
