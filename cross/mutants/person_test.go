package mutants

const person = "agent/port/login"

// ofPerson is every broken rule of what a person does at the terminal's page.
var ofPerson = []mutant{
	// Who may.
	{"a deed of the page without a login", person, "TestWhoMayDoWhat", []edit{
		{"agent/port/login/console.go", "	if !ok || !c.sessions.known(s.word, s.cookie, s.pin) {\n\t\tc.over(w, r)", "	if !ok && r.Method == \"\" {\n\t\tc.over(w, r)"},
		{"agent/port/login/deeds.go", `if !c.sessions.spend(`, `if c.sessions.known(s.word, s.cookie, s.pin) && !c.sessions.spend(`},
	}},
	{"a login is its path alone", person, "TestASessionNeedsBoth|TestWhoMayDoWhat", []edit{
		{"agent/port/login/sessions.go", `subtle.ConstantTimeCompare(shown[:], one.cookie[:]) != 1`, `len(shown) == 0`},
	}},
	{"a login's cookie goes to every port of the host", person, "TestWhoMayDoWhat", []edit{
		{"agent/port/login/console.go", `setCookie(w, at, cookie, 0)`, `setCookie(w, "/", cookie, 0)`},
	}},
	{"a deed of the page by GET", person, "TestWhoMayDoWhat", []edit{
		{"agent/port/login/console.go", "\t\tc.show(w, r, s)", "\t\tif q := r.URL.Query(); q.Has(pages.DoField) {\n\t\t\tc.act(w, r, s, q)\n\t\t\treturn\n\t\t}\n\t\tc.show(w, r, s)"},
	}},
	{"a form of the page counts without its word", person, "TestWhoMayDoWhat", []edit{
		{"agent/port/login/deeds.go", `if !c.sessions.spend(s.word, s.cookie, s.pin, form.Get(pages.FormField)) {`, `if !c.sessions.known(s.word, s.cookie, s.pin) {`},
	}},
	{"a form of the page counts twice", person, "TestAFormCountsOnce|TestWhoMayDoWhat", []edit{
		{"agent/port/login/sessions.go", `one.forms = slices.Delete(one.forms, found, found+1)`, `_ = slices.Delete(slices.Clone(one.forms), found, found+1)`},
	}},
	{"a person's form from another site counts", person, "TestWhoMayDoWhat", []edit{
		{"agent/port/login/deeds.go", `len(site) != 1 || site[0] != "same-origin"`, `len(site) > 1`},
	}},
	{"another page reaches the person's pages", "agent/port", "TestThePersonsPagesAreClosedToOtherPages", []edit{
		{"agent/port/guard.go", `	if r.URL.Path != PagePath && !strings.HasPrefix(r.URL.Path, PersonPath) {`,
			"	if strings.HasPrefix(r.URL.Path, PersonPath) {\n\t\treturn true\n\t}\n\tif r.URL.Path != PagePath {"},
	}},
	{"a login at the page never ends", person, "TestSessionsEnd|TestWhoMayDoWhat", []edit{
		{"agent/port/login/sessions.go", `return now.Sub(s.last) > idle || now.Sub(s.began) > longest`, `return now.Before(s.began)`},
	}},
	{"a login by a PIN that was changed goes on", person, "TestSessionsEnd|TestWhoMayDoWhat", []edit{
		{"agent/port/login/sessions.go", `if one.over(time.Now()) || one.pin != pin {`, `if one.over(time.Now()) {`},
	}},
	{"a page that loads itself again keeps the login alive", person, "TestPagesOfASession", []edit{
		{"agent/port/login/answers.go", `if which == pages.ShowEvents && pace > 0 {`, `if which == pages.ShowEvents && pace > 1000 {`},
	}},

	// The PIN.
	{"PINs can be guessed for ever", person, "TestTheLockGrows", []edit{
		{"agent/port/login/login.go", `if wrong < free {`, `if wrong < 1_000_000 {`},
	}},
	{"a stranger's wrong PINs lock a browser that the person has used", person, "TestField2_G5NoStrangerLocksThePersonOut", []edit{
		{"agent/port/login/login.go", `if v.browser == "" && l.until.After(until) {`, `if l.until.After(until) {`},
	}},
	{"a stranger's wrong PINs lock every address", person, "TestField2_G5NoStrangerLocksThePersonOut", []edit{
		{"agent/port/login/login.go", `return "address " + v.address`, `return "address"`},
	}},
	{"any word makes a browser known", person, "TestField2_G5ABrowserIsKnownByThePIN", []edit{
		{"agent/port/login/known.go", `hmac.Equal([]byte(proof), []byte(p.proof(word)))`, `proof != "x"`},
	}},
	{"the lock of the PIN does not grow", person, "TestTheLockGrows", []edit{
		{"agent/port/login/login.go", `return min(firstLock<<more, longLock)`, `return min(firstLock, longLock)`},
	}},
	{"a restart ends the lock of the PIN", person, "TestTheLockSurvivesARestart", []edit{
		{"agent/port/login/login.go", `l.began.Add(lockOf(n, freeTries))`, `l.began.Add(min(lockOf(n, freeTries), 0))`},
	}},
	{"tries at the PIN are not read after a restart", "agent", "TestTriesAtThePIN", []edit{
		{"agent/person.go", `		n, err = triesAt(r, pin)`, `		_, err = triesAt(r, pin)`},
	}},
	{"a PIN is looked at before its try is counted", person, "TestATryIsCountedFirst", []edit{
		{"agent/port/login/login.go", "	n, err := l.tries.Count(ctx, stored.id())\n	if err != nil {", "	n, err := l.tries.Count(ctx, stored.id())\n	if err != nil && !stored.is(pin) {"},
	}},
	{"the PIN is stored as it is", person, "TestStoredPIN", []edit{
		{"agent/port/login/pin.go", `hash, err := slow(pin, salt, rounds)`, `hash, err := []byte(pin), error(nil)`},
	}},
	{"a PIN that others can write is taken", "cmd/posagent", "TestPINFile", []edit{
		{"cmd/posagent/trusted_files.go", `readSecret(path, uid, 0o077,`, `readSecret(path, uid, 0,`},
	}},

	// What is done, and who did it.
	{"a deed of the page is the program's", person, "TestWhoMayDoWhat", []edit{
		{"agent/port/login/console.go", `audit.Actor{Kind: audit.Person, Name: "page"`, `audit.Actor{Kind: audit.Program, Name: "page"`},
	}},
	{"an acknowledgement is not in the audit log", outbox, "TestAnAcknowledgementIsNoted", []edit{
		{"agent/outbox/alert.go", `if err != nil || o.audit == nil {`, `if err != nil || o.audit != nil {`},
	}},
	{"money in doubt is decided at the first look", person, "TestADecisionIsAskedFor", []edit{
		{"agent/port/login/deeds.go", `if fault != pages.NotRefused || !form.Has(pages.SureField) {`, `if fault != pages.NotRefused {`},
	}},
	{"money in doubt is decided without a proof", person, "TestADecisionIsAskedFor", []edit{
		{"agent/port/login/deeds.go", `case reason == "":`, `case reason == "none":`},
	}},
	{"the page asks the network", "agent/doctor", "TestTheTerminalExaminesItself", []edit{
		{"agent/doctor/table.go", `UPS 008`, `UPS 001 008`},
	}},
}
