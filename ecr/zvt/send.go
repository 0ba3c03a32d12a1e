package zvt

import (
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
