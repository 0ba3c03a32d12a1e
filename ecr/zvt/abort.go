package zvt

import (
	"posagent/ecr"
	"posagent/ecr/zvt/apdu"
)

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

// aborted takes the desk's decision about an abort.
func (m *Machine) aborted(ev ecr.AbortDecided) {
	if ev.Gen == 0 || ev.Gen != m.aborting.gen {
		return
	}
	m.aborting.ok = ev.Done
	m.answerAborts(ev.Done)
}
