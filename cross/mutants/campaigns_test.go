package mutants

const (
	killing = "cross/kill"
	cabling = "cross/line"
	days    = "cross/sim"
)

// ofCampaigns is every broken rule that the campaigns over the registers' protocols have to notice.
var ofCampaigns = []mutant{
	{"a JSON approval that no register acknowledged is told, and the terminal dies", killing, "TestKillTills", []edit{
		{"ecr/jsonl/outcome.go", "\tdefault:\n\t\td.record(ecr.Lost)", "\tdefault:\n\t\td.record(ecr.Told)"},
	}},
	{"a nexo payment asked for again after a kill is another sale", killing, "TestKillTills", []edit{
		{"ecr/nexo/money.go", `Sequence: a.entry.sequence(), Currency`, `Sequence: a.entry.sequence() + strconv.FormatInt(a.nowMS, 10), Currency`},
	}},
	{"Caisse-AP takes a reset for told, and the terminal dies", killing, "TestKillTills", []edit{
		{"ecr/caisseap/protocol/carry.go", `	if !errors.Is(c.last, io.EOF) || !heard(c.conn) {`, `	if !errors.Is(c.last, io.EOF) && !heard(c.conn) && false {`},
	}},
	{"an approval over HTTP is undone, and the terminal dies", killing, "TestKillTills", []edit{
		{"agent/till/ask.go", `Keep: b.Unheard != Undo,`, `Keep: b.Unheard == Keep,`},
	}},
	{"a nexo answer that breaks off is told", cabling, "TestTillsPulledAtEveryByte", []edit{
		{"ecr/nexo/dialogue.go", "		if ev.OK {\n			how = ecr.Told", "		if ev.OK || how == ecr.Lost {\n			how = ecr.Told"},
	}},
	{"a JSON id asked again in noise is another sale", cabling, "TestJSONLinesInNoise", []edit{
		{"ecr/jsonl/begin.go", `		req.Line = d.at()`, `		req.Line = d.at()
		req.Sequence = string(rune('a'+d.gen)) + req.Sequence`},
	}},
	{"a sale is told before it is on the disk", cabling, "TestPowerCutOfSales", []edit{
		{"store/sqlite/conn.go", `b.WriteString("&_synchronous=" + s.synchronous + "&_busy_timeout=5000")`, `b.WriteString("&_synchronous=NORMAL&_busy_timeout=5000")`},
		{"store/sqlite/conn.go", `"FULL": "2"`, `"FULL": "1"`},
	}},
	{"what a till lets the terminal keep is undone, in a day of sales", days, "TestDaysOfTills", []edit{
		{"agent/checkout/approved.go", `	case s.Till.Keep && e.Sync != Again:`, `	case s.Till.Keep && e.Sync == Again:`},
	}},
	{"an approval that a till did not hear is kept, in a day of sales", days, "TestDaysOfTills", []edit{
		{"agent/checkout/approved.go", "func unacknowledged(s State, e Event) (State, []Effect) {\n	s.Phase = Unconfirmed", "func unacknowledged(s State, e Event) (State, []Effect) {\n	s.Phase = Confirmed"},
	}},
}
