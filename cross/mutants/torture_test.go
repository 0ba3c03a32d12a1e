package mutants

// ofTorture is every way in which the register that tests terminals could lose its teeth.
var ofTorture = []mutant{
	{"what a terminal counts is not compared", "ecr/torture", "TestEachFaultFailsItsRow", []edit{
		{"ecr/torture/torture.go", `if count != want || sum != money.Minor(want)*b.o.Amount {`, `if false && count != want && sum != 0 {`},
	}},
	{"an answer that changed passes", "ecr/torture", "TestEachFaultFailsItsRow", []edit{
		{"ecr/torture/rows.go", `	if first != second {`, `	if false {`},
	}},
	{"a sale that was taken may be forgotten", "ecr/torture", "TestEachFaultFailsItsRow", []edit{
		{"ecr/torture/rows_lost.go", `if accepted && a.Said == NotFound {`, `if false {`},
	}},
	{"a live terminal is tortured", "ecr/torture", "TestALiveTerminalIsLeftAlone", []edit{
		{"ecr/torture/torture.go", `if !test && !o.Local && !o.Live {`, `if false && test {`},
	}},
	{"the limit is not kept", "ecr/torture", "TestALiveTerminalIsLeftAlone", []edit{
		{"ecr/torture/torture.go", `b.card.Spent+b.o.Amount > b.o.Limit {`, `b.card.Spent > b.o.Limit {`},
	}},
	{"what was not seen counts as passed", "ecr/torture", "TestALiveTerminalIsLeftAlone", []edit{
		{"ecr/torture/torture.go", `if res.Verdict, res.Saw = NotSeen, ErrLimit.Error(); b.atLimit() {`, `if res.Verdict, res.Saw = Passed, ErrLimit.Error(); b.atLimit() {`},
	}},
}
