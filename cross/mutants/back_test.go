package mutants

// ofBack is every broken rule of refunds that ask, and of what a register sends of the customer.
var ofBack = []mutant{
	{"a cancelled refund is sent all the same", drive, "TestARefundThatIsNotAnsweredIsNotDone", []edit{
		{"agent/checkout/drive/journal/undo.go", `if row.State.Phase == checkout.Forward {`, `if row.State.Phase != checkout.Done {`},
	}},
	{"a refund that was given up keeps its debit", drive, "TestARefundThatIsNotAnsweredIsNotDone", []edit{
		{"agent/checkout/payment.go", `out = append([]Effect{{Do: Release}}, out...)`, `_ = Release`},
	}},
	{"a refund that asks is begun without a pad", drive, "TestARefundThatAsksNeedsAPad", []edit{
		{"agent/checkout/drive/forward.go", `a.asks && !(d.person() && pick.Answerable())`, `a.asks && !pick.Answerable()`},
	}},
	{"a refund is asked for without its prompts", drive, "TestARefundAsksFirst", []edit{
		{"agent/checkout/choose.go", `p.Prompts = methods.Prompts(d, typ, p.Trigger)`, `p.Prompts = methods.Prompts(d, methods.Payment, p.Trigger)`},
	}},
	{"an answer goes along under the wrong key", drive, "TestARefundAsksFirst", []edit{
		{"agent/checkout/drive/begin.go", `Key: strconv.Itoa(int(p.ID))`, `Key: strconv.Itoa(len(list))`},
	}},
	{"a scanned code of any length is taken", drive, "TestTheRegisterScansTheCode", []edit{
		{"agent/checkout/choose.go", `case CheckAnswers([]methods.Prompt{q}, map[int32]string{q.ID: w.Consumer}) == nil:`, `default:`},
	}},
	{"a scanned code goes to some provider", drive, "TestTheRegisterScansTheCode", []edit{
		{"agent/checkout/drive/begin.go", `case !choose && severalFit(a.req, a.offers):`, `case false && severalFit(a.req, a.offers):`},
	}},
	{"the method that the register names is a wish", drive, "TestTheRegisterNamesTheMethod", []edit{
		{"agent/checkout/choose.go", `case w.Method != "" && d.Name != w.Method:`, `case w.Method == "-":`},
	}},
	{"a swiped card number is a customer's code", "ecr/zvt", "TestACodeThatTheRegisterHasScanned", []edit{
		{"ecr/zvt/request.go", ` || t.Value[0] != fromBarcode {`, ` || t.Value[0] == 0 && fromBarcode == 2 {`},
	}},
	{"a register that forgets an amount has its customer asked", "ecr/zvt", "TestARegisterThatLeavesTheAmountToTheTerminal", []edit{
		{"ecr/zvt/request.go", `!named && m.prof.Registered && m.prof`, `!named && m.prof`},
	}},
}
