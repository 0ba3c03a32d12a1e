package mutants

// ofMoney is what the second field report found about money, put back.
var ofMoney = []mutant{
	{"a sale of which a reply was heard counts as never sent", checkout, "TestField2_M1WhatWasHeardWasSent", []edit{
		{"agent/checkout/state.go", `s.Sends == s.Unsent && !s.Heard && s.Wire`, `s.Sends == s.Unsent && s.Wire`},
	}},
	{"an attempt that memory does not know counts as one that rests", "agent/checkout/drive/live", "TestField2_M1MemoryProvesNothingOfAnEarlierRun", []edit{
		{"agent/checkout/drive/live/live.go", `l == nil || try == 0 || l.resting != try {`, `l == nil || l.resting != 0 && l.resting != try {`},
	}},
	{"a start goes on with a payment whose register was told aborted", drive, "TestField2_M21AStartUndoesWhatWasToldWithoutAJournal", []edit{
		{"agent/checkout/timers.go", `return now >= AnsweredBy(s, s.Limits.Deadline)`, `return false`},
	}},
	{"a dead disk after a start keeps a register waiting", drive, "TestField2_M21ADeadDiskAfterAStartKeepsNobodyWaiting", []edit{
		{"agent/checkout/drive/resume.go", `case checkout.Open(row.State): //`, `case false: //`},
	}},
}
