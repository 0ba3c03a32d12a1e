package jsonl

import "posagent/ecr"

// received takes a message of the register.
func (d *Dialogue) received(ev ecr.Received) {
	m, f := decode(ev.Data)
	switch {
	case f == nil && !d.shown && m.op == hello && m.shows(d.cfg.Password):
		d.shown = true
	case !d.shown:
		d.sayFault(m.id, &fault{Code: password, Text: "say hello with the line's password first"})
		return
	}
	if f != nil {
		d.sayFault(m.id, f)
		return
	}
	rules := table[m.op].other
	if d.ask.msg.id != "" && m.id == d.ask.msg.id {
		rules = table[m.op].same
	}
	d.follow(rules[d.phase], m, ev.Elsewhere)
}

// follow carries out one field of the table.
func (d *Dialogue) follow(r rule, m message, beside bool) {
	switch r {
	case take:
		d.take(m, beside)
	case aside:
		d.aside(m)
	case same:
		d.same(m)
	case rejoin:
		d.rejoin(m)
	case forget:
		d.forget(m)
	case later:
		if d.next != nil {
			d.sayBusy(m)
			return
		}
		d.next = &m
	case stop:
		d.abort(m)
	case tooLate:
		d.sayAbort(m.id, d.ask.outcome.Result == ecr.Aborted)
	case confirm:
		d.confirm()
	case unknown:
		if m.id == d.done.id {
			d.say(answer{ID: m.id, Acknowledged: true})
			return
		}
		d.sayFault(m.id, &fault{Code: notTold, Text: "no outcome with this id waits for ack here: ask with status"})
	case silent:
	default:
		d.sayBusy(m)
	}
}

// sayBusy says of a request that it was not begun, and of a question that it was not answered.
func (d *Dialogue) sayBusy(m message) {
	text := wordsFor(d.language(m)).busy
	if m.op.money() {
		d.say(answer{ID: m.id, Outcome: refused, Code: ecr.Busy, Text: text})
		return
	}
	d.sayFault(m.id, &fault{Code: busyFault, Text: text})
}

func (d *Dialogue) sayAbort(id string, accepted bool) {
	a := answer{ID: id, Abort: "too_late"}
	if accepted {
		a.Abort = "accepted"
	}
	d.say(a)
}

// aside answers hello, and status of the terminal.
func (d *Dialogue) aside(m message) {
	if m.op == hello && m.till != d.till && d.phase != idle || len(d.asides) == maxAsides {
		d.sayBusy(m)
		return
	}
	if m.op == hello {
		if m.till != d.till {
			d.till, d.done = m.till, done{}
		}
		d.width = m.width
	}
	d.gen++
	d.asides[d.gen] = m
	d.do(ecr.Report{Gen: d.gen})
}

// take begins what a message asks for.
func (d *Dialogue) take(m message, beside bool) {
	if m.op == abort && m.id == d.done.id {
		d.sayAbort(m.id, false)
		return
	}
	if m.op == totals && m.close && d.day.is(d.till, m.id) {
		a := d.day.Answer
		a.Repeat = true
		d.say(a)
		return
	}
	d.gen++
	d.ask = ask{gen: d.gen, msg: m, beside: beside, stop: m.op == abort}
	d.start(timerProgress, progressEvery)
	switch {
	case m.op.money():
		d.phase = asking
		req := m.request
		req.Line = d.at()
		d.do(ecr.Begin{Gen: d.gen, Request: req})
	case m.op == totals:
		d.phase = working
		if m.close {
			d.do(ecr.CloseBatch{Gen: d.gen, By: ecr.Asker{Line: d.at(), ID: m.id}})
		} else {
			d.do(ecr.Turnover{Gen: d.gen})
		}
	default:
		d.look()
	}
}

// look asks the desk for a sale by its id, or for the line's last one.
func (d *Dialogue) look() {
	d.gen++
	d.phase = asking
	d.ask.gen, d.ask.look, d.ask.looks = d.gen, true, d.ask.looks+1
	one := ecr.Last{Gen: d.gen, Line: d.at(), Sequence: d.ask.msg.id}
	if d.ask.msg.op == last {
		one.Sequence = ""
	}
	d.do(one)
}

