package mutants

const page = "agent/port/customerpage"

// ofPage is every broken rule of the customer's screen as a page, and of its keys.
var ofPage = []mutant{
	{"a tap counts for another scene", page, "TestATapCountsOnce", []edit{
		{"agent/port/customerpage/screen.go", `subtle.ConstantTimeCompare([]byte(form), []byte(s.form)) == 1 && `, `form != "" && subtle.ConstantTimeCompare(nil, nil) == 1 && `},
	}},
	{"a tap counts twice", page, "TestATapCountsOnce", []edit{
		{"agent/port/customerpage/screen.go", `		s.turn() // before`, `		_ = s.code // before`},
	}},
	{"what is paid is cancelled at the page", page, "TestATapCountsOnce|TestEveryScene", []edit{
		{"agent/port/customerpage/screen.go", `case scene.Message, scene.Code, scene.Waiting, scene.Moment:`, `case scene.Message, scene.Code, scene.Waiting, scene.Moment, scene.Paid:`},
	}},
	{"a code that is over asks to confirm in an app", drive, "TestField2_U6TheScreenSaysThatTheCodeIsOver", []edit{
		{"agent/checkout/drive/perform/screen.go", `case s.AwaitingApp && !s.Engaged:`, `case s.AwaitingApp && !s.QR:`},
	}},
	{"an idle screen flickers before the end", drive, "TestField2_U6NoWaitIsWithoutAWord", []edit{
		{"agent/checkout/drive/perform/apply.go", `if _, runs := picture(row); !runs && row.State.Result == "" {`, `if true {`},
	}},
	{"a tap counts for the next question", counter, "TestATapIsOfItsFace", []edit{
		{"agent/counter/prompts/counter.go", `sale == a.d.q.Sale && turn == c.turn`, `sale == a.d.q.Sale`},
	}},
	{"a tap stops another sale", drive, "TestStopAtTheTerminal", []edit{
		{"agent/checkout/drive/prompt.go", ` && (sale == "" || sale == string(row.Key)) {`, ` {`},
	}},
	{"another page presses the keys", "agent/port", "TestTheCustomersScreenIsClosedToOtherPages", []edit{
		{"agent/port/guard.go", `if r.Header["Referer"] != nil || !fromOwnPage(r) {`, `if r.Header["Referer"] != nil {`},
	}},
}
