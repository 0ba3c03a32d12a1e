package mutants

// ofLaws is what readers have found against the Laws of MONEY.md, put back.
var ofLaws = []mutant{
	{"a held refund is begun again by its repetition", drive, "TestField3_CheckoutA1AHeldRefundIsNotBegunAgain", []edit{
		{"agent/checkout/drive/forward.go", `(checkout.Running(row.State) || row.Held()) && same(row)`, `checkout.Running(row.State) && !row.Quarantined && same(row)`},
	}},
	{"a refund under a lost id goes out unread", drive, "TestField3_CheckoutA2ARefundUnderALostIdIsReadFirst", []edit{
		{"agent/offline/aapay.go", `if u.p.ReadFirst && !u.m.Free {`, `if false {`},
	}},
	{"a reversal reads its original before its ServiceID", "ecr/nexo", "TestField3_CheckoutA3AReversalIsKnownByItsServiceID", []edit{
		{"ecr/nexo/money.go", `if !a.mine {`, `if a.mine || !a.mine {`},
	}},
	{"another terminal's receipt number confirms an approval", drive, "TestField3_CheckoutA4AnotherTerminalsNumberConfirmsNothing", []edit{
		{"agent/checkout/drive/told.go", `case transaction != "" && !row.Held()`, `case transaction == "?" && !row.Held()`},
	}},
	{"reversed of what no read has found is a proof", checkout, "TestField3_CheckoutA5ReversedOfWhatNoReadHasFound", []edit{
		{"agent/checkout/undo.go", `return s.Missing || !s.Found && s.Wire == "" && SeenAlive(s)`, `return s.Missing`},
	}},
	{"a held operation is in progress", drive, "TestField3_CheckoutA6AHeldOperationIsSaidToBeHeld", []edit{
		{"agent/checkout/drive/journal/undo.go", `row.Waits = err == nil && op.State == outbox.Held`, `row.Waits = err == nil && op.State == outbox.Failed`},
	}},
	{"the telling of a held sale is not taken", drive, "TestField3_CheckoutA7AHeldSaleIsToldAtOnce", []edit{
		{"agent/checkout/drive/perform/tell.go", "if row.Held() {\n\t\t\tp.sales.Released(key, false)", "if row.Waits {\n\t\t\tp.sales.Released(key, false)"},
	}},
	{"a refusal behind a lost attempt ends a refund", offline, "TestField3_OutboxB1ARefusalBehindALostAttemptIsRead", []edit{
		{"agent/offline/aapay.go", `if u.m.Lost {`, `if false {`},
	}},
	{"a 403 of a proxy proves that nothing was sent", outbox, "TestField3_OutboxB2ARefusalWithoutTheServicesBodyIsNobodysWord", []edit{
		{"agent/outbox/verdict.go", `if !e.Nobody {`, `if true {`},
	}},
	{"another operation's transactionRef makes one done", offline, "TestField3_OutboxB3ATransactionRefIsOneOperations", []edit{
		{"agent/offline/ours.go", `was.TransactionRef == told.TransactionRef {`, `false {`},
	}},
}
