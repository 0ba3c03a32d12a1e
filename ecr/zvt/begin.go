package zvt

import (
	"errors"

	"posagent/ecr"
	"posagent/ecr/zvt/apdu"
)

// beginSale asks the desk for a sale, or refuses it.
func (m *Machine) beginSale() {
	req, err := m.saleRequest(m.d.msg, m.d.id)
	switch {
	case errors.Is(err, errCurrency):
		m.reply(m.d.id, apdu.OK())
		m.refuseSale(ecr.WrongCurrency, wordsFor(m.cfg.Language).currency)
	case errors.Is(err, errNumber):
		m.reply(m.d.id, apdu.OK())
		m.refuseSale(ecr.Impossible, wordsFor(m.cfg.Language).number)
	case errors.Is(err, errZero):
		m.reply(m.d.id, apdu.OK())
		m.refuseSale(ecr.AmountWrong, wordsFor(m.cfg.Language).zero)
	case errors.Is(err, errOriginal):
		m.reply(m.d.id, apdu.OK())
		m.refuseSale(ecr.NoOriginal, ecr.NameOriginal(m.cfg.Language))
	case err != nil:
		m.reply(m.d.id, apdu.Refuse(0x83))
		m.finish()
	default:
		m.phase = asking
		within := answerWithin
		if m.d.follows {
			m.d.follows, within = false, answerWithin-lostWithin
		}
		m.start(TimerAnswer, within)
		m.do(ecr.Begin{Gen: m.d.gen, Request: req})
	}
}

// beginRepeat asks the desk for the sale that 06 20 speaks of.
func (m *Machine) beginRepeat() {
	m.d.repeat = true
	receipt, err := receiptAsked(m.d.msg)
	if err != nil {
		m.reply(m.d.id, apdu.Refuse(0x83))
		m.finish()
		return
	}
	if svc, ok := m.d.msg.Byte(0x03); ok {
		m.d.silent = svc&0x01 == 0
		m.d.noPrint = svc&0x02 != 0
	}
	m.phase = asking
	m.start(TimerAnswer, answerWithin)
	m.do(ecr.Last{Gen: m.d.gen, Receipt: receipt})
}

// forget takes a financial command that comes before the first answer to 04 0F: the register does
// not know the sale that it is being told, because it has started again. The sale is lost, so the
// desk undoes it with the command; whatever the register acknowledges from now on confirms nothing
// of it.
func (m *Machine) forget(msg apdu.Message, id int, again bool) {
	if m.d.totals != nil || m.d.asked > 0 || m.d.retold || m.d.sale == "" {
		m.reply(id, apdu.Refuse(0xA0))
		return
	}
	sale, how := m.d.sale, m.d.outcome.Telling(ecr.Lost)
	m.drop(true, false)
	owed := m.owed
	if !m.open(msg, id, again) {
		m.do(ecr.Deliver{Sale: sale, Delivery: how})
		return
	}
	m.owed = max(m.owed, owed) // its answer to that 04 0F may still come
	m.d.follows = true
	m.phase = asking
	m.start(TimerAnswer, lostWithin)
	m.do(ecr.Deliver{Gen: m.d.gen, Sale: sale, Delivery: how})
}

// await answers a 06 20 while another connection has the dialogue. That one keeps it as long as it
// is connected: the outcome is told to the register that asked for the sale, and its answer is the
// one that counts.
func (m *Machine) await(msg apdu.Message, id int, again bool) {
	if !m.open(msg, id, again) {
		return
	}
	m.d.repeat, m.d.acked = true, true
	m.phase = waiting
	m.reply(id, apdu.OK())
	m.start(TimerFree, freeWithin)
}

// freed begins the 06 20 that waited.
func (m *Machine) freed() {
	if m.phase == waiting {
		m.stop(TimerFree)
		m.beginRepeat()
	}
}

