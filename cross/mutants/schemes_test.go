package mutants

// ofSchemes is every broken rule of the services and of the backend.
var ofSchemes = []mutant{
	// At most one effect at the backend.
	{"a card number whose digits are escaped is not masked", "schemes/wire", "TestMaskPANs", []edit{
		{"schemes/wire/pan.go", `case hex >= "30" && hex <= "39":`, `case false:`},
	}},

	// Numbers, amounts, the ledger.
	{"an amount without hundredths is rounded", "schemes/money", "TestHundredths", []edit{
		{"schemes/money/money.go", `return mulDiv(n, mul, pow10(c.Exponent))`, `return n * int64(mul) / int64(pow10(c.Exponent)), nil`},
	}},
	{"a reply that does not say whether it is done is taken for done", "schemes/wire/rest", "TestRepliesAreTakenWhole", []edit{
		{"schemes/wire/rest/client.go", `&& pends != (p != nil) ||`, `&& pends != (p != nil) && false ||`},
	}},
	{"an operation on an order needs no key", "schemes/hosted", "TestHandlerWantsTheKeyOfAnOperation", []edit{
		{"schemes/hosted/api.go", `rest.Write | rest.NeedsKey | rest.MayBody | rest.EmptyArray,`, `rest.Write | rest.MayBody | rest.EmptyArray,`},
	}},
	{"a reply about another thing is taken", "schemes/wire/rest", "TestRepliesAreTakenWhole", []edit{
		{"schemes/wire/rest/own.go", `return o.call("Flaw", in, out)[0].String()`, `return ""`},
	}},
	{"a lost reply to a write is taken for no effect", "schemes/wire/rest", "TestRepliesAreTakenWhole", []edit{
		{"schemes/wire/rest/client.go", `Write: m.Write(),`, `Write: false,`},
	}},
	{"a service is asked about a request that breaks a rule", "schemes/wire/rest", "TestBodies", []edit{
		{"schemes/wire/rest/endpoint.go", `err = check.Request(info.Op, c)`, `_ = check.Request(info.Op, c)`},
	}},
	{"a body names another thing than its path", "schemes/wire/rest", "TestBodies", []edit{
		{"schemes/wire/rest/endpoint.go", `i.copyParams(body.Interface(), at.Interface())`, ``},
	}},
	{"a write that needs its Key is taken without one", "schemes/wire/rest", "TestKeys", []edit{
		{"schemes/wire/rest/endpoint.go", `key == "" && i.Wants&NeedsKey != 0 {
			err`, `key == "" && i.Wants&NeedsKey != 0 && false {
			err`},
	}},
	{"a refusal repeats a secret of its request", "schemes/wire/rest", "TestRefusalsRepeatNoSecret", []edit{
		{"schemes/wire/rest/client.go", `key != ""), secrets()...`, `key != ""), secrets()[:0]...`},
	}},
	{"a refusal repeats the secret of a Client", "schemes/wire/rest", "TestAClientsOwnRefusals", []edit{
		{"schemes/wire/rest/client.go", `append(m.secrets(in, body), c.Secrets...)`, `append(m.secrets(in, body), c.Secrets[:0]...)`},
	}},
	{"a card number stays in a text that hides it", "schemes/wire", "TestDecodeKeepsTheTags", []edit{
		{"schemes/wire/json.go", `v.SetString(MaskPANs(v.String()))`, `v.SetString(v.String())`},
	}},
	{"a field that its type requires may be missing", "schemes/wire", "TestDecodeKeepsTheTags", []edit{
		{"schemes/wire/json_types.go", `if f.required {`, `if f.required && false {`},
	}},
	{"a missing field is not met by the first pass of a text", "schemes/wire", "TestDecodeMeetsEachGap", []edit{
		{"schemes/wire/json.go", `s.lacks = s.lacks || info.lacks(seen)`, `_ = info.lacks(seen)`},
	}},
	{"a header is taken that cannot be sent", "schemes/wire/check", "TestField_B7WhatIsTakenCanBeSent", []edit{
		{"schemes/wire/check/fields.go", `!HeaderName(name) ||`, `name == "" ||`},
	}},
	{"duplicate keys of a JSON text taken", "schemes/wire", "TestCheckCorpus|TestDecodeRefuses", []edit{
		{"schemes/wire/json.go", `if _, twice := seen[key]; twice {`, `if _, twice := seen[key]; twice && false {`},
	}},
	{"a Client takes the status of another transaction", "schemes/aapay", "TestClientAlone", []edit{
		{"schemes/aapay/api.go", `known && !same {`, `known && !same && false {`},
	}},
	{"a Key on a scheme's plain route is dropped", "schemes/backend", "TestConformance", []edit{
		{"schemes/aapay/api.go", `	if key == "" {`, `	if key != "x" {`},
	}},
	{"a field may be null that may only be absent", "schemes/wire", "TestNotNullMayBeAbsent", []edit{
		{"schemes/wire/json.go", `case r.notNull && bytes.HasPrefix`, `case r.given && r.notNull && bytes.HasPrefix`},
	}},
	{"a required field may be missing", "schemes/wire", "TestRequiredAndNotNull|TestRequiredReadsAnySpelling", []edit{
		{"schemes/wire/require.go", `if err := check(at, found, raw); err != nil {`, `if err := check(at, found || true, raw); err != nil {`},
	}},
	{"a required field is missed in another spelling", "schemes/wire", "TestRequiredAndNotNull|TestRequiredReadsAnySpelling", []edit{
		{"schemes/wire/require.go", `same = err == nil && plain == name`, `same = err == nil && plain == name && false`},
	}},

	// Writes under a key, and what becomes due.
	{"an answer is given for another body", backendRoom, "TestAnswersAreGivenAgain", []edit{
		{"schemes/backend/room/once.go", `case !bytes.Equal(mac, r.guard(k)):`, `case !bytes.Equal(mac, r.guard(k)) && false:`},
	}},
	{"a write is performed again under its key", backendRoom, "TestAnswersAreGivenAgain", []edit{
		{"schemes/backend/room/once.go", `if found {`, `if found && false {`},
	}},
	{"a refusal undoes what was recorded", backendRoom, "TestARefusalKeepsWhatWasRecorded", []edit{
		{"schemes/backend/room/once.go", `case errors.As(err, &refusal) && refusal.Code == wire.Conflict:`, `case errors.As(err, &refusal) && false:`},
	}},
	{"a call that its row refuses is performed", backendRoom, "TestFirstComesBeforeTheKey", []edit{
		{"schemes/backend/room/once.go", `err != nil || refusal != nil {`, `err != nil {`},
	}},
	{"one thing that cannot move holds the others up", backendRoom, "TestSweep", []edit{
		{"schemes/backend/room/sweep.go", `errs = append(errs, fmt.Errorf("advance %s: %w", d.Name(id), err))`, `return 0, fmt.Errorf("advance %s: %w", d.Name(id), err)`},
	}},
	{"a thing is read without what is due", backendRoom, "TestTouch", []edit{
		{"schemes/backend/room/touch.go", `late, err = t.Due(r, x)`, `_, err = t.Due(r, x)`},
	}},
	{"an upload that ends early is taken as whole", backendRoom, "TestUpload", []edit{
		{"schemes/backend/room/upload.go", `return short`, `return nil`},
	}},

	// Hosted build: who tells, who hears, and how often an order is paid.
	{"each session of an order is paid", sessions, "TestAnOrderIsPaidOnce", []edit{
		{"schemes/backend/hosted/pay.go", "\tcase o.payment != \"\":\n\t\treturn", "\tcase false:\n\t\treturn"},
		{"schemes/backend/hosted/bank.go", `case op.result == "" && o.payment != "":`, `case false:`},
	}},
	{"a customer who is late pays a second time", sessions, "TestAnOrderIsPaidOnce", []edit{
		{"schemes/backend/hosted/bank.go", `case op.result == "" && o.payment != "":`, `case false:`},
	}},
	{"a session has no end", sessions, "TestFiveMinutes", []edit{
		{"schemes/backend/hosted/bank.go", `if s.due() == nil || now < s.ends {`, `if s.due() == nil || now >= 0 {`},
	}},
	{"a setting moves the end of sessions that are there", sessions, "TestLifeIsTheBuilds", []edit{
		{"schemes/backend/hosted/bank.go", `now < s.ends {`, `now < s.created+x.opt.Life.Milliseconds() {`},
	}},
	{"anybody may frame a field", sessions, "TestWhoMayFrameAField", []edit{{"schemes/backend/hosted/page.go", `Frame: s.Origin}`, `Frame: "*"}`}}},
	{"a refused build rewrites its order", sessions, "TestARefusedBuildChangesNoOrder", []edit{
		{"schemes/backend/hosted/build.go", "\t\tif err := s.agree(tx, now); err != nil {\n", "\t\t_ = x.order(tx, req.Order, customer, now)\n\t\tif err := s.agree(tx, now); err != nil {\n"},
	}},
	{"a build changes the amount below an open session", sessions, "TestField_B4AnotherAmountWaitsForTheOpenSession", []edit{
		{"schemes/backend/hosted/build.go", `if err == nil && open {`, `if err == nil && open && false {`},
	}},
	{"the backend answers to any name", "schemes/backend", "TestField_P12TheBackendChecksHost", []edit{
		{"schemes/backend/auth.go", `if !named && net.ParseIP(host) == nil {`, `if !named && net.ParseIP(host) == nil && false {`},
	}},
	{"the signature of a bare read proves a write", "schemes/backend", "TestField_P14SignatureOfNothingWritesNothing", []edit{
		{"schemes/paylinks/handler.go", `case strict && len(`, `case false && len(`},
	}},
	{"the engine serves a request that is not proven", "schemes/wire/rest", "TestAServiceOpensItsRequests", []edit{
		{"schemes/wire/rest/handler.go", "\tcase err != nil:\n\t\th.api.Shape.Refuse(w, r, h.o.Log, h.api.refused(rt.Op, err))\n\tcase h.o.Admit", "\tcase err != nil && read == nil:\n\t\th.api.Shape.Refuse(w, r, h.o.Log, h.api.refused(rt.Op, err))\n\tcase h.o.Admit"},
	}},
	{"the signature of nothing proves a write of an id", "schemes/backend", "TestField_P14SignatureOfNothingWritesNothing", []edit{
		{"schemes/paylinks/handler.go", `!strict && bare(sent, id)`, `bare(sent, id)`},
	}},
	{"an expired session is paid all the same", sessions, "TestFiveMinutes", []edit{
		{"schemes/backend/hosted/bank.go", `if why := s.state.refusal(); why != "" {`, `if why := s.state.refusal(); why != "" && false {`},
	}},
	{"a field talks to whoever frames it", sessions, "TestWhoMayFrameAField", []edit{
		{"schemes/backend/hosted/script.go", `parent.postMessage(m, to)`, `parent.postMessage(m, "*")`},
	}},
	{"a field is told to talk to anybody", sessions, "TestWhoMayFrameAField", []edit{
		{"schemes/backend/hosted/page.go", `pages.A("data-to", s.Origin)`, `pages.A("data-to", "*")`},
	}},
	{"X-API-KEY is not asked", "schemes/backend", "TestHostedConformance", []edit{
		{"schemes/backend/auth.go", `case !one || of == nil && !same(values[0], g.creds.APIKey.Reveal()):`, `case false:`},
	}},
	{"a form is spent by nobody", sessions, "TestOnlyTheFieldsOwnPageFillsIt", []edit{
		{"schemes/backend/hosted/field.go", `if err == nil && spend != nil {`, `if err == nil && false {`},
	}},

	// Disputes.
	{"a case for people needs no reason", cases, "TestConformance", []edit{
		{"schemes/disputes/rules.go", `case !req.Straight() && n != 1:`, `case !req.Straight() && n < 0:`},
	}},
	{"a case may have any number of reasons", cases, "TestConformance", []edit{
		{"schemes/disputes/rules.go", `case !req.Straight() && n != 1:`, `case !req.Straight() && n < 1:`},
	}},
	{"a code of the service is answered as a success", "schemes/disputes", "TestCodesAndReasonsSurviveTheWire", []edit{
		{"schemes/disputes/api.go", `ResponseCode: Failed, ErrorCode: code, ErrorText: text, IssuerSuperCaseID`, `ResponseCode: Done, ErrorCode: code, ErrorText: text, IssuerSuperCaseID`},
	}},
	{"an invalid date is answered as a success", cases, "TestConformance", []edit{
		{"schemes/disputes/rules.go", `if l.Date(path, s); l.Len() > 0 {`, `if l.Date(path, s); false {`},
	}},
	{"the private key lies in the clear", cases, "TestWhatIsSealed", []edit{
		{"schemes/backend/disputes/key.go", `sealed, err := c.DB.Seal(tx, keyCell(), x509.MarshalPKCS1PrivateKey(key))`, `sealed, err := x509.MarshalPKCS1PrivateKey(key), error(nil)`},
		{"schemes/backend/disputes/key.go", `der, err := c.DB.Unseal(rd, keyCell(), sealed)`, `der, err := sealed, error(nil)`},
	}},
	{"documents of refused requests stay for an hour", cases, "TestUnclaimedUploadsAreDropped", []edit{
		{"schemes/backend/disputes/write.go", `if err != nil || !acted {`, `if (err != nil || !acted) && false {`},
	}},
	{"a document stands in memory", "schemes/disputes", "TestDocumentsAreStreamed", []edit{
		{"schemes/wire/spool/spool.go", `n, err := io.Copy(io.MultiWriter(to, sum), content)`, "held, err := io.ReadAll(content)\n\tif err == nil {\n\t\t_, err = io.MultiWriter(to, sum).Write(held)\n\t}\n\tn := int64(len(held))"},
	}},

	// Enrolment.
	{"another device is given the code's certificate", enrolment, "TestConformance", []edit{
		{"schemes/backend/fleet/fleet.go", `case r.device != device, r.serial != req.SerialNumber:`, `case false:`},
	}},
	{"a burned code is redeemed", enrolment, "TestConformance", []edit{
		{"schemes/fleet/states.go", `from == Redeemed && e == Redeem:`, `from == Redeemed && e == Redeem, from == Confirmed && e == Redeem:`},
	}},
	{"an expired code is redeemed", enrolment, "TestConformance", []edit{
		{"schemes/backend/fleet/row.go", `return ok && now < r.expires`, `return ok`},
	}},
	{"a code is redeemed by another box", enrolment, "TestConformance", []edit{
		{"schemes/backend/fleet/fleet.go", `case !r.open(now), r.bound && r.serial != req.SerialNumber:`, `case !r.open(now):`},
		{"schemes/backend/fleet/fleet.go", "	if !right {\n		return notGood()\n	}\n", ""},
	}},
	{"a code that is bound takes any number of boxes", enrolment, "TestField2_G5ABoundCodeTakesFewBoxes", []edit{
		{"schemes/backend/fleet/limit.go", `if c.wrong >= perCode && now.Before(c.until) {`, `if c.wrong > 1_000 && now.Before(c.until) {`},
	}},
	{"wrong codes are not counted", enrolment, "TestTriesAtOnce", []edit{
		{"schemes/backend/fleet/limit.go", "	one.add(now, perAddress, addressLock)\n", ""},
	}},
	{"a box that only says a serial number ends a stranger's certificate", enrolment, "TestConformance", []edit{
		{"schemes/backend/fleet/live.go", `merchant = ? AND merchant <> '')`, `merchant = ?)`},
	}},
	{"a box is imported with a fresh code for another merchant", enrolment, "TestConformance", []edit{
		{"schemes/backend/fleet/desk.go", `err == nil && r.slot != d.row.slot:`, `err == nil && false:`},
	}},
	{"a swapped box keeps its certificate", enrolment, "TestConformance", []edit{
		{"schemes/backend/fleet/fleet.go", `if r.superseded, err = supersede(tx, &r, now); err != nil {`, `if err != nil {`},
	}},
	{"a revoked device reads on", enrolment, "TestConformance", []edit{
		{"schemes/backend/fleet/fleet.go", `if r.state == fleet.Revoked {`, `if false {`},
	}},
	{"a code stands in the store", enrolment, "TestARestartForgetsNothing", []edit{
		{"schemes/backend/fleet/fleet.go", `return f.DB.MAC("fleet_code", "digest", code.Reveal())`, `return []byte(code.Reveal())`},
	}},
	{"a proof is good for ever", "schemes/fleet", "TestProofs", []edit{
		{"schemes/fleet/proof.go", `d > MaxSkew || d < -MaxSkew`, `d > MaxSkew && d < -MaxSkew`},
	}},
	{"a proof is good for any body", "schemes/fleet", "TestProofs", []edit{
		{"schemes/fleet/proof.go", "sum := sha256.Sum256(body)\n\treturn []byte(", "sum := sha256.Sum256(nil)\n\treturn []byte("},
	}},
	{"a certificate request is not signed", "schemes/fleet", "TestCertificateRequests", []edit{
		{"schemes/fleet/request.go", `if req.CheckSignature() != nil {`, `if false {`},
	}},
	{"a configuration is another terminal's", "schemes/fleet", "TestVerify", []edit{
		{"schemes/fleet/verify.go", `revisionDomain + "\n" + enrolmentID + "\n" + strconv`, `revisionDomain + "\n" + strconv`},
	}},
	{"strangers make codes", "schemes/backend", "TestFleetCredentials", []edit{
		{"schemes/backend/fleet.go", `g.operator(fleet.DeskHandler(b.fleet, o))`, `fleet.DeskHandler(b.fleet, o)`},
	}},
}
