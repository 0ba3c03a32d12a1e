package mutants

// ofReconcile is every broken rule of a till's list beside journal and backend.
var ofReconcile = []mutant{
	{"a paid sale that the till denies is agreement", "agent/reconcile", "TestJudge", []edit{
		{"agent/reconcile/judge.go", `case journal == paid && till != paid:`, `case journal == paid && till == absent:`},
	}},
	{"a backend that is silent is a backend that says no", "agent/reconcile", "TestABackendThatDoesNotAnswer", []edit{
		{"agent/reconcile/ask.go", `b.Says, b.Why = string(unasked), wire.MaskPANs(wire.AsError("", err).Msg)`, `b.Says = string(absent)`},
	}},
	{"a backend that cannot be asked does not know the sale", "agent/reconcile", "TestABackendThatDoesNotAnswer", []edit{
		{"agent/reconcile/ask.go", `case code == wire.NotFound:`, `case code == wire.NotFound, code == wire.Unavailable:`},
	}},
	{"what looks different is not read again", "agent/reconcile", "TestWhatEndsMeanwhileIsNoFinding", []edit{
		{"agent/reconcile/run.go", `if f.Class == Agree || second {`, `if second || !second {`},
	}},
	{"an undo that failed counts as given back", "agent/reconcile", "TestAnUndoThatFailedIsADifference", []edit{
		{"agent/reconcile/ask.go", `if err == nil && undo.Says == string(paid) {`, `if err == nil && undo.Says != "" {`},
	}},
	{"an altered row counts", "agent/reconcile", "TestARowFromOutsideCountsForNothing", []edit{
		{"agent/reconcile/match.go", `case r.Quarantined && r.Aside == "":`, `case false:`},
	}},
	{"sales that the list lacks are passed over", "agent/reconcile", "TestEachPlantedDifferenceIsFound", []edit{
		{"agent/reconcile/run.go", `if s.row < 0 && period.has(s.createdMS) &&`, `if false && period.has(s.createdMS) &&`},
	}},
	{"a sale that the list has twice is two sales", "agent/reconcile", "TestEachPlantedDifferenceIsFound", []edit{
		{"agent/reconcile/match.go", `of[p.row] < 0 && s.row < 0 {`, `of[p.row] < 0 {`},
	}},
	{"a damaged row is left out", "agent/reconcile", "TestReadRefuses", []edit{
		{"agent/reconcile/csv.go", `		row, err := t.row(line, currency, zone)
		if err != nil {
			return List{}, err
		}`, `		row, err := t.row(line, currency, zone)
		if err != nil {
			continue
		}`},
	}},
}
