package zvt

import (
	"slices"
	"time"

	"posagent/ecr"
	"posagent/ecr/zvt/apdu"
)

// reply answers a command of the register.
func (m *Machine) reply(id int, msg apdu.Message) {
	data := encode(stamp(msg, id))
	if id >= 0 {
		m.ids.reply = data
	}
	m.transmit(data)
}

func (m *Machine) transmit(data []byte) int {
	m.seq++
	m.leaving++
	m.do(ecr.Send{Seq: m.seq, Data: data})
	return m.seq
}

// send queues a message of ours; one is on the way at a time.
func (m *Machine) send(msg apdu.Message, why purpose) {
	m.queue = append(m.queue, outgoing{msg: msg, why: why})
	m.next()
}

func (m *Machine) next() {
	if m.pending != nil || len(m.queue) == 0 {
		return
	}
	o := m.queue[0]
	m.queue = m.queue[1:]
	o.id = -1
	if _, has := idOf(o.msg); !has { // a registration's completion echoes the offered id itself
		o.id = m.ids.take(m.prof.Sequenced)
	}
	o.seq = m.transmit(encode(stamp(o.msg, o.id)))
	m.pending = &o
}

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

// patience is how long the pending message may wait for its answer.
func (m *Machine) patience() time.Duration {
	switch {
	case m.pending.held != nil:
		return secondWithin
	case m.pending.why != forTelling, m.d.hurried:
		return t3
	case m.d.request.ackWithin > 0:
		return m.d.request.ackWithin
	}
	return tellWithin
}
