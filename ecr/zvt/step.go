package zvt

import (
	"posagent/ecr"
	"posagent/ecr/zvt/apdu"
)

// Step takes one event and returns what to do, in this order.
func (m *Machine) Step(ev ecr.Event) []ecr.Action {
	m.actions = nil
	switch ev := ev.(type) {
	case ecr.Received:
		m.received(ev)
	case ecr.Sent:
		m.sent(ev)
	case ecr.Begun:
		m.begun(ev)
	case ecr.Held:
		m.hold(ev)
	case ecr.NotBegun:
		m.refused(ev)
	case ecr.Progressed:
		m.progressed(ev)
	case ecr.Ended:
		m.ended(ev)
	case ecr.AbortDecided:
		m.aborted(ev)
	case ecr.Recorded:
		m.recorded(ev)
	case ecr.Totalled:
		m.totalled(ev)
	case ecr.Checked:
		m.checked(ev)
	case ecr.Saved:
		m.saved(ev)
	case ecr.Fired:
		m.fired(ev)
	case ecr.Noticed:
		m.noticed(ev)
	case ecr.Printed:
		m.paperTaken(ev)
	case ecr.Gone:
		m.flushPaper(0)
		m.drop(false, true)
	case ecr.Freed:
		m.freed()
	case ecr.Undoing:
		m.undoing()
	case ecr.Learned:
		m.adopt(loadProfile(ev.Profile))
	}
	return m.actions
}

// undoing tells a register that is not in a dialogue and wants intermediate status.
func (m *Machine) undoing() {
	if m.shown && m.phase == idle && m.pending == nil && m.prof.Config&cfgIntermediate != 0 {
		m.send(apdu.NewPrefixed(apdu.Intermediate, []byte{ifReversing}), forProgress)
	}
}

func (m *Machine) received(ev ecr.Received) {
	if len(ev.Data) < 3 {
		return
	}
	msg, err := apdu.Decode(ev.Data)
	if msg.Cmd.IsReply() {
		m.answered(msg)
		return
	}
	if !m.shown && !m.shows(msg) {
		m.reply(-1, apdu.Refuse(0x37))
		return
	}
	id, fresh := m.ids.see(m.prof.Sequenced, msg, ev.Data)
	rules, known := table[msg.Cmd]
	switch {
	case err != nil, !known, fresh == contradicts:
		m.reply(id, apdu.Refuse(0x83))
		return
	case fresh == repeats && m.phase != idle && m.phase != ending:
		if m.ids.reply != nil {
			m.transmit(m.ids.reply)
		}
		return
	case fresh == restarts:
		m.adopt(m.said.begun(m.cfg.Series()))
		m.do(ecr.Save{Profile: m.said.encode()})
	}
	column := m.phase
	if ev.Elsewhere && (m.phase == idle || m.phase == ending) {
		column = elsewhere
	}
	m.follow(rules[column], msg, id, fresh == repeats, ev.OpenSale)
}

// follow carries out one field of the table.
func (m *Machine) follow(r rule, msg apdu.Message, id int, again bool, openSale string) {
	switch r {
	case take:
		m.drop(false, false)
		m.begin(msg, id, again)
	case restart:
		m.drop(false, true)
		m.begin(msg, id, again)
	case join:
		m.drop(true, false)
		m.begin(msg, id, again)
	case unknownRunning:
		m.reply(id, apdu.Refuse(0xA0))
		m.d.forgotten, m.d.notify = true, false
		m.stop(TimerProgress)
	case unknownOutcome:
		m.forget(msg, id, again)
	case await:
		m.drop(false, false)
		m.await(msg, id, again)
	case busy:
		m.reply(id, apdu.Refuse(0xA0))
	case aside:
		m.sideStatus(msg, id)
	case endPrompt:
		m.answerPrompt(ecr.Pressed{Key: ecr.KeyTimeout}, ecr.OK)
		m.reply(id, apdu.OK())
	case abort, abortSoon:
		m.abortSale(id)
	case abortOrphan:
		m.abortLost(id, openSale)
	case abortLate:
		if m.d.outcome.Result == ecr.Aborted {
			m.reply(id, apdu.OK())
		} else {
			m.reply(id, apdu.Refuse(0x83))
		}
	default:
		m.reply(id, apdu.Refuse(0x83))
	}
}

func (m *Machine) fired(ev ecr.Fired) {
	if ev.Timer >= timers || m.timers[ev.Timer] != ev.Seq || ev.Seq == 0 {
		return
	}
	m.timers[ev.Timer] = 0
	switch ev.Timer {
	case TimerReply:
		switch {
		case m.pending == nil:
		case m.pending.held != nil && m.answers && !m.d.doubted: // the answer may belong to an earlier message, so send 04 0F again first
			m.d.doubted = true
			m.pending, m.owed = nil, 0
			m.tell()
		case m.pending.held != nil: // it does not answer the others
			m.settle(*m.pending.held)
		default:
			m.settle(reply{lost: true})
		}
	case TimerAnswer:
		m.answerNow()
	case TimerProgress:
		m.intermediate()
	case TimerPaper:
		m.flushPaper(0)
	case TimerFree:
		m.refuseRepeat(resultBusy)
	case TimerAskAgain:
		if m.phase == pausing {
			m.tell()
		}
	}
}

// begin starts the dialogue of a command that may be begun now.
func (m *Machine) begin(msg apdu.Message, id int, again bool) {
	if !m.open(msg, id, again) {
		return
	}
	switch msg.Cmd {
	case apdu.Authorisation, apdu.Reversal, apdu.RefundCmd:
		m.beginSale()
	case apdu.RepeatReceipt:
		m.beginRepeat()
	case apdu.DisplayText, apdu.DisplayKey, apdu.DisplayNumber, apdu.PrintLine, apdu.PrintBlock:
		m.beginPanel()
	default:
		m.beginAdmin()
	}
}
