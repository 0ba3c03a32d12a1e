package zvt

import (
	"posagent/ecr"
	"posagent/ecr/zvt/apdu"
)

// beginAdmin starts the commands that are no sales.
func (m *Machine) beginAdmin() {
	cmd := m.d.msg.Cmd
	if code := m.unfit(); code != 0 {
		m.reply(m.d.id, apdu.Refuse(code))
		m.finish()
		return
	}
	m.reply(m.d.id, apdu.OK())
	m.phase = working
	switch cmd {
	case apdu.Registration:
		m.register()
	case apdu.LogOff:
		none := defaultProfile()
		none.Epoch, none.Series = m.said.Epoch, m.said.Series
		m.adopt(none)
		m.do(ecr.Save{Profile: m.said.encode()})
		m.finish()
	case apdu.ChangeBaud, apdu.ActivateReader:
		m.finish()
	case apdu.BookTip:
		m.refuseSale(ecr.Impossible, wordsFor(m.cfg.Language).tip)
	case apdu.BookPart:
		if v, _ := m.d.msg.BMP(0x87); string(v) == noReceipt { // which pre-authorisations are open?
			m.d.end = apdu.NewPrefixed(apdu.AbortPT, []byte{resultNoneOpen}, apdu.Bytes(0x87, v...))
			m.phase = printing
			m.print()
			return
		}
		m.refuseSale(ecr.Impossible, wordsFor(m.cfg.Language).reserve)
	case apdu.Reservation, apdu.BookTotal, apdu.Release:
		m.refuseSale(ecr.Impossible, wordsFor(m.cfg.Language).reserve)
	case apdu.StatusEnquiry, apdu.PrintConfig, apdu.OutputOPT:
		m.do(ecr.Report{Gen: m.d.gen})
	case apdu.ReprintReceipt:
		m.reprint()
	case apdu.Diagnosis, apdu.Initialisation, apdu.StartOPT, apdu.StartOPTInit:
		m.waitVisibly()
		m.do(ecr.Check{Gen: m.d.gen})
	case apdu.EndOfDay:
		if m.d.again && m.lastEOD != nil {
			m.tellTotals(*m.lastEOD)
			return
		}
		m.waitVisibly()
		m.do(ecr.CloseBatch{Gen: m.d.gen, By: ecr.Asker{Line: m.cfg.Line}})
	case apdu.TurnoverTotals, apdu.PartialClose:
		m.waitVisibly()
		m.do(ecr.Turnover{Gen: m.d.gen})
	default: // 06 18, and 06 91 and 06 1B, which change nothing
		m.d.end = apdu.New(apdu.Completion)
		m.print()
	}
}

// noReceipt is the receipt number that means none.
const noReceipt = "\xFF\xFF"

// waitVisibly keeps a register that wants 04 FF informed.
func (m *Machine) waitVisibly() {
	if m.intermediates() {
		m.start(TimerProgress, progressEvery)
	}
}

// register takes over a registration; its completion follows when it is stored.
func (m *Machine) register() {
	said := registered(m.d.msg, m.said, m.cfg.Series)
	said.Shown = m.cfg.Password != ""
	m.before = before{m.d.gen, m.said}
	m.adopt(said)
	m.ids = ids{last: -1, command: -1}
	if id, ok := idOf(m.d.msg); ok && m.prof.Sequenced {
		m.ids.last = id
	}
	m.do(ecr.Save{Gen: m.d.gen, Profile: m.said.encode(), Must: true})
}

// before is what counted before the registration of a dialogue.
type before struct {
	gen  int
	said profile
}

// adopt takes a registration over.
func (m *Machine) adopt(said profile) { m.said, m.prof = said, m.cfg.Manner.of(said) }

// saved ends a registration. One that cannot be stored fails: after a restart its numbers would name
// other sales.
func (m *Machine) saved(ev ecr.Saved) {
	if ev.Failed && ev.Gen == m.before.gen {
		m.adopt(m.before.said)
	}
	if ev.Gen != m.d.gen || m.phase != working {
		return
	}
	if ev.Failed {
		m.d.end = apdu.NewPrefixed(apdu.AbortPT, []byte{resultByte(ecr.Outcome{Result: ecr.Aborted, Code: ecr.NotStored})})
		m.print()
		return
	}
	end := apdu.New(apdu.Completion, apdu.Bytes(0x19, 0x00), apdu.Bytes(0x29, m.tid...))
	if m.prof.Currency {
		end.Fields = append(end.Fields, apdu.Currency(int(m.currency.Numeric)))
	}
	if m.prof.TLV {
		var objects []apdu.TLV
		if m.prof.Blocks {
			objects = append(objects, apdu.Constructed(0x26, apdu.Primitive(0x0A, 0x06, 0xD3)))
		}
		if m.prof.Charset != nil {
			objects = append(objects, apdu.Constructed(0x27, apdu.Primitive(0x14, *m.prof.Charset)))
		}
		if m.prof.Sequenced {
			objects = append(objects, apdu.PrimitiveBCD(0x1F73, int64(max(m.ids.last, 0)), 3))
		}
		if len(objects) > 0 {
			end.Fields = append(end.Fields, apdu.Container(objects...))
		}
	}
	m.d.end = end
	m.print()
}