// begun goes on with a sale that the desk has made durable.
func (m *Machine) begun(ev ecr.Begun) {
	if ev.Gen != m.d.gen || m.phase != asking {
		if m.orphans[ev.Gen].abort {
			m.do(ecr.Abort{Sale: ev.Sale})
		}
		return
	}
	m.d.sale = ev.Sale
	m.phase = running
	m.stop(TimerAnswer)
	if !m.d.acked {
		m.reply(m.d.id, apdu.OK())
	}
	if m.intermediates() {
		m.start(TimerProgress, progressEvery)
	}
	if len(m.aborting.ids) > 0 {
		m.start(TimerAnswer, answerWithin)
		m.do(ecr.Abort{Gen: m.d.gen, Sale: m.d.sale})
	}
}

// hold answers a command in time that the desk cannot judge yet: what a restarted terminal refuses
// may be what it is carrying out.
func (m *Machine) hold(ev ecr.Held) {
	if ev.Gen != m.d.gen || m.phase != asking || m.d.acked {
		return
	}
	m.d.acked = true
	m.reply(m.d.id, apdu.OK())
	m.start(TimerAnswer, holdWithin)
}

// heldTooLong ends the wait of a sale that was held. The desk may accept it yet: then it is
// aborted. Of a refund or reversal nothing final can be said: it may be the repetition of one that
// runs.
func (m *Machine) heldTooLong() {
	m.answerAborts(false)
	m.orphans[m.d.gen] = orphan{abort: true}
	if m.d.msg.Cmd == apdu.Authorisation {
		m.refuseSale(ecr.NotReady, "")
		return
	}
	m.d.sale = ""
	m.d.outcome = ecr.Outcome{Result: ecr.InProgress, Code: ecr.StillRunning}
	m.tell()
}

// refused answers a command that the desk did not begin.
func (m *Machine) refused(ev ecr.NotBegun) {
	if m.copied(ev.Gen, nil) {
		return
	}
	if ev.Gen != m.d.gen || m.phase != asking {
		delete(m.orphans, ev.Gen)
		return
	}
	m.stop(TimerAnswer)
	switch {
	case !m.d.acked:
	case !m.d.repeat:
		m.answerAborts(false)
		m.refuseSale(ev.Code, ev.Text)
		return
	case ev.Code == "":
		m.refuseRepeat(codeByte(ecr.Impossible))
		return
	default:
		m.refuseRepeat(codeByte(ev.Code))
		return
	}
	switch ev.Code {
	case ecr.Busy:
		m.reply(m.d.id, apdu.Refuse(0xA0))
		m.answerAborts(false)
		m.finish()
	case ecr.Impossible, "":
		m.reply(m.d.id, apdu.Refuse(0x83))
		m.answerAborts(false)
		m.finish()
	default:
		m.reply(m.d.id, apdu.OK())
		m.answerAborts(false)
		if m.d.repeat { // 04 0F 27=xx before 06 1E is what a failed sale looks like
			m.refuseRepeat(codeByte(ev.Code))
			return
		}
		m.refuseSale(ev.Code, ev.Text)
	}
}

// answerNow: the desk takes longer than the register waits.
func (m *Machine) answerNow() {
	switch {
	case m.phase == prompting:
		m.answerPrompt(ecr.Pressed{Key: ecr.KeyTimeout}, ecr.OK)
	case m.phase == working: // a text or a line for paper
		m.answerPanel(ecr.NotReady)
	case m.phase == asking && m.d.follows:
		m.reply(m.d.id, apdu.Refuse(0xA0))
		m.answerAborts(false)
		m.finish()
	case m.phase == asking && m.d.acked && !m.d.repeat:
		m.heldTooLong()
	case m.phase == asking && m.d.acked:
		m.orphans[m.d.gen] = orphan{}
		m.refuseRepeat(resultBusy)
	case m.phase == asking && (m.d.msg.Cmd == apdu.Reversal || m.d.msg.Cmd == apdu.RefundCmd):
		m.hold(ecr.Held{Gen: m.d.gen}) // it may be accepted this moment, and cannot be taken back then
	case m.phase == asking:
		m.reply(m.d.id, apdu.Refuse(0xA0))
		m.answerAborts(false)
		m.orphans[m.d.gen] = orphan{abort: !m.d.repeat}
		m.finish()
	default:
		m.answerAborts(false)
	}
}
