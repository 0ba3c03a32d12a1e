package mutants

// ofTills is every broken rule of requests that have an id of the register's own.
var ofTills = []mutant{
	{"grace takes back what the till wants kept", drive, "TestMoneyF5_AnUnheardApprovalIsKept", []edit{
		{"agent/checkout/approved.go", "func graceOver(s State, e Event) (State, []Effect) {\n\tif !s.Till.Keep {", "func graceOver(s State, e Event) (State, []Effect) {\n\tif true {"},
	}},
	{"the end of day takes back what the till wants kept", drive, "TestMoneyF5_AnUnheardApprovalIsKept", []edit{
		{"agent/checkout/table.go", `EndOfDay: endOfDay,`, `EndOfDay: startUndo,`},
	}},
	{"the next purchase takes back what the till wants kept", drive, "TestMoneyF5_AnUnheardApprovalIsKept", []edit{
		{"agent/checkout/approved.go", `case s.Left, s.Till.Keep && e.Sync != Again:`, `case false:`},
	}},
	{"nobody is told of a kept approval", drive, "TestMoneyF5_AnUnheardApprovalIsKept", []edit{
		{"agent/checkout/approved.go", `return []Effect{{Do: Exception, Text: "approved and kept,`, `return []Effect{{Do: StopReading, Text: "approved and kept,`},
	}},
	{"the same purchase under another id is paid twice", drive, "TestMoneyF5_TheSamePurchaseUnderAnotherIDUndoesTheFirst", []edit{
		{"agent/checkout/approved.go", `case s.Left, s.Till.Keep && e.Sync != Again:`, `case s.Left, s.Till.Keep:`},
	}},
	{"another reference under a known id is the same request", drive, "TestMoneyF2_TheSameIDIsTheSameRequest", []edit{
		{"agent/checkout/drive/begin.go", ` && row.State.Till.Reference == req.Reference`, ``},
	}},
	{"another original under a known id is the same request", drive, "TestMoneyF2_TheSameIDIsTheSameRequest", []edit{
		{"agent/checkout/drive/begin.go", `(req.Kind == ecr.Payment || row.Asked == askedFor(req))`, `true`},
	}},
	{"an id makes a new key each time", drive, "TestMoneyF2_AnIDMakesItsKey", []edit{
		{"agent/checkout/drive/ids.go", "if req.Sequence == \"\" {\n\t\treturn wire.NewKey()", "if req.Sequence == \"\" || reuse >= 0 {\n\t\treturn wire.NewKey()"},
	}},
	{"two tills' equal ids make one key", drive, "TestMoneyF2_AnIDMakesItsKey", []edit{
		{"agent/checkout/drive/journal/ids.go", `"key of a register, 1", line, sequence,`, `"key of a register, 1", sequence,`},
	}},
	{"a replaced journal says none of a sale it does not have", drive, "TestMoneyF3_AReplacedJournalDoesNotSayNone", []edit{
		{"agent/checkout/drive/told.go", `			return cmp.Or(unsaid(r), err)
		case err != nil:`, `			return err
		case err != nil:`},
	}},
	{"a till's patience is not its own", drive, "TestMoneyA4_PatienceIsTheRequests", []edit{
		{"agent/checkout/drive/begin.go", `cmp.Or(req.Patience, d.cfg.Patience), req.Progress)`, `cmp.Or(0, d.cfg.Patience), req.Progress)`},
	}},
	{"a refund's register waits too long", drive, "TestMoneyA4_PatienceIsTheRequests", []edit{
		{"agent/checkout/drive/perform/tell.go", `cmp.Or(row.State.Till.Patience, p.cfg.Patience)`, `cmp.Or(0, p.cfg.Patience)`},
	}},
	{"the second register's password stands in the configuration shown", "agent/config", "TestRegistersAreAList", []edit{
		{"agent/config/show.go", `strings.HasPrefix(key, "ecr") && strings.HasSuffix(key, ".password")`, `key == "ecr[2].password"`},
	}},
	{"an id that joined another id's sale is forgotten", drive, "TestField4_TillsAnIdThatJoinedASaleIsItsOwn", []edit{
		{"agent/checkout/drive/begin.go", `return d.j.JoinID(tx, a.join, a.req.Line, a.req.Sequence, a.reuse)`, `return nil`},
	}},
	{"a status of a joined payment names another one", "ecr/nexo", "TestField4_TillsEachServiceIDIsAnsweredByItself", []edit{
		{"ecr/nexo/status.go", `if e == nil || e.Sale != out.Sale {`, `if true {`},
	}},
	{"what was asked for again is not the last", drive, "TestField4_TillsWhatWasAskedForAgainIsTheLast", []edit{
		{"agent/checkout/drive/begin.go", `return journal.AskedAgain(tx, a.req.Line, key)`, `return nil`},
	}},
	{"what was asked for again stays the last", drive, "TestField4_TillsWhatWasAskedForAgainIsTheLast", []edit{
		{"agent/checkout/drive/journal/rows.go", `DELETE FROM checkout_joined WHERE line = ? AND sequence = ''`, `DELETE FROM checkout_joined WHERE line = ? AND sequence = '-'`},
	}},
	{"the id of an end of day is its own for ever", drive, "TestField4_TillsADayIsClosedUnderAnIdUsedAnew", []edit{
		{"agent/checkout/drive/journal/closed.go", `if err == nil && age > cmp.Or(by.Reuse, outbox.IDAgeMax).Milliseconds() {`, `if err == nil && age < 0 && outbox.IDAgeMax > 0 {`},
	}},
	{"a reversal of a part is one of the whole", "agent/port/salesapi", "TestField4_TillsAReversalOfAPartIsNotOneOfTheWhole", []edit{
		{"agent/port/salesapi/ask.go", `cmp.Or(body.Amount, int64(row.Amount))`, `cmp.Or(0, int64(row.Amount))`},
	}},
	{"a key that ends in a slash is another's beginning", "agent/port/salesapi", "TestField4_TillsAKeyThatEndsInASlashIsItself", []edit{
		{"agent/checkout/drive/told.go", `id, begins := strings.CutSuffix(sequence, ecr.AnyEnd)`, `id, begins := sequence, strings.HasSuffix(sequence, "/")`},
	}},
	{"not found is said of what is being taken", "ecr/session", "TestField4_TillsAskedWhileItIsTaken", []edit{
		{"ecr/taking.go", "for one := range t.open {\n\t\tif one.line == line &&", "for one := range t.open {\n\t\tif line == \"\" &&"},
	}},
	{"a question does not wait for what is being taken", "ecr/nexo", "TestConformance", []edit{
		{"ecr/session/dialog.go", "if a.Receipt == 0 {\n\t\tif err := s.decided(", "if a.Receipt != 0 {\n\t\tif err := s.decided("},
	}},
	{"an unheard approval ends with its receipt alone", "ecr/session", "TestField4_TillsARepeatedReceiptIsNotForNothing", []edit{
		{"ecr/zvt/outcome.go", `if m.d.silent && (out.Result != ecr.Approved || out.ToldFor > 0) {`, `if m.d.silent {`},
	}},
	{"refused is said of an id whose sale cannot be read", "ecr/jsonl", "TestField4_TillsWhatCannotBeReadIsNotRefused", []edit{
		{"ecr/jsonl/begin.go", `case d.ask.refusal != nil && ev.Code != "" && ev.Text == "":`, `case false:`},
	}},
	{"a known payment is not served while nothing can be stored", "ecr/nexo", "TestField4_TillsWhatCannotBeReadIsNotRefused", []edit{
		{"ecr/nexo/money.go", `if d.ask.mine { // likewise`, `if false { // likewise`},
	}},
}
