package ecr17

import (
	"fmt"

	"posagent/ecr"
)

// take begins a request.
func (d *Dialogue) take(r request, ev ecr.Received) {
	if r.data == d.stale {
		d.ack()
		return
	}
	d.stale = ""
	if r.till != "" && r.till != d.toldTo { // another till speaks here
		d.told = nil
	}
	d.gen++
	d.run = run{request: r, gen: d.gen, open: ev.OpenSale}
	switch r.code {
	case receipts:
		d.paper = r.flag
		d.ack()
	case reprint:
		if !r.flag || d.told == nil {
			d.nak()
			return
		}
		d.ack()
		d.reply(d.papers(d.own(), *d.told)...)
	case status:
		d.work(ecr.Report{Gen: d.gen})
	case totals:
		d.work(ecr.Turnover{Gen: d.gen})
	case closing:
		d.work(ecr.CloseBatch{Gen: d.gen, By: ecr.Asker{Line: d.lineOf(r.till)}, Patience: d.cfg.Patience})
	case last:
		if ev.Elsewhere {
			d.phase = waiting
			d.start(timerAck, ackWithin)
			return
		}
		d.ask()
	default:
		switch {
		case ev.Elsewhere:
			d.nak()
		case r.tagged:
			d.ack()
			d.run.acked, d.phase = true, tagging
			d.start(timerEnd, tagsWithin)
		case r.amount == 0 && r.code != reversal:
			d.refuse(notDone, d.words.reason(ecr.AmountWrong))
		default:
			d.ask()
		}
	}
}

// work asks for what is no sale.
func (d *Dialogue) work(a ecr.Action) {
	d.ack()
	d.phase = working
	d.start(timerEnd, d.cfg.Patience)
	if d.run.code == closing {
		d.apply(beat)
	}
	d.do(a)
}

// lineOf is the line of a till: each has sales of its own.
func (d *Dialogue) lineOf(till string) string { return d.line + "/" + till }

// ask asks the desk: for the till's last sale, or for a new one. What is remembered of the till
// changes before.
func (d *Dialogue) ask() {
	r := &d.run
	was, back := d.markOf(r.till), d.phase == asking // it was remembered
	d.phase = asking
	switch {
	case back && (r.naked || r.gone):
		d.drop()
		return
	case r.code == last && was == void:
		d.refuse(notDone, d.words.other)
		return
	case r.code == last:
		d.do(ecr.Last{Gen: r.gen, Line: d.lineOf(r.till)})
	case was != string(rune(r.code)):
		r.was = was
		d.mark(r.till, string(rune(r.code)), r.gen)
	default:
		d.begin()
	}
	if d.timers[timerAck] == 0 {
		d.start(timerAck, ackWithin)
	}
}

func (d *Dialogue) begin() {
	r := &d.run
	d.phase = asking
	req := ecr.Request{Kind: ecr.Payment, Line: d.lineOf(r.till), Amount: r.amount, Patience: d.cfg.Patience}
	if r.code == reversal {
		req.Kind, req.Original = ecr.Reversal, "L"
		if r.stan != 0 {
			req.Original = fmt.Sprintf("L%d", r.stan)
		}
	}
	d.do(ecr.Begin{Gen: r.gen, Request: req})
}

// begun follows the sale, or sees to it that nothing comes of one that was not acknowledged.
func (d *Dialogue) begun(ev ecr.Begun) {
	if o, ok := d.orphans[ev.Gen]; ok {
		if o.abort {
			d.do(ecr.Abort{Sale: ev.Sale})
		}
		return
	}
	r := &d.run
	if ev.Gen != r.gen {
		return
	}
	switch table[begun][d.phase] {
	case follow:
		r.sale = ev.Sale
		switch {
		case r.naked && r.code != last:
			d.orphan(ecr.Refused, true)
			d.finish()
		case r.naked, r.gone:
			d.orphan(ecr.Lost, false)
			d.finish()
		default:
			d.acknowledge()
			d.phase = running
			d.apply(beat)
		}
	case clear:
		r.sale = ev.Sale
		if r.sale == r.open {
			d.do(ecr.Abort{Sale: r.sale})
			return
		}
		d.orphan(ecr.Lost, false)
		d.nak()
		d.drop()
	}
}

