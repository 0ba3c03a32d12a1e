package mutants

// ofVerbs is what a reading of restore, reset and their verbs found about money, put back.
var ofVerbs = []mutant{
	{"the wall clock of a start makes the lost span", "agent/checkout/drive/journal", "TestField3_E6AClockBehindMakesNoSpanShorter", []edit{
		{"agent/checkout/drive/journal/widen.go", `if more <= 0 || !l.Any() {`, `if more != 0 || !l.Any() {`},
	}},
	{"what a person lets count is in no day's sum", drive, "TestField3_E4WhatAPersonLetsCountIsInOneDaysSum", []edit{
		{"agent/checkout/drive/journal/aside.go", "\tr.Batch = open\n", ""},
	}},
	{"an untold end is not in the list of alerts", drive, "TestField3_E1AnUntoldEndIsInTheListOfAlerts", []edit{
		{"agent/checkout/drive/journal/alert.go", `return j.alert(tx, r, checkout.Nobody, r.unheard())`, `return nil`},
	}},
}
