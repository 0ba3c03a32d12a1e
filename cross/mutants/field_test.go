package mutants

// ofField is what testers of the running program found, put back.
var ofField = []mutant{
	{"a restore forgets how a sale ended", "agent/records/audit", "TestField2_M34WhatBecameOfASaleIsMore", []edit{
		{"agent/records/audit/audit.go", "`(deed LIKE 'sale.%' AND", "`(deed LIKE 'sale.b%' AND"},
	}},
	{"an operation goes to another acquirer after a move", "agent", "TestField2_M20AServiceIsBoundToItsBooks", []edit{
		{"agent/bind.go", `if sales > 0 || ops > 0 {
			return nil, &OtherBackendError{Service`, `if false {
			return nil, &OtherBackendError{Service`},
	}},
	{"a service may move to another account", "agent", "TestField2_M20AServiceIsBoundToItsBooks", []edit{
		{"agent/bind.go", `	if account == "" {`, `	if true {`},
	}},
	{"a journal that was put back goes to another acquirer", "agent", "TestField2_M20AReplacedJournalStaysWithItsBooks", []edit{
		{"agent/bind.go", `range append([]string{was}, list...) {`, `range list {`},
	}},
	{"where a lost journal had sent is forgotten", "agent", "TestField2_M20AReplacedJournalStaysWithItsBooks", []edit{
		{"agent/beside.go", `if v.Turn > mine.Turn {`, `if false {`},
	}},
	{"what lines are called goes with the journal", "agent", "TestField2_M25IDsOutliveTheJournal", []edit{
		{"agent/beside.go", `for _, v := range was.IDs {`, `for _, v := range was.IDs[:0] {`},
	}},
	{"an id is given that is not kept", "agent", "TestField2_M25AnIDThatCannotBeKeptIsNotGiven", []edit{
		{"agent/beside.go", `err := keep(beside, next); err != nil {`, `err := keep(beside, next); err != nil && false {`},
	}},
	// The register's line.
	{"a sale holds a register for five minutes, whatever its patience", checkout, "TestField_L9DeadlineIsTheRegistersPatience", []edit{
		{"agent/checkout/timers.go", `Deadline: patience - LastReadAt}`, `Deadline: LongestSale}`},
	}},
	{"the configured patience is not used", drive, "TestField_L9PatienceIsConfigured", []edit{
		{"agent/checkout/drive/begin.go", `cmp.Or(req.Patience, d.cfg.Patience), req.Progress)`, `cmp.Or(req.Patience, checkout.Patience), req.Progress)`},
	}},
	{"the register hears no text of the customer's steps", drive, "TestField_L10TheRegisterHearsWhatTheCustomerHasToDo", []edit{
		{"agent/checkout/drive/perform/tell.go", `p.sales.SetProgress(key, p.stepText(s))`, `p.sales.SetProgress(key, ecr.Progress{Step: s})`},
	}},
	{"noise on a serial line is counted nowhere", "ecr/session", "TestField_L12BadDataIsCounted", []edit{
		{"ecr/zvt/frame/link.go", `l.count(func(s *ecr.Counters) { s.Noise = scan.Noise })`, ``},
	}},
	{"status shows no noise of a line", "agent/view", "TestField_L12CountersAreShown", []edit{
		{"agent/view/line.go", `{l.Noise, "noise bytes"}, `, ``},
	}},
	{"a refusal has no German text", drive, "TestField_L13EveryRefusalHasAGermanText", []edit{
		{"agent/checkout/drive/refusal.go", `"bereits storniert"`, `""`},
	}},
	{"a German terminal refuses in English", drive, "TestField_L13ARefusalSpeaksTheTerminalsLanguage", []edit{
		{"agent/checkout/drive/refusal.go", `if ecr.German(d.cfg.Language) {`, `if false {`},
	}},
	{"a status enquiry is answered by containers that a register cannot read", "ecr/zvt", "TestField_L14StatusIsMinimal", []edit{
		{"ecr/zvt/admin.go", `return !m.cfg.Manner.bare() && (sent || m.prof.TLV && !m.prof.ListOnly)`, `return sent || true`},
	}},
	{"no receipt is told again by its number", drive, "TestField_L15AnEarlierReceiptIsToldAgain", []edit{
		{"agent/checkout/drive/told.go", `case row.State.Result != ecr.Approved, row.State.Phase`, `case receipt != 0, row.State.Phase`},
	}},
	{"any receipt number tells the last payment", drive, "TestField_L15AnEarlierReceiptIsToldAgain", []edit{
		{"agent/checkout/drive/told.go", `d.j.Newest(r, receipt)`, `d.j.LastPaymentOf(r, "serial")`},
	}},
	{"each line of a stranger is logged", "ecr/session", "TestField_L16ALineOfStrangersIsLoggedOnceAMinute", []edit{
		{"ecr/session/session.go", `{ s.quiet.warn(s.log, text, args...) }`, `{ s.log.Warn(text, args...) }`},
	}},
	{"the log does not say that a line brings bad data", "ecr/session", "TestField_L12BadDataIsCounted", []edit{
		{"ecr/session/session.go", `bad > 0 || now.Noise > before.Noise {`, `bad > 0 && false {`},
	}},
	{"strangers send as fast as they like", "ecr/session", "TestField_L16StrangersArePaced", []edit{
		{"ecr/session/tcp.go", `if wait > 0 {`, `if wait > time.Hour {`},
	}},
	{"strangers keep a dialogue's messages back", "ecr/session", "TestField_L16StrangersArePaced", []edit{
		{"ecr/session/tcp.go", `if s.owner == d || !d.from.IsValid() {`, `if !d.from.IsValid() {`},
	}},
	{"a registration is written as often as a stranger sends it", "ecr/session", "TestField_L16ARegistrationIsWrittenOnce", []edit{
		{"ecr/session/memory.go", `stored: was.stored && same}`, `stored: was.stored && same && false}`},
	}},

	// The terminal's rules.
	{"STALE ends a sale at once", checkout, "TestField_T1StaleStaysLive", []edit{
		{"agent/checkout/judge.go", "case aapay.Stale:\n\t\tif committed {\n\t\t\treturn Success\n\t\t}\n\t\treturn Live", "case aapay.Stale:\n\t\tif committed {\n\t\t\treturn Success\n\t\t}\n\t\treturn Overdue"},
	}},
	{"a receipt is looked for in the open batch alone", drive, "TestField_T3ReceiptsOfClosedBatches", []edit{
		{"agent/checkout/drive/forward.go", `row, err = d.j.Newest(tx, receipt)`, `row, err = d.j.InBatch(tx, open, receipt)`},
	}},

	// The local port.
	{"a stored payment names no page", offline, "TestField_P3AStoredPaymentHasAPage", []edit{
		{"agent/gateway/paypage.go", `if f.pages == "" {`, `if f.pages != "never" {`},
	}},
	{"a link does not show its pending deletion", offline, "TestField_P4AReadShowsThePendingDeletion", []edit{
		{"agent/gateway/links.go", `link.Operation = l.f.newest(ops)`, `link.Operation = l.f.newest(ops[:0])`},
	}},
	{"a link that the backend does not know does not show its pending deletion", offline, "TestField_P4AReadShowsThePendingDeletion", []edit{
		{"agent/gateway/links.go", `out.Operation = l.f.newest(ops); e.State`, `out.Operation = l.f.newest(ops[:0]); e.State`},
	}},
	{"a decline after 202 draws no attention", offline, "TestField_P9ADeclineAfterStoredIsAnAlert", []edit{
		{"agent/gateway/settled.go", `return f.box.Alert(tx, op, subject, shortOf(op))`, "_ = subject\n\treturn nil"},
	}},
	{"what expired unsent draws no attention", offline, "TestField_P9ExpiredIsAnAlert", []edit{
		{"agent/gateway/alert.go", `op.State.Final() && op.State != outbox.Done &&`, `op.State == outbox.Failed &&`},
	}},
	{"a wrong token is told that the operation is not allowed", "agent/port", "TestField_P10AWrongTokenIsToldSo", []edit{
		{"agent/port/auth.go", "\tfail(w, r, wire.Errorf(wire.Unauthorized, \"port\", \"%s\", text))", "\ttext = \"operation not allowed\"\n\tfail(w, r, wire.Errorf(wire.Unauthorized, \"port\", \"%s\", text))"},
	}},
	{"a token of a file that a group reads is refused", "cmd/posagent", "TestField_P10TokenFileAGroupCanRead", []edit{
		{"agent/config/loader.go", `case mode&0o037 != 0:`, `case mode&0o077 != 0:`},
	}},

	// Backend, use.
	{"a link needs no text", "schemes/backend/paylinks", "TestField_B5WhatALinkNeeds", []edit{
		{"schemes/paylinks/rules.go", `if strings.TrimSpace(f[1]) == "" {`, `if false {`},
	}},
	{"a link is made that is over already", "schemes/backend/paylinks", "TestField_B5WhatALinkNeeds", []edit{
		{"schemes/backend/paylinks/service.go", `if l.expired(now) {`, `if false {`},
	}},
	{"a basket has to make the amount also without its VAT", "schemes/payments", "TestField_B6BasketRuleOnlyWhereTheVATIsKnown", []edit{
		{"schemes/payments/basket.go", `return err == nil && p.n != 0`, `return err == nil || p.n != 0`},
	}},
	{"an end that was counted is subtracted again", "cmd/posagent", "TestField_U1AnEndThatWasCountedIsToldOnceMore", []edit{
		{"cmd/posagent/ops_send.go", "is told once more\n\t\t\tif err := count(); err != nil {\n\t\t\t\treturn err\n\t\t\t}\n", "is told once more\n"},
	}},
	{"every fault of the backend has one remedy", "agent/ready", "TestField_U3EachCauseHasItsOwnWordsAndRemedy", []edit{
		{"agent/ready/ready.go", `Remedy: fill(r.remedy, t, at)`, `Remedy: fill("check [upstream] base in {config}", t, at)`},
	}},
	{"a small console loses the method beside the code", "device/display", "TestField_U4CodeGetsTheRoomItNeeds", []edit{
		{"device/display/console.go", `!fits() && utf8.RuneCountInString(one)`, `false && utf8.RuneCountInString(one)`},
	}},
	{"the story shows each code and each byte", "cmd/posagent/demo", "TestField_U6TheStoryShowsCodeAndReceiptOnce", []edit{
		{"cmd/posagent/demo/show.go", `if w.verbose || w.tells(who, line) {`, `if w.tells(who, line) || true {`},
	}},
	{"a value that means nothing is refused without its line", "agent/config", "TestField_U7EveryErrorNamesItsPlace", []edit{
		{"agent/config/load.go", `if e.Where = l.seen[e.Key]; e.Where == "" && l.path != "" {`, `if e.Where = l.path; false {`},
	}},
	{"the manual leaves verbs of verbs out", "cmd/usage", "TestToy", []edit{
		{"cmd/usage/man.go", "\tfor _, r := range p.Rows() {\n", "\tfor _, r := range p.Rows() {\n\t\tif strings.Count(r.Path, \" \") > 1 {\n\t\t\tcontinue\n\t\t}\n"},
	}},
	{"a shell offers verbs where a value belongs", "cmd/usage", "TestToy", []edit{
		{"cmd/usage/complete.go", `quoted(path+" --"+f.Name)`, `quoted("--"+f.Name)`},
	}},
	{"a start that hangs is waited for without an end", "cmd/posagent/demo", "TestField_U12AStartThatHangsIsNamedAndTriedOnceMore", []edit{
		{"cmd/posagent/demo/process.go", `case <-time.After(l.limit):`, `case <-make(chan time.Time):`},
	}},
	{"the sums are not those of the rows", outbox, "TestField_U13NumbersAndSumsOverRollbacks", []edit{
		{"agent/outbox/schema.go", "(SELECT summed_id FROM outbox_clock) BEGIN\n\tUPDATE outbox_sums SET count = count - 1,", "(SELECT summed_id FROM outbox_clock) BEGIN\n\tUPDATE outbox_sums SET count = count,"},
	}},
	{"a remedy plays the register", "cmd/posagent", "TestField_W1NoRemedyPlaysTheRegister", []edit{
		{"agent/doctor/paper.go", `Command: "posagent status{flags}"`, `Command: "posagent register repeat{flags}"`},
	}},
	{"every journal that was begun anew counts as restored", outbox, "TestPastNamesWhatHappened", []edit{
		{"agent/outbox/restored.go", "case l.Kind == store.WasLost:\n", "case false:\n"},
	}},
	{"a start after a restore is called a crash", "agent/records/history", "TestAStartAfterARestoreIsNoCrash", []edit{
		{"agent/records/history/history.go", `case ok && l.Kind == store.WasRestored && at < l.AtMS:`, `case ok && l.Kind == store.WasRestored && at < 0:`},
	}},

	// The credentials of single services.
	{"ready though the only method's service refuses the credentials", "agent/ready", "TestField_U2WhenARegisterMayAsk", []edit{
		{"agent/ready/ready.go", `f.Method != nil && f.Alone`, `false && f.Alone`},
	}},
	{"a service that refuses its credentials stops the other methods", "agent/ready", "TestField_U2WhenARegisterMayAsk", []edit{
		{"agent/ready/ready.go", `f.Method != nil && f.Alone`, `f.Method != nil`},
	}},
	{"a terminal waits for its own next question though its backend is away", "agent", "TestADoubtIsAskedAtOnce", []edit{
		{"agent/readiness.go", `w.Method() != nil || w.Doubt != nil && w.Doubt()`, `w.Method() != nil`},
	}},
	{"a refusal without an HTTP error is none", "cmd/posagent", "TestTheAccountOfAMethod", []edit{
		{"cmd/posagent/account.go", `case a.refused.Load():`, `case false:`},
	}},
	{"an old failure of another service is asked about for ever", "cmd/posagent", "TestADoubtAboutTheHost", []edit{
		{"cmd/posagent/facts.go", `c.Stats().LastFailure.After(answered)`, `(c.Stats().LastFailure.After(answered) || true)`},
	}},
	{"the doctor passes a service that refuses its credentials", "agent/doctor", "TestRefusedCredentialsAreNamedByTheirKey", []edit{
		{"agent/doctor/network.go", `if a.Answer.Cause != "credentials" {`, `if a.Answer.Cause != "stall" {`},
	}},
	{"a remedy names no key of the credentials", "agent/doctor", "TestRefusedCredentialsAreNamedByTheirKey", []edit{
		{"agent/doctor/facts.go", `Keys: a.Keys, Plain`, `Plain`},
	}},
	{"the terminal does not ask whether a method's account accepts it", "agent", "TestTheMethodsServiceIsAsked", []edit{
		{"agent/readiness.go", `w.AskMethod(ctx)`, `_ = ctx`},
	}},

	// The journal.
	{"a NULL where a number belongs is told in the driver's words", "agent/checkout/drive/journal", "TestField_J4ANullIsDamage", []edit{
		{"agent/checkout/drive/journal/row.go", `store.Unreadable(err)`, `err`},
	}},
}
