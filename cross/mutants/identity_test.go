package mutants

// ofIdentity is every broken rule of what names a request for ever.
var ofIdentity = []mutant{
	{"an id that a lost journal may have used is sent under unread", drive, "TestField2_M14", []edit{
		{"agent/checkout/used.go", "\tif s.ReadFirst {\n\t\ts.Phase", "\tif s.ReadFirst && s.Phase == Done {\n\t\ts.Phase"},
	}},
	{"a key that another request has used is read and undone", drive, "TestField2_M14AKeyOfAnotherRequestIsNotRead", []edit{
		{"agent/checkout/drive/perform/send.go", "if wire.OtherBody(err) {", "if wire.OtherBody(err) && err == nil {"},
	}},
	{"a key that another request has used is undone after an abort", drive, "TestField2_M14AKeyOfAnotherRequestIsNotRead", []edit{
		{"agent/checkout/abort.go", "case e.Name == ReplyFailed && e.Failure == KeyUsed:", "case e.Name == ReplyFailed && e.Failure == KeyUsed && s.Plain:"},
	}},
	{"an abort before the first attempt undoes another's payment", drive, "TestField2_M14NothingIsSentUnread", []edit{
		{"agent/checkout/abort.go", "if s.ReadFirst { //", "if s.ReadFirst && s.Plain { //"},
	}},
	{"a boot before the first attempt undoes another's payment", drive, "TestField2_M14NothingIsSentUnread", []edit{
		{"agent/checkout/payment.go", "case s.ReadFirst && e.NewBoot:", "case s.ReadFirst && e.NewBoot && s.Plain:"},
	}},
	{"what is not answered is taken for nothing known", drive, "TestField2_M14NothingIsSentUnread", []edit{
		{"agent/checkout/used.go", "case e.Failure == NotFound:", "case e.Failure != NotSent:"},
	}},
	{"a journal that took another's place reads for ever", drive, "TestField2_M14ReadsBeforeTheFirstAttempt", []edit{
		{"agent/checkout/drive/begin.go", "return run-l.RunMS < sequenceAge.Milliseconds(), err", "return run >= 0, err"},
	}},
	{"a foreign 409 proves another body", "schemes/wire", "TestField2_M14AForeign409MayMeanThatItRuns", []edit{
		{"schemes/wire/problem.go", "e.MayRun = e.Code == KeyReused && a.Status == http.StatusConflict", "e.MayRun = false"},
		{"schemes/wire/fault.go", "e.MayRun = e.Code == KeyReused && a.Status == http.StatusConflict", "e.MayRun = false"},
	}},
}
