package mutants

// ofTorture is every way in which the register that tests terminals could lose its teeth.
var ofTorture = []mutant{
	{"what a terminal counts is not compared", "ecr/torture", "TestEachFaultFailsItsRow", []edit{
		{"ecr/torture/torture.go", `if count == want && sum == money.Minor(want)*b.o.Amount {`, `if count == want || sum != -1 {`},
	}},
	{"a terminal whose totals take a moment fails", "ecr/torture", "TestTotalsTakeAMoment", []edit{
		{"ecr/torture/torture.go", `"the terminal counts", min(settles, b.o.Wait)`, `"the terminal counts", min(0, b.o.Wait)`},
	}},
	{"an answer that changed passes", "ecr/torture", "TestEachFaultFailsItsRow", []edit{
		{"ecr/torture/rows.go", `	if !first.Same(second) {`, `	if false {`},
	}},
	{"a sale that was taken may be forgotten", "ecr/torture", "TestEachFaultFailsItsRow", []edit{
		{"ecr/torture/rows_lost.go", `if accepted && a.Said == till.NotFound {`, `if false {`},
	}},
	{"a live terminal is tortured", "ecr/torture", "TestALiveTerminalIsLeftAlone", []edit{
		{"ecr/torture/torture.go", `if !b.test && !o.Local && !o.Live {`, `if false && b.test {`},
	}},
	{"the limit is not kept", "ecr/torture", "TestALiveTerminalIsLeftAlone", []edit{
		{"ecr/torture/torture.go", `b.card.Spent+b.o.Amount > b.o.Limit {`, `b.card.Spent > b.o.Limit {`},
	}},
	{"what was not seen counts as passed", "ecr/torture", "TestALiveTerminalIsLeftAlone", []edit{
		{"ecr/torture/torture.go", `if res.Verdict, res.Saw = NotSeen, ErrLimit.Error(); b.atLimit() {`, `if res.Verdict, res.Saw = Passed, ErrLimit.Error(); b.atLimit() {`},
	}},
	{"what a register lost may stay where it cannot ask", "ecr/torture", "TestEachFaultFailsItsRowCaisseAP", []edit{
		{"ecr/torture/torture.go", `		if b.o.Books == nil {
			return nil`, `		if b.o.Books != nil {
			return nil`},
	}},
	{"an answer in two pieces passes", "ecr/torture", "TestEachFaultFailsItsRowCaisseAP", []edit{
		{"ecr/torture/rows.go", `a.Pieces != 1 {`, `a.Pieces < 1 {`},
	}},
	{"a sale may be approved after a mute abort", "ecr/torture", "TestEachFaultFailsItsRowNexo", []edit{
		{"ecr/torture/rows.go", `late := b.p.Can.Mute && time.Since(at) < mute`, `late := b.p.Can.Mute && time.Since(at) < time.Hour`},
	}},
	{"another till may hear a sale that has no id", "ecr/torture", "TestEachFaultFailsItsRowECR17", []edit{
		{"ecr/torture/rows.go", `(b.p.Can.IDs || stolen.Receipt == a.Receipt)`, `b.p.Can.IDs`},
	}},
	{"a secret of a terminal is printed", "ecr/till", "TestSettingsPrintNoSecret", []edit{
		{"ecr/till/till.go", `func (Secret) String() string { return "***" }`, `func (s Secret) String() string { return string(s) }`},
	}},
	{"a tampered answer of nexo is believed", "ecr/till", "TestOnlyTheOwnKeyOpens", []edit{
		{"ecr/till/nexo_key.go", `if !hmac.Equal(m.SecurityTrailer.Hmac, k.sum(plain)) {`, `if len(m.SecurityTrailer.Hmac) != len(k.sum(plain)) {`},
	}},
	{"any terminal behind HTTPS counts as one on this machine", "ecr/till", "TestPlaceOf", []edit{
		{"ecr/till/place.go", `host == "localhost" || ip != nil && ip.IsLoopback()`, `host == "localhost" || scheme == "https" || ip != nil && ip.IsLoopback()`},
	}},
	{"a certificate under any root is believed", "ecr/torture", "TestTrust", []edit{
		{"ecr/till/place.go", `x509.VerifyOptions{Roots: pool, Intermediates: between}`, `x509.VerifyOptions{Roots: between, Intermediates: between}`},
	}},
}
