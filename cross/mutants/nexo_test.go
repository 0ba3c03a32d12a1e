package mutants

// ofNexo is every broken rule of the protocol nexo.
var ofNexo = []mutant{
	{"nexo: an HMAC that is wrong is believed", "ecr/nexo", "TestVectors", []edit{
		{"ecr/nexo/crypt.go", `right := hmac.Equal(mac, key.sum(plain));`, `right := hmac.Equal(mac, key.sum(plain)) || true;`},
	}},
	{"nexo: a ServiceID with another content is a new sale", drive, "TestField5_AServiceIDIsJudgedByRunningTime", []edit{
		{"agent/checkout/drive/ids.go", `if err == nil && used && age <= req.Reuse.Milliseconds() {`, `if err == nil && used && age < 0 {`},
	}},
	{"nexo: an abort decides what is known", "ecr/nexo", "TestField5_AnAbortDoesNotDecideWhatIsKnown", []edit{
		{"ecr/nexo/money.go", `case a.entry.Aborted && !a.mine:`, `case a.entry.Aborted && (a.mine || !a.mine):`},
	}},
	{"nexo: a known payment is busy behind another one", "ecr/nexo", "TestField5_WhatIsKnownIsToldWhateverRuns", []edit{
		{"ecr/nexo/money.go", `if a.behind && !mine {`, `if a.behind {`},
	}},
	{"a named purchase that got no answer is refused", "ecr/caisseap", "TestField5_APurchaseWithANameIsDeniedByNothingButItsEnd", []edit{
		{"ecr/caisseap/dialogue.go", "		d.hangUp()\n	case d.r.ask.Kind == ecr.Payment:\n", "		d.hangUp()\n		d.no = true\n	case d.r.ask.Kind == ecr.Payment:\n"},
	}},
	{"a named purchase is denied behind another sale", "ecr/caisseap", "TestField5_APurchaseWithANameIsDeniedByNothingButItsEnd", []edit{
		{"ecr/caisseap/dialogue.go", `case ev.Elsewhere && d.r.ask.Sequence == "" &&`, `case ev.Elsewhere &&`},
	}},
	{"what is known is refused while a day is closed", drive, "TestField5_WhatIsKnownIsToldWhateverTheTerminalCanDo", []edit{
		{"agent/checkout/drive/begin.go", `case known != "":`, `case known != "" && !d.isClosing():`},
	}},
	{"nexo: a web page begins a payment", "ecr/nexo", "TestMoneyE3_AWebPageBeginsNothing", []edit{
		{"ecr/nexo/http.go", `if name == "Origin" || name == "Referer"`, `if name == "Referer"`},
	}},
	{"nexo: an amount is a binary number", "ecr/nexo", "TestAmounts", []edit{
		{"ecr/nexo/amount.go", "	micro, ok := rounded(number.String())\n", "	value, err := number.Float64()\n	micro, ok := int64(value*1e6), err == nil\n"},
	}},
	{"nexo: a line in clear is open to the network", "agent/config", "TestANexoLineHasItsOwnRules", []edit{
		{"agent/config/registers.go", `		return e.Passphrase != ""`, `		return true`},
	}},
	{"nexo: the authority signs for any name", "ecr/nexo/cert", "TestTheAuthorityIsForThisTerminalAlone", []edit{
		{"ecr/nexo/cert/cert.go", `PermittedDNSDomainsCritical: true, PermittedDNSDomains: leaf.DNSNames,`, ``},
	}},
	{"nexo: a start makes a new certificate", "ecr/nexo/cert", "TestWhenACertificateIsMadeAnew", []edit{
		{"ecr/nexo/cert/cert.go", `past.Add(early).After(leaf.NotAfter)`, `now.Add(early).After(leaf.NotBefore)`},
	}},
}