// acknowledge says that the request is stored. From now on the register waits for its result.
func (d *Dialogue) acknowledge() {
	if !d.run.acked {
		d.ack()
		d.run.acked = true
		d.start(timerEnd, d.cfg.Patience)
	}
}

// notBegun takes the desk's no.
func (d *Dialogue) notBegun(ev ecr.NotBegun) {
	if _, ok := d.orphans[ev.Gen]; ok {
		delete(d.orphans, ev.Gen)
		return
	}
	r := &d.run
	if ev.Gen != r.gen {
		return
	}
	switch rule := table[refused][d.phase]; {
	case rule == finish: // the desk is closing, and nothing can be said of the sale
		d.finish()
	case rule != deny:
	case r.gone, r.naked:
		d.drop()
	case r.code == last && ev.Code == "":
		d.refuse(notDone, d.words.none)
	case r.code == last, d.phase == clearing, ev.Code == ecr.Busy && r.open == "":
		d.nak()
		d.drop()
	case ev.Code == ecr.Busy:
		d.clear()
	default:
		d.refuse(notDone, d.words.reason(ev.Code))
	}
}

// notMarked refuses a request of which the till's last one cannot be remembered: after a restart G
// would be answered with another request's end.
func (d *Dialogue) notMarked() {
	d.note(d.run.till, d.run.was)
	d.run.was = ""
	d.notBegun(ecr.NotBegun{Gen: d.run.gen, Code: ecr.NotStored})
}

// clear looks whether the sale that runs is the till's own: then the register has forgotten it, and
// it is aborted.
func (d *Dialogue) clear() {
	d.phase = clearing
	d.gen++
	d.run.gen = d.gen
	d.do(ecr.Last{Gen: d.gen, Line: d.lineOf(d.run.till)})
}

// goOn begins the request once the forgotten sale has ended.
func (d *Dialogue) goOn(forgotten ecr.Outcome) {
	d.do(ecr.Deliver{Sale: forgotten.Sale, Delivery: forgotten.Telling(ecr.Lost)})
	d.run.sale = ""
	if d.run.gone || d.run.naked {
		d.drop()
		return
	}
	d.gen++
	d.run.gen = d.gen
	d.begin()
}

// noAnswer ends the time for our ACK. After a NAK nothing may come of a payment; a reversal is
// acknowledged, because what of it has been sent cannot be taken back.
func (d *Dialogue) noAnswer() {
	r := &d.run
	switch {
	case d.next != nil:
		d.next = nil
		d.nak()
	case d.phase == waiting:
		d.nak()
		d.drop()
	case r.acked || d.phase == telling || d.phase == recording:
	case r.code == reversal && d.phase == asking:
		d.acknowledge()
	default:
		d.nak()
		r.naked = true
	}
}

// giveUp leaves what runs: the register waits for something else, and would take the end of this one
// for the answer.
func (d *Dialogue) giveUp() {
	if d.phase == running {
		d.orphan(ecr.Lost, false)
	} else {
		d.mark(d.run.till, void, 0)
	}
	d.finish()
}

// leave: the register has gone.
func (d *Dialogue) leave() {
	d.run.gone = true
	if d.phase == tagging || d.phase == running {
		d.giveUp()
	}
}

// orphan is the sale of this request from now on: the register does not wait for it here.
func (d *Dialogue) orphan(how ecr.Delivery, abort bool) {
	d.orphans[d.run.gen] = orphan{how, abort}
	if abort && d.run.sale != "" {
		d.do(ecr.Abort{Sale: d.run.sale})
	}
}

// drop ends a request that was not accepted. What was remembered of the till is so again.
func (d *Dialogue) drop() {
	if d.run.was != "" {
		d.mark(d.run.till, d.run.was, 0)
	}
	d.finish()
}
