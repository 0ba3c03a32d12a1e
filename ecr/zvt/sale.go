package zvt

import (
	"errors"

	"posagent/ecr"
	"posagent/ecr/zvt/apdu"
)

func (m *Machine) beginSale() {
	req, err := m.saleRequest(m.d.msg, m.d.id)
	switch {
	case errors.Is(err, errCurrency):
		m.reply(m.d.id, apdu.OK())
		m.refuseSale(ecr.WrongCurrency, wordsFor(m.cfg.Language).currency)
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
	sale := m.d.sale
	m.drop(true, false)
	owed := m.owed
	if !m.open(msg, id, again) {
		m.do(ecr.Deliver{Sale: sale, Delivery: ecr.Lost})
		return
	}
	m.owed = max(m.owed, owed) // its answer to that 04 0F may still come
	m.d.follows = true
	m.phase = asking
	m.start(TimerAnswer, lostWithin)
	m.do(ecr.Deliver{Gen: m.d.gen, Sale: sale, Delivery: ecr.Lost})
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

// refuseRepeat ends a 06 20 that was answered 80 00 00 and can tell nothing.
func (m *Machine) refuseRepeat(result byte) {
	m.d.end = apdu.NewPrefixed(apdu.AbortPT, []byte{result})
	m.phase = printing
	m.print()
}

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

func (m *Machine) refused(ev ecr.NotBegun) {
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

// refuseSale tells that nothing was begun.
func (m *Machine) refuseSale(code ecr.Code, text string) {
	m.d.sale = ""
	m.d.outcome = ecr.Outcome{Result: ecr.Aborted, Code: code, Text: text}
	m.tell()
}

// answerNow: the desk takes longer than the register waits.
func (m *Machine) answerNow() {
	switch {
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

func (m *Machine) intermediates() bool { return m.d.notify }

func (m *Machine) progressed(ev ecr.Progressed) {
	if ev.Gen != m.d.gen || m.phase != running {
		return
	}
	m.d.progress = ev.Progress
	if m.intermediates() && m.pending == nil {
		m.intermediate()
	}
}

// intermediate sends 04 FF, unless the last one is still unanswered, and comes back.
func (m *Machine) intermediate() {
	if m.phase != running && m.phase != working || !m.intermediates() {
		return
	}
	if m.pending == nil {
		m.send(m.intermediateStatus(), forProgress)
	}
	m.start(TimerProgress, progressEvery)
}

func (m *Machine) ended(ev ecr.Ended) {
	if ev.Gen != m.d.gen || m.phase != running {
		if o, ok := m.orphans[ev.Gen]; ok {
			delete(m.orphans, ev.Gen)
			if !o.discard {
				m.do(ecr.Deliver{Sale: ev.Outcome.Sale, Delivery: ecr.Lost})
			}
		}
		return
	}
	if len(m.aborting.ids) > 0 {
		m.d.held = &ev.Outcome
		return
	}
	m.conclude(ev.Outcome)
}

// conclude goes from running to telling.
func (m *Machine) conclude(out ecr.Outcome) {
	m.d.outcome = out
	m.stop(TimerProgress)
	if m.d.forgotten && out.Result == ecr.Approved {
		m.do(ecr.Deliver{Sale: m.d.sale, Delivery: ecr.Lost})
		m.answerAborts(false)
		m.finish()
		return
	}
	if m.d.silent {
		m.do(ecr.Deliver{Sale: m.d.sale, Delivery: ecr.Lost})
		m.printAndEnd()
		return
	}
	m.tell()
}

// tell sends 04 0F.
func (m *Machine) tell() {
	m.phase = telling
	msg := m.statusInfo(m.d.outcome)
	if m.d.totals != nil {
		msg = m.totalsInfo(*m.d.totals)
	}
	m.d.told = m.d.outcome.Result
	m.send(msg, forTelling)
}

// toldWith takes the register's answer to 04 0F.
func (m *Machine) toldWith(r reply) {
	switch {
	case m.phase != telling:
	case m.d.totals != nil:
		m.toldTotals(r)
	case m.d.sale == "" || m.d.retold:
		m.printAndEnd()
	case r.lost:
		m.record(ecr.Lost)
	case r.code == 0x9C && m.d.asked <= m.d.request.askAgain:
		m.d.asked++
		m.phase = pausing
		m.start(TimerAskAgain, askAgainAfter)
	case r.code != 0 && m.d.told == ecr.Approved:
		m.record(ecr.Refused)
	default:
		m.record(ecr.Told)
	}
}

func (m *Machine) record(d ecr.Delivery) {
	m.phase = recording
	m.do(ecr.Deliver{Gen: m.d.gen, Sale: m.d.sale, Delivery: d})
	if d == ecr.Lost {
		m.finish()
	}
}

func (m *Machine) recorded(ev ecr.Recorded) {
	if ev.Gen == m.d.gen && m.phase == asking && m.d.follows && ev.OK {
		m.beginSale()
		return
	}
	if ev.Gen != m.d.gen || m.phase != recording {
		return
	}
	if ev.OK {
		m.d.outcome = ev.Outcome
	}
	if m.d.told == ecr.Approved && m.d.outcome.Result != ecr.Approved {
		m.d.retold = true
		m.tell()
		return
	}
	m.printAndEnd()
}

// printAndEnd sends the receipts, then the completion.
func (m *Machine) printAndEnd() {
	m.d.prints = m.receipts(m.d.outcome)
	m.d.end = apdu.New(apdu.Completion)
	if m.d.outcome.Result != ecr.Approved {
		m.d.end = apdu.NewPrefixed(apdu.AbortPT, []byte{m.resultByte(m.d.outcome)})
	}
	m.phase = printing
	m.print()
}

func (m *Machine) print() {
	if len(m.d.prints) == 0 {
		m.phase = ending
		m.send(m.d.end, forEnd)
		return
	}
	one := m.d.prints[0]
	m.d.prints = m.d.prints[1:]
	m.send(one, forPrint)
}

// printed: a register that cannot print is not asked for the rest.
func (m *Machine) printed(r reply) {
	if m.phase != printing {
		return
	}
	if r.lost || r.code != 0 {
		m.d.prints = nil
	}
	m.print()
}

// abortSale answers 06 B0 in a sale, as soon as the desk has decided.
func (m *Machine) abortSale(id int) {
	if m.aborting.ok && m.aborting.gen == m.d.gen {
		m.reply(id, apdu.OK())
		return
	}
	if m.phase == asking && (m.d.repeat || m.d.acked) {
		m.reply(id, apdu.Refuse(0x83))
		return
	}
	m.aborting.gen = m.d.gen
	m.aborting.ids = append(m.aborting.ids, id)
	if m.phase == running && len(m.aborting.ids) == 1 {
		m.start(TimerAnswer, answerWithin)
		m.do(ecr.Abort{Gen: m.d.gen, Sale: m.d.sale})
	}
}

// abortLost answers 06 B0 for the sale that another connection or an earlier dialogue left running.
func (m *Machine) abortLost(id int, sale string) {
	if sale == "" || len(m.aborting.ids) > 0 {
		m.reply(id, apdu.Refuse(0x83))
		return
	}
	m.gen++
	m.aborting = aborting{gen: m.gen, ids: []int{id}}
	m.start(TimerAnswer, answerWithin)
	m.do(ecr.Abort{Gen: m.gen, Sale: sale})
}

func (m *Machine) aborted(ev ecr.AbortDecided) {
	if ev.Gen == 0 || ev.Gen != m.aborting.gen {
		return
	}
	m.aborting.ok = ev.Done
	m.answerAborts(ev.Done)
}

// answerAborts answers every 06 B0 that waits, and lets a held outcome go on.
func (m *Machine) answerAborts(done bool) {
	if len(m.aborting.ids) == 0 {
		return
	}
	m.stop(TimerAnswer)
	for _, id := range m.aborting.ids {
		if done {
			m.reply(id, apdu.OK())
		} else {
			m.reply(id, apdu.Refuse(0x83))
		}
	}
	m.aborting.ids = nil
	if held := m.d.held; held != nil && m.phase == running {
		m.d.held = nil
		m.conclude(*held)
	}
}
