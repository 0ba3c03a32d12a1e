package mutants

// ofIdentity is every broken rule of what names a request for ever.
var ofIdentity = []mutant{
	{"an id that a lost journal may have used is sent under unread", drive, "TestField2_M14AnIdOfALostJournalIsNeverAnApproval", []edit{
		{"agent/checkout/used.go", "\tif s.ReadFirst {\n\t\ts.Phase", "\tif s.ReadFirst && s.Phase == Done {\n\t\ts.Phase"},
	}},
	{"a used id is looked for at the sale's own service alone", "agent/paylink", "TestField2_M14AnIdIsLookedForAtEachService", []edit{
		{"agent/checkout/drive/perform/send.go", "case !row.State.ReadFirst ||", "case ok || !row.State.ReadFirst ||"},
	}},
	{"the links are not read for a used id", "agent/paylink", "TestField2_M14AnIdIsLookedForAtEachService", []edit{
		{"agent/paylink/method.go", "return links.Used(ctx, reference)", "_ = links\n\t\treturn st, err"},
	}},
	{"a refund of a link under a used id is sent unread", "agent/paylink", "TestField2_M14ARefundOfALinkInARestoredJournal", []edit{
		{"agent/paylink/before.go", "yes = now > known", "yes = now < known"},
	}},
	{"a link of before that is paid late ends unsaid", "agent/paylink", "TestField2_M14AnOldLinkThatIsPaidLate", []edit{
		{"agent/paylink/undo.go", "kind != dead && kind != back {", "kind == dead && kind == back {"},
	}},
	{"a key that another request has used is read and undone", drive, "TestField2_M14AKeyOfAnotherRequestIsNotRead", []edit{
		{"agent/checkout/drive/perform/send.go", "if wire.OtherBody(err) {", "if wire.OtherBody(err) && err == nil {"},
	}},
	{"a key that another request has used is undone after an abort", drive, "TestField2_M14AKeyOfAnotherRequestIsNotRead", []edit{
		{"agent/checkout/abort.go", "case e.Name == ReplyFailed && e.Failure == KeyUsed:", "case e.Name == ReplyFailed && e.Failure == KeyUsed && s.Plain:"},
	}},
	{"an abort before the first attempt undoes another's payment", drive, "TestField2_M14NothingIsSentUnread", []edit{
		{"agent/checkout/abort.go", "if s.ReadFirst { //", "if s.ReadFirst && s.Plain { //"},
	}},
	{"a boot before the first attempt undoes another's payment", drive, "TestField2_M14NothingIsSentUnread", []edit{
		{"agent/checkout/payment.go", "case s.ReadFirst && e.NewBoot:", "case s.ReadFirst && e.NewBoot && s.Plain:"},
	}},
	{"what is not answered is taken for nothing known", drive, "TestField2_M14NothingIsSentUnread", []edit{
		{"agent/checkout/used.go", "case e.Failure == NotFound:", "case e.Failure != NotSent:"},
	}},
	{"a journal that took another's place reads for ever", drive, "TestField2_M14ReadsBeforeTheFirstAttempt", []edit{
		{"agent/outbox/restored.go", "l.RunMS != 0 && run-l.RunMS >= IDAgeMax.Milliseconds() {", "l.RunMS != 0 && run < 0 {"},
	}},
	{"what a client names by another id is sent after a loss", offline, "TestField2_M19OneKeyOfAClientIsOneKey", []edit{
		{"agent/gateway/before.go", "w.row.Makes || known || !f.makes(w.row.Thing) {", "true {"},
	}},
	{"a write is not found under its thing's other name", offline, "TestField2_M19OneKeyOfAClientIsOneKey", []edit{
		{"agent/gateway/keys.go", "	if known {\n\t\tabout := f.", "	if false {\n\t\tabout := f."},
	}},
	{"the links' service is taken for one that knows keys", offline, "TestField2_M44AdviceAndHold", []edit{
		{"agent/gateway/before.go", "service != Paylinks && !", "!"},
	}},
	{"a line's id is its name", "agent", "TestField2_M25IDsOutliveTheConfiguration", []edit{
		{"agent/identify.go", "was.here && (was.Place == is.Place || was.Place == is.Older)", "false"},
	}},
	{"a new line takes an id that was another's", "agent", "TestField2_M25IDsOutliveTheConfiguration", []edit{
		{"agent/identify.go", "taken[was.ID] = true // another's", "_ = was"},
	}},
	{"a done reversal is judged again", "agent/port/salesapi", "TestField2_M50TheKeyIsLookedForFirst", []edit{
		{"agent/port/salesapi/ask.go", "known, err := t.repeated(ctx, req, of); known {", "known, err := t.repeated(ctx, req, of); known && req.Kind != ecr.Reversal {"},
	}},
	{"a foreign 409 proves another body", "schemes/wire", "TestField2_M14AForeign409MayMeanThatItRuns", []edit{
		{"schemes/wire/error.go", "e.MayRun, e.Runs = true, e", "e.MayRun, e.Runs = false, e"},
	}},

	{"an id is forgotten before its 90 days", drive, "TestField2_M2AWrongClockForgetsNoId", []edit{
		{"agent/checkout/drive/ids.go", "age > outbox.IDAgeMax.Milliseconds()", "age > -outbox.IDAgeMax.Milliseconds()"},
	}},
	{"an id is never used again", drive, "TestField2_M2AnIdIsUsedAgainByItsNumber", []edit{
		{"agent/checkout/drive/ids.go", "age > outbox.IDAgeMax.Milliseconds()", "age > 10_000*outbox.IDAgeMax.Milliseconds()"},
	}},
	{"an id that is used again does not count up", drive, "TestField2_M2AnIdIsUsedAgainByItsNumber", []edit{
		{"agent/checkout/drive/ids.go", "reuse = u.Number + 1", "reuse = 1"},
	}},
	{"an id without its sale begins a new one", drive, "TestField2_M2AnIdWithoutItsSaleIsNoNewOne", []edit{
		{"agent/checkout/drive/ids.go", "case gone, !sameBody(row, req): //", "case !gone && !sameBody(row, req): //"},
	}},
	{"Keys of an older program change", drive, "TestField2_M2AJournalOfAnOlderProgramKeepsItsIds", []edit{
		{"agent/checkout/drive/journal/ids.go", "const firstUse = 162", "const firstUse = 0"},
	}},
	{"ids of an older program have the age of the journal", drive, "TestField2_M2AJournalOfAnOlderProgramKeepsItsIds", []edit{
		{"agent/checkout/drive/journal/ids.go", "return setCounter(tx, idsFrom, run)", "return setCounter(tx, idsFrom, run-run)"},
	}},

	{"one changed part is another box", "store/sqlite", "TestField2_M52APartIsNoOtherBox", []edit{
		{"store/marks/box.go", "const differing = 2", "const differing = 1"},
	}},
	{"a card that was put into another box is at home there", "store/marks", "TestField2_M52OneChangedMarkIsNoOtherBox", []edit{
		{"store/marks/box.go", "const differing = 2", "const differing = 3"},
	}},
	{"a journal runs on any box", "store/sqlite", "TestField2_M52AJournalKnowsItsBox", []edit{
		{"store/marks/judge.go", `case e.Other != "" && row.Flags&RowRestored == 0:`, `case e.Other != "" && row.Flags&RowMarked == 0:`},
	}},
	{"a restored journal waits for the box of its backup", "store/sqlite", "TestField2_M52ARestoredJournalIsOfTheBoxItIsRestoredTo", []edit{
		{"store/marks/judge.go", `case e.Other != "" && row.Flags&RowRestored == 0:`, `case e.Other != "" && row.Flags != 0:`},
		{"store/marks/judge.go", "case row.Flags&RowRestored != 0 && (!e.Mark.OK ||", "case row.Flags&RowRestored != 0 && e.Other == \"\" && (!e.Mark.OK ||"},
	}},
	{"a mark that cannot be read today is forgotten", "store/sqlite", "TestField2_M52APartIsNoOtherBox", []edit{
		{"store/marks/box.go", "\tnext := maps.Clone(was)\n", "\tnext := maps.Clone(now)\n"},
	}},
	{"an address that was drawn is a network card", "device", "TestField2_M52MarksAreOfTheHardware", []edit{
		{"device/marks.go", `strings.TrimSpace(burned) != "0"`, `strings.TrimSpace(burned) == ""`},
	}},

	{"a journal with a new secret sends repeats", outbox, "TestField2_M32WritesAreHeldWhereTheSecretIsNew", []edit{
		{"agent/outbox/restored.go", "if locked, err = store.SecretMade(r); err != nil {", "if _, err = store.SecretMade(r); err != nil {"},
	}},
	{"a secret that was kept is taken for a new one", outbox, "TestField2_M32WritesAreHeldWhereTheSecretIsNew", []edit{
		{"store/secret.go", "if saved == nil {\n\t\t\t\t_, err", "if saved != nil || err == nil {\n\t\t\t\t_, err"},
	}},
	{"the secret of a restored journal is taken for a new one", "store/sqlite", "TestField2_M32ASecretComesWithItsJournal", []edit{
		{"store/sqlite/copy.go", "if err := store.SecretKnown(tx); err != nil {", "if err := ctx.Err(); err != nil {"},
	}},
	{"the secret of an accepted journal is taken for a new one", "store/sqlite", "TestField2_M32ASecretComesWithItsJournal", []edit{
		{"store/sqlite/settle.go", "if before.Kind == store.WasAccepted { //", "if before.Kind == store.WasLost { //"},
	}},
}
