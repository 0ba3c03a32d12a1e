package mutants

// ofAsked is every broken rule of reservations that the register has reversed.
var ofAsked = []mutant{
	{"a reversed reservation raises an alarm", drive, "TestMoneyA1_AReversedReservationIsNoAlarm", []edit{
		{"agent/checkout/approved.go", `if !e.TakenBack {`, `if true {`},
	}},
	{"a reservation that ended under a refused reversal raises none", drive, "TestMoneyA1_AReversedReservationIsNoAlarm", []edit{
		{"agent/checkout/drive/journal/undo.go", `text := checkout.Unexplained(orig.State); text != ""`, `text := checkout.Unexplained(orig.State); text == "" && false`},
	}},
}

// ofDeaths is every broken rule of receipts on a printer that dies.
var ofDeaths = []mutant{
	{"a receipt that was cut off is let go", "agent/counter/printqueue", "TestRandomDeathsOfThePrinter", []edit{
		{"agent/counter/printqueue/paper.go", `		p.tried[w.id] = a
		return err`, `		return p.done(ctx, w)`},
	}},
}
