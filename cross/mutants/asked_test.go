package mutants

// ofAsked is every broken rule of sales for which a person is asked, that the days of the simulation notice, and of reservations that the
// register has reversed.
var ofAsked = []mutant{
	{"a payment is sent before its question is answered", "cross/sim", "TestDays", []edit{
		{"agent/checkout/payment.go", `	case t.Ask:
		s.Phase = Choosing`, `	case t.Ask && t.Kind != ecr.Payment:
		s.Phase = Choosing`},
	}},
	{"an answer that is too short is sent", "cross/sim", "TestDays", []edit{
		{"agent/checkout/choose.go", `n < int(p.Min) || n > min(int(p.Max), MaxAnswer)`, `n > min(int(p.Max), MaxAnswer)`},
	}},
	{"a reversed reservation raises an alarm", drive, "TestMoneyA1_AReversedReservationIsNoAlarm", []edit{
		{"agent/checkout/approved.go", `if !e.TakenBack {`, `if true {`},
	}},
	{"a reservation that ended under a refused reversal raises none", drive, "TestMoneyA1_AReversedReservationIsNoAlarm", []edit{
		{"agent/checkout/drive/journal/undo.go", `text := checkout.Unexplained(orig.State); text != ""`, `text := checkout.Unexplained(orig.State); text == "" && false`},
	}},
}

// ofDeaths is every broken rule of receipts on a printer that dies.
var ofDeaths = []mutant{
	{"what may be on paper is printed again without a mark", "agent/paper", "TestRandomDeathsOfThePrinter", []edit{
		{"agent/paper/paper.go", `w.again = w.again || w.begun > 0 `, `w.again = w.again || w.begun > 99 `},
	}},
	{"a receipt that was cut off is let go", "agent/paper", "TestRandomDeathsOfThePrinter", []edit{
		{"agent/paper/paper.go", `		p.tried[w.id] = a
		return err`, `		return p.done(ctx, w)`},
	}},
	{"what is left of a receipt is not marked as cut off", "agent/paper", "TestRandomDeathsOfThePrinter", []edit{
		{"device/printer/printer.go", `	p.before = cutOff
	for i`, `	p.before = ended
	for i`},
	}},
}
