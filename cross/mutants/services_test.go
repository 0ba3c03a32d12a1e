package mutants

// ofServices is what the second field report found about the backend's services, put back.
var ofServices = []mutant{
	{"a number of the provider before names a payment", "agent/port/salesapi", "TestField4_AnotherProvidersNumberIsNobodysOwn", []edit{
		{"agent/checkout/drive/journal/find.go", `if mine, err := here(r, rows); err != nil || len(mine) > 0 {`, `if mine, err := here(r, rows); err != nil || len(mine) < 0 {`},
	}},
	{"an answer about another transaction is shown", "agent/ownership", "TestField4_AnAnswerAboutAnotherGivesNothing", []edit{
		{"agent/ownership/schemes.go", `if wire.CallerOf(ctx).Own && another(out, id) {`, `if false && another(out, id) {`},
	}},
	{"an answer about another session gives its operation", "agent/ownership", "TestField4_AnAnswerAboutAnotherGivesNothing", []edit{
		{"agent/ownership/hosted.go", `anothers = built != "" && built != st.Operation.OrderID &&`, `anothers = false && built != st.Operation.OrderID &&`},
	}},
	{"a name that two clients have is one of them's", "cmd/posagent", "TestField4_OwnNamesOneClient", []edit{
		{"agent/own.go", `case byID != "" && byName != "" && byID != byName:`, `case false:`},
	}},
	{"a renamed client is not known by its name", "cmd/posagent", "TestField4_AnInstanceIsTheClientsName", []edit{
		{"agent/port/clients.go", `return same(name, c.Name) || same(name, c.Label)`, `return same(name, c.Name)`},
	}},
	{"a reference that two named is the first one's", "agent/ownership", "TestField4_AReferenceThatTwoNamedIsProvenByItsAnswer", []edit{
		{"agent/ownership/schemes.go", `if err == nil && others { // amount`, `if err == nil && others && false { // amount`},
	}},
	{"a service's number of a link is a local one", "agent/gateway", "TestField4_AServicesNumberIsNoLocalOne", []edit{
		{"agent/gateway/owner.go", `f.readThing(r, byBackend, "link", number, number)`, `f.findThing(r, "link", number)`},
	}},
	{"another merchant's row is there", "schemes/backend", "TestField2_A1EnrolmentsReachNothingOfEachOthers", []edit{
		{"schemes/backend/room/caller.go", `if err == nil && owner != by {`, `if err == nil && owner != by && false {`},
	}},
	{"another merchant's transaction is there", "schemes/backend", "TestField2_A1EnrolmentsReachNothingOfEachOthers", []edit{
		{"schemes/backend/aapay/row.go", `if err != nil || t == nil || by != "" && t.Merchant != by {`, `if err != nil || t == nil {`},
	}},
	{"a box sells for another merchant", "schemes/backend", "TestField2_A1EnrolmentsReachNothingOfEachOthers", []edit{
		{"schemes/backend/aapay/initialize.go", `if a.by != "" && a.by != req.MerchantID {`, `if false {`},
	}},
	{"credentials outlive their enrolment", "schemes/backend", "TestField2_A1EnrolmentsReachNothingOfEachOthers", []edit{
		{"schemes/backend/fleet/live.go", `state != fleet.Revoked && state != fleet.Expired {`, `state != fleet.Expired {`},
	}},
	{"a write with the credentials of before is a new one", "schemes/backend", "TestField2_A1WhatWasSentBeforeStaysTheMerchants", []edit{
		{"schemes/backend/room/once.go", `	case k.by != "":
		k.by = ""`, `	case k.by != "":
		k.by = anyone`},
	}},
	{"two boxes of one merchant hold a version for all", "schemes/backend/fleet", "TestField2_A7AMerchantsBoxesAreOneWord", []edit{
		{"schemes/backend/fleet/rollout.go", `{all, tooMany(bad, merchants)}`, `{all, tooMany(max(bad, all.takenBack), max(merchants, all.tried))}`},
	}},
	{"a box counts again after a lift", "schemes/backend/fleet", "TestField2_A7AMerchantsBoxesAreOneWord", []edit{
		{"schemes/backend/fleet/rollout.go", `u.At, now, min(before, 1)}`, `u.At, now, min(before, 0)}`},
	}},
	{"a token outlives its pair", "schemes/backend", "TestField2_A6TokensEndWithTheirPair", []edit{
		{"schemes/backend/auth.go", `return g.db.MAC("backend_token", string(k), of, expires)`, `return g.db.MAC("backend_token", string(k), "", expires)`},
	}},
	{"a transaction gets a number that is a terminal's reference", "schemes/backend/aapay", "TestField2_S11_OneNameOneTransaction", []edit{
		{"schemes/backend/aapay/row.go", `for used := int64(1); used > 0; {`, `for used := int64(1); used > 0; used = 0 {`},
	}},
	{"an id is taken for a new reference", "schemes/backend/aapay", "TestField2_S11_OneNameOneTransaction", []edit{
		{"schemes/backend/aapay/prepare.go", `findFor(tx, t.Merchant, t.TerminalRef, byTerminal, byPPRef, byID)`, `findFor(tx, t.Merchant, t.TerminalRef, byTerminal)`},
	}},
	{"a reversal goes by the id of another's payment", "schemes/backend/aapay", "TestField2_S11_OneNameOneTransaction", []edit{
		{"schemes/backend/aapay/undo.go", `[]string{byTerminal, byPPRef}, methods.Reversal`, `[]string{byTerminal, byPPRef, byID}, methods.Reversal`},
	}},
	{"a name that two transactions have is the first one's", "schemes/backend/aapay", "TestField2_S11_OneNameOneTransaction", []edit{
		{"schemes/backend/aapay/row.go", `case found != nil && t != nil && found.ID != t.ID:`, `case false:`},
	}},
	{"a name that two links have is the first one's", "schemes/backend/paylinks", "TestField2_S11_OneNameOneLink", []edit{
		{"schemes/backend/paylinks/act.go", `case len(list) > 1:`, `case false:`},
	}},
	{"a document is called like another's id", "schemes/backend/disputes", "TestField2_S11_OneNameOneDocument", []edit{
		{"schemes/backend/disputes/files.go", `AND name = ? OR id = ?`, `AND name = ? AND id <> ?`},
	}},
	{"an answer counts for another attempt with a card", "schemes/backend/payments", "TestField2_S9_AnswerOfAnotherAttempt", []edit{
		{"schemes/backend/payments/pay.go", `if attempt != p.Attempt {`, `if false {`},
	}},
	{"an answer counts for another attempt at a link", "schemes/backend/paylinks", "TestField2_S9_AnswerOfAnotherAttempt", []edit{
		{"schemes/backend/paylinks/act.go", `seen.State == Asked && a.Shown != seen.asked {`, `seen.State == Asked && false {`},
	}},
	{"a contract is not judged on the way back", "schemes/backend/hosted", "TestField2_S10_JudgedAgainWhenTheCustomerIsBack", []edit{
		{"schemes/backend/hosted/pay.go", `err := again.agree(tx, now)`, `var err error`},
	}},
	{"a question about the card of before is answered for the next", "schemes/backend/hosted", "TestField2_S10_JudgedAgainWhenTheCustomerIsBack", []edit{
		{"schemes/backend/hosted/pay.go", `&& *again.Card != *s.Card {`, `&& false {`},
	}},
	{"what was charged of a link is told as what was reserved", "schemes/backend/paylinks", "TestField2_S12_ChargedAmountIsSaid", []edit{
		{"schemes/backend/paylinks/row.go", `if t.Charged > 0 {`, `if false {`},
	}},
	{"a capture that was cancelled stays captured", "schemes/backend/hosted", "TestField2_S12_CapturedAmountAfterACancel", []edit{
		{"schemes/backend/hosted/post.go", `cancelled += op.amount`, `cancelled += 0 * op.amount`},
	}},
	{"null gives everything back", "schemes/backend", "TestField2_R1b_NoValueIsNotAbsent", []edit{
		{"schemes/wire/json.go", `case r.notNull && bytes`, `case false && bytes`},
	}},
	{"an amount in the address gives everything back", "schemes/backend", "TestField5_AValueThatNobodyReadsIsNotAbsent", []edit{
		{"schemes/wire/rest/endpoint.go", `if err == nil && i.Write() && i.HasBody {`, `if false {`},
	}},
	{"an amount in other letters gives a link's payment back", "schemes/backend", "TestField5_AValueThatNobodyReadsIsNotAbsent", []edit{
		{"schemes/paylinks/form.go", `sent != name && wire.SameName(sent, name) {`, `sent != name && false {`},
	}},
	{"the operator's reversal passes a merchant's payment by", "schemes/backend/aapay", "TestField5_TheOperatorsWordReachesAMerchantsReference", []edit{
		{"schemes/backend/aapay/row.go", `t, err = one(room.For(r, merchant), byTerminal, ref)`, `merchant = ""`},
	}},
	{"JSON that is called a form gives everything back", "schemes/backend", "TestField6_ABodyThatIsNoFormIsNotAbsent", []edit{
		{"schemes/paylinks/handler.go", `err = formless(form)`, `err = nil`},
	}},
	{"the operator's repeat is another write", "schemes/backend/room", "TestField6_TheOperatorsRepeatIsTheMerchantsWrite", []edit{
		{"schemes/backend/room/once.go", `case k.Key.Ours():`, `case false:`},
	}},
	{"null in other letters gives everything back", "schemes/backend", "TestField6_ABodyThatIsNoFormIsNotAbsent", []edit{
		{"schemes/paylinks/handler.go", `if wire.SameName(sent, name) &&`, `if sent == name &&`},
	}},
	{"an empty amount of a link gives everything back", "schemes/backend", "TestField2_R1b_NoValueIsNotAbsent", []edit{
		{"schemes/paylinks/form.go", `sent && v == "" {`, `sent && v == "" && !sent {`},
	}},
	{"books are moved to another place while a move is begun", "store/move", "TestField2_G9_OnePlaceFromBeginToEnd", []edit{
		{"store/move/move.go", `case begun != nil && begun.To != to.Name:`, `case false:`},
	}},
	{"books are moved to a place whose own were moved away", "store/move", "TestField2_G9_EveryPairOfMigrations", []edit{
		{"store/move/tables.go", `if away != nil {`, `if away != nil && false {`},
	}},
	{"a move that was given up is completed", "store/move", "TestField2_G9_OnePlaceFromBeginToEnd", []edit{
		{"store/move/move.go", `if err == nil && (m == nil || m.ID != begun.ID) {`, `if err == nil && (m == nil || m.ID != begun.ID) && false {`},
	}},
	{"printed credentials are accepted on the network", "cmd/backend", "TestField2_G1_PrintedCredentialsStayAtHome", []edit{
		{"cmd/backend/printed.go", `ip == nil && host != "" || ip.IsLoopback() {`, `ip == nil && host != "" || true {`},
	}},
	{"the printed key of hosted build is no printed credential", "cmd/backend", "TestField2_G1_PrintedCredentialsStayAtHome", []edit{
		{"cmd/backend/printed.go", `if c.own != "" && c.own == c.known {`, `if c.own != "" && c.own == c.known && c.key != "backend.credentials.api_key" {`},
	}},
	{"the bearer token goes to every service", "agent/config", "TestField2_S1WhatAServiceIsAskedWith", []edit{
		{"agent/config/proof.go", `return []string{KindConsumer, KindBearer, KindClient}, 1`, `return []string{KindBearer, KindConsumer, KindClient}, 1`},
	}},
	{"a service takes credentials of another kind", "schemes/backend", "TestField2_S1ServicesTakeTheirOwnCredentials", []edit{
		{"schemes/backend/auth.go", `strict := g.strict && slices`, `strict := false && slices`},
	}},
	{"an endpoint that timed out has a sender again", "schemes/backend/webhooks", "TestField2_S4SendersAreKeptForEndpointsThatAnswer", []edit{
		{"schemes/backend/webhooks/traffic.go", `now.Sub(f.since) >= patience {
			f.slow = true`, `now.Sub(f.since) >= 100*patience {
			f.slow = true`},
	}},
	{"events of a payment overtake each other", "schemes/backend/webhooks", "TestField2_S4SendersAreKeptForEndpointsThatAnswer", []edit{
		{"schemes/backend/webhooks/traffic.go", `_, is := t.busyFor[key]; is ||`, `_, is := t.busyFor[key]; is && false ||`},
	}},
	{"VAT on top is in no order item", "schemes/payments", "TestField2_S5OneRuleForABasket", []edit{
		{"schemes/payments/basket.go", `l.Gross, l.Tax = l.Gross+share, l.Tax+share`, `l.Gross, l.Tax = l.Gross, l.Tax`},
	}},
	{"a cancel leaves no operation", "schemes/backend/hosted", "TestField2_S7ACancelAnswersAStateOfS2", []edit{
		{"schemes/backend/hosted/pay.go", `x.end(tx, s, hosted.Canceled, now)`, `x.end(tx, s, hosted.Executed, now)`},
	}},
}
