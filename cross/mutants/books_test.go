package mutants

// ofBooks is every broken rule of links by number, and of what the backend's rooms take and give back.
var ofBooks = []mutant{
	{"a link's number names another account's link", "agent/paylink", "TestField4_LinksOfOneNumber", []edit{
		{"agent/paylink/rows.go", "return e.Instance != s.o.Instance })", "return false })[:1]"},
	}},
	{"a transaction of another link of the number is given back", "agent/paylink", "TestField4_LinksOfOneNumber", []edit{
		{"agent/paylink/transactions.go", "i != nil && i.PaymentLink != nil {", "i == nil && p == nil {"},
	}},
	{"another link's answer makes a link", "agent/paylink", "TestField4_AnotherLinksAnswer", []edit{
		{"agent/paylink/make.go", "case anothers(e, link):", "case false && anothers(e, link):"},
	}},
	{"a refund that runs is done", "agent/paylink", "TestField4_ARefundThatIsAnsweredAndNotDone", []edit{
		{"agent/paylink/refund.go", "yes := err == nil && amount != nil && gaveBack(done.Status)", "yes := err == nil && amount != nil && (true || gaveBack(done.Status))"},
	}},
	{"the checkout names a link by its number", "agent/paylink", "TestField4_TheCheckoutNamesALinkByItsReference", []edit{
		{"agent/checkout/drive/forward.go", "		ref = orig.Reference\n	}\n	return typ", "		_ = orig.Reference\n	}\n	return typ"},
	}},
	{"a failed attempt's fee is taken", "schemes/backend/payments", "TestField4_AFailedAttemptsFee", []edit{
		{"schemes/backend/payments/pay.go", "p.state, p.Means, p.Fee = Fresh, nil, 0", "p.state, p.Means = Fresh, nil"},
	}},
	{"an arrangement that is over takes money", "schemes/backend/payments", "TestField4_AnArrangementThatIsOver", []edit{
		{"schemes/backend/payments/token.go", "if err == nil && t.over(now) {", "if err == nil && t.over(now) && p == nil {"},
	}},
	{"a cancel of a part undoes the whole", "schemes/backend/hosted", "TestField4_ACancelOfAPartIsRefused", []edit{
		{"schemes/backend/hosted/post.go", "case n != 0 && n != p.of.amount:", "case n < 0:"},
	}},
	{"what is due comes after what is asked", "schemes/backend/hosted", "TestField4_WhatIsDueComesFirst", []edit{
		{"schemes/backend/hosted/post.go", "for _, o := range list {\n		if err == nil {", "for _, o := range list {\n		if err == nil && now < 0 {"},
	}},
	{"a given-back subscription cannot be ended", "schemes/backend/paylinks", "TestField4_AGivenBackSubscriptionCanBeEnded", []edit{
		{"schemes/backend/paylinks/draw.go", "		add(pages.Result(l.say(wReturned)))\n		add(s.goesOn(v, l)...)\n", "		add(pages.Result(l.say(wReturned)))\n"},
	}},
	{"a proxy's answer to a write reads as a refusal", "agent/port", "TestField4_AProxysAnswerIsNoRefusal", []edit{
		{"schemes/wire/rest/handler.go", "if !wire.ProvesNothing(e) {", "if true || !wire.ProvesNothing(e) {"},
	}},
	{"hosted build takes a proxy's answer for its own", "agent/port", "TestField4_AProxysAnswerIsNoRefusal", []edit{
		{"schemes/hosted/errors.go", "e.Nobody = c.Nobodys(e.Code, own)", "e.Nobody = c.Nobodys(e.Code, own || value == \"\")"},
	}},
	{"a proxy's answer takes a client's name back", "agent/ownership", "TestField4_AProxysAnswerTakesNoNameBack", []edit{
		{"agent/ownership/naming.go", "if wire.ProvesNothing(err) {", "if err == nil && wire.ProvesNothing(err) {"},
	}},
}
