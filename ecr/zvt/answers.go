package zvt

import (
	"slices"

	"posagent/ecr"
	"posagent/ecr/zvt/apdu"
)

// sent notes that the transport is done with a message of ours.
func (m *Machine) sent(ev ecr.Sent) {
	m.leaving = max(0, m.leaving-1)
	m.unsent = slices.DeleteFunc(m.unsent, func(seq int) bool { return seq == ev.Seq })
	switch {
	case m.pending == nil || m.pending.seq != ev.Seq:
	case ev.OK:
		m.pending.sent = true
		m.start(TimerReply, m.patience())
	default:
		m.settle(reply{lost: true})
	}
}

// answered takes a reply of the register, 80 00 or 84 xx.
func (m *Machine) answered(msg apdu.Message) {
	if m.pending == nil {
		m.owed = max(0, m.owed-1)
		return
	}
	id, named := idOf(msg)
	named = named && m.pending.id >= 0
	if named && id != m.pending.id {
		return
	}
	r := reply{}
	if !msg.Cmd.IsOK() {
		r.code = msg.Cmd.Code()
	}
	if !named && m.owed > 0 && m.pending.why == forTelling {
		m.owed--
		m.pending.held = &r
		if m.pending.sent {
			m.start(TimerReply, m.patience())
		}
		return
	}
	m.settle(r)
}

// settle ends the wait for an answer and goes on.
func (m *Machine) settle(r reply) {
	o := m.pending
	m.pending = nil
	if r.lost {
		m.owed++
	} else if o.why == forProgress {
		m.answers = true
		if m.phase == running && !m.d.waits && r.code == 0 {
			m.d.waits = true
			m.do(ecr.Waits{Sale: m.d.sale})
		}
	}
	m.stop(TimerReply)
	switch o.why {
	case forTelling:
		m.toldWith(r)
	case forPrint:
		m.printed(r)
	case forEnd:
		m.finish()
	}
	m.next()
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

// record hands the desk what became of the telling.
func (m *Machine) record(d ecr.Delivery) {
	m.phase = recording
	m.do(ecr.Deliver{Gen: m.d.gen, Sale: m.d.sale, Delivery: m.d.outcome.Telling(d)})
	if d == ecr.Lost {
		m.finish()
	}
}

// recorded goes on once the desk has recorded it, with the outcome as it is then.
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
