package mutants

// ofSaid is every broken rule of what the backend says to the customer (naa2Ecr).
var ofSaid = []mutant{
	{"who paid is kept unmasked", checkout, "TestWhatTheBackendSaysOfAPayment", []edit{
		{"agent/checkout/said.go", `maskPayer(plain(payer, maxPayer)); p != ""`, `plain(payer, maxPayer); p != ""`},
	}},
	{"a card number of the backend's message is kept", checkout, "TestWhatTheBackendSaysOfAPayment", []edit{
		{"agent/checkout/said.go", `[]rune(wire.MaskPANs(text))`, `[]rune(wire.MaskPANs("") + text)`},
	}},
	{"a later answer takes the message away", checkout, "TestWhatTheBackendSaysOfAPayment", []edit{
		{"agent/checkout/said.go", `text := plain(n.AdditionalInfo, maxInfo); text != ""`, `text := plain(n.AdditionalInfo, maxInfo); true`},
	}},
	{"the loyalty ids stay in the journal", drive, "TestWhatTheBackendSaysReachesTheCustomer", []edit{
		{"agent/checkout/drive/perform/tell.go", `o.Payer, o.Info, o.Loyalty = s.Payer, message(r), s.Loyalty`, `o.Payer, o.Info = s.Payer, message(r)`},
	}},
	{"the screen says nothing of a payment's message", drive, "TestWhatTheBackendSaysReachesTheCustomer", []edit{
		{"agent/checkout/drive/perform/screen.go", `v.Kind, v.Text = scene.Paid, p.said(row)`, `v.Kind = scene.Paid`},
	}},
	{"the receipt leaves the loyalty ids out", "ecr/receipt", "TestWhatTheBackendSaysIsPrinted", []edit{
		{"ecr/receipt/receipt.go", `range out.Loyalty {`, `range out.Loyalty[:0] {`},
	}},
}
