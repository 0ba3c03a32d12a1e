package zvt

import (
	"posagent/ecr"
	"posagent/ecr/zvt/apdu"
)

// intermediates reports whether the register wants 04 FF.
func (m *Machine) intermediates() bool { return m.d.notify }

// progressed tells the register how its sale goes.
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

// ended takes the outcome of a sale; an abort that waits for the desk holds it.
func (m *Machine) ended(ev ecr.Ended) {
	if m.copied(ev.Gen, &ev.Outcome) {
		return
	}
	if ev.Gen != m.d.gen || m.phase != running {
		if o, ok := m.orphans[ev.Gen]; ok {
			delete(m.orphans, ev.Gen)
			if !o.discard {
				m.do(ecr.Deliver{Sale: ev.Outcome.Sale, Delivery: ev.Outcome.Telling(ecr.Lost)})
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
	if m.d.silent && (out.Result != ecr.Approved || out.ToldFor > 0) { // an approval that was never told is told: its end alone says so, too
		m.do(ecr.Deliver{Sale: m.d.sale, Delivery: out.Telling(ecr.Lost)})
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

// refuseSale tells that nothing was begun.
func (m *Machine) refuseSale(code ecr.Code, text string) {
	m.d.sale = ""
	m.d.outcome = ecr.Outcome{Result: ecr.Aborted, Code: code, Text: text}
	m.tell()
}

// refuseRepeat ends a 06 20 that was answered 80 00 00 and can tell nothing.
func (m *Machine) refuseRepeat(result byte) {
	m.d.end = apdu.NewPrefixed(apdu.AbortPT, []byte{result})
	m.phase = printing
	m.print()
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

// print sends the next message to print, or the completion.
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
