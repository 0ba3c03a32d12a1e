package mutants

// edit replaces a text that stands exactly once in a file.
type edit struct{ file, old, new string }

// mutant is one broken rule and the test that has to notice.
type mutant struct {
	name  string
	pkg   string // of the test
	run   string // -run pattern
	edits []edit
}

const (
	drive    = "agent/checkout/drive"
	checkout = "agent/checkout"
	outbox   = "agent/outbox"
	offline  = "agent/offline"
	frame    = "ecr/zvt/frame"
	crashfs  = "store/crashfs"
	inbox    = "agent/inbox"
	sessions = "schemes/backend/sessions"
	cases    = "schemes/backend/cases"
)

// table is every mutant. The rules are those of the sale (who is told what, when money goes back) and of the store under it.
var table = []mutant{
	// What is acknowledged is durable.
	{"synchronous=NORMAL, believed by the read-back too", crashfs, "TestPowerCutLosesNothing", []edit{
		{"store/conn.go", `b.WriteString("&_synchronous=" + s.synchronous + "&_busy_timeout=5000")`, `b.WriteString("&_synchronous=NORMAL&_busy_timeout=5000")`},
		{"store/conn.go", `"FULL": "2"`, `"FULL": "1"`},
	}},
	{"synchronous=NORMAL by default", "store", "TestPragmasOnEveryConnection", []edit{
		{"store/store.go", `opt.Synchronous = "FULL"`, `opt.Synchronous = "NORMAL"`},
	}},
	{"pragmas not read back", "store", "TestConnectionWithOtherPragmasIsRefused", []edit{
		{"store/conn.go", `if err == nil && got != p.want {`, `if false {`},
	}},
	{"acknowledged before the commit", crashfs, "TestPowerCutLosesNothing|TestFaultAtEveryWriteAndSync", []edit{
		{"store/writer.go", "\tstart := time.Now()\n\tif err := s.w.exec(\"COMMIT\"); err != nil {",
			"\tfor i, r := range live {\n\t\tr.done <- results[i]\n\t}\n\tstart := time.Now()\n\tif err := s.w.exec(\"COMMIT\"); err != nil {"},
	}},
	{"a failed commit is answered as done", crashfs, "TestFaultAtEveryWriteAndSync", []edit{
		{"store/writer.go", `return s.failed("commit", errors.Join(err, s.undo()))`, `_ = s.failed("commit", errors.Join(err, s.undo()))`},
	}},
	{"a caller that fails keeps its rows in a batch", "store", "TestFailingCallerRollsBackAlone", []edit{
		{"store/writer.go", `if err := s.w.exec("ROLLBACK TO caller"); err != nil {`, `if err := error(nil); err != nil {`},
	}},
	{"a broken connection is used again after an I/O error", crashfs, "TestUnacknowledgedNeverTurnsUp|TestFaultAtEveryWriteAndSync", []edit{
		{"store/writer.go", `case breaks(err) || errors.Is(err, errRolledBack):`, `case false:`},
	}},

	// Sealed, and verified.
	{"sealed values are stored as they are", "store", "TestSealedValues", []edit{
		{"store/seal.go", `return aead.Seal(out, out[1:], plain, at.aad()), nil`, `return append(out, plain...), nil`},
		{"store/seal.go", `plain, err := aead.Open([]byte{}, sealed[1:1+n], sealed[1+n:], at.aad())`, `plain, err := sealed[1+n:], error(nil)`},
	}},
	{"payload of an operation not sealed", outbox, "TestPayloadsAreSealed", []edit{
		{"agent/outbox/outbox.go", `r.digest, r.payload, r.dataKey = n.digest, n.sealed, n.dataKey`, `r.digest, r.payload, r.dataKey = n.digest, n.Payload, n.dataKey`},
		{"agent/outbox/row.go", `plain, err = o.db.UnsealOwn(r.dataKey, cell(r.key, column), sealed)`, `plain = sealed`},
	}},
	{"request of a sale not sealed", drive, "TestRequestsAreSealed", []edit{
		{"agent/checkout/drive/poll.go", `if r.request, err = d.db.Seal(tx, requestCell(r.Key), body); err != nil {`, `if r.request = body; err != nil {`},
		{"agent/checkout/drive/poll.go", `body, err = d.db.Unseal(r, requestCell(key), row.request)`, `body = row.request`},
	}},
	{"a purged operation's data key kept", "cmd/posagent", "TestNothingOfAPurgedCardOperationIsLeft", []edit{
		{"agent/outbox/purge.go", `if err := o.db.Shred(tx, table, r.key); err != nil {`, `if err := error(nil); err != nil {`},
	}},
	{"an ended operation's data key kept until its purge", "cmd/posagent", "TestNothingOfAPurgedCardOperationIsLeft", []edit{
		{"agent/outbox/attempt.go", `if err := o.db.Shred(tx, table, r.key); err != nil {`, `if err := error(nil); err != nil {`},
	}},
	{"what is deleted is not overwritten", "cmd/posagent", "TestNothingOfAPurgedCardOperationIsLeft", []edit{
		{"store/conn.go", `&_pragma=secure_delete(1)`, `&_pragma=secure_delete(0)`},
		{"store/conn.go", `{"secure_delete", "1"}`, `{"secure_delete", "0"}`},
	}},
	{"the log is not truncated after a purge", "cmd/posagent", "TestNothingOfAPurgedCardOperationIsLeft", []edit{
		{"store/seal.go", "\ts.shred.Store(true)\n", ""},
	}},
	{"the old device key forgotten before everything is wrapped anew", "cmd/posagent", "TestRotationIsEndedAfterAKillAtAnyStep", []edit{
		{"cmd/posagent/rotate.go", `if err := db.Rewrap(ctx, next,`, "if err := device.ForgetOld(keyDir(c)); err != nil {\n\t\treturn err\n\t}\n\tif err := db.Rewrap(ctx, next,"},
		{"cmd/posagent/rotate.go", "if err := device.ForgetOld(keyDir(c)); err != nil {\n\t\treturn fail", "if err := error(nil); err != nil {\n\t\treturn fail"},
	}},
	{"a client's key is free again after its operation was purged", offline, "TestField_J7APurgedOperationKeepsItsKey", []edit{
		{"agent/offline/keys.go", `case ended != "":`, `case ended == "never":`},
	}},
	{"our Key is not made of the client's", offline, "TestField_J7ARestoredJournalMakesTheSameKey", []edit{
		{"agent/offline/keys.go", `if w.key == "" {`, `if w.key != "none" {`},
	}},
	{"our Key is made of the thing as it was named", offline, "TestField_J7ANameIsNotAnotherThing", []edit{
		{"agent/offline/keys.go", `return t, known, strings.ToLower(t.backend), nil`, `return t, known, strings.ToLower(w.id), nil`},
	}},
	{"the caller secret is not kept beside the key", offline, "TestField_J7ARestoredJournalMakesTheSameKey", []edit{
		{"store/secret.go", `if string(saved) != string(secret) {`, `if false {`},
	}},
	{"a restored journal sends what may be a repeat", offline, "TestField_J7AnOldRestoredJournalHoldsKeys", []edit{
		{"agent/outbox/restored.go", `case restored < 0 || keyed && !old:`, `case restored < 0 || keyed:`},
	}},
	{"a change of the device key leaves out the secrets", "cmd/posagent", "TestRotationIsEndedAfterAKillAtAnyStep", []edit{
		{"store/rewrap.go", "SELECT name, value FROM store_meta WHERE name = 'mac_key' OR", "SELECT name, value FROM store_meta WHERE name = 'mac_key' AND 1 OR 0 AND"},
	}},
	{"the amount of an audit line outside its link", "agent/audit", "TestField_P2RemovedOrChangedLinesAreNamed", []edit{
		{"agent/audit/chain.go", `l.Deed.Deed, l.Subject, l.Amount, l.Currency`, `l.Deed.Deed, l.Subject, l.Currency`},
	}},
	{"an audit line not chained to the one before", "agent/audit", "TestField_P2RemovedOrChangedLinesAreNamed", []edit{
		{"agent/audit/chain.go", `strconv.FormatInt(l.ID, 10), before, l.At`, `strconv.FormatInt(l.ID, 10), l.At`},
	}},
	{"the newest audit lines removed unseen", "agent/audit", "TestField_P2RemovedOrChangedLinesAreNamed", []edit{
		{"agent/audit/read.go", `case last > v.Last:`, `case false:`},
		{"agent/audit/read.go", `case *head != headOf(v.Last, link):`, `case false:`},
	}},
	{"the purge of the audit log leaves no anchor", "agent/audit", "TestPurgeLeavesAnAnchor", []edit{
		{"agent/audit/read.go", `floor, link, err := anchor(r)`, `floor, link, err := int64(0), []byte(nil), error(nil)`},
	}},
	{"an audit log that was cut while the terminal was stopped goes on as if nothing were", "agent/audit", "TestStartRemembersWhatIsGone", []edit{
		{"agent/audit/read.go", `if found == head || head == (Head{}) && last == 0 {`, `if found == head || true {`},
	}},
	{"a sale begins without an audit line", "cmd/posagent", "TestScripts", []edit{
		{"agent/checkout/drive/rows.go", `if err == nil && d.record != nil {`, `if err == nil && d.record != nil && false {`},
	}},
	{"what a timer does is put down to the register", "agent", "TestField_P2ProgramDeeds", []edit{
		{"agent/deeds.go", `if name, own := causes[why]; own {`, `if name, own := causes[why]; own && false {`},
	}},
	{"freed card data is not overwritten", "cmd/posagent", "TestField_P11NoCardDataStaysInMemory", []edit{
		{"agent/scrub/scrub.go", "\tfill(new(room))\n", ""},
	}},
	{"a core of the terminal may be written", "cmd/posagent", "TestField_P11NoCardDataStaysInMemory", []edit{
		{"cmd/posagent/memory.go", `err := unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{})`, `err := error(nil)`},
	}},
	{"a planted link is taken for the port's token", "cmd/posagent", "TestField_P12PlantedTokenIsRefused", []edit{
		{"cmd/posagent/planted.go", `os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK`, `os.O_RDONLY|unix.O_NONBLOCK`},
	}},
	{"a state directory that others can write is used", "cmd/posagent", "TestField_P12StateDirectoryOfOthersIsRefused", []edit{
		{"cmd/posagent/config.go", `return ownDir(c.stateDir(), os.Geteuid())`, `return nil`},
	}},
	{"the local id of a payment purged", offline, "TestField_J7APurgedOperationKeepsItsKey", []edit{
		{"agent/offline/things.go", "where += ` AND backend = ''`", "where += ` AND 1 = 1`"},
	}},
	{"a sale of the open batch purged", drive, "TestField_J10OldSalesArePurged", []edit{
		{"agent/checkout/drive/purge.go", `(receipt = 0 OR batch < ?)`, `(receipt = 0 OR batch <= ?)`},
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
	{"data key of an ended operation kept", outbox, "TestPayloadKeyIsDestroyedAtTheEnd", []edit{
		{"agent/outbox/attempt.go", `if err := o.db.Shred(tx, table, r.key); err != nil {`, `if err := error(nil); err != nil {`},
	}},
	{"row MAC of a sale not checked", drive, "TestTamperedRowIsShownAndNeverActedUpon", []edit{
		{"agent/checkout/drive/rows.go", `bad = bad || !bytes.Equal(s.mac, macOf(db, r, s))`, `bad = bad || !bytes.Equal(s.mac, macOf(db, r, s)) && false`},
	}},
	{"amount of a sale outside its MAC", drive, "TestEveryColumnOfASaleIsUnderItsMAC", []edit{
		{"agent/checkout/drive/rows.go", `s.phase, s.active, s.state, int64(r.Amount),
		r.Currency, s.method,`, `s.phase, s.active, s.state, int64(0),
		r.Currency, s.method,`},
	}},
	{"row MAC of an operation not checked", outbox, "TestAlteredRowsAreHeld", []edit{
		{"agent/outbox/row.go", `if !bytes.Equal(o.sum(r), r.mac) {`, `if !bytes.Equal(o.sum(r), r.mac) && false {`},
	}},

	// Journalled before it is done or told.
	{"payment sent before its commit", drive, "TestMoneyB6_ACommandThatIsNotStoredSettlesNothing", []edit{
		{"agent/checkout/drive/begin.go", "\tif err := d.insert(tx, row); err != nil {\n\t\treturn err\n\t}\n\ttext :=",
			"\tif err := d.insert(tx, row); err != nil {\n\t\treturn err\n\t}\n\t_, _ = d.svc.InitializeWithIdempotency(context.Background(), row.Key, aapay.Payment, req)\n\ttext :="},
	}},
	{"effects of an event although its commit failed", drive, "TestMoneyA1_NothingIsToldBeforeItIsStored", []edit{
		{"agent/checkout/drive/apply.go", "\tif err != nil {\n\t\treturn row, fmt.Errorf(\"apply %s: %w\", e.Name, err)\n\t}",
			"\tif errors.Is(err, checkout.ErrRefused) {\n\t\treturn row, fmt.Errorf(\"apply %s: %w\", e.Name, err)\n\t}"},
	}},
	{"abort answered before it is journalled", drive, "TestMoneyA5_AbortIsDurableBeforeItsAnswer", []edit{
		{"agent/checkout/drive/told.go", `d.apply(ctx, wire.Key(id), checkout.Event{Name: checkout.AbortAsked})`,
			"d.row(ctx, wire.Key(id))\n\td.later(func(ctx context.Context) { _, _ = d.apply(ctx, wire.Key(id), checkout.Event{Name: checkout.AbortAsked}) })"},
	}},
	{"06 B0 answered before the desk has decided", "ecr/zvt", "TestDialogues|TestField_U10Matrix", []edit{
		{"ecr/zvt/sale.go", "\tm.aborting.ids = append(m.aborting.ids, id)\n\tif m.phase", "\tm.reply(id, apdu.OK())\n\tif m.phase"},
	}},
	{"06 B0 answered well although it was too late", "ecr/zvt", "TestDialogues", []edit{
		{"ecr/zvt/sale.go", "\tm.aborting.ok = ev.Done\n", "\tm.aborting.ok, ev.Done = true, true\n"},
	}},
	{"undo decided, and never accepted", drive, "TestMoneyB1_OwedFromTheRowAlone|TestMoneyA2_DeadNetworkIsAbortedAndOwed", []edit{
		{"agent/checkout/drive/undo.go", "\tif err := d.box.Accept(tx, op); err != nil {\n\t\treturn fmt.Errorf(\"undo", "\tif err := error(nil); err != nil {\n\t\treturn fmt.Errorf(\"undo"},
	}},
	{"undo accepted outside the commit that decides it", drive, "TestCrashAtEveryJournalledStep", []edit{
		{"agent/checkout/drive/undo.go", "\tif err := d.box.Accept(tx, op); err != nil {\n\t\treturn fmt.Errorf(\"undo",
			"\td.later(func(ctx context.Context) {\n\t\t_ = d.db.Write(ctx, func(tx store.Tx) error { return d.box.Accept(tx, op) })\n\t\td.box.Wake()\n\t})\n\tif err := error(nil); err != nil {\n\t\treturn fmt.Errorf(\"undo"},
	}},
	{"settled hook outside the commit", outbox, "TestSettledRunsInTheCommitAfterFollows", []edit{
		{"agent/outbox/attempt.go", `if err := o.hook(k, tx, op); err != nil {`,
			"go func() {\n\t\t\t_ = o.db.Write(context.Background(), func(tx store.Tx) error { return o.hook(k, tx, op) })\n\t\t}()\n\t\tif err := error(nil); err != nil {"},
	}},
	{"attempt of an operation not durable before it leaves", outbox, "TestSentIsDurableBeforeTheFirstByte|TestCrashBetweenSendAndSettle", []edit{
		{"agent/outbox/attempt.go", "\t\tr.state, r.resume = Sent, Sent\n\t\tif r.sentAge < 0 {", "\t\tif r.sentAge < 0 {"},
	}},
	{"sale accepted without reserved disk space", drive, "TestMoneyB1_NothingIsAcceptedOnAFullDisk", []edit{
		{"agent/checkout/drive/begin.go", `if err := reserved.Reserved(ctx); err != nil {`, `if err := reserved.Reserved(ctx); false {`},
	}},

	// At most one effect at the backend.
	{"new Key when a payment is sent again", drive, "TestMoneyB8_LostAnswersUnderOneKey", []edit{
		{"agent/checkout/drive/poll.go", `d.svc.InitializeWithIdempotency(call, row.Key, aapay.Payment, req)`, `d.svc.InitializeWithIdempotency(call, wire.NewKey(), aapay.Payment, req)`},
	}},
	{"new Key when an undo is sent again", offline, "TestUndoIsSentAgainUnderItsKey", []edit{
		{"agent/offline/aapay.go", `u.svc.InitializeWithIdempotency(ctx, u.op.Key, u.typ, u.p.Request)`, `u.svc.InitializeWithIdempotency(ctx, wire.NewKey(), u.typ, u.p.Request)`},
	}},
	{"plain route sent again after a lost answer", drive, "TestMoneyB8_PlainRouteIsUsedOnce", []edit{
		{"agent/checkout/payment.go", `if tries := s.Lost + s.Unsent; !s.Plain && tries <= maxResends {`, `if tries := s.Lost + s.Unsent; tries <= maxResends {`},
	}},
	{"plain route sent again after a restart", drive, "TestMoneyB8_PlainIsNotSentAgainAfterACrash", []edit{
		{"agent/checkout/payment.go", `case s.Plain: // never resent (MONEY B.8)`, `case false:`},
	}},
	{"new Key when a client's write is sent again", "cross/lossy", "TestLossy", []edit{
		{"agent/offline/send.go", `r, err := b.send(ctx, op.Key, id, body)`, `r, err := b.send(ctx, wire.NewKey(), id, body)`},
	}},
	{"a client's Idempotency-Key is not stored with its write", offline, "TestPowerCutOfClientsWrites", []edit{
		{"agent/offline/put.go", "if w.key != \"\" {\n\t\tif now", "if w.key == \"none\" {\n\t\tif now"},
		{"agent/offline/keys.go", "if w.key == \"\" {", "if true {"},
	}},
	{"a link is sent under a Key that is not stored", offline, "TestPowerCutOfClientsWrites", []edit{
		{"agent/offline/linkread.go", `c, err := links.Create(ctx, key, req)`, `c, err := links.Create(ctx, wire.NewKey(), req)`},
	}},
	{"a token's local id does not lead to the backend's", offline, "TestPowerCutOfClientsWrites", []edit{
		{"agent/offline/send.go", `b.Makes && op.State == outbox.Done && k.Made != "" {`, `b.Makes && b.Thing != "token" && op.State == outbox.Done && k.Made != "" {`},
	}},
	{"what is done to a link's transaction is sent again unread", offline, "TestPowerCutOfClientsWrites", []edit{
		{"agent/offline/send.go", `case !compared, !sent && known:`, `case !compared, !sent && known, b.Thing == "transaction":`},
	}},
	{"a link that is gone when its deletion is sent again is not taken for deleted", "cross/disk", "TestEveryOperationFailsUnderClients", []edit{
		{"agent/offline/linkread.go", `drop.gone = true`, `drop.gone = false`},
	}},
	{"the client's key of a token is not stored with it", "cross/disk", "TestEveryOperationFailsUnderClients", []edit{
		{"agent/offline/put.go", "if w.key != \"\" {\n\t\tif now", "if w.key != \"\" && w.row.Service != Tokens {\n\t\tif now"},
		{"agent/offline/keys.go", "if w.key == \"\" {", "if w.key == \"\" || w.row.Service == Tokens {"},
	}},
	{"a link is stored under a number that was given before", "cross/disk", "TestEveryOperationFailsUnderClients", []edit{
		{"agent/offline/things.go", `t.local = strconv.FormatInt(firstLocal+id, 10)`, `t.local = strconv.FormatInt(firstLocal+id/2, 10)`},
	}},
	{"the terms of a recurring payment are sent under a new Key", "cross/lossy", "TestLossy", []edit{
		{"agent/offline/tokens.go", `return svc.CreateRecurring(ctx, key, req)`, `return svc.CreateRecurring(ctx, wire.NewKey(), req)`},
	}},
	{"a card check is answered and not made", "cross/lossy", "TestLossy", []edit{
		{"agent/offline/tokens.go", `return svc.Verify(ctx, key, id)`, `return tokens.Created{TokenizationID: id}, nil`},
	}},
	{"the client's key of a link is not stored with it, and the terminal dies", "cross/kill", "TestKillClients", []edit{
		{"agent/offline/put.go", "if w.key != \"\" {\n\t\tif now", "if w.key != \"\" && w.row.Service != Paylinks {\n\t\tif now"},
		{"agent/offline/keys.go", "if w.key == \"\" {", "if w.key == \"\" || w.row.Service == Paylinks {"},
	}},
	{"the client's key of a token is not stored with it, and the terminal dies", "cross/kill", "TestKillClients", []edit{
		{"agent/offline/put.go", "if w.key != \"\" {\n\t\tif now", "if w.key != \"\" && w.row.Service != Tokens {\n\t\tif now"},
		{"agent/offline/keys.go", "if w.key == \"\" {", "if w.key == \"\" || w.row.Service == Tokens {"},
	}},
	{"dependants are sent out of order over a bad link", "cross/lossy", "TestLossy", []edit{
		{"agent/outbox/attempt.go", `if err != nil || !waits {`, `if err != nil || true {`},
		{"agent/outbox/outbox.go", `NOT EXISTS (SELECT 1 FROM outbox_ops WHERE aggregate = ?4 AND open = 1)`, `1`},
	}},
	{"what an operation was is not taken off the report", outbox, "TestListGivesWhatItSays|TestModel", []edit{
		{"agent/outbox/schema.go", "(SELECT summed_id FROM outbox_clock) BEGIN\n\tUPDATE outbox_sums SET count = count - 1,", "(SELECT summed_id FROM outbox_clock) BEGIN\n\tUPDATE outbox_sums SET count = count,"},
	}},
	{"an operation's data key stays in its row", "cmd/posagent", "TestNothingOfAPurgedCardOperationIsLeft", []edit{
		{"agent/outbox/attempt.go", `r.payload, r.memo, r.dataKey = nil, nil, nil`, `r.payload, r.memo = nil, nil`},
	}},
	{"a change of the device key leaves out the rows' own keys", "store", "TestRewrapGoesOnWhereItBrokeOff", []edit{
		{"store/rewrap.go", `w.own, w.of = append(w.own, table), w.of+n`, `w.of += n`},
	}},
	{"an operation's number is given again after a start", outbox, "TestField_U13NumbersAndSumsOverRollbacks", []edit{
		{"agent/outbox/outbox.go", `SELECT MAX(COALESCE((SELECT MAX(id) FROM outbox_ops), 0), (SELECT purged_id FROM outbox_clock), ?) + 1`, `SELECT ? + 1`},
	}},
	{"plain route of an undo sent again", offline, "TestPlainRouteIsUsedOnce|TestPlainRouteAndCrash", []edit{
		{"agent/offline/aapay.go", `plain && u.op.Attempts != u.m.PlainAt:`, `plain && u.op.Attempts < u.m.PlainAt:`},
	}},
	{"an attempt that may have arrived counts as never sent", checkout, "TestField_L7NeverSentIsNotUnknown", []edit{
		{"agent/checkout/payment.go", `if e.Failure == NotSent && e.Try == s.Unsent+1 {`, `if e.Try == s.Unsent+1 {`},
	}},
	{"attempts before the last are not counted as sent", checkout, "TestField_L7NeverSentIsNotUnknown", []edit{
		{"agent/checkout/payment.go", `if e.Failure == NotSent && e.Try == s.Unsent+1 {`, `if e.Failure == NotSent {`},
	}},
	{"a refusal of the backend counts as no connection", drive, "TestField_L7NoConnectionHasItsOwnAnswer", []edit{
		{"agent/checkout/drive/poll.go", `case wire.NeverSent(err) && wire.CodeOf(err) == wire.Unavailable:`, `case wire.CodeOf(err) == wire.Unavailable:`},
	}},
	{"response code 1 on the plain route is a repeat", checkout, "TestMoneyB9_ResponseCodes", []edit{
		{"agent/checkout/judge.go", `if said && code == aapay.CodeResend && !plain {`, `if said && code == aapay.CodeResend {`},
	}},
	{"an unkeyed write is repeated by the client", "agent/upstream", "TestRepeats", []edit{
		{"agent/upstream/upstream.go", `&call{repeatable: req.Method`, `&call{repeatable: true || req.Method`},
	}},
	{"a 401 to a repeat is proof that nothing happened", "agent/upstream", "TestRefusedAfterALostTry", []edit{
		{"agent/upstream/upstream.go", `if err == nil && policy.lost && `, `if err == nil && false && `},
	}},
	{"any key of the chain will do for a pin", "agent/upstream", "TestWrongPinNamesItsRemedy", []edit{
		{"agent/upstream/transport.go", `if pins[string(sum[:])] {`, `if true || pins[string(sum[:])] {`},
	}},
	{"a token is used until the backend refuses it", "agent/upstream", "TestTokenIsRenewedBeforeItExpires", []edit{
		{"agent/upstream/auth.go", `z.token != "" && left > 0 &&`, `z.token != "" && left > -time.Hour &&`},
	}},
	{"transport repeats on a dead idle connection", "agent/upstream", "TestDeadIdleConnectionsDoNotMultiplyTries", []edit{
		{"agent/upstream/transport.go", `out.GetBody = nil //`, `//`},
	}},
	{"a connection that says nothing keeps its place", "agent/port", "TestSilentConnectionsMakeRoom", []edit{
		{"agent/port/limit.go", `case s != http.StateNew && s != http.StateIdle:`, `case s != http.StateIdle:`},
	}},
	{"a bar where nobody can see one", "cmd/posagent", "TestProgress", []edit{
		{"cmd/posagent/ops_send.go", `	if d.tty {
		d.draw()
		return
	}`, `	d.tty = true
	d.draw()
	if d.tty {
		return
	}`},
	}},
	{"a terminal that cannot draw gets a bar", "cmd/posagent", "TestScripts", []edit{
		{"cmd/posagent/text.go", ` && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"`, ``},
	}},
	{"ready on a full disk", "agent", "TestReadyOnAFullDisk", []edit{
		{"agent/readiness.go", `if err := a.o.DB.Reserved(ctx); err != nil {`, `if err := a.o.DB.Health(ctx).Err; err != nil {`},
	}},
	{"ready while a cable is pulled", "agent/ready", "TestField_U2WhenARegisterMayAsk", []edit{
		{"agent/ready/ready.go", `case len(f.Closed) > 0:`, `case len(f.Closed) == f.Lines:`},
	}},
	{"ready though the credentials are refused", "agent/ready", "TestField_U2WhenARegisterMayAsk", []edit{
		{"agent/ready/ready.go", `if !t.Cause.Passes() {`, `if !f.Held && !t.Cause.Passes() {`},
	}},
	{"ready with credentials that nobody has accepted", "cmd/posagent", "TestField_U2OfflineIsReadyOnceProven", []edit{
		{"agent/readiness.go", `j.read, j.stored = true, bytes.Equal(was, mac)`, `j.read, j.stored = true, bytes.Equal(was, mac) || was != nil`},
	}},
	{"a login page is the backend", "agent/upstream", "TestField_U3FaultsByTheirReplies", []edit{
		{"agent/upstream/fault.go", `case resp.StatusCode < 300 &&`, `case resp.StatusCode < 200 &&`},
	}},
	{"a monitor reads ready on a full disk", "agent", "TestReadyOnAFullDisk", []edit{
		{"agent/view/house.go", `bit(h.DB.Reserved(ctx) == nil)`, `bit(h.DB.Health(ctx).Err == nil)`},
	}},
	{"status says nothing of a full disk", "agent", "TestReadyOnAFullDisk", []edit{
		{"agent/view/house.go", "\tv.Disk(health)\n", "\t_ = health\n"},
	}},
	{"status names too little space to free", "agent/view", "TestStatusDiskFull", []edit{
		{"agent/view/status.go", `h.ShortBytes>>10+1`, `h.ShortBytes>>20+1`},
	}},
	{"new work is taken while the reserve is gone", "store", "TestReservedRefusesWithoutBallast", []edit{
		{"store/health.go", `return s.ballast.ensure()`, `return nil`},
	}},
	{"the reserve uses up what was freed for open work", "store", "TestBallast", []edit{
		{"store/reserve.go", `if free < 2*b.size+lowWater {`, `if free < b.size+lowWater {`},
	}},
	{"the reserve is kept when a write is about to fail for it", "store", "TestReservedRefusesWithoutBallast", []edit{
		{"store/reserve.go", `const lowWater = 128 << 10`, `const lowWater = 0`},
	}},
	{"status says nothing of operations that cannot leave", "agent/view", "TestStatusWaitingOperations", []edit{
		{"agent/view/status.go", `case n == 0: //`, `case true: //`},
	}},
	{"refused credentials read like a network that is down", "agent/view", "TestStatusWaitingOperations", []edit{
		{"agent/view/status.go", `	case s.Refused:`, `	case false:`},
	}},
	{"status asks for help where nothing waits", "agent/view", "TestStatusWaitingOperations", []edit{
		{"agent/view/status.go", `case n == 0: //`, `case false: //`},
	}},
	{"a sum without a currency is not shown", "agent/view", "TestOpsCountTotal", []edit{
		{"agent/view/status.go", `	case o.Sum == 0:`, `	case true:`},
	}},
	{"a redirect is followed", "agent", "TestHostileReplies", []edit{
		{"agent/upstream/upstream.go", `CheckRedirect: func(*http.Request, []*http.Request) error { return ErrRedirect },`, `CheckRedirect: nil,`},
	}},
	{"a page of somebody else is the service's own word", "agent", "TestHostileReplies", []edit{
		{"schemes/wire/problem.go", `e.Code = c.byStatus(a.Status, own, keyed)`, `e.Code = c.byStatus(a.Status, true, keyed)`},
	}},
	{"old TLS is good enough", "agent/upstream", "TestNothingIsSentOverBadTLS", []edit{
		{"agent/upstream/transport.go", `MinVersion: tls.VersionTLS12`, `MinVersion: tls.VersionTLS10`},
	}},
	{"the backend's name is not looked at", "agent/upstream", "TestNothingIsSentOverBadTLS", []edit{
		{"agent/upstream/transport.go", `MinVersion: tls.VersionTLS12`, `InsecureSkipVerify: true, MinVersion: tls.VersionTLS12`},
	}},
	{"a stolen key is let in without its pin", "agent/upstream", "TestARevokedKeyIsShutOutByItsPin", []edit{
		{"agent/upstream/transport.go", "\t\t\t\tfault = errPin\n", "\t\t\t\treturn nil\n"},
	}},
	{"a card number of escaped pieces is not masked", "agent", "TestNoPathLeavesACardNumber", []edit{
		{"schemes/wire/pan.go", `case hex == "20" ||`, `case false ||`},
	}},
	{"a card number whose digits are escaped is not masked", "schemes/wire", "TestMaskPANs", []edit{
		{"schemes/wire/pan.go", `case hex >= "30" && hex <= "39":`, `case false:`},
	}},
	{"a card number that is escaped twice is not masked", "agent", "TestNoPathLeavesACardNumber", []edit{
		{"schemes/wire/pan.go", `for strings.HasPrefix(s[j:], "25") {`, `for false {`},
	}},
	{"why the backend is away names a card number", "agent", "TestNoPathLeavesACardNumber", []edit{
		{"agent/upstream/upstream.go", `c.circuit.failed(wire.MaskPANs(err.Error()))`, `c.circuit.failed(err.Error())`},
	}},
	{"why an operation waits names a card number", "agent/outbox", "TestNoReasonHoldsACardNumber", []edit{
		{"agent/outbox/attempt.go", `r.reason = wire.MaskPANs(v.Reason)`, `r.reason = v.Reason + wire.MaskPANs("")`},
	}},
	{"why a service is down names a card number", "agent/outbox", "TestNoReasonHoldsACardNumber", []edit{
		{"agent/outbox/service.go", `refused, wire.MaskPANs(reason)`, `refused, reason+wire.MaskPANs("")`},
	}},
	{"a technician's note keeps a card number", "agent/outbox", "TestNoReasonHoldsACardNumber", []edit{
		{"agent/outbox/verbs.go", `ByHand + wire.MaskPANs(note)`, `ByHand + note`},
	}},
	{"an operation is ordered under a card number", "agent/offline", "TestCardNumbers", []edit{
		{"agent/offline/things.go", `case wire.MaskPANs(id) != id:`, `case false:`},
	}},
	{"a stored payment shows a card number for its number", "agent/offline", "TestCardNumbers", []edit{
		{"agent/offline/payments.go", `Number: wire.MaskPANs(req.PaymentNumber)`, `Number: req.PaymentNumber`},
	}},
	{"a stored link shows a card number for its reference", "agent/offline", "TestALinksReferenceHoldsNoCardNumber", []edit{
		{"agent/offline/links.go", `*s = wire.MaskPANs(*s)`, `_ = s`},
	}},
	{"a stored refusal tells a card number", "agent/offline", "TestALinksReferenceHoldsNoCardNumber", []edit{
		{"agent/offline/send.go", `Msg: wire.MaskPANs(e.Msg)`, `Msg: e.Msg`},
	}},
	{"a stranger's request keeps its place", "agent/port", "TestStrangersMakeRoom", []edit{
		{"agent/port/limit.go", `case s == http.StateActive && !c.proven:`, `case false:`},
	}},
	{"a request under way is cut for strangers though it is known who asks", "agent/port", "TestStrangersMakeRoom", []edit{
		{"agent/port/limit.go", "\tc.proven = true\n\tl.forget(c)\n", ""},
	}},
	{"a client's idle connection is cut before a stranger's", "agent/port", "TestStrangersMakeRoom", []edit{
		{"agent/port/limit.go", `	c.kind = idle`, `	c.kind = silent`},
	}},
	{"a stranger has the time of a client for its body", "agent/port", "TestStrangersHaveLittleTime", []edit{
		{"agent/port/port.go", `ReadTimeout:    strangers,`, `ReadTimeout: readTime,`},
	}},
	{"a stranger is answered when its body is there", "agent/port", "TestStrangersHaveLittleTime", []edit{
		{"agent/port/auth.go", `w.Header().Set("Connection", "close")`, ``},
	}},
	{"a local client reaches what others made", "cmd/posagent", "TestField_P1AlphaReachesNothingOfBetas", []edit{
		{"agent/port/clients.go", `who.Own = !slices.Contains(who.Words, mayAll)`, `who.Own = slices.Contains(who.Words, "")`},
	}},
	{"the register's sale is reversed past the checkout", "cmd/posagent", "TestField_P1AlphaReachesNothingOfBetas", []edit{
		{"agent/owned/schemes.go", `		case name == "":`, `		case name == name:`},
	}},
	{"a name that the backend refused is the client's", "agent/owned", "TestField_P1ARefusedNameIsNotClaimed", []edit{
		{"agent/owned/naming.go", `	if n.inserted && !n.good {`, `	if n.inserted && n.good && !n.good {`},
	}},
	{"a client's own notice makes any operation its own", "agent/owned", "TestField_P1ANoticeGivesNoForeignOperation", []edit{
		{"agent/owned/hosted.go", `strings.EqualFold(op.OperationID, id)`, `strings.EqualFold(op.OperationID, op.OperationID)`},
	}},
	{"one client's key meets another's at the backend", "agent/owned", "TestField_P1KeysOfClientsAreApart", []edit{
		{"agent/owned/naming.go", `"posagent client key 1", client, string(key))`, `"posagent client key 1", string(key))`},
	}},
	{"a link by which the register sold is taken back past the checkout", offline, "TestField_P1TheRegistersLinkIsNotTakenBack", []edit{
		{"agent/offline/owner.go", `	if err == nil && sale != "" {`, `	if err == nil && sale == "\x00" {`},
	}},
	{"a client pays with another's token", "cmd/posagent", "TestField_P1AlphaReachesNothingOfBetas", []edit{
		{"agent/offline/owner.go", `	if !caller.Own || token == "" {`, `	if !caller.Own || token != "" {`},
	}},
	{"who only names a client takes its places for payment links", "agent/port", "TestClients", []edit{
		{"agent/port/services.go", `a.calling(maxLinkBody, theirs("instance and secret", false, fail, h))`,
			`a.calling(maxLinkBody, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				a.named(r.URL.Query().Get(paylinks.InstanceParam), instance).paced(w, r, fail, theirs("instance and secret", false, fail, h))
			}))`},
	}},
	{"the backend's refusal of the terminal reads like a wrong signature of a link's client", "agent/port", "TestTheTerminalsOwnCredentials", []edit{
		{"agent/port/services.go", "\t\t\t\tanswer.proven = true\n", ""},
	}},
	{"a Key accepted twice is two operations", outbox, "TestAcceptOnceByKey", []edit{
		{"agent/outbox/outbox.go", `	if !same {`, `	if same {`},
	}},
	{"a Key the backend may have forgotten is sent", outbox, "TestForgottenKeyIsDoubt", []edit{
		{"agent/outbox/attempt.go", `stale := before == Sent && r.sentAge >= 0 && age-r.sentAge > o.ttl.Milliseconds()`, `stale := before == Sent && r.sentAge >= 0 && age-r.sentAge > o.ttl.Milliseconds() && false`},
	}},
	{"order within an aggregate not kept", outbox, "TestOrderWithinParallelAcross|TestAMarkIsOnlyAMark", []edit{
		{"agent/outbox/attempt.go", `if err != nil || !waits {`, `if err != nil || true {`},
	}},
	{"401 fails an operation", outbox, "TestFromError", []edit{
		{"agent/outbox/verdict.go", "case wire.Unauthorized, wire.Forbidden:\n\t\tv.State, v.Reach = Pending, Refused", "case wire.Unauthorized, wire.Forbidden:\n\t\tv.State, v.Reach = Failed, Refused"},
	}},
	{"an answered message is repeated into the next dialogue", "ecr/zvt", "TestMoneyA3_WhatIsAnsweredIsNotRepeated", []edit{
		{"ecr/zvt/machine.go", `	if m.leaving > 0 { // also`, `	if m.phase != idle && m.leaving > 0 { // also`},
	}},
	{"what waits for its acknowledgement cannot be taken back", "ecr/session", "TestUnsendTakesBackWhatHasNotLeft", []edit{
		{"ecr/session/dialog.go", `if l.cancel != nil && l.seq <= through {`, `if false {`},
	}},
	{"an unanswered send is unsent", outbox, "TestFromError|TestUnsentStaysPendingSentNeverGoesBack", []edit{
		{"agent/outbox/verdict.go", "case wire.TooMany, wire.UnknownOutcome:\n", "case wire.TooMany, wire.UnknownOutcome:\n\t\tv.State = Pending\n"},
	}},
	{"a register's repeated id is a new sale", drive, "TestSequenceJoins", []edit{
		{"agent/checkout/drive/begin.go", "\t\tkey = row.Key\n\t\treturn nil\n\t})\n\treturn key, d.stored(err)", "\t\treturn nil\n\t})\n\treturn key, d.stored(err)"},
	}},
	{"frame filter off", frame, "TestRepeatedSaleIsDeliveredOnce", []edit{
		{"ecr/zvt/frame/filter.go", `if f.prev == nil || !bytes.Equal(data, f.prev) {`, `if f.prev == nil || !bytes.Equal(data, f.prev) || true {`},
	}},
	{"what begins no message is passed over on TCP", "ecr/session", "TestField_L1AWebPageReachesNoSale", []edit{
		{"ecr/zvt/frame/tcp.go", `if !apdu.Begins(pending[0]) {`, `if pending[0] == 0x15 && !apdu.Begins(pending[0]) {`},
	}},
	{"06 20 takes over the dialogue of a connection that lives", "ecr/session", "TestField_L2OpenDialogueIsNotTakenOver", []edit{
		{"ecr/zvt/table.go", `join, take, busy, await},`, `join, take, busy, take},`},
	}},
	{"a dead connection keeps its dialogue", "ecr/session", "TestField_L2ARegisterWithoutPowerGetsItsDialogueBack", []edit{
		{"ecr/session/tcp.go", `			keepAlive(tcp)`, `			_ = tcp.SetKeepAlive(false)`},
	}},
	{"a command is done without the password", "ecr/session", "TestField_L3NothingWithoutThePassword", []edit{
		{"ecr/zvt/machine.go", `if !m.shown && !m.shows(msg) {`, `if !m.shown && !m.shows(msg) && msg.Cmd != apdu.AbortECR {`},
	}},
	{"wrong passwords cost no time", "ecr/session", "TestField_L3WrongPasswordsCostTime", []edit{
		{"ecr/session/guard.go", `	one.wrong++`, `	one.wrong = 0`},
	}},
	{"passwords of one address are judged side by side", "ecr/session", "TestField_L3WrongPasswordsCostTime", []edit{
		{"ecr/session/guard.go", `	case <-one.turn:`, `	case <-one.turn:
		one.turn <- struct{}{}
		defer func() { <-one.turn }()`},
	}},
	{"a register line is open to the network without a word", "agent/config", "TestField_L3OpenLineIsRefused", []edit{
		{"agent/config/validate.go", `len(e.Allow) == 0 && !e.Open {`, `len(e.Allow) == 0 && e.Open {`},
	}},
	{"a sale asked for anew leaves the old one to be confirmed", "ecr/zvt", "TestField_U10Matrix", []edit{
		{"ecr/zvt/table.go", `	apdu.Authorisation:  {take, busy, forgets, busy, unheard,`, `	apdu.Authorisation:  {take, busy, forgets, busy, busy,`},
	}},
	{"a sale that a restarted register does not know is told and confirmed", "ecr/zvt", "TestField_U10Matrix", []edit{
		{"ecr/zvt/sale.go", `	if m.d.forgotten && out.Result == ecr.Approved {`, `	if false {`},
	}},
	{"06 01 is taken while receipts are printed", "ecr/zvt", "TestField_U10Matrix", []edit{
		{"ecr/zvt/table.go", `	apdu.Authorisation:  {take, busy, forgets, busy, unheard, busy, busy, busy, take,`, `	apdu.Authorisation:  {take, busy, forgets, busy, unheard, busy, busy, take, take,`},
	}},
	{"a running end of day is dropped", "ecr/zvt", "TestField_U10Matrix", []edit{
		{"ecr/zvt/table.go", `	apdu.EndOfDay:       {take, busy, busy, busy,`, `	apdu.EndOfDay:       {take, busy, busy, restart,`},
	}},
	{"a loss is not recorded before the next sale", "ecr/zvt", "TestField_U10Matrix", []edit{
		{"ecr/zvt/sale.go", `	m.do(Deliver{Gen: m.d.gen, Sale: sale, Delivery: ecr.Lost})
}

// await`, `	m.do(Deliver{Gen: m.d.gen, Sale: sale, Delivery: ecr.Lost})
	m.beginSale()
}

// await`},
	}},
	{"block checksum not compared", frame, "TestNoFlippedBitIsDelivered|TestDecodeBlockRefuses", []edit{
		{"ecr/zvt/frame/block.go", `if want := crcByte(Checksum(data), etx); got != want {`, `if want := crcByte(Checksum(data), etx); got != want && false {`},
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
		{"agent/checkout/payment.go", `if s.TransactionID != 0 && st.TransactionID != 0 && s.TransactionID != st.TransactionID {`, `if s.TransactionID < 0 {`},
	}},
	{"a sale that settles is not watched", drive, "TestMoneyA1_ReservedIsWatchedUntilCommit|TestMoneyA1_AnAcknowledgementDoesNotEndTheWatch", []edit{
		{"agent/checkout/outcome.go", `s.Settling = s.Account != aapay.Commit`, `s.Settling = false`},
	}},

	// Told, and undone.
	{"a lost telling counts as told", drive, "TestMoneyA3_ToldRefusedLost", []edit{
		{"agent/checkout/drive/told.go", `ecr.Lost: checkout.Lost}`, `ecr.Lost: checkout.Told}`},
	}},
	{"any answer to 04 0F is an acknowledgement", "ecr/zvt", "TestApprovalIsConfirmedByItsAnswerOnly", []edit{
		{"ecr/zvt/sale.go", `case r.code != 0 && m.d.told == ecr.Approved:`, `case false:`},
	}},
	{"an approval is confirmed without an answer", "ecr/zvt", "TestApprovalIsConfirmedByItsAnswerOnly", []edit{
		{"ecr/zvt/sale.go", "case r.lost:\n\t\tm.record(ecr.Lost)", "case r.lost:\n\t\tm.record(ecr.Told)"},
	}},
	{"a told sale is undone (CONFIRMED to REVERSING)", drive, "TestMoneyB6_OnlyOneOfTwoEventsWins", []edit{
		{"agent/checkout/table.go", `{BatchClosed, closed}, {Restarted, settleAgain}},
		ignore: names{Replied, ReplyFailed, CodeBroken, Told, Refused, Lost, NextCommand, GraceOver, EndOfDay, ToldAborted},`, `{BatchClosed, closed}, {Restarted, settleAgain}, {GraceOver, takeBack}},
		ignore: names{Replied, ReplyFailed, CodeBroken, Told, Refused, Lost, NextCommand, EndOfDay, ToldAborted},`},
	}},
	{"UNCONFIRMED touched twice (no compare-and-set)", drive, "TestMoneyB6_OnlyOneOfTwoEventsWins", []edit{
		{"agent/checkout/drive/told.go", "\tbusy := false\n\terr = d.db.Write(", "\tbusy := false\n\tread, _ := d.row(ctx, key)\n\terr = d.db.Write("},
		{"agent/checkout/drive/told.go", "\t\teffects, err = d.transit(tx, row, checkout.Event{Name: checkout.GraceOver})", "\t\trow = read\n\t\teffects, err = d.transit(tx, row, checkout.Event{Name: checkout.GraceOver})"},
	}},
	{"a sale is undone while it is being told", drive, "TestMoneyA3_NothingUndoesASaleWhileItIsBeingTold", []edit{
		{"agent/checkout/drive/begin.go", `e.Sync != checkout.Same && d.isHeld(r.Key)`, `false`},
	}},
	{"grace timer ignored", drive, "TestMoneyA3_GraceIsTenMinutesExactly", []edit{
		{"agent/checkout/drive/apply.go", `if row.State.Phase == checkout.Unconfirmed {`, `if row.State.Phase == checkout.Unconfirmed && false {`},
	}},
	{"grace ends with a command that failed", drive, "TestMoneyB6_ACommandThatIsNotStoredSettlesNothing", []edit{
		{"agent/checkout/drive/begin.go", `a.steps = nil`, `a.join = ""`},
	}},
	{"the register's next command does not undo", drive, "TestMoneyB6_LastReceiptOfTheNextCommand|TestMoneyB11_ARepeatedRequest", []edit{
		{"agent/checkout/outcome.go", `if e.Sync == Same {`, `if true {`},
	}},
	{"end of day confirms what nobody acknowledged", drive, "TestMoneyB13_EndOfDay", []edit{
		{"agent/checkout/table.go", `{GraceOver, takeBack}, {EndOfDay, takeBack},`, `{GraceOver, takeBack}, {EndOfDay, confirm},`},
	}},
	{"restart in a new boot does not undo", drive, "TestMoneyB12_ANewBootEndsTheDialogue", []edit{
		{"agent/checkout/drive/resume.go", `NewBoot: row.Boot != d.bootID}`, `NewBoot: false}`},
	}},
	{"a COMMIT after the abort approves", checkout, "TestMoneyA5_AbortIsFinal", []edit{
		{"agent/checkout/payment.go", "\tif !foreign(s, e.Status) {\n\t\ts = learn(s, e)\n\t}\n", "\tif !foreign(s, e.Status) {\n\t\ts = learn(s, e)\n\t}\n\tif s.Committed {\n\t\treturn approve(s, e)\n\t}\n"},
	}},
	{"a commit after the decline is kept", drive, "TestMoneyA1_CommitAfterDeclinedIsUndone", []edit{
		{"agent/checkout/outcome.go", "case s.Account == aapay.Commit:\n\t\treturn undo(s, e, \"paid after it was declined\")\n\tcase !finalNo(s):", "case s.Account != aapay.Commit && !finalNo(s):"},
	}},
	{"an undo's no ends it", checkout, "TestMoneyB3_AnotherAttempt|TestMoneyB2_ProofEndsAnUndo", []edit{
		{"agent/checkout/outcome.go", "case u.OK:\n\t\ts.Phase, s.UndoOpen = Done, false", "case u.OK || !u.InDoubt:\n\t\ts.Phase, s.UndoOpen = Done, false"},
	}},
	{"not found is proof at once", drive, "TestMoneyB2_NotFoundProvesOnlyAfterTheWindow", []edit{
		{"agent/checkout/outcome.go", "\tcase e.Failure == NotFound && windowOver(s, e):", "\tcase e.Failure == NotFound:"},
	}},
	{"a final no is proof at once", drive, "TestMoneyB2_FinalBadProvesOnlyAfterItsWindow", []edit{
		{"agent/checkout/timers.go", `return asked >= clampSum(s.SentAt, s.Limits.Window()) && asked >= s.AnswerAt`, `return asked >= s.AnswerAt`},
	}},
	{"an answer from before the undo's is proof", checkout, "TestMoneyB2_AnAnswerFromBeforeProvesNothing", []edit{
		{"agent/checkout/timers.go", ` && asked >= s.AnswerAt`, ``},
	}},
	{"a refund that timed out has failed at once", offline, "TestATimedOutRefundIsLiveForItsWindow", []edit{
		{"agent/offline/aapay.go", `return before.Late < u.p.Window`, `return false`},
	}},
	{"a journal put back from a backup sends what it holds", outbox, "TestMoneyC3_ARestoredBackupSendsNothingByItself", []edit{
		{"agent/outbox/restored.go", `r.resume, r.state, r.reason = Sent, Held, reason`, `r.resume, r.reason = Sent, reason`},
	}},
	{"an operation of a backup counts as never sent when it is released", outbox, "TestMoneyC3_AReleasedOperationOfAnOldBackupIsNotResent", []edit{
		{"agent/outbox/restored.go", `r.resume, r.state, r.reason = Sent, Held, reason`, `r.resume, r.state, r.reason = r.state, Held, reason`},
	}},
	{"an open sale of a backup is resumed", drive, "TestMoneyC3_AnOpenSaleOfARestoredJournalIsSetAside", []edit{
		{"agent/checkout/drive/resume.go", `if r.Aside != "" {`, `if r.Aside = ""; false {`},
		{"agent/checkout/drive/rows.go", `r.Quarantined = bad || r.Aside != ""`, `r.Quarantined = bad`},
	}},
	{"a journal from before the mark that was put back is taken for the present one", "store", "TestJudge", []edit{
		{"store/judge.go", `case e.old < e.beside:`, `case false:`},
	}},
	{"a journal behind its mark is taken for whole", "store", "TestField_J1ADamagedLogIsNoticed|TestField_J2ACopyPutBackIsNoticed", []edit{
		{"store/judge.go", `case row.end.Sequence < m.end.Sequence:`, `case false:`},
	}},
	{"a missing journal is made anew beside its mark", "store", "TestField_J3AMissingJournalIsNotANewOne", []edit{
		{"store/settle.go", "\tif err == nil {\n\t\terr = v.err(s.opt.Path, seen.mark)\n\t}\n\tseen.verdict = v", "\tv.afresh = v.missing\n\tseen.verdict = v"},
		{"store/settle.go", `seen.evidence, seen.verdict = e, judge(e)`, `seen.evidence = e`},
	}},
	{"the mark is written before COMMIT", crashfs, "TestPowerCutLosesNothing", []edit{
		{"store/writer.go", "\tstart := time.Now()\n\tif err := s.w.exec(\"COMMIT\"); err != nil {",
			"\tif changed {\n\t\ts.counted(next)\n\t}\n\tstart := time.Now()\n\tif err := s.w.exec(\"COMMIT\"); err != nil {"},
	}},
	{"a start that fails folds the log beside a mark that asks for it", "store", "TestField_J1AFailedStartKeepsTheLog", []edit{
		{"store/store.go", `if s.marks != nil { // they may still say that the log is being folded`, `if false {`},
	}},
	{"the mark does not say that the log is being folded", crashfs, "TestField_J1AFoldingThatLostItsLogIsNoticed", []edit{
		{"store/checkpoint.go", `s.marks.durably(func(c *slot) { c.fold = f })`, `s.marks.durably(func(c *slot) { c.fold = folding{} })`},
	}},
	{"the log may be started anew while it is being folded", "store", "TestTheLogStaysWhileTheMarkNamesIt", []edit{
		{"store/checkpoint.go", `if err := pin.begin("BEGIN"); err != nil {`, `if err := pin.begin("SELECT 1"); err != nil {`},
	}},
	{"a log cut back to the journal's beginning is taken for one in the making", "store", "TestJudge", []edit{
		{"store/judge.go", "\t\tcase row.end.Generation != m.end.Generation, row.end.Sequence < m.end.Sequence:", "\t\tcase false:"},
	}},
	{"another terminal goes on with a journal in which nothing is open", "agent", "TestField_J6AJournalBelongsToOneTerminal", []edit{
		{"agent/bind.go", `sales > 0 || ops > 0 || identity(was) != identity(name)`, `sales > 0 || ops > 0`},
	}},
	{"a key is made beside a journal that lacks it", "cmd/posagent", "TestField_J6NoKeyIsMadeBesideAJournal", []edit{
		{"cmd/posagent/config.go", `load = device.LoadKeys //`, `load = device.OpenKeys //`},
	}},
	{"a row that is removed lowers the highest number", "agent", "TestField_J9ARemovedRowLeavesAGap", []edit{
		{"agent/view/numbers.go", `max(was.Highest, highest)}`, `highest}`},
	}},
	{"the number of a removed operation is given again", "agent", "TestField_J9ARemovedRowLeavesAGap", []edit{
		{"agent/outbox/outbox.go", `?) + 1` + "`" + `, o.lastID).Scan(&r.id)`, `?) + 1` + "`" + `, 0).Scan(&r.id)`},
	}},
	{"a gap among the rows is not said", "agent", "TestField_J9ARemovedRowLeavesAGap", []edit{
		{"agent/view/numbers.go", `if gone <= 0 {`, `if gone >= 0 {`},
	}},
	{"the journal claims a mark before it is durable", "store", "TestAMarkThatCannotBeMadeIsNotClaimed", []edit{
		{"store/settle.go", "\t\ts.log.Error(\"the mark cannot be written: a journal that is cut would not be noticed\", \"err\", err)\n\t\treturn nil", "\t\ts.log.Error(\"the mark cannot be written: a journal that is cut would not be noticed\", \"err\", err)"},
	}},
	{"an operation under way is resolved by hand", outbox, "TestAnOperationUnderWayIsNotResolved", []edit{
		{"agent/outbox/verbs.go", `_, away := o.busy[r.id]`, `away := false`},
	}},
	{"an acknowledgement the store refused is forgotten", drive, "TestMoneyA3_AnAcknowledgementWaitsForTheStore|TestMoneyA3_WhatWasHeardIsStoredOnceTheStoreCan", []edit{
		{"agent/checkout/drive/told.go", "\tdefault:\n\t\td.unrecorded(key, what)", "\tdefault:\n\t\td.released(key)"},
	}},
	{"the next undo has the last one's Key", drive, "TestMoneyB3_EveryAttemptHasItsOwnKeyAndReference", []edit{
		{"agent/checkout/drive/undo.go", `r.UndoKey = wire.NewKey()`, "if r.UndoKey == \"\" {\n\t\tr.UndoKey = wire.NewKey()\n\t}"},
	}},
	{"a refund is refused before the journal is taken up", drive, "TestField_L5NothingIsRefusedBeforeTheJournalIsTakenUp", []edit{
		{"agent/checkout/drive/begin.go", `return refuse(ecr.Resuming, "older sales are being resumed")`, `return refuse(ecr.NotReady, "starting")`},
	}},
	{"a refund the desk takes long over is refused", "ecr/zvt", "TestDialogues", []edit{
		{"ecr/zvt/sale.go", `case m.phase == asking && (m.d.msg.Cmd == apdu.Reversal || m.d.msg.Cmd == apdu.RefundCmd):`, `case false:`},
	}},
	{"a refund that may have left is withdrawn", drive, "TestField_L4WhatMayHaveLeftIsToldInProgress", []edit{
		{"agent/offline/aapay.go", `if u.m.Touched || !wire.NeverSent(err) {`, `if false {`},
	}},
	{"a withdrawn refund keeps its amount debited", drive, "TestField_L4WhatNeverLeftIsWithdrawn", []edit{
		{"agent/checkout/outcome.go", "s = decide(s, ecr.Aborted, ecr.NoConnection, u.Text)\n\t\treturn s, []Effect{{Do: Release}, {Do: Tell}}", "s = decide(s, ecr.Aborted, ecr.NoConnection, u.Text)\n\t\treturn s, []Effect{{Do: Tell}}"},
	}},
	{"the timers of a method that was not chosen", drive, "TestField_J8TheChosenMethodsTimersCount", []edit{
		{"agent/checkout/drive/live.go", `l.seq, l.limits = seq, row.State.Limits`, "if l.seq = seq; l.limits.Long == 0 {\n\t\tl.limits = row.State.Limits\n\t}"},
	}},
	{"a dead disk keeps a register waiting", drive, "TestField_J8ADeadDiskEndsEveryDialogue", []edit{
		{"agent/checkout/drive/late.go", `checkout.LastReadAt - answerBefore - d.boot()`, `time.Hour - d.boot()`},
	}},
	{"two sales at a time", drive, "TestOneSaleAtATime", []edit{
		{"agent/checkout/drive/begin.go", `if !r.Quarantined && checkout.Open(r.State) {`, `if !r.Quarantined && checkout.Open(r.State) && false {`},
	}},

	// Time.
	{"sale's timers by the wall clock", drive, "TestMoneyA4_WallClockDecidesNothing", []edit{
		{"agent/checkout/drive/drive.go", "\tif d.boot == nil {\n", "\td.boot = func() time.Duration { return time.Duration(d.now().UnixNano()) }\n\tif d.boot == nil {\n"},
	}},
	{"outbox's ages by the wall clock", outbox, "TestMaxAgeCountsRunningTimeOnly|TestAWallClockThatJumpsExpiresNothing", []edit{
		{"agent/outbox/outbox.go", `o.clock = &clock{boot: opts.Boot, now: o.now}`, `o.clock = &clock{boot: func() time.Duration { return time.Duration(o.now().UnixNano()) }, now: o.now}`},
	}},
	{"no deadline", drive, "TestMoneyA4_DeadlineOf85Seconds", []edit{
		{"agent/checkout/timers.go", `Patience = 85 * time.Second`, `Patience = 15000 * time.Second`},
	}},

	// Numbers, amounts, the ledger.
	{"receipt number given twice", drive, "TestMoneyB10_ReceiptsAreForApprovedSalesOnly", []edit{
		{"agent/checkout/drive/undo.go", `if used == 0 {`, `if used >= 0 {`},
		{"agent/checkout/drive/undo.go", `if err := setCounter(tx, "receipt", last); err != nil {`, `if err := setCounter(tx, "receipt", last-1); err != nil {`},
	}},
	{"receipt number given twice after 9999", drive, "TestMoneyB10_AroundAt9999NoReceiptIsGivenTwice", []edit{
		{"agent/checkout/drive/undo.go", `if used == 0 {`, `if used >= 0 {`},
	}},
	{"refund ledger not debited", drive, "TestMoneyB7_OneLedgerForReversalsAndRefunds|TestMoneyB7_TheLedgerIsDebitedAtAcceptAndReleasedByAFinalNo", []edit{
		{"agent/checkout/drive/forward.go", `orig.Debited += row.Amount`, `orig.Debited += 0`},
	}},
	{"second full reversal accepted", drive, "TestMoneyB7_OneLedgerForReversalsAndRefunds", []edit{
		{"agent/checkout/drive/forward.go", `orig.Reversed = orig.Reversed || a.req.Kind == ecr.Reversal`, `orig.Reversed = false`},
		{"agent/checkout/drive/forward.go", `case req.Kind == ecr.Reversal && o.Debited != 0:`, `case false:`},
	}},
	{"a repeated refund is a second refund", drive, "TestMoneyB4_ARefundWhoseTellingWasLostIsNotMadeTwice", []edit{
		{"agent/checkout/drive/forward.go", `if !r.Quarantined && sameForward(r, a.req, a.last) {`, `if !r.Quarantined && sameForward(r, a.req, a.last) && false {`},
	}},
	{"another currency is taken", drive, "TestMoneyA6_Currency", []edit{
		{"agent/checkout/drive/begin.go", `case req.Currency != d.cfg.Currency:`, `case req.Currency == "":`},
	}},
	{"an amount without hundredths is rounded", "schemes/money", "TestHundredths", []edit{
		{"schemes/money/money.go", `return mulDiv(n, mul, pow10(c.Exponent))`, `return n * int64(mul) / int64(pow10(c.Exponent)), nil`},
	}},
	{"duplicate keys of a JSON text taken", "schemes/wire", "TestCheckCorpus|TestDecodeRefuses", []edit{
		{"schemes/wire/json.go", `if _, twice := seen[key]; twice {`, `if _, twice := seen[key]; twice && false {`},
	}},
	{"a required field may be missing", "schemes/wire", "TestRequiredAndNotNull|TestRequiredReadsAnySpelling", []edit{
		{"schemes/wire/require.go", `if err := check(at, found, raw); err != nil {`, `if err := check(at, found || true, raw); err != nil {`},
	}},
	{"a required field is missed in another spelling", "schemes/wire", "TestRequiredAndNotNull|TestRequiredReadsAnySpelling", []edit{
		{"schemes/wire/require.go", `same = err == nil && plain == name`, `same = err == nil && plain == name && false`},
	}},
	{"the end of a service's absence is not waited for", "agent/outbox", "TestNothingIsLookedForWhileItsServiceIsAway", []edit{
		{"agent/outbox/run.go", `wait = min(wait, s.next-run)`, `wait = min(wait, s.next-run+tick.Milliseconds())`},
	}},
	{"the local port answers to any Host", "agent/port", "TestGuardIsClosedToTheWeb", []edit{
		{"agent/port/port.go", `if !hosts[strings.ToLower(r.Host)] {`, `if !hosts[strings.ToLower(r.Host)] && false {`},
	}},

	// Writes of local clients.
	{"a write is sent before its Key is stored", offline, "TestNothingIsSentBeforeItIsStored", []edit{
		{"agent/offline/put.go", "err = f.o.DB.Write(ctx, func(tx store.Tx) (err error) {", "_, _ = w.row.send(ctx, key, w.id, w.body)\n\t\t\terr = f.o.DB.Write(ctx, func(tx store.Tx) (err error) {"},
	}},
	{"operations by the backend's id have a line of their own", offline, "TestCutForThreeHours", []edit{
		{"agent/offline/things.go", `return about + "/" + t.local`, `return about + "/" + id`},
	}},
	{"what depends on a stored write is not behind it", offline, "TestOneKeyForEver|TestRefusedCreateFailsItsDependants", []edit{
		{"agent/offline/put.go", `n.Owner, n.Aggregate, n.AmountMin, n.Currency = owner, about,`, `n.Owner, n.Aggregate, n.AmountMin, n.Currency = owner, string(key),`},
	}},
	{"401 fails a stored write", offline, "TestNothingFailsWithoutTheServicesWord", []edit{
		{"agent/outbox/verdict.go", `v.State, v.Reach = Pending, Refused`, `v.State, v.Reach = Failed, Refused`},
	}},
	{"each attempt has a Key of its own", offline, "TestOneKeyForEver", []edit{
		{"agent/offline/send.go", `b.send(ctx, op.Key, id, body)`, `b.send(ctx, wire.NewKey(), id, body)`},
	}},
	{"local ids are sent", offline, "TestCutForThreeHours", []edit{
		{"agent/offline/send.go", `			id = t.backend`, `			id = t.local`},
	}},
	{"what is stored is not counted", offline, "TestLimits", []edit{
		{"agent/offline/put.go", `all, sum, err := count(tx, w.currency, 1, w.row.bounded(w.amount))`, `all, sum, err := count(tx, w.currency, 0, 0)`},
	}},
	{"a validation code is stored", offline, "TestValidationCodeIsNeverStored", []edit{
		{"agent/offline/payments.go", `if w.keep = w.same; p.f.o.RefuseCards`, `if w.keep = w.body; p.f.o.RefuseCards`},
	}},
	{"a validation code waits for the backend", offline, "TestValidationCodeIsNeverStored", []edit{
		{"agent/offline/payments.go", `card.ValidationCode, bare.CardDetails, w.part = "", &card, true`, `card.ValidationCode, bare.CardDetails, w.part = "", &card, false`},
	}},
	{"clients share their keys", offline, "TestCallersKey", []edit{
		{"agent/offline/keys.go", `f.o.DB.MAC(keyTable, w.row.Kind, client, about, string(w.key))`, `f.o.DB.MAC(keyTable, w.row.Kind, about, string(w.key))`},
	}},
	{"a client's key is stored as it is", offline, "TestCardNumbers", []edit{
		{"agent/offline/keys.go", `digest: f.o.DB.MAC(keyTable, w.row.Kind, client, about, string(w.key))`, `digest: []byte(w.row.Kind + client + about + string(w.key))`},
	}},
	{"stored for a service that never answered", offline, "TestProvenOnce", []edit{
		{"agent/offline/accept.go", "err := f.prove(ctx, b.Service)\n", "err := error(nil)\n"},
	}},
	{"a write nobody waits for is sent", offline, "TestNotStoredIsNotSentAfterARestart", []edit{
		{"agent/offline/send.go", `		case unsent:
			v.State, v.Result`, `		case false:
			v.State, v.Result`},
	}},
	{"what was withdrawn unsent counts as declined", offline, "TestValidationCodeIsNeverStored|TestWithdrawnIsNotDeclined", []edit{
		{"agent/outbox/front.go", `return o.end(tx, r, Expired)`, `return o.end(tx, r, Failed)`},
	}},
	{"a write that may have had its effect is given up as never sent", outbox, "TestGivenUpUnsent", []edit{
		{"agent/outbox/attempt.go", `case v.State == Expired && !unsent:`, `case false:`},
	}},
	{"what is read before a write leaves it sent in a power cut", outbox, "TestPowerCutWhileItIsRead", []edit{
		{"agent/outbox/attempt.go", "seen == nil {\n\t\t\t\treturn nil\n", "seen == nil {\n\t\t\t\tr.state, r.resume, r.sentAge = Sent, Sent, age\n\t\t\t\treturn o.save(tx, &r)\n"},
	}},
	{"what is read before a write leaves it in doubt in a power cut", offline, "TestPowerCutOfClientsWrites", []edit{
		{"agent/outbox/attempt.go", "\t\tbefore := r.state\n", "\t\tbefore := r.state\n\t\tif seen != nil {\n\t\t\tbefore, r.sentAge = Pending, -1\n\t\t}\n"},
		{"agent/outbox/attempt.go", "seen == nil {\n\t\t\t\treturn nil\n", "seen == nil {\n\t\t\t\tr.state, r.resume, r.sentAge = Sent, Sent, age\n\t\t\t\treturn o.save(tx, &r)\n"},
	}},
	{"a reading that fails counts as a send", outbox, "TestAReadingThatFailsProvesNothing", []edit{
		{"agent/outbox/attempt.go", `next := r.resume`, `next := Sent`},
	}},
	{"a reading that is not understood leaves it in doubt", outbox, "TestAReadingThatFailsProvesNothing", []edit{
		{"agent/outbox/attempt.go", "\t\t\tif v.State == Doubt {\n", "\t\t\tif false {\n"},
	}},
	{"a write is compared with an old reading", offline, "TestMoneyC2_ReadRightBeforeItLeaves", []edit{
		{"agent/outbox/attempt.go", `if k.Reads && r.sentAge < 0 {`, `if k.Reads && r.sentAge < 0 && r.memo == nil {`},
	}},
	{"a refusal after a lost answer is believed unread", offline, "TestMoneyC2_RefusedAgain", []edit{
		{"agent/offline/send.go", `v.State, v.After = outbox.Sent, quiet
`, `v.State, v.Result = outbox.Failed, m.Refused
`},
	}},
	{"a refusal that comes again is in doubt for ever", offline, "TestMoneyC2_RefusedAgain|TestMoneyC3_RefusedAgainAndOld", []edit{
		{"agent/offline/send.go", `case len(m.Refused) > 0:`, `case false:`},
	}},
	{"an effect that is there is not seen", offline, "TestMoneyC2_ReadAndCompare", []edit{
		{"agent/offline/send.go", `case what == exactly:`, `case false:`},
	}},
	{"any new entry is ours", offline, "TestMoneyC2_ReadAndCompare", []edit{
		{"agent/offline/payments.go", `b.Entries == a.Entries+1 && b.Sum-a.Sum == want,`, `b.Entries > a.Entries && want > 0,`},
	}},
	{"a link's local id is not joined with the backend's", offline, "TestLinkIsStoredAndDelivered", []edit{
		{"agent/offline/linkread.go", `return reply{strconv.FormatInt(c.ID, 10), c, c.Operation != nil}, err`, `return reply{"", c, c.Operation != nil}, err`},
	}},
	{"a charge is sent again unread", offline, "TestMoneyC2_TransactionsAreReadAndCompared|TestMoneyC2_WhatReadingsProve", []edit{
		{"agent/offline/table.go", `Offline: Counted, Replay: outbox.Compare, Keyless: outbox.Compare,`, `Offline: Counted, Replay: outbox.Safe, Keyless: outbox.Safe,`},
	}},
	{"what a charge made beside its transaction is not looked for", offline, "TestMoneyC2_WhatReadingsProve", []edit{
		{"agent/offline/linkread.go", `case same && len(made) == 0 && !was.Cut && !is.Cut:`, `case same:`},
	}},
	{"any refund is ours", offline, "TestMoneyC2_WhatReadingsProve", []edit{
		{"agent/offline/linkread.go", `told && req.Amount != nil && is.Given-was.Given == *req.Amount,`, `told && req.Amount != nil && is.Given > was.Given,`},
	}},
	{"a deletion sent again fails because it succeeded", offline, "TestDeletionWhoseAnswerIsLost", []edit{
		{"agent/offline/linkread.go", `drop.gone = true`, `drop.gone = false`},
	}},
	{"ids of ours that were never given are sent", offline, "TestIDsThatAreOurs", []edit{
		{"agent/offline/links.go", `case !known && id >= paylinks.FirstLocalID:`, `case false:`},
	}},
	{"an old card payment is sent again without Keys", offline, "TestKeylessCreate", []edit{
		{"agent/offline/send.go", `case sent && class == outbox.Never, sent`, `case sent`},
		{"agent/offline/send.go", `case v.State == outbox.Sent && class == outbox.Never:`, `case false:`},
	}},
	{"the command line's socket hears anybody", "agent/control", "TestPeers", []edit{
		{"agent/control/socket.go", `err == nil && (uid == p.own || uid == 0) {`, `err == nil || uid == 0 {`},
	}},
	{"the command line's socket replaces any file", "agent/control", "TestSocketFile", []edit{
		{"agent/control/socket.go", `case info.Mode().Type() != fs.ModeSocket:`, `case info == nil:`},
	}},
	{"a person's no is taken for a yes", "cmd/posagent", "TestScripts", []edit{
		{"cmd/posagent/ops.go", `state, word = outbox.Failed, "resolved as declined"`, `state, word = outbox.Done, "resolved as declined"`},
	}},
	{"resolved by hand without a proof", "agent/control", "TestVerbs", []edit{
		{"agent/control/server.go", `if a.Note == "" || a.State`, `if a.State`},
	}},
	{"money owed back waits for a free sender", "agent/outbox", "TestUrgentOnesDoNotWait", []edit{
		{"agent/outbox/run.go", `free == 0 && !c.urgent`, `free == 0`},
	}},
	{"what happened is told, whether or not it is committed", outbox, "TestRecord", []edit{
		{"agent/outbox/outbox.go", "return o.changed(tx, &r)", "_ = o.changed(tx, &r)\n\treturn nil"},
	}},
	{"a reader of events is not told what it missed", "agent/events", "TestBoundedAndHonestAboutIt", []edit{
		{"agent/events/events.go", `(after == 0 || list[0].ID == after+1)`, `(after >= 0)`},
	}},
	{"two clients share one name", "agent/port", "TestClients", []edit{
		{"agent/port/clients.go", `wire.WithCaller(r.Context(), c.caller)`, `wire.WithCaller(r.Context(), wire.Caller{})`},
	}},
	{"an altered record is released with the others", outbox, "TestReleaseEachLeavesWhatWasAltered", []edit{
		{"agent/outbox/all.go", `if last = r.id; o.verify(&r) != nil {`, `if last = r.id; false {`},
	}},

	// Hosted build: who tells, who hears, and how often an order is paid.
	{"any token is a notification's", inbox, "TestNotices", []edit{{"agent/inbox/build.go", `if err == nil && good != 1 {`, `if err == nil && false {`}}},
	{"the token of another order's session is good", inbox, "TestNotices", []edit{
		{"agent/inbox/build.go", `WHERE order_id = ? ORDER BY n DESC LIMIT 100`, `WHERE order_id = ? OR 1 = 1 ORDER BY n DESC LIMIT 100`},
	}},
	{"a build that was not kept is relayed", inbox, "TestNoBuildIsRelayedUnkept", []edit{
		{"agent/inbox/build.go", `	err = b.db.Write(context.WithoutCancel(ctx), func`, `	_ = b.db.Write(context.WithoutCancel(ctx), func`},
	}},
	{"each session of an order is paid", sessions, "TestAnOrderIsPaidOnce", []edit{
		{"schemes/backend/sessions/pay.go", "\tcase o.payment != \"\":\n\t\treturn", "\tcase false:\n\t\treturn"},
		{"schemes/backend/sessions/pay.go", `case op.result == "" && o.payment != "":`, `case false:`},
	}},
	{"a customer who is late pays a second time", sessions, "TestAnOrderIsPaidOnce", []edit{
		{"schemes/backend/sessions/pay.go", `case op.result == "" && o.payment != "":`, `case false:`},
	}},
	{"a session has no end", sessions, "TestFiveMinutes", []edit{
		{"schemes/backend/sessions/sessions.go", `if s.due() == nil || now < s.ends {`, `if s.due() == nil || now >= 0 {`},
	}},
	{"a setting moves the end of sessions that are there", sessions, "TestLifeIsTheBuilds", []edit{
		{"schemes/backend/sessions/sessions.go", `now < s.ends {`, `now < s.created+x.opt.Life.Milliseconds() {`},
	}},
	{"anybody may frame a field", sessions, "TestWhoMayFrameAField", []edit{{"schemes/backend/sessions/page.go", `Frame: s.Origin}`, `Frame: "*"}`}}},
	{"a refused build rewrites its order", sessions, "TestARefusedBuildChangesNoOrder", []edit{
		{"schemes/backend/sessions/build.go", "\t\tif err := s.agree(tx, now); err != nil {\n", "\t\t_ = x.order(tx, req.Order, customer, now)\n\t\tif err := s.agree(tx, now); err != nil {\n"},
	}},
	{"a build changes the amount below an open session", sessions, "TestField_B4AnotherAmountWaitsForTheOpenSession", []edit{
		{"schemes/backend/sessions/build.go", `if err == nil && open {`, `if err == nil && open && false {`},
	}},
	{"a backend with a short RSA key is trusted", "agent/upstream", "TestField_P12ShortRSAKeysAreRefused", []edit{
		{"agent/upstream/transport.go", `key.N.BitLen() < minRSA`, `key.N.BitLen() < 1024`},
	}},
	{"the backend answers to any name", "schemes/backend", "TestField_P12TheBackendChecksHost", []edit{
		{"schemes/backend/auth.go", `if !named && net.ParseIP(host) == nil {`, `if !named && net.ParseIP(host) == nil && false {`},
	}},
	{"the signature of a bare read proves a write", "schemes/backend", "TestField_P14SignatureOfNothingWritesNothing", []edit{
		{"schemes/paylinks/handler.go", `case !reads && len(`, `case false && len(`},
	}},
	{"the signature of nothing proves a write of an id", "schemes/backend", "TestField_P14SignatureOfNothingWritesNothing", []edit{
		{"schemes/paylinks/handler.go", `reads && bare(sent, id)`, `bare(sent, id)`},
	}},
	{"an expired session is paid all the same", sessions, "TestFiveMinutes", []edit{
		{"schemes/backend/sessions/sessions.go", `if why := s.state.refusal(); why != "" {`, `if why := s.state.refusal(); why != "" && false {`},
	}},
	{"a field talks to whoever frames it", sessions, "TestWhoMayFrameAField", []edit{
		{"schemes/backend/sessions/script.go", `parent.postMessage(m, to)`, `parent.postMessage(m, "*")`},
	}},
	{"a field is told to talk to anybody", sessions, "TestWhoMayFrameAField", []edit{
		{"schemes/backend/sessions/page.go", `pages.A("data-to", s.Origin)`, `pages.A("data-to", "*")`},
	}},
	{"the beginning of a token will do", inbox, "TestNotices", []edit{
		{"agent/inbox/build.go", `want := sha256.Sum256(token)`, `want := sha256.Sum256(token[:min(len(token), len(n.SecurityToken.Reveal()))])`},
	}},
	{"a notification is stored with its token", inbox, "TestNotices", []edit{{"agent/inbox/build.go", `delete(body, "securityToken")`, `delete(body, "")`}}},
	{"X-API-KEY is not asked", "schemes/backend", "TestHostedConformance", []edit{
		{"schemes/backend/auth.go", `case len(values) != 1 || len(values[0]) > maxCredential || !same(values[0], g.creds.APIKey.Reveal()):`, `case len(values) > 99:`},
	}},
	{"a form is spent by nobody", sessions, "TestOnlyTheFieldsOwnPageFillsIt", []edit{
		{"schemes/backend/sessions/field.go", `if err == nil && spend != nil {`, `if err == nil && false {`},
	}},

	// Disputes.
	{"a case for people needs no reason", cases, "TestConformance", []edit{
		{"schemes/disputes/rules.go", `case !req.Straight() && n != 1:`, `case !req.Straight() && n < 0:`},
	}},
	{"a case may have any number of reasons", cases, "TestConformance", []edit{
		{"schemes/disputes/rules.go", `case !req.Straight() && n != 1:`, `case !req.Straight() && n < 1:`},
	}},
	{"a code of the service is answered as a success", "schemes/disputes", "TestCodesAndReasonsSurviveTheWire", []edit{
		{"schemes/disputes/handler.go", `out = CreateReply{ResponseCode: Failed,`, `out = CreateReply{ResponseCode: Done,`},
	}},
	{"an invalid date is answered as a success", cases, "TestConformance", []edit{
		{"schemes/disputes/rules.go", `err != nil || s < "1000" {`, `err != nil && false {`},
	}},
	{"the private key lies in the clear", cases, "TestWhatIsSealed", []edit{
		{"schemes/backend/cases/key.go", `sealed, err := c.db.Seal(tx, keyCell(), x509.MarshalPKCS1PrivateKey(key))`, `sealed, err := x509.MarshalPKCS1PrivateKey(key), error(nil)`},
		{"schemes/backend/cases/key.go", `der, err := c.db.Unseal(rd, keyCell(), sealed)`, `der, err := sealed, error(nil)`},
	}},
	{"the port takes any number of documents at once", "agent/port", "TestDocumentsPassInPieces", []edit{
		{"agent/port/services.go", `maxLarge    = 2 `, `maxLarge    = 200 `},
	}},
	{"a document stands in the port's memory", "agent/port", "TestDocumentsPassInPieces", []edit{
		{"schemes/disputes/stream.go", `n, err := io.Copy(io.MultiWriter(kept, sum), base64`, "held := new(bytes.Buffer)\n\tn, err := io.Copy(io.MultiWriter(kept, sum, held), base64"},
	}},
	{"documents of refused requests stay for an hour", cases, "TestUnclaimedUploadsAreDropped", []edit{
		{"schemes/backend/cases/cases.go", `if err != nil || refusal != nil || !acted {`, `if (err != nil || refusal != nil || !acted) && false {`},
	}},
	{"a document stands in memory", "schemes/disputes", "TestDocumentsAreStreamed", []edit{
		{"schemes/disputes/stream.go", `n, err := io.Copy(io.MultiWriter(kept, sum), base64`, "held := new(bytes.Buffer)\n\tn, err := io.Copy(io.MultiWriter(kept, sum, held), base64"},
	}},
}
