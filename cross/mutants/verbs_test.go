package mutants

// ofVerbs is what a reading of restore, reset and their verbs found about money, put back.
var ofVerbs = []mutant{
	{"the wall clock of a start makes the lost span", "agent/checkout/drive/journal", "TestField3_E6AClockBehindMakesNoSpanShorter", []edit{
		{"agent/checkout/drive/journal/widen.go", `if more <= 0 || !l.Any() {`, `if more != 0 || !l.Any() {`},
	}},
	{"what a person lets count is in no day's sum", drive, "TestField3_E4WhatAPersonLetsCountIsInOneDaysSum", []edit{
		{"agent/checkout/drive/journal/aside.go", "\tr.Batch = open\n", ""},
	}},
	{"an untold end is not in the list of alerts", drive, "TestField3_E1AnUntoldEndIsInTheListOfAlerts", []edit{
		{"agent/checkout/drive/journal/alert.go", `return j.alert(tx, r, checkout.Nobody, r.unheard())`, `return nil`},
	}},
	{"a mark is written over any file", "store/marks", "TestField2_D1AMarkIsWrittenOverAMarkAlone", []edit{
		{"store/marks/files.go", `	if ours(f) {`, `	if ours(f) || true {`},
	}},
	{"an operator's revision names a path of the box", "agent/config", "TestField2_D1WhatWasGivenNamesNoPath", []edit{
		{"agent/config/loader.go", `l.given && !f.mayBeGiven(raw)`, `false && !f.mayBeGiven(raw)`},
	}},
	{"another program's lock is forgotten", "store/sqlite", "TestField2_D3AnotherProgramsLockDecides", []edit{
		{"store/sqlite/recover.go", `	case op == "begin" && errors.Is(err, store.ErrBusy):
		s.setState(store.Busy, err)
`, ""},
	}},
	{"an old report says that the terminal is ready", "cmd/posagent", "TestField2_D3TheRunningTerminalIsAsked", []edit{
		{"cmd/posagent/live.go", "		live.Report = report\n", "		_ = report\n"},
	}},
	{"a planted view is asked", "store/sqlite", "TestField2_D7APlantedSchemaIsNotAsked", []edit{
		{"store/sqlite/conn.go", `WHERE type = 'view' OR`, `WHERE`},
	}},
	{"two keys have one file", "agent/config", "TestField2_D1NoTwoKeysHaveOneFile", []edit{
		{"agent/config/paths.go", `named(b) && node.Same(a, b)`, `named(b) && node.Same(a, b) && false`},
	}},
	{"a device is the file that names it", "device/node", "TestField2_P4ADeviceIsItsNumber", []edit{
		{"device/node/node.go", `of(sys, st) == of(sys, st2)`, `st.Ino == st2.Ino && a == b`},
	}},
	{"a line that the terminal itself has is another program's", "device/line", "TestField2_P4WhoHasTheLineIsTold", []edit{
		{"device/line/lock.go", `holder(st) == os.Getpid()`, `holder(st) == -os.Getpid()`},
	}},
	{"receipts are added to any file", "device/printer", "TestField2_P7OnlyReceiptsAreAddedTo", []edit{
		{"device/printer/open.go", `	return ErrNotOurs`, `	return nil`},
	}},
	{"a lock file is written through a link", "device/line", "TestField2_A2NothingPlantedIsLocked", []edit{
		{"device/line/lock.go", `unix.O_NOFOLLOW|unix.O_NONBLOCK`, `unix.O_NONBLOCK`},
	}},
	{"unknown names of a sale over HTTP are ignored", "agent/port/salesapi", "TestField2_U3UnknownNamesAreRefused", []edit{
		{"agent/port/salesapi/ask.go", `wire.ParseOwn[T]("", data)`, `wire.Parse[T]("", data)`},
	}},
}
