package mutants

// ofECR is every broken rule of the register's line.
var ofECR = []mutant{
	// Journalled before it is done or told.
	{"a peer that closes right after it has heard counts as unheard", "ecr/socket", "TestAPeerThatReadsAndCloses", []edit{
		{"ecr/socket/socket.go", `			if info.State == before {`, `			if info.State == before || before == 0 {`},
	}},
	{"06 B0 answered before the desk has decided", "ecr/zvt", "TestDialogues|TestField_U10Matrix", []edit{
		{"ecr/zvt/abort.go", "\tm.aborting.ids = append(m.aborting.ids, id)\n\tif m.phase", "\tm.reply(id, apdu.OK())\n\tif m.phase"},
	}},
	{"06 B0 answered well although it was too late", "ecr/zvt", "TestDialogues", []edit{
		{"ecr/zvt/abort.go", "\tm.aborting.ok = ev.Done\n", "\tm.aborting.ok, ev.Done = true, true\n"},
	}},

	// At most one effect at the backend.
	{"an answered message is repeated into the next dialogue", "ecr/zvt", "TestMoneyA3_WhatIsAnsweredIsNotRepeated", []edit{
		{"ecr/zvt/machine.go", `	if m.leaving > 0 { // also`, `	if m.phase != idle && m.leaving > 0 { // also`},
	}},
	{"a line forgets which connection runs its sale", protocol, "TestConformance", []edit{
		{"ecr/session/dialog.go", `e.Elsewhere, e.OpenSale = s.owner != nil && s.owner != d, s.sale`, `e.Elsewhere, e.OpenSale = false, s.sale`},
	}},
	{"a connection that is gone keeps its line", protocol, "TestConformance", []edit{
		{"ecr/session/dialog.go", `	d.post(ecr.Gone{})`, `	d.post(ecr.Sent{})`},
	}},
	{"an unheard outcome is told to be heard, on any line", protocol, "TestConformance", []edit{
		{"ecr/zvt/answers.go", "case r.lost:\n\t\tm.record(ecr.Lost)", "case r.lost:\n\t\tm.record(ecr.Told)"},
	}},
	{"the same request id is another sale", protocol, "TestConformance", []edit{
		{"ecr/zvt/machine.go", `return fmt.Sprintf("zvt-%s-%06d", m.prof.Series, id)`, `return fmt.Sprintf("zvt-%s-%06d-%d", m.prof.Series, id, m.gen)`},
	}},
	{"a register that has just come makes room for one that only greets", "ecr/session", "TestField2_D8ANewcomerHasTimeToSayWhatItIs", []edit{
		{"ecr/session/tcp.go", `if !d.heard && time.Since(d.since) < newcomerGrace {`, `if d.heard && time.Since(d.since) < newcomerGrace {`},
	}},
	{"a registration that is not stored is answered as if it were", "ecr/session", "TestField2_M14ARegistrationThatIsNotStoredFails", []edit{
		{"ecr/zvt/admin.go", "\tif ev.Failed {", "\tif ev.Failed && m.prof.Sequenced {"},
	}},
	{"a sale begins under a number whose series is not stored", "ecr/session", "TestField2_M14NumbersThatGoBackAreStoredFirst", []edit{
		{"ecr/session/memory.go", "if err := s.store(ctx); err != nil {", "if err := s.store(ctx); err != nil && ctx.Err() != nil {"},
	}},
	{"numbers of a register are told apart by a count", "ecr/session", "TestField2_M14NoNumberComesBackWithAnOlderMemory", []edit{
		{"ecr/zvt/profile.go", "\tp.Series = series\n", "\tp.Series = \"\"\n"},
	}},
	{"a request whose mark is not stored is asked of the desk", "ecr/ecr17", "TestField2_M14AMarkThatIsNotStoredRefusesTheRequest", []edit{
		{"ecr/ecr17/dialogue.go", "\t\tcase ev.Failed:\n\t\t\td.notMarked()", "\t\tcase ev.Failed && d.run.code == last:\n\t\t\td.notMarked()"},
	}},
	{"a request id that was not agreed is ignored", "ecr/session", "TestMoneyF2_ANumberIsNeverIgnored", []edit{
		{"ecr/zvt/request.go", "case !m.prof.Sequenced:\n\t\treturn errNumber", "case false:\n\t\treturn errNumber"},
	}},
	{"a request id that cannot be read is ignored", "ecr/session", "TestMoneyF2_ANumberIsNeverIgnored", []edit{
		{"ecr/zvt/request.go", "case !ok:\n\t\treturn errMalformed\n\tcase !m.prof", "case !ok && false:\n\t\treturn errMalformed\n\tcase !m.prof"},
	}},
	{"a register is told another's last sale", "ecr/ecrtest/toy", "TestConformance", []edit{
		{"ecr/session/dialog.go", `line := cmp.Or(a.Line, s.o.Line)`, `line := cmp.Or("one/1", a.Line, s.o.Line)`},
	}},
	{"what waits for its acknowledgement cannot be taken back", "ecr/session", "TestUnsendTakesBackWhatHasNotLeft", []edit{
		{"ecr/session/late.go", `if l.cancel != nil && l.seq <= through {`, `if false {`},
	}},
	{"frame filter off", frame, "TestRepeatedSaleIsDeliveredOnce", []edit{
		{"ecr/zvt/frame/filter.go", `if f.prev == nil || !bytes.Equal(data, f.prev) {`, `if f.prev == nil || !bytes.Equal(data, f.prev) || true {`},
	}},
	{"what begins no message is passed over on TCP", "ecr/session", "TestField_L1AWebPageReachesNoSale", []edit{
		{"ecr/zvt/frame/tcp.go", `if !apdu.Begins(pending[0]) {`, `if pending[0] == 0x15 && !apdu.Begins(pending[0]) {`},
	}},
	{"06 20 takes over the dialogue of a connection that lives", "ecr/session", "TestField_L2OpenDialogueIsNotTakenOver", []edit{
		{"ecr/zvt/table.go", `join, take, busy, await},`, `join, take, busy, take},`},
	}},
	{"a dead connection keeps its dialogue", "ecr/session", "TestField_L2ARegisterWithoutPowerGetsItsDialogueBack", []edit{
		{"ecr/session/tcp.go", `			keepAlive(tcp)`, `			_ = tcp.SetKeepAlive(false)`},
	}},
	{"a command is done without the password", "ecr/session", "TestField_L3NothingWithoutThePassword", []edit{
		{"ecr/zvt/step.go", `if !m.shown && !m.shows(msg) {`, `if !m.shown && !m.shows(msg) && msg.Cmd != apdu.AbortECR {`},
	}},
	{"a wrong password is taken for the right one", "ecr/session", "TestField2_D2WrongPasswordsCostTime", []edit{
		{"ecr/zvt/request.go", `c.Right = c.Password && pw == password`, `c.Right = c.Password && pw != ""`},
	}},
	{"wrong passwords cost no time", "ecr/session", "TestField2_D2WrongPasswordsCostTime", []edit{
		{"ecr/session/guard.go", `	g.free = g.free.Add(tryEvery)`, `	g.free = g.free.Add(0)`},
	}},
	{"a connection tries any number once it was wrong", "ecr/session", "TestField2_D2WrongPasswordsCostTime", []edit{
		{"ecr/session/dialog.go", `(d.offered || !claim.Right)`, `!claim.Right`},
	}},
	{"a guess keeps its place at the door", "ecr/session", "TestField2_D2AGuessKeepsNoPlace", []edit{
		{"ecr/session/guard.go", `guesses := claim.Password && !claim.Right`, `guesses := claim.Password && claim.Right`},
	}},
	{"a register has no place before its turn", "ecr/session", "TestField2_D2AGuessKeepsNoPlace", []edit{
		{"ecr/session/guard.go", `if d.heard = true; registers {`, `if d.heard = true; registers && false {`},
	}},
	{"a sale asked for anew leaves the old one to be confirmed", "ecr/zvt", "TestField_U10Matrix", []edit{
		{"ecr/zvt/table.go", `	apdu.Authorisation:  {take, busy, unknownRunning, busy, restart, unknownOutcome,`, `	apdu.Authorisation:  {take, busy, unknownRunning, busy, restart, busy,`},
	}},
	{"a sale that a restarted register does not know is told and confirmed", "ecr/zvt", "TestField_U10Matrix", []edit{
		{"ecr/zvt/outcome.go", `	if m.d.forgotten && out.Result == ecr.Approved {`, `	if false {`},
	}},
	{"06 01 is taken while receipts are printed", "ecr/zvt", "TestField_U10Matrix", []edit{
		{"ecr/zvt/table.go", `	apdu.Authorisation:  {take, busy, unknownRunning, busy, restart, unknownOutcome, busy, busy, busy, take,`, `	apdu.Authorisation:  {take, busy, unknownRunning, busy, restart, unknownOutcome, busy, busy, take, take,`},
	}},
	{"a running end of day is dropped", "ecr/zvt", "TestField_U10Matrix", []edit{
		{"ecr/zvt/table.go", `	apdu.EndOfDay:       {take, busy, busy, busy,`, `	apdu.EndOfDay:       {take, busy, busy, restart,`},
	}},
	{"a loss is not recorded before the next sale", "ecr/zvt", "TestField_U10Matrix", []edit{
		{"ecr/zvt/begin.go", `	m.do(ecr.Deliver{Gen: m.d.gen, Sale: sale, Delivery: how})
}

// await`, `	m.do(ecr.Deliver{Gen: m.d.gen, Sale: sale, Delivery: how})
	m.beginSale()
}

// await`},
	}},
	{"block checksum not compared", frame, "TestNoFlippedBitIsDelivered|TestDecodeBlockRefuses", []edit{
		{"ecr/zvt/frame/block.go", `if want := crcByte(Checksum(data), etx); got != want {`, `if want := crcByte(Checksum(data), etx); got != want && false {`},
	}},

	// Told, and undone.
	{"any answer to 04 0F is an acknowledgement", "ecr/zvt", "TestApprovalIsConfirmedByItsAnswerOnly", []edit{
		{"ecr/zvt/answers.go", `case r.code != 0 && m.d.told == ecr.Approved:`, `case false:`},
	}},
	{"an approval is confirmed without an answer", "ecr/zvt", "TestApprovalIsConfirmedByItsAnswerOnly", []edit{
		{"ecr/zvt/answers.go", "case r.lost:\n\t\tm.record(ecr.Lost)", "case r.lost:\n\t\tm.record(ecr.Told)"},
	}},
	{"a refund the desk takes long over is refused", "ecr/zvt", "TestDialogues", []edit{
		{"ecr/zvt/begin.go", `case m.phase == asking && (m.d.msg.Cmd == apdu.Reversal || m.d.msg.Cmd == apdu.RefundCmd):`, `case false:`},
	}},
	{"a repeat that cannot be answered looks like a failed sale", "ecr/zvt", "TestARepeatThatCannotBeAnsweredLooksLikeNoFailedSale", []edit{
		{"ecr/zvt/begin.go", `if m.d.repeat { // 04 0F`, `if false { // 04 0F`},
	}},
}
