package mutants

const till = "agent/port/salesapi"

// ofSales is every broken rule of sales over HTTP.
var ofSales = []mutant{
	{"the key of a request for a sale is not used", till, "TestSameKeyAtOnce", []edit{
		{"agent/port/salesapi/ask.go", `req.Line, req.Sequence = line(ctx), key`, `req.Line, req.Sequence = line(ctx), ""`},
	}},
	{"a client refunds another's sale", till, "TestRefundAndReverse", []edit{
		{"agent/port/salesapi/ask.go", `(of == "" || view.OwnerOf(of) != caller.Name)`, `(of == "" && view.OwnerOf(of) != caller.Name)`},
	}},
	{"a terminal that sells over HTTP alone is never ready", till, "TestATerminalThatSellsOverHTTPAlone", []edit{
		{"agent/ready/ready.go", `case f.Lines == 0 && f.Sellers == 0:`, `case f.Lines == 0:`},
	}},
	{"a terminal that nobody can ask is ready", till, "TestATerminalThatSellsOverHTTPAlone", []edit{
		{"agent/ready/ready.go", `case f.Lines == 0 && f.Sellers == 0:`, `case false:`},
	}},
	{"a terminal that the operator has not confirmed sells over HTTP", till, "TestAnUnconfirmedTerminalBeginsNothing", []edit{
		{"agent/readiness.go", `return drive.Unconfirmed`, `return drive.NoBar`},
	}},
	{"a terminal that was revoked sells on while a sale is open", till, "TestField2_M12WhatForbidsSalesTakesEffectAtOnce", []edit{
		{"agent/readiness.go", `return drive.Replaced`, `return drive.NoBar`},
	}},
	{"an unheard approval is taken back unasked", till, "TestUnheardApprovalIsKept", []edit{
		{"agent/port/salesapi/ask.go", `Keep: b.Unheard != Undo,`, `Keep: b.Unheard == Keep,`},
	}},
	{"an approval is kept where the client wants it undone", till, "TestUnheardApprovalIsUndone", []edit{
		{"agent/port/salesapi/ask.go", `Keep: b.Unheard != Undo,`, `Keep: true,`},
	}},
	{"an answer that was written counts as heard", till, "TestOnlyTheAcknowledgementTells", []edit{
		{"agent/port/salesapi/answer.go", `Flush() == nil && httpd.Heard(ctx, heardWithin), nil`, `Flush() == nil, nil`},
	}},
	{"a request whose client has gone begins a sale", till, "TestAClientThatHasGoneBeginsNothing", []edit{
		{"agent/port/salesapi/ask.go", `if httpd.Gone(ctx) {`, `if httpd.Gone(ctx) && req.Sequence == "" {`},
	}},
	{"not found is said beside a request that is being taken", till, "TestAskingWaitsForWhatIsBeingTaken", []edit{
		{"agent/port/salesapi/show.go", `if err := t.allTaken(ctx, key); err != nil {`, `if err := t.allTaken(ctx, ""); err != nil {`},
	}},
	{"who has a run is not waited for", till, "TestWhoHasTheRunIsWaitedFor", []edit{
		{"agent/port/salesapi/run.go", `joined: 1, tellers: 1, ended`, `joined: 1, tellers: 0, ended`},
	}},
	{"an answer carries what was reported already", till, "TestWhoHasTheRunIsWaitedFor", []edit{
		{"agent/port/salesapi/run.go", `	if r.over {
		return false
	}
	r.joined += joined`, `	r.joined += joined`},
	}},
}
