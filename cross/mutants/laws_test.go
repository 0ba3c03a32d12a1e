package mutants

// ofLaws is what readers have found against the Laws of MONEY.md, put back.
var ofLaws = []mutant{
	{"a held refund is begun again by its repetition", drive, "TestField3_CheckoutA1AHeldRefundIsNotBegunAgain", []edit{
		{"agent/checkout/drive/forward.go", `(checkout.Running(row.State) || row.Held()) && same(row)`, `checkout.Running(row.State) && !row.Quarantined && same(row)`},
	}},
	{"a refund under a lost id goes out unread", drive, "TestField3_CheckoutA2ARefundUnderALostIdIsReadFirst", []edit{
		{"agent/gateway/aapay.go", `if u.p.ReadFirst && !u.m.Free {`, `if false {`},
	}},
	{"a reversal reads its original before its ServiceID", "ecr/nexo", "TestField3_CheckoutA3AReversalIsKnownByItsServiceID", []edit{
		{"ecr/nexo/money.go", `if !a.mine {`, `if a.mine || !a.mine {`},
	}},
	{"another terminal's receipt number confirms an approval", drive, "TestField3_CheckoutA4AnotherTerminalsNumberConfirmsNothing", []edit{
		{"agent/checkout/drive/told.go", `case transaction != "" && !row.Held()`, `case transaction == "?" && !row.Held()`},
	}},
	{"reversed of what no read has found is a proof", checkout, "TestField3_CheckoutA5ReversedOfWhatNoReadHasFound", []edit{
		{"agent/checkout/undo.go", `return s.Missing || !s.Found && s.Wire == "" && SeenAlive(s)`, `return s.Missing`},
	}},
	{"a held operation is in progress", drive, "TestField3_CheckoutA6AHeldOperationIsSaidToBeHeld", []edit{
		{"agent/checkout/drive/journal/undo.go", `row.Waits = err == nil && op.State == outbox.Held`, `row.Waits = err == nil && op.State == outbox.Failed`},
	}},
	{"the telling of a held sale is not taken", drive, "TestField3_CheckoutA7AHeldSaleIsToldAtOnce", []edit{
		{"agent/checkout/drive/perform/tell.go", "if row.Held() {\n\t\t\tp.sales.Released(key, false)", "if row.Waits {\n\t\t\tp.sales.Released(key, false)"},
	}},
	{"a refusal behind a lost attempt ends a refund", offline, "TestField3_OutboxB1ARefusalBehindALostAttemptIsRead", []edit{
		{"agent/gateway/aapay.go", `if u.m.Lost {`, `if false {`},
	}},
	{"a 403 of a proxy proves that nothing was sent", outbox, "TestField3_OutboxB2ARefusalWithoutTheServicesBodyIsNobodysWord", []edit{
		{"agent/outbox/verdict.go", `if !e.Nobody {`, `if true {`},
	}},
	{"another operation's transactionRef makes one done", offline, "TestField3_OutboxB3ATransactionRefIsOneOperations", []edit{
		{"agent/gateway/ours.go", `if transactionRef(other) == told.TransactionRef {`, `if false {`},
	}},
	{"the payment itself proves its undo", drive, "TestField4_GatewayG1ThePaymentItselfProvesNoUndo", []edit{
		{"agent/intent/request.go", `|| q.OriginalID != 0 && st.TransactionID == q.OriginalID`, ``},
	}},
	{"a good end that may be the payment's is believed at once", drive, "TestField4_GatewayG1ThePaymentItselfProvesNoUndo", []edit{
		{"agent/gateway/undoread.go", `whose != intent.Ours && u.maybePayment(st)`, `whose != intent.Ours && u.maybePayment(st) && false`},
	}},
	{"a conflict behind a lost attempt ends a refund", drive, "TestField4_GatewayG2AConflictBehindALostAttemptIsRead", []edit{
		{"agent/gateway/aapay.go", `case unknown && again && u.m.Lost:`, `case false:`},
	}},
	{"a client's write fails by the first no behind a lost attempt", offline, "TestField4_GatewayG3ARefusalBehindALostAttemptIsHeardAgain", []edit{
		{"agent/gateway/send.go", `case op.Since(*m.No) < quiet:`, `case false:`},
	}},
	{"a refund from before a reading that lags is this one's", offline, "TestField4_GatewayG4AReadingThatLagsShowsNoEffectOfOurs", []edit{
		{"agent/gateway/payments.go", `was.Refunded.with(others, is.Refunded), `, `was.Refunded, `},
	}},
	{"an entry without a name is what another operation did", offline, "TestField5_QueueAnEntryWithoutANameIsNobodyElses", []edit{
		{"agent/gateway/payments.go", `ref != "" && i >= 0`, `i >= 0`},
	}},
	{"an entry without a name is ours behind data that lag", offline, "TestField5_QueueAnEntryWithoutANameIsNobodyElses", []edit{
		{"agent/gateway/payments.go", `case !e.releases && a.lags(kind, others, b):`, `case false && a.lags(kind, others, b):`},
	}},
	{"what was done at the provider before counts here", offline, "TestField5_QueueWhatWasDoneAtOtherBooksIsNoneOfTheseHere", []edit{
		{"agent/gateway/accounts.go", `places[n] = list[i].account`, `places[n] = ""`},
	}},
	{"a repeat is of what has its id now", offline, "TestField5_QueueARepeatIsNoneOfWhatHasItsIdNow", []edit{
		{"agent/gateway/keys.go", `if before && !again {`, `if before && !again && !known {`},
	}},
	{"a repeat is unavailable where nothing can be stored", offline, "TestField5_QueueARepeatIsAnsweredWithoutASpaceToWrite", []edit{
		{"agent/gateway/put.go", `return told, leave, f.unstored(ctx, w, st, caller, err)`, `return told, leave, cmp.Or(err, f.unstored(ctx, w, st, caller, err))`},
	}},
	{"a reservation that is not found is gone at once", offline, "TestField4_GatewayG5WhatIsNotFoundMayStandYet", []edit{
		{"agent/gateway/send.go", `case what == absent && op.Since(*m.No) < quiet:`, `case false:`},
	}},
	{"an undo's transaction proves another", drive, "TestField4_GatewayG6AnUndosTransactionIsNoOthers", []edit{
		{"agent/checkout/drive/journal/transit.go", `rows = append(rows, undone...)`, `rows = append(rows, undone[:0]...)`},
	}},
	{"each id that begins with an L is a local one", offline, "TestField4_GatewayG7AServicesIdMayBeginWithL", []edit{
		{"schemes/wire/key.go", `return ok && Key(key).Ours()`, `return ok && key != ""`},
	}},
	{"a refusal of a repeat is one of the call", "agent/upstream", "TestField4_GatewayG8ANoToARepeatIsNoNo", []edit{
		{"agent/upstream/upstream.go", `return status == http.StatusCreated || `, `return `},
	}},
	{"a list that lags makes two refunds by link one", "agent/paylink", "TestField4_GatewayG9AListThatLagsShowsNoRefundOfOurs", []edit{
		{"agent/paylink/refund.go", `next.Before = max(next.Before, known)`, `next.Before = max(next.Before, 0*known)`},
	}},
	{"a cached reply tells the time of now", "agent/upstream", "TestField4_GatewayG11ACachedReplyTellsItsAge", []edit{
		{"agent/upstream/transport.go", `said = said.Add(time.Duration(age) * time.Second)`, `said = said.Add(0 * time.Duration(age))`},
	}},
	{"a success that names nothing is done unread", offline, "TestField4_GatewayG12ASuccessThatNamesNothingIsRead", []edit{
		{"agent/gateway/send.go", `case class == outbox.Compare && !echo.Named():`, `case false:`},
	}},
	{"a refund by link is done by any answer", "agent/paylink", "TestField4_GatewayG12ARefundThatIsAnsweredForAnotherIsRead", []edit{
		{"agent/paylink/refund.go", `case yes && echo.Named():`, `case yes || echo.Named():`},
	}},
	{"another refund by link is this one", "agent/paylink", "TestField5_PortARefundIsNoOtherRefundOfThePayment", []edit{
		{"agent/paylink/refund.go", `if since.amounts = append(since.amounts, u.Amount); u.Told`, `if since.amounts = append(since.amounts[:0], 0); u.Told`},
	}},
	{"a client is given what any answer names", "agent/ownership", "TestField5_PortAStartIsAnsweredForAnother", []edit{
		{"agent/ownership/schemes.go", `n.owner != "" && !echo.Named()`, `n.owner != "" && echo.Named()`},
	}},
	{"a decision is taken for what went on", "agent/port/login", "TestField5_PortADecisionIsOfWhatWasSeen", []edit{
		{"agent/port/login/deeds.go", `form.Get(pages.SeenField) != pages.SeenAs(v.Operation)`, `form.Get(pages.SeenField) == "" && pages.SeenAs(v.Operation) == "x"`},
	}},
	{"what was never sent there is sent here", "agent/gateway", "TestField6_WhatWasNeverSentThereIsNotSentHere", []edit{
		{"agent/gateway/accounts.go", `if err != nil || places[0] == "" {`, `if true {`},
	}},
	{"a release is taken for another hold", "agent/port/login", "TestField6_AReleaseIsOfWhatWasSeen", []edit{
		{"agent/port/pages/act.go", `seen += "/" + digestOf(o.Reason)`, `seen += "/" + digestOf("")`},
	}},
	{"an alert is acknowledged that nobody has read", "agent/port/login", "TestField5_PortAnAcknowledgementIsOfTheAlertThatWasRead", []edit{
		{"agent/port/login/deeds.go", `form.Get(pages.SeenField) != pages.AlertAs(a.At, a.Reason)`, `form.Get(pages.SeenField) == "" && pages.AlertAs(a.At, a.Reason) == "x"`},
	}},
	{"a link that names nothing is shown", "agent/paylink", "TestField5_PortALinkThatNamesNothingIsRead", []edit{
		{"agent/paylink/make.go", `link.ReferenceID == "" && !echo.Named()`, `link.ReferenceID == "" && echo.Named()`},
	}},
	{"an alert takes the place of one that a person has not seen", drive, "TestField6_WhatAPersonHasToSeeIsNotReplaced", []edit{
		{"agent/checkout/drive/journal/alert.go", `case stands(a, short):`, `case false && stands(a, short):`},
	}},
	{"what is found of a held sale is not told", drive, "TestField6_WhatIsKnownOfAHeldSaleIsTold", []edit{
		{"agent/checkout/held.go", `if s.Unfound { // what`, `if false { // what`},
	}},
	{"a refund is refused to who repeats it while a day closes", drive, "TestField6_ARefundIsJoinedWhateverTheTerminalCanDo", []edit{
		{"agent/checkout/drive/begin.go", `if sale, ok := d.joinRepeated(ctx, req); ok {`, `if sale, ok := d.joinRepeated(ctx, req); ok && false {`},
	}},
	{"what has ended is not told before the journal is taken up", drive, "TestField6_WhatHasEndedIsToldBeforeTheJournalIsTakenUp", []edit{
		{"agent/checkout/drive/begin.go", `if sale, ok := d.joinEnded(ctx, req, asked); ok {`, `if sale, ok := d.joinEnded(ctx, req, asked); ok && false {`},
	}},
	{"a refund is denied behind another till's sale", "ecr/caisseap", "TestField6_ARefundIsDeniedByNothingButItsEnd", []edit{
		{"ecr/caisseap/dialogue.go", `d.r.ask.Sequence == "" && d.r.ask.Kind == ecr.Payment: //`, `d.r.ask.Sequence == "": //`},
	}},
}