// same answers a message that asks for what is asked for already.
func (d *Dialogue) same(m message) {
	switch {
	case m.op == status:
	case d.ask.look || !d.ask.msg.op.money(): // only the desk can compare it with the sale
		if d.phase == telling {
			d.forget(m)
		} else {
			d.rejoin(m)
		}
		return
	case m.body() != d.ask.msg.body():
		d.say(answer{ID: m.id, Outcome: refused, Code: ecr.Processing, Text: "this id was used for another request"})
		return
	}
	switch d.phase {
	case running:
		d.accepted()
	case telling:
		d.tell()
	}
}

// rejoin begins a message in place of what runs. The sale of that goes on.
func (d *Dialogue) rejoin(m message) {
	d.orphans[d.ask.gen] = true
	d.next = &m
	d.finish()
}

// forget takes a message that comes in place of ack: the register does not know the outcome that it
// is being told, so that is lost. The desk has recorded it before the message is begun.
func (d *Dialogue) forget(m message) {
	d.next = &m
	if d.ask.retold {
		d.finish()
		return
	}
	d.record(ecr.Lost)
}

// begun goes on with a sale that the desk has made durable, or has found.
func (d *Dialogue) begun(ev ecr.Begun) {
	if !d.runs(ev.Gen, asking) {
		return
	}
	d.phase, d.ask.sale = running, ev.Sale
	d.accepted()
	if d.ask.stop {
		d.doAbort()
	}
}

// notBegun answers a request that the desk has not accepted, or a question for a sale that is not
// there.
func (d *Dialogue) notBegun(ev ecr.NotBegun) {
	if !d.runs(ev.Gen, asking) {
		delete(d.orphans, ev.Gen)
		return
	}
	m := d.ask.msg
	switch {
	case d.ask.look && ev.Code == "" && d.lookAgain():
		d.start(timerLook, lookEvery)
		return
	case d.ask.refusal != nil && ev.Code != "" && ev.Text == "": // not read, so it may be a sale's: "refused" says that it is none's
		d.sayFault(m.id, &fault{Code: busyFault, Text: d.ask.refusal.Text})
	case d.ask.refusal != nil: // looked for after a refusal
		if ev.Code == "" {
			ev = *d.ask.refusal
		}
		d.say(answer{ID: m.id, Outcome: refused, Code: ev.Code, Text: ev.Text})
	case ev.Code == "":
		d.say(answer{ID: m.id, Outcome: notFound, Text: wordsFor(d.language(m)).notFound})
	case d.ask.look:
		d.sayFault(m.id, &fault{Code: faultCode(ev.Code), Text: ev.Text})
	case ev.Code == ecr.NotReady || ev.Code == ecr.NotStored || ev.Code == ecr.SystemError:
		// It says nothing about the request, which may repeat one that was accepted.
		d.ask.refusal = &ev
		d.look()
		return
	default:
		d.say(answer{ID: m.id, Outcome: refused, Code: ev.Code, Text: ev.Text})
	}
	if d.ask.stop && m.op != abort {
		d.sayAbort(m.id, false)
	}
	d.finish()
}

// lookAgain reports whether a sale that was not found is looked for once more: on TCP the message
// that asked for it may have come in on an earlier connection and not have been taken up yet.
func (d *Dialogue) lookAgain() bool {
	most := looksMost
	if d.ask.beside {
		most = looksBeside
	}
	return !d.cfg.Cable && d.ask.refusal == nil && d.ask.msg.op != last && d.ask.looks < most
}

// abort asks the desk to stop what runs.
func (d *Dialogue) abort(m message) {
	if d.phase == asking {
		d.ask.stop = true
	} else if d.aborts.gen != d.ask.gen {
		d.doAbort()
	}
}

func (d *Dialogue) doAbort() {
	d.aborts.gen, d.aborts.id = d.ask.gen, d.ask.msg.id
	d.do(ecr.Abort{Gen: d.ask.gen, Sale: d.ask.sale})
}
