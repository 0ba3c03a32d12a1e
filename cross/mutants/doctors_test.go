package mutants

// ofDoctors breaks what a doctor of a backend has to see.
var ofDoctors = []mutant{
	{"a follower of a cause is a failure of its own", "agent/doctor/exam", "TestOneCauseIsOneFailure", []edit{
		{"agent/doctor/exam/exam.go", `		case f.Status == Fail:
			return id`, `		case f.Status == Fail:
			return ""`},
	}},
	{"doctor takes another key for the one of the books", "cmd/backend", "TestOneFaultOneName", []edit{
		{"schemes/backend/survey.go", `if err == nil && s.Sealed {`, `if err == nil && !s.Sealed {`},
	}},
	{"doctor sees no transaction that does not sum to zero", "cmd/backend", "TestOneFaultOneName", []edit{
		{"schemes/backend/books/journal/journal.go", `if looked++; sum != 0 {`, `if looked++; sum < 0 {`},
	}},
	{"doctor sees no delivery that waits", "cmd/backend", "TestOneFaultOneName", []edit{
		{"schemes/backend/webhooks/list.go", `due_ms IS NOT NULL AND due_ms < ?`, `due_ms IS NOT NULL AND due_ms > ?`},
	}},
	{"doctor sees no sweep that is late", "cmd/backend", "TestOneFaultOneName", []edit{
		{"cmd/backend/doctor_checks.go", `f.Now.Sub(due) > lateSweep`, `f.Now.Sub(due) < -lateSweep`},
	}},
	{"doctor sees no process that is silent", "cmd/backend", "TestOneFaultOneName", []edit{
		{"schemes/backend/engine.go", `func (p Place) Held() (pid int, held bool, err error) { return p.Engine.orUsual().Held(p.Dir) }`, `func (p Place) Held() (pid int, held bool, err error) { return 0, false, nil }`},
	}},
	{"doctor sees no standby that commits wait for in vain", "cmd/posagent-backend", "TestJudges", []edit{
		{"cmd/posagent-backend/doctor_checks.go", `case len(s.Standbys) == 0, !s.Hidden && s.Awaited() < need:`, `case len(s.Standbys) < 0:`},
	}},
	{"doctor takes a server that went backwards", "cmd/posagent-backend", "TestDoctor_OneFaultOneName", []edit{
		{"store/postgres/survey.go", `		s.Backwards = err`, `		s.Backwards = nil`},
	}},
	{"doctor sees no right that is missing", "cmd/posagent-backend", "TestDoctor_OneFaultOneName", []edit{
		{"store/postgres/rights.go", `AND NOT has_table_privilege(c.oid, p)`, `AND has_table_privilege(c.oid, p) IS NULL`},
	}},
}
