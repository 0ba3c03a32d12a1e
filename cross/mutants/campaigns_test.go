package mutants

// ofCampaigns is every broken rule that the campaigns over the registers' protocols have to notice.
var ofCampaigns = []mutant{
	{"a nexo answer that breaks off is told", "cross/line", "TestTillsPulledAtEveryByte", []edit{
		{"ecr/nexo/dialogue.go", "		if ev.OK {\n			how = ecr.Told", "		if ev.OK || how == ecr.Lost {\n			how = ecr.Told"},
	}},
	{"a sale is told before it is on the disk", "cross/line", "TestPowerCutOfSales", []edit{
		{"store/sqlite/conn.go", `b.WriteString("&_synchronous=" + s.synchronous + "&_busy_timeout=5000")`, `b.WriteString("&_synchronous=NORMAL&_busy_timeout=5000")`},
		{"store/sqlite/conn.go", `"FULL": "2"`, `"FULL": "1"`},
	}},
	{"what a till lets the terminal keep is undone, in a day of sales", "cross/sim", "TestDaysOfTills", []edit{
		{"agent/checkout/approved.go", `	case s.Till.Keep && e.Sync != Again:`, `	case s.Till.Keep && e.Sync == Again:`},
	}},
}
