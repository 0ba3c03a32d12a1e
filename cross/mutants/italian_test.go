package mutants

const (
	ecr17     = "ecr/ecr17"
	ecr17Line = "ecr/ecr17/protocol"
)

// ofECR17 is every broken rule of the Italian register protocol.
var ofECR17 = []mutant{
	{"ECR17: G across tills", ecr17Line, "TestMoneyF4_LostAtEveryByte", []edit{
		{"ecr/ecr17/ask.go", `return d.line + "/" + till }`, `return d.line + "/" + till[:0] }`},
	}},
	{"ECR17: a told result is repeated for ever", ecr17Line, "TestConformance", []edit{
		{"ecr/ecr17/tell.go", `	case r.code == last && out.ToldFor > repeatTold:`, `	case r.code == last && out.ToldFor > 1000*repeatTold:`},
	}},
	{"ECR17: a final no where the terminal cannot say", ecr17, "TestDialogues", []edit{
		{"ecr/ecr17/ask.go", `	case r.code == last, d.phase == clearing, ev.Code`, `	case d.phase == clearing, ev.Code`},
	}},
	{"ECR17: an unheard approval is told", ecr17, "TestDialogues", []edit{
		{"ecr/ecr17/tell.go", `	how := ecr.Lost
	if ok {`, `	how := ecr.Lost
	if true {`},
	}},
	{"ECR17: a retransmission is a new sale", ecr17, "TestMatrix", []edit{
		{"ecr/ecr17/dialogue.go", `	case d.phase != idle && r.data == d.run.data:`, `	case d.phase != idle && r.data == d.run.data && !r.money():`},
	}},
	{"ECR17: a sale goes on after NAK", ecr17, "TestDialogues", []edit{
		{"ecr/ecr17/ask.go", `			d.orphan(ecr.Refused, true)
			d.finish()
		case r.naked, r.gone:`, `			d.orphan(ecr.Lost, false)
			d.finish()
		case r.naked, r.gone:`},
	}},
	{"ECR17: an approval after the deadline is kept", ecr17, "TestDialogues", []edit{
		{"ecr/ecr17/tell.go", `		d.orphan(ecr.Refused, true)
		d.reply(`, `		d.orphan(ecr.Lost, true)
		d.reply(`},
	}},
	{"ECR17: a result for a register that waits for something else", ecr17, "TestMatrix", []edit{
		{"ecr/ecr17/table.go", `	otherCame:  {take, refuse, giveUp, refuse, refuse, giveUp,`, `	otherCame:  {take, refuse, giveUp, refuse, refuse, again,`},
	}},
	{"ECR17: an older approval after a refusal", ecr17, "TestDialogues", []edit{
		{"ecr/ecr17/ask.go", `	case r.code == last && was == void:`, `	case r.code == last && was == void && r.gone:`},
	}},
	{"ECR17: a forgotten sale goes on", ecr17Line, "TestAForgottenSaleIsAbortedFirst", []edit{
		{"ecr/ecr17/ask.go", `		if r.sale == r.open {
			d.do(ecr.Abort{Sale: r.sale})
			return`, `		if r.sale == r.open {
			return`},
	}},
	{"ECR17: another till's sale is aborted", ecr17, "TestMatrix", []edit{
		{"ecr/ecr17/ask.go", `		if r.sale == r.open {`, `		if r.sale != "" {`},
	}},
	{"ECR17: a reversal's authorisation is a payment's", ecr17, "TestDialogues", []edit{
		{"ecr/ecr17/answer.go", `		e.auth = noAuth`, `		e.auth = authOf(out)`},
	}},
	{"ECR17: a result without ACK is sent again", ecr17Line, "TestAResultIsSentOnce", []edit{
		{"ecr/ecr17/protocol/wire.go", `		case err == nil && tries < maxRepeats:`, `		case tries < maxRepeats:`},
	}},
	{"ECR17: a connection without ACK goes on", ecr17Line, "TestAResultIsSentOnce", []edit{
		{"ecr/ecr17/protocol/wire.go", `	if w.cable {
		return errors.Join`, `	if true {
		return errors.Join`},
	}},
	{"ECR17: an old ACK acknowledges a result", ecr17Line, "TestMoneyF5_ToldIsTheRegistersACK", []edit{
		{"ecr/ecr17/protocol/wire.go", `	if w.waiting {
		w.waiting = false
		w.answers <- b
	}`, `	w.waiting = false
	select {
	case w.answers <- b:
	default:
	}`},
		{"ecr/ecr17/protocol/wire.go", `	select {
	case <-w.answers:
	default:
	}
}

// answer waits`, `}

// answer waits`},
	}},
	{"ECR17: a damaged message is delivered", ecr17Line, "TestFrames", []edit{
		{"ecr/ecr17/protocol/wire.go", `	if w.o.Scope.LRC(payload) != lrc {`, `	if w.o.Scope.LRC(payload)&0x80 != lrc&0x80 {`},
	}},
	{"ECR17: strangers on TCP are listened to", ecr17Line, "TestStrangersOnTCP", []edit{
		{"ecr/ecr17/protocol/wire.go", `	if w.cable {
		return nil
	}
	return ecr.ErrStrange`, `	if w.cable || n == 1 {
		return nil
	}
	return ecr.ErrStrange`},
	}},
	{"the age of what was told begins anew with each telling", drive, "TestMoneyF4_LastSaysHowLongAgoItWasTold", []edit{
		{"agent/checkout/drive/perform/tell.go", `		return max(1, p.boot()-s.ToldAt), false`, `		return 1, false`},
	}},
	{"what was told in another boot is as young as this one", drive, "TestMoneyF4_LastSaysHowLongAgoItWasTold", []edit{
		{"agent/checkout/drive/perform/tell.go", `		return ago, true`, `		return ago, false`},
	}},
	{"G repeats what nobody can date", "ecr/ecr17", "TestDialogues", []edit{
		{"ecr/ecr17/tell.go", `	case r.code == last && out.ToldLeast:`, `	case r.code == last && out.ToldLeast && false:`},
	}},
	{"a reversal of the last payment takes another line's", drive, "TestAReversalOfTheLinesLastPayment", []edit{
		{"agent/checkout/drive/journal/find.go", `	return j.one(r, ` + "`line = ? AND kind = ? AND receipt != 0 ORDER BY id DESC LIMIT 1`, line, string(ecr.Payment))", `	return j.one(r, ` + "`? != '' AND kind = ? AND receipt != 0 ORDER BY id DESC LIMIT 1`, line, string(ecr.Payment))"},
	}},
	{"a reversal of the last payment joins that of an earlier one", drive, "TestALaterPaymentIsNotTheOneThatWasReversed", []edit{
		{"agent/checkout/drive/forward.go", `same := r.Original == orig`, `same := r.Original == orig || last`},
	}},
}
