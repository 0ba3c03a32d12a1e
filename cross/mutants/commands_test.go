package mutants

// ofCommands is every broken rule of what a ZVT register can ask besides a sale.
var ofCommands = []mutant{
	{"a pre-authorisation is sold as a payment", "ecr/zvt", "TestNoCommandHangs|TestDialogues", []edit{
		{"ecr/zvt/step.go", "case apdu.Authorisation, apdu.Reversal, apdu.RefundCmd:\n\t\tm.beginSale()", "case apdu.Authorisation, apdu.Reversal, apdu.RefundCmd, apdu.Reservation:\n\t\tm.beginSale()"},
	}},
	{"a part that is asked for gives the whole back", drive, "TestMoneyB7_APartOfAPaymentIsGivenBack", []edit{
		{"agent/checkout/drive/forward.go", `req.Original, req.Kind = askedFor(req), ecr.Refund`, `req.Amount = o.Amount`},
	}},
	{"a part is given back twice", drive, "TestMoneyB4_APartIsNotGivenBackTwice", []edit{
		{"agent/checkout/drive/forward.go", `return r.Kind == req.Kind || req.Kind == ecr.Reversal && req.Part`, `return r.Kind == req.Kind || req.Kind == ecr.Payment && req.Part`},
	}},
	{"a part is given back of what is reversed", drive, "TestMoneyB7_APartOfAPaymentIsGivenBack", []edit{
		{"agent/checkout/drive/forward.go", `case (req.Kind == ecr.Reversal || req.Part) && (o.Reversed`, `case req.Kind == ecr.Reversal && (o.Reversed`},
	}},
	{"a profile takes the numbers away", "ecr/zvt", "TestDialogues", []edit{
		{"ecr/zvt/manner.go", `p.TLV, p.ListOnly, p.Blocks = p.Sequenced, true, false`, `p.TLV, p.ListOnly, p.Blocks, p.Sequenced = false, true, false, false`},
	}},
	{"a register keeps the screen from a sale", "agent/counter/devices", "TestASaleTakesTheScreenAtOnce", []edit{
		{"agent/counter/devices/panel.go", `if p.now != nil && free(v) {`, `if p.now != nil {`},
	}},
	{"a register takes the screen from a sale", "agent/counter/devices", "TestASaleTakesTheScreenAtOnce", []edit{
		{"agent/counter/devices/panel.go", "case !free(p.base):\n\t\treturn busy()\n", "case !free(p.base) && p.base.Code != nil:\n\t\treturn busy()\n"},
	}},
	{"a sale's cancel key answers a register", "agent/counter/devices", "TestASaleTakesTheScreenAtOnce", []edit{
		{"agent/counter/devices/panel.go", "\tp.now = nil\n\tif n.typing", "\tif n.typing"},
	}},
	{"a key of an older picture answers", "agent/counter/devices", "TestKeysAnswer", []edit{
		{"agent/counter/devices/panel.go", `if turn == p.turn {`, `if turn <= p.turn {`},
	}},
	{"what a register prints pushes receipts out", "agent/counter/printqueue", "TestTextsOfRegistersAreBounded", []edit{
		{"agent/counter/printqueue/text.go", `texts >= MaxTexts || span >= MaxWaiting`, `texts >= MaxTexts`},
	}},
	{"a question holds the line", "ecr/zvt", "TestField_U10Matrix", []edit{
		{"ecr/zvt/machine.go", ` && m.phase != waiting && m.phase != prompting`, ` && m.phase != waiting`},
	}},
	{"a tip undoes the approval that is being told", "ecr/zvt", "TestField_U10Matrix", []edit{
		{"ecr/zvt/table.go", `apdu.BookTip:     {take, busy, busy, busy, restart, busy,`, `apdu.BookTip:     {take, busy, busy, busy, restart, unknownOutcome,`},
	}},
}
