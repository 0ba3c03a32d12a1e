package mutants

const till = "agent/till"

// ofSales is every broken rule of sales over HTTP.
var ofSales = []mutant{
	{"the key of a request for a sale is not used", till, "TestSameKeyAtOnce", []edit{
		{"agent/till/ask.go", `req.Line, req.Sequence = line(ctx), key`, `req.Line, req.Sequence = line(ctx), ""`},
	}},
	{"a client refunds another's sale", till, "TestRefundAndReverse", []edit{
		{"agent/till/ask.go", `(of == "" || view.OwnerOf(of) != caller.Name)`, `(of == "" && view.OwnerOf(of) != caller.Name)`},
	}},
	{"an unheard approval is taken back unasked", till, "TestUnheardApprovalIsKept", []edit{
		{"agent/till/ask.go", `Keep: b.Unheard != Undo,`, `Keep: b.Unheard == Keep,`},
	}},
	{"an approval is kept where the client wants it undone", till, "TestUnheardApprovalIsUndone", []edit{
		{"agent/till/ask.go", `Keep: b.Unheard != Undo,`, `Keep: true,`},
	}},
}
