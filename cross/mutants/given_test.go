package mutants

// ofGiven is what the second field report found about what clients own and read, put back.
var ofGiven = []mutant{
	{"a link is given without its transactions", offline, "TestField2_M45WhoIsGivenAThingIsGivenItsDependants", []edit{
		{"agent/gateway/dependants.go", `append([]string{t.about + "/" + t.local}, transactions...)`, `append([]string{t.about + "/" + t.local}, transactions[:0]...)`},
	}},
	{"a claim of an older program outlives its thing's owner", offline, "TestField2_M45WhoIsGivenAThingIsGivenItsDependants", []edit{
		{"agent/gateway/dependants.go", `f.o.Claims != nil && t.owner != owner {`, `false {`},
	}},
	{"a change of the provider leaves the clients' ids", "agent", "TestField2_M41WhatAClientOwnsIsOfOneAccount", []edit{
		{"agent/bind.go", `err = leave(tx, m.service, m.was)`, `err = nil`},
	}},
	{"a change of the schemes' provider leaves the clients' ids", "agent", "TestField2_M41WhatAClientOwnsIsOfOneAccount", []edit{
		{"agent/bind.go", `errors.Join(catalog.Forget(tx), leave(tx, Schemes, was))`, `catalog.Forget(tx)`},
	}},
	{"a local id leads to the new provider", offline, "TestField2_M41AThingOfTheProviderBeforeIsRefused", []edit{
		{"agent/gateway/accounts.go", `if t.account == "" {`, `if true {`},
	}},
	{"an id of the provider before is the client's", offline, "TestField2_M41AThingOfTheProviderBeforeIsRefused", []edit{
		{"agent/gateway/things.go", `backend = ? AND account = ''`, `backend = ?`},
	}},
	{"a receipt of the provider before is given back at the new one", drive, "TestField2_M41AReceiptOfTheProviderBeforeIsNotGivenBack", []edit{
		{"agent/checkout/drive/forward.go", `if place != "" {`, `if false {`},
	}},
	{"a number of the provider before is taken", drive, "TestField2_M41AReceiptOfTheProviderBeforeIsNotGivenBack", []edit{
		{"agent/checkout/drive/journal/transit.go", `rows, err = here(tx, rows)`, `err = nil`},
	}},
	{"a create is made again whatever is answered", offline, "TestField2_M51ACreateThatWasAnsweredIsNotMadeAgainForEver", []edit{
		{"agent/gateway/send.go", `(wire.Answered(err) || errors`, `(errors`},
	}},
	{"another's answer is asked for without end", offline, "TestField2_M51ACreateThatWasAnsweredIsNotMadeAgainForEver", []edit{
		{"agent/gateway/send.go", `m.Heard = true`, `m.Heard = false`},
	}},
	{"the page of a payment that was sent says that nothing was paid", offline, "TestField2_M49EachStateOfAStoredThingHasItsWords", []edit{
		{"agent/gateway/standing.go", `case op.State == outbox.Sent && s.AtOnce:`, `case false:`},
	}},
	{"what a person noted as made was never made", offline, "TestField2_M49EachStateOfAStoredThingHasItsWords", []edit{
		{"agent/gateway/standing.go", "func (e end) text() string {\n\tif e.State == outbox.Done {", "func (e end) text() string {\n\tif false {"},
	}},
	{"a refusal is heard where its connection is gone", "agent/port", "TestField2_M48AnAnswerToADeadConnectionIsNotHeard", []edit{
		{"agent/port/gateway.go", `Flush() == nil && r.Context().Err() == nil && httpd.Heard(r.Context(), heardWithin)`, `Flush() == nil || httpd.Heard(r.Context(), heardWithin)`},
	}},
	{"a refusal takes its alert back before it is heard", offline, "TestField2_M48ARefusalThatIsNotHeardIsAnAlert", []edit{
		{"schemes/wire/heard.go", `len(list) == 0 || !heard()`, `len(list) == 0 || !heard() && false`},
	}},
	{"a webhook that overtook the answer stays behind its client's cursor", "agent/view", "TestField2_M46WhatIsGivenToAClientIsNewForIt", []edit{
		{"agent/inbox/owner.go", `err == nil && x.whose != owner {`, `false {`},
	}},
	{"whoever sees everything reads twice what was given", "agent/view", "TestField2_M46WhatIsGivenToAClientIsNewForIt", []edit{
		{"agent/view/stream.go", `case given && !c.Own:`, `case false:`},
	}},
	{"a loud client pushes out what happened to a quiet one", "agent/records/events", "TestField3_C1EachClientHasAShareOfTheLog", []edit{
		{"agent/records/events/shares.go", `ORDER BY kept DESC, owner LIMIT 1`, `ORDER BY owner DESC LIMIT 1`},
	}},
	{"a loss is told to a client that lost nothing", "agent/records/events", "TestField3_C1EachClientHasAShareOfTheLog", []edit{
		{"agent/records/events/shares.go", `err == nil && r.sees(owner) {`, `err == nil {`},
	}},
	{"one session's notification stands for another's", inbox, "TestField3_C2ANotificationUsesUpNoOtherSessions", []edit{
		{"agent/inbox/build.go", `Ref: ref + ofMark + session`, `Ref: ref`},
	}},
	{"a notification that an older program stored is new", inbox, "TestField3_C2WhatAnOlderProgramStoredIsNoSecondEvent", []edit{
		{"agent/inbox/build.go", `older: ref,`, `older: "",`},
	}},
	{"a client that builds and builds pushes out another's builds", inbox, "TestField3_C4BuildsAreSharedToo", []edit{
		{"agent/inbox/build.go", `GROUP BY owner ORDER BY COUNT(*) DESC, owner LIMIT 1`, `GROUP BY owner ORDER BY owner DESC LIMIT 1`},
	}},
	{"a key finds what was given to another client", offline, "TestField3_C5AKeyFindsWhatIsStillItsClients", []edit{
		{"agent/gateway/keys.go", `WHERE c.name = ?1 AND (?4 = 0 OR o.owner = ?5)`, `WHERE c.name = ?1 AND (?4 = ?4 OR o.owner = ?5)`},
	}},
	{"a client hears of the register's sale", offline, "TestField3_C6AClientHearsNothingOfTheRegistersSale", []edit{
		{"agent/gateway/owner.go", `wire.CodeOf(err) == wire.Conflict && wire.CallerOf(ctx).Own {`, `false {`},
	}},
	{"whose an arrival is is decided before its commit", inbox, "TestField3_C7WhoseAnArrivalIsIsDecidedInItsCommit", []edit{
		{"agent/inbox/take.go", `owner, err := b.owner(tx, it)`, `owner, err := it.Owner, error(nil)`},
	}},
	{"a form acts on the link whose reference is the page's hash", "schemes/backend/paylinks", "TestField3_D1AFormIsAboutTheLinkThatItShows", []edit{
		{"schemes/backend/paylinks/page.go", `s.play(r.Context(), shown, hash`, `s.play(r.Context(), named, hash`},
	}},
	{"what stood under a reference before is the call's", "agent/ownership", "TestField3_C8WhatStoodBeforeIsNotTheCalls", []edit{
		{"agent/ownership/schemes.go", "case \"\", wire.Conflict: // a name that two have\n\t\treturn true, nil", "case \"\", wire.Conflict: // a name that two have\n\t\treturn false, nil"},
	}},
	{"a wrong clock tells what a call has made", "agent/ownership", "TestField3_C8ByTheServicesOwnClock", []edit{
		{"agent/ownership/naming.go", `if st.Answered.IsZero() {`, `if true {`},
	}},
	{"a refused repeat takes back what the first call named", "agent/ownership", "TestField3_C9ARefusedRepeatTakesNothingBack", []edit{
		{"agent/ownership/naming.go", `calls + 1 ELSE 1 END`, `calls ELSE 1 END`},
	}},
	{"a second loss forgets that nothing told the age of a key after the first", "agent", "TestField5_ASecondLossForgetsNothingOfTheFirst", []edit{
		{"agent/recover.go", `, Ageless: ageless}`, `, Ageless: false && ageless}`},
	}},
	{"a refund that had no number is given back again without a word", drive, "TestField5_ARefundWithoutANumberIsLostToo", []edit{
		{"agent/checkout/drive/journal/alert.go", `!lost.Open()`, `!replacedjournal.Any()`},
	}},
	{"what a sandbox has sold is a real terminal's", "agent", "TestField5_ASandboxsSalesAreNoTerminals", []edit{
		{"agent/bind.go", `!toSandbox(was, name) && !toSandbox(name, was)`, `!toSandbox(was, name)`},
	}},
	{"the provider of now is asked for sales of the one before", "agent/support/reconcile", "TestField5_TheProviderOfNowIsNotAskedForSalesOfTheOneBefore", []edit{
		{"agent/support/reconcile/ask.go", `if s.elsewhere != "" {`, `if false {`},
	}},
	{"a client is told to repeat what nobody holds any more", offline, "TestField5_NothingAdvisesToRepeatWhatNobodyHoldsAnyMore", []edit{
		{"agent/gateway/before.go", `held == "" || err != nil`, `held == "never" || err != nil`},
	}},
	{"a revision that is given up leaves its money open", "agent/lifecycle/enrol", "TestField5_WhatIsGivenUpEndsItsMoneyFirst", []edit{
		{"agent/lifecycle/enrol/revision.go", `max(r.Refused, r.Active), r.Active`, `max(r.Refused, r.Active), 0`},
	}},
}
