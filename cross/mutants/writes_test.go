package mutants

// ofWrites are the rules of writes whose outcome is not known, and of whose they are.
var ofWrites = []mutant{
	{"a client repeats a write below the outbox", "agent/upstream", "TestField2_M37AWriteLeavesOnceWhateverBreaks", []edit{
		{"agent/upstream/upstream.go", `return c.do(req, false) }`, `return c.do(req, true) }`},
	}},
	{"the transport repeats a write without a body", "agent/upstream", "TestField2_M37AWriteLeavesOnceWhateverBreaks", []edit{
		{"agent/upstream/transport.go", `[strings.ToLower(wire.KeyHeader)]`, `[wire.KeyHeader]`},
	}},
	{"the method of links is given a client that repeats", "cmd/posagent", "TestField2_M37AServicesClientSendsAWriteOnce", []edit{
		{"cmd/posagent/paylink.go", `Doer: client.Once()}`, `Doer: client.Unanswered()}`},
	}},
	{"what a backup holds counts as never sent", offline, "TestField2_M39WhateverABackupSaysOfARowItMayHaveBeenSentSince", []edit{
		{"agent/outbox/restored.go", `+state IN ('HELD', 'EXPIRED') AND resume`, `+state IN ('EXPIRED') AND resume`},
	}},
	{"what a backup has withdrawn counts as never sent", offline, "TestField2_M39WhateverABackupSaysOfARowItMayHaveBeenSentSince", []edit{
		{"agent/outbox/restored.go", `+state IN ('HELD', 'EXPIRED') AND resume`, `+state IN ('HELD') AND resume`},
	}},
	{"what a backup has withdrawn is revived without a person", offline, "TestField2_M39WhateverABackupSaysOfARowItMayHaveBeenSentSince", []edit{
		{"agent/gateway/put.go", `if w.key != "" && (!again || since) {`, `if w.key != "" && (!again || since && false) {`},
	}},
	{"what was withdrawn since a restore is held", offline, "TestField2_M39WhatIsWithdrawnSinceIsRevived", []edit{
		{"agent/gateway/put.go", `if w.key != "" && (!again || since) {`, `if w.key != "" && (!again || since || true) {`},
	}},
	{"a person who asks at once shortens the wait that proves", offline, "TestField2_M38NothingShortensTheWaitThatProves", []edit{
		{"agent/gateway/send.go", `case !op.ReadOnly && op.Since(m.Left) < quiet:`, `case m.Looked != op.Attempts-1 || m.Looked == 0:`},
	}},
	{"a wait that proves goes on over a start", offline, "TestField2_M38NothingShortensAnUndosWindow", []edit{
		{"agent/outbox/types.go", `return op.Ran - max(at, op.Started)`, `return op.Ran - at + 2*op.Started`},
	}},
	{"an undo's window counts its questions", offline, "TestField2_M38NothingShortensAnUndosWindow", []edit{
		{"agent/gateway/undoread.go", `return u.op.Since(**at)`, `return u.op.Since(**at) + 2*time.Duration(u.m.Asked)*firstPoll`},
	}},
	{"a payment is its client's in any spelling", offline, "TestField2_M36APaymentsIDIsComparedAsItIsSpelled", []edit{
		{"agent/gateway/things.go", `folded <> '' AND backend = ? AND`, `folded <> '' AND LOWER(backend) = LOWER(?) AND`},
	}},
	{"one key of a client on two payments is one operation", offline, "TestField2_M36APaymentsIDIsComparedAsItIsSpelled", []edit{
		{"agent/gateway/keys.go", `	return t, known, w.id, nil`, `	return t, known, strings.ToLower(w.id), nil`},
	}},
	{"two payments wait for each other", offline, "TestField2_M36APaymentsIDIsComparedAsItIsSpelled", []edit{
		{"agent/gateway/things.go", `	return about + "/" + id`, `	return about + "/" + strings.ToLower(id)`},
	}},
	{"what an older program has stored under a key is forgotten", offline, "TestField2_M36APaymentsIDIsComparedAsItIsSpelled", []edit{
		{"agent/gateway/keys.go", `	if err != nil || since {`, `	if err != nil || !since {`},
	}},
	{"what arrives about one payment is another's", offline, "TestField2_M36APaymentsIDIsComparedAsItIsSpelled", []edit{
		{"agent/inbox/owner.go", `	return about + "/" + id`, `	return about + "/web1003"`},
	}},
	{"a thing is its owner's in any spelling", "agent/ownership", "TestField2_M36AThingIsOwnedAsItIsSpelled", []edit{
		{"agent/ownership/claims.go", `FROM owned_ids WHERE about = ? AND id = ?`, `FROM owned_ids WHERE about = ? AND LOWER(id) = LOWER(?)`},
	}},
	{"what was named in lower case long ago is owned", "agent/ownership", "TestField2_M36AThingIsOwnedAsItIsSpelled", []edit{
		{"agent/ownership/claims.go", `return about == order || about == contract || about == reference`, `return about == "none"`},
	}},
	{"a client reads an order that another has paid", "agent/ownership", "TestField2_M40ABuildGivesWhatItsSessionMade", []edit{
		{"agent/ownership/orders.go", `return foreign(p) && !p.failed })`, `return foreign(p) && !p.failed && false })`},
	}},
	{"a contract that was not paid is the client's", "agent/ownership", "TestField2_M40ABuildGivesWhatItsSessionMade", []edit{
		{"agent/ownership/hosted.go", `r != hosted.Authorized && r != hosted.Executed`, `r == ""`},
	}},
	{"an order that nobody has paid is shown whole", "agent/ownership", "TestField2_M40ABuildGivesWhatItsSessionMade", []edit{
		{"agent/ownership/orders.go", `	if len(kept) == 0 {`, `	if len(kept) < 0 {`},
	}},
	{"a reference that was named is the client's", "agent/ownership", "TestField2_M40AReferenceGivesWhatTheCallMade", []edit{
		{"agent/ownership/schemes.go", `return s.c.shows(n, st) })`, `return s.c.shows(n, st) || true })`},
	}},
	{"a transaction from before a call is the call's", "agent/ownership", "TestField2_M40AReferenceGivesWhatTheCallMade", []edit{
		{"agent/ownership/naming.go", `!began.Before(`, `!began.IsZero() || !began.Before(`},
	}},
	{"another's number is taken for a reference", "agent/ownership", "TestField2_M40AReferenceGivesWhatTheCallMade", []edit{
		{"agent/ownership/schemes.go", `if slices.Contains(ids, id) {`, `if slices.Contains(ids, id+"x") {`},
	}},
	{"a refusal leaves what was named", "agent/ownership", "TestField3_C9ARefusedRepeatTakesNothingBack", []edit{
		{"agent/ownership/naming.go", `AND calls <= 0`, `AND calls < 0`},
	}},
	{"what the backend has done is told as not sent", "agent/ownership", "TestField2_M43AfterAnEffectTheOutcomeIsUnknownAtWorst", []edit{
		{"agent/ownership/claims.go", `Code: wire.UnknownOutcome, Op: op`, `Code: wire.Unavailable, Op: op`},
	}},
	{"one client names what another has named", "agent/ownership", "TestField2_M40WhatOneClientNamesAnotherDoesNot", []edit{
		{"agent/ownership/naming.go", `others = others && wire.CallerOf(ctx).Own`, `others = others && wire.CallerOf(ctx).Own && n.owner == ""`},
	}},
	{"an answer with the id of another operation is ours", offline, "TestField2_M16AnAnswerThatIsAnothersMakesNothingDone", []edit{
		{"agent/gateway/ours.go", `case found && t.key != key:`, `case found && t.key == key:`},
	}},
	{"an answer that names nothing is ours", offline, "TestField2_M16AnAnswerOfAnotherTerminal", []edit{
		{"agent/gateway/ours.go", `case named || r.named || b.shows == nil:`, `case b.shows == nil || true:`},
	}},
	{"an answer that names another key is ours", "schemes/wire", "TestField2_M16AnAnswerOfAnotherKeyIsAnothers", []edit{
		{"schemes/wire/echo.go", `case !strings.EqualFold(sent, named):`, `case !strings.EqualFold(sent, sent):`},
	}},
	{"a link's answer of another amount is ours", offline, "TestField2_M16AnAnswerThatIsAnothersMakesNothingDone", []edit{
		{"agent/gateway/linkrows.go", `c.Operation == nil && !answers(c.Link, req) {`, `c.Operation == nil && !answers(c.Link, req) && false {`},
	}},
	{"a customer's payment of another link is a charge", offline, "TestField2_M42WhatReadingsProve", []edit{
		{"agent/gateway/linkread.go", `		return one == two, false`, `		return true, false`},
	}},
	{"a customer's payment of the same link is a charge", offline, "TestField2_M42WhatReadingsProve", []edit{
		{"agent/gateway/linkread.go", `if e := made[0]; own && e.Kin && e.Ref == req.ReferenceID &&`, `if e := made[0]; e.Kin &&`},
	}},
	{"a collection of another amount is a charge", offline, "TestField2_M42WhatReadingsProve", []edit{
		{"agent/gateway/linkread.go", `if is.Total == want && (req.ReferenceID`, `if is.Total > 0 && (req.ReferenceID`},
	}},
}