// sideStatus answers a status enquiry while something else runs: 9C, please wait.
func (m *Machine) sideStatus(msg apdu.Message, id int) {
	for _, o := range append(m.queue[:len(m.queue):len(m.queue)], m.current()...) {
		if o.why == forSide {
			m.reply(id, apdu.Refuse(0xA0))
			return
		}
	}
	m.reply(id, apdu.OK())
	m.send(m.statusReply(msg, statusWait), forSide)
	if m.phase == telling {
		m.d.hurried = true
		if m.timers[TimerReply] != 0 {
			m.start(TimerReply, t3)
		}
	}
}

func (m *Machine) current() []outgoing {
	if m.pending == nil {
		return nil
	}
	return []outgoing{*m.pending}
}

// statusReply is the 06 0F of a status enquiry: positional version and status byte, then the
// container.
func (m *Machine) statusReply(msg apdu.Message, status byte) apdu.Message {
	svc, _ := msg.Byte(0x03)
	var prefix []byte
	if svc&0x02 == 0 {
		version := m.charset().Encode(m.cfg.Version)
		version = version[:min(len(version), 999)]
		n := len(version)
		prefix = append(prefix, 0xF0|byte(n/100), 0xF0|byte(n/10%10), 0xF0|byte(n%10))
		prefix = append(prefix, version...)
	}
	out := apdu.NewPrefixed(apdu.Completion, append(prefix, status))
	if svc&0x04 != 0 && m.readsContainers(msg) {
		cs := m.charset()
		out.Fields = []apdu.Field{apdu.Container(
			apdu.Primitive(0x1F44, m.tid...),
			apdu.Constructed(0xE4,
				apdu.PrimitiveText(0x1F40, cs, m.cfg.Device),
				apdu.PrimitiveText(0x1F41, cs, m.cfg.Version),
				apdu.PrimitiveText(0x1F42, cs, m.cfg.Serial),
				apdu.Primitive(0x1F43, 0x00)))}
	}
	return out
}

// readsContainers reports whether a container may be sent that was only asked for by a bit: to a
// register that enabled them in its registration, for more than its command list, or that sends one
// now.
func (m *Machine) readsContainers(msg apdu.Message) bool {
	_, sent := msg.TLV()
	return !m.cfg.Manner.bare() && (sent || m.prof.TLV && !m.prof.ListOnly)
}

func statusOf(h ecr.Health) byte {
	switch {
	case h.Busy:
		return statusWait
	case h.Ready && h.Offline: // as a sale and a diagnosis end
		return resultNoReply
	case h.Ready:
		return statusReady
	case h.NoMethods:
		return statusInit
	}
	return statusWait
}

func (m *Machine) checked(ev ecr.Checked) {
	if ev.Gen != m.d.gen || m.phase != working {
		return
	}
	m.stop(TimerProgress)
	switch m.d.msg.Cmd {
	case apdu.StatusEnquiry:
		m.d.end = m.statusReply(m.d.msg, statusOf(ev.Health))
	case apdu.PrintConfig, apdu.OutputOPT:
		m.d.end = apdu.New(apdu.Completion)
		m.d.prints = m.adminReceipt(append(diagnosisLines(m.cfg, ev.Health, !ev.Health.Offline), m.lineConfig()...))
	case apdu.Diagnosis, apdu.Initialisation, apdu.StartOPT, apdu.StartOPTInit:
		m.d.end = apdu.New(apdu.Completion)
		if !ev.OK {
			m.d.end = apdu.NewPrefixed(apdu.AbortPT, []byte{resultNoReply})
		}
		if m.d.msg.Cmd == apdu.Diagnosis {
			m.d.prints = m.adminReceipt(diagnosisLines(m.cfg, ev.Health, ev.OK))
		}
	default:
		return
	}
	m.phase = printing
	m.print()
}

func (m *Machine) totalled(ev ecr.Totalled) {
	if ev.Gen != m.d.gen || m.phase != working {
		return
	}
	m.stop(TimerProgress)
	if ev.Code != ecr.OK {
		m.refuseSale(ev.Code, "")
		return
	}
	if m.d.msg.Cmd == apdu.EndOfDay {
		m.lastEOD = &ev.Totals
	}
	m.tellTotals(ev.Totals)
}

func (m *Machine) tellTotals(t ecr.Totals) {
	m.d.totals = &t
	m.d.outcome = ecr.Outcome{Result: ecr.Approved, Code: ecr.OK}
	m.tell()
}

// toldTotals: nothing is undone if the totals were not taken; 84 only means that nothing more is
// wanted.
func (m *Machine) toldTotals(r reply) {
	if r.lost {
		m.finish()
		return
	}
	if m.d.msg.Cmd == apdu.EndOfDay {
		m.do(ecr.DayTold{Line: m.cfg.Line, Batch: m.d.totals.Batch})
	}
	if r.code == 0 {
		m.d.prints = m.adminReceipt(totalsLines(m.cfg, m.currency, *m.d.totals, m.d.msg.Cmd == apdu.EndOfDay))
	}
	m.d.end = apdu.New(apdu.Completion)
	m.phase = printing
	m.print()
}
