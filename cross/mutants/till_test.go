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
}
