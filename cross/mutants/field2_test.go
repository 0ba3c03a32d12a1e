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
	{"a refund of the unacknowledged sale undoes it", drive, "TestField2_M22WhatNamesAnApprovalHasHeardIt", []edit{
		{"agent/checkout/drive/sent.go", `if r.Key == known {`, `if false {`},
	}},
	{"a refund by another till's receipt shows nothing", drive, "TestField2_M22WhatNamesAnApprovalHasHeardIt", []edit{
		{"agent/checkout/drive/sent.go", ` && r.Key != known {`, ` {`},
	}},
	{"a refund of the last payment counts as knowledge", drive, "TestField2_M22WhatNamesAnApprovalHasHeardIt", []edit{
		{"agent/checkout/drive/sent.go", `|| asked == "" || asked == "L" {`, `|| asked == "no name at all" {`},
	}},
	{"a receipt that is asked for by its number stays unacknowledged", drive, "TestField2_M22WhatNamesAnApprovalHasHeardIt", []edit{
		{"agent/checkout/drive/told.go", `case row.State.Phase == checkout.Unconfirmed:`, `case false:`},
	}},
}
