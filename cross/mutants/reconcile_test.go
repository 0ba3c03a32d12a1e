package mutants

// ofReconcile is every broken rule of a till's list beside journal and backend.
var ofReconcile = []mutant{
	{"a sale between two lists stands in neither", "agent/support/daily", "TestField2_M35ASaleBetweenTwoListsIsLookedFor", []edit{
		{"agent/support/daily/run.go", `After: last.through, Written: c.at,`, `Written: c.at,`},
	}},
	{"a sale behind a list's last row is not looked for", "agent/support/daily", "TestField2_M35ASaleBetweenTwoListsIsLookedFor", []edit{
		{"agent/support/daily/run.go", `After: last.through, Written: c.at,`, `After: last.through,`},
	}},
	{"a paid sale that the till denies is agreement", "agent/support/reconcile", "TestJudge", []edit{
		{"agent/support/reconcile/judge.go", `case journal == paid && till != paid:`, `case journal == paid && till == absent:`},
	}},
	{"a sale that a restored backend does not know is agreement", "cmd/posagent-backend", "TestATerminalNamesWhatARestoreLost", []edit{
		{"agent/support/reconcile/judge.go", `case journal == paid && backend != paid,`, `case journal == paid && backend != paid && backend != absent,`},
	}},
	{"a backend that is silent is a backend that says no", "agent/support/reconcile", "TestABackendThatDoesNotAnswer", []edit{
		{"agent/support/reconcile/ask.go", `b.Says, b.Why = string(unasked), wire.MaskPANs(wire.AsError("", err).Msg)`, `b.Says = string(absent)`},
	}},
	{"a backend that cannot be asked does not know the sale", "agent/support/reconcile", "TestABackendThatDoesNotAnswer", []edit{
		{"agent/support/reconcile/ask.go", `case code == wire.NotFound:`, `case code == wire.NotFound, code == wire.Unavailable:`},
	}},
	{"what looks different is not read again", "agent/support/reconcile", "TestWhatEndsMeanwhileIsNoFinding", []edit{
		{"agent/support/reconcile/run.go", `if f.Class == Agree || second {`, `if second || !second {`},
	}},
	{"an undo that failed counts as given back", "agent/support/reconcile", "TestAnUndoThatFailedIsADifference", []edit{
		{"agent/support/reconcile/ask.go", `if err == nil && undo.Says == string(paid) {`, `if err == nil && undo.Says != "" {`},
	}},
	{"an altered row counts", "agent/support/reconcile", "TestARowFromOutsideCountsForNothing", []edit{
		{"agent/support/reconcile/match.go", `case r.Quarantined && r.Aside == "":`, `case false:`},
	}},
	{"sales that the list lacks are passed over", "agent/support/reconcile", "TestEachPlantedDifferenceIsFound", []edit{
		{"agent/support/reconcile/run.go", `case len(lines) == 0 || slices.Contains(lines, s.line):
			r.unlisted`, `case false:
			r.unlisted`},
	}},
	{"a sale that the list has twice is two sales", "agent/support/reconcile", "TestEachPlantedDifferenceIsFound", []edit{
		{"agent/support/reconcile/match.go", `of[p.row] < 0 && s.row < 0 {`, `of[p.row] < 0 {`},
	}},
	{"a list that names nothing lacks the whole journal", "agent/support/reconcile", "TestAListThatNamesNothing", []edit{
		{"agent/support/reconcile/run.go", `nowhere := period == (Period{})`, `nowhere := len(list.Rows) > 1000`},
	}},
	{"a day is compared at each start", "agent/support/daily", "TestADayIsComparedOnce", []edit{
		{"agent/support/daily/run.go", `	case outcome == Compared || outcome == First || outcome == Missed:`, `	case outcome == First || outcome == Missed:`},
	}},
	{"a day before the setting is compared", "agent/support/daily", "TestADayIsComparedOnce", []edit{
		{"agent/support/daily/run.go", `	case !ran: //`, `	case !ran && day == "": //`},
	}},
	{"a clock that cannot be right is believed", "agent/support/daily", "TestAClockThatJumps", []edit{
		{"agent/support/daily/run.go", `if !d.o.Sane(now) {`, `if false {`},
	}},
	{"the comparison asks beside a sale", "agent/support/daily", "TestASaleComesFirst", []edit{
		{"agent/support/daily/run.go", `	for d.o.Busy() {`, `	for false {`},
	}},
	{"a sale that is being told is over", drive, "TestSelling", []edit{
		{"agent/checkout/drive/live/live.go", `		if len(l.waiters) > 0 || l.holds > 0 {
			return true`, `		if len(l.waiters) > 0 {
			return true`},
	}},
	{"a list that is missing is an alert at each look", "agent/support/daily", "TestAListThatCannotBeUsed", []edit{
		{"agent/support/daily/run.go", `finding{subject: "list", says: v.Day,`, `finding{subject: "list", says: v.At.String(),`},
	}},
	{"a list that is missing stays an alert when it is there", "agent/support/daily", "TestAListThatCannotBeUsed", []edit{
		{"agent/support/daily/run.go", `gone, more := []string{"list"}, 0`, `gone, more := []string{}, 0`},
	}},
	{"a till that writes no list agrees for ever", "agent/support/daily", "TestAListThatIsNotWrittenAgain", []edit{
		{"agent/support/daily/run.go", `if !empty && !same {`, `if !empty {`},
	}},
	{"a finding that a person knows is raised again", "agent/support/daily", "TestADifferenceIsRaisedOnce", []edit{
		{"agent/support/daily/run.go", `case known && s.says == n.says:`, `case known && !s.acked && s.says == n.says:`},
		{"agent/support/daily/book.go", `acked = 0 WHERE says <> excluded.says`, `acked = 0`},
	}},
	{"a finding that says something else is not raised", "agent/support/daily", "TestADifferenceIsRaisedOnce", []edit{
		{"agent/support/daily/run.go", `case known && s.says == n.says:`, `case known:`},
	}},
	{"a finding stays where all agree", "agent/support/daily", "TestADifferenceIsRaisedOnce", []edit{
		{"agent/support/daily/run.go", `		if agreed[subject] {`, `		if false {`},
	}},
	{"a day without an answer of the backend is forgotten", "agent/support/daily", "TestABackendThatIsAway", []edit{
		{"agent/support/daily/run.go", `		if err := missed(tx, run); err != nil {`, `		if err := missed(tx, run); err != nil || false {
			return err
		}
		if err := settle(tx, "missed"); err != nil {`},
	}},
	{"a list of another shop floods the alerts", "agent/support/daily", "TestManyDifferencesAreNoFlood", []edit{
		{"agent/support/daily/run.go", `		case waits >= mostShown:`, `		case false:`},
	}},
	{"a card number of the list stands in an alert", "agent/support/daily", "TestTheFileIsNotTrusted", []edit{
		{"agent/support/daily/list.go", `s = wire.MaskPANs(strings.Map(`, `s = wire.MaskPANs("") + (strings.Map(`},
	}},
	{"a damaged row is left out", "agent/support/reconcile", "TestReadRefuses", []edit{
		{"agent/support/reconcile/csv.go", `		row, err := t.row(line, currency, zone)
		if err != nil {
			return List{}, err
		}`, `		row, err := t.row(line, currency, zone)
		if err != nil {
			continue
		}`},
	}},
	{"any answer about an undo is its own", "agent/support/reconcile", "TestField4_E7NoAnswerOfTheKindIsAnothers", []edit{
		{"agent/support/reconcile/ask.go", `ecr.Reversal, nil, s.ownsUndo)`, `ecr.Reversal, nil, nil)`},
	}},
}
