package mutants

const page = "agent/screen"

// ofPage is every broken rule of the customer's screen as a page, and of its keys.
var ofPage = []mutant{
	{"a tap counts for another scene", page, "TestATapCountsOnce", []edit{
		{"agent/screen/screen.go", `subtle.ConstantTimeCompare([]byte(form), []byte(s.form)) == 1 && `, `form != "" && subtle.ConstantTimeCompare(nil, nil) == 1 && `},
	}},
	{"a tap counts twice", page, "TestATapCountsOnce", []edit{
		{"agent/screen/screen.go", `		s.turn() // before`, `		_ = s.code // before`},
	}},
	{"what is paid is cancelled at the page", page, "TestATapCountsOnce|TestEveryScene", []edit{
		{"agent/screen/screen.go", `case scene.Message, scene.Code, scene.Waiting:`, `case scene.Message, scene.Code, scene.Waiting, scene.Paid:`},
	}},
	{"a tap counts for the next question", counter, "TestATapIsOfItsFace", []edit{
		{"agent/counter/counter.go", `sale == a.d.q.Sale && turn == c.turn`, `sale == a.d.q.Sale`},
	}},
	{"a tap stops another sale", drive, "TestStopAtTheTerminal", []edit{
		{"agent/checkout/drive/prompt.go", ` && (sale == "" || sale == string(row.Key)) {`, ` {`},
	}},
	{"another page presses the keys", "agent/port", "TestTheCustomersScreenIsClosedToOtherPages", []edit{
		{"agent/port/guard.go", `if r.Header["Referer"] != nil || !fromOwnPage(r) {`, `if r.Header["Referer"] != nil {`},
	}},
}
