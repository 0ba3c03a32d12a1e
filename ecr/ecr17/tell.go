package ecr17

import (
	"posagent/ecr"
)

// ended takes the outcome of a sale.
func (d *Dialogue) ended(ev ecr.Ended) {
	out := ev.Outcome
	if o, ok := d.orphans[ev.Gen]; ok {
		delete(d.orphans, ev.Gen)
		how := ecr.Lost
		if out.Kind == ecr.Payment && out.Result == ecr.Approved {
			how = o.how
		}
		d.do(ecr.Deliver{Sale: out.Sale, Delivery: out.Telling(how)})
		return
	}
	if ev.Gen != d.run.gen {
		return
	}
	switch table[ended][d.phase] {
	case goOn:
		d.goOn(out)
	case tell:
		d.tell(out)
	}
}

// form is the code of the request whose result is told.
func (d *Dialogue) form() byte {
	if d.run.code == last {
		return d.markOf(d.run.till)[0]
	}
	return d.run.code
}

// tell answers the outcome. One that the register has acknowledged long ago is none of what it asks
// for now. A payment that is approved with another amount is a fault, and is undone.
func (d *Dialogue) tell(out ecr.Outcome) {
	r := &d.run
	r.sale = out.Sale
	good := out.Result == ecr.Approved
	of := d.form()
	var list [][]byte
	switch {
	case r.code == last && out.ToldFor > repeatTold:
		d.do(ecr.Deliver{Sale: r.sale, Delivery: out.Telling(ecr.Lost)})
		d.reply(noEnd(d.own(), of, notDone, d.words.old).message())
		return
	case r.code == last && out.ToldLeast: // nobody can say yet: no answer is better than a wrong one, and the register asks again
		d.do(ecr.Deliver{Sale: r.sale, Delivery: out.Telling(ecr.Lost)})
		d.finish()
		return
	case good && out.Kind == ecr.Payment && r.code != last && out.Amount != r.amount:
		d.do(ecr.Deliver{Sale: r.sale, Delivery: ecr.Refused})
		d.reply(noEnd(d.own(), of, notDone, d.words.other).message())
		return
	case good && d.paper:
		list = append(d.papers(d.own(), out), endOf(d.own(), of, out).message())
	case good:
		list = append(list, endOf(d.own(), of, out).message())
	default:
		list = append(list, noEnd(d.own(), of, notDone, d.words.reason(out.Code)).message())
	}
	d.paper = false
	d.reply(list...)
	r.tells, r.out = true, out
}

// reply sends messages, each after the ACK of the one before.
func (d *Dialogue) reply(list ...[]byte) {
	d.phase = telling
	d.stop(timerEnd)
	d.stop(timerBeat)
	d.run.queue, d.run.tells = list, false
	d.more()
}

func (d *Dialogue) more() {
	first := d.run.queue[0]
	d.run.queue = d.run.queue[1:]
	d.send(first)
	d.awaited = d.seq
}

// left goes on once the register has acknowledged a message, or has not. What it has not
// acknowledged is not said again: it would be taken for the answer to the next request.
func (d *Dialogue) left(ok bool) {
	r := &d.run
	if ok && len(r.queue) > 0 {
		d.more()
		return
	}
	if !ok && d.cable && r.money() {
		d.stale = r.data
		d.start(timerRepeats, repeatsLast)
	}
	if ok && r.day != 0 {
		d.do(ecr.DayTold{Line: d.lineOf(r.till), Batch: r.day})
	}
	if !r.tells {
		d.finish()
		return
	}
	how := ecr.Lost
	if ok {
		how, d.told = ecr.Told, nil
		if out := r.out; out.Result == ecr.Approved {
			d.told, d.toldTo = &out, r.till
		}
	}
	d.phase = recording
	d.do(ecr.Deliver{Gen: r.gen, Sale: r.sale, Delivery: r.out.Telling(how)})
}

// refuse answers that nothing was done. A till whose request for money was refused does not hear of
// an earlier sale by G.
func (d *Dialogue) refuse(result, reason string) {
	if d.run.money() {
		d.paper = false
		d.mark(d.run.till, void, 0)
	}
	of := d.run.code
	if of == last {
		of = payment
	}
	if !d.run.acked {
		d.ack()
		d.run.acked = true
	}
	d.reply(noEnd(d.own(), of, result, reason).message())
}

// late answers before the register stops waiting, whatever the desk does. A payment that is approved
// after that is undone; a reversal goes on, and says so.
func (d *Dialogue) late() {
	r := &d.run
	switch of := d.form(); {
	case d.phase == tagging:
		d.refuse(notDone, d.words.tag)
	case d.phase == working && r.code == totals:
		d.reply(totalsMessage(d.own(), notDone, 0))
	case d.phase == working: // of a closing nothing is known: "not closed" could be wrong
		d.finish()
	case of == reversal:
		d.orphan(ecr.Lost, false)
		d.reply(noEnd(d.own(), of, notDone, d.words.reason(ecr.StillRunning)).message())
	default:
		d.orphan(ecr.Refused, true)
		d.reply(noEnd(d.own(), of, notDone, d.words.late).message())
	}
}

// totalled answers totals or close. The protocol has no sign: a sum below 0 is told as 0 by close,
// which is done, and not at all by totals.
func (d *Dialogue) totalled(ev ecr.Totalled) {
	sum := max(0, ev.Totals.Net)
	switch {
	case d.run.code == closing && ev.Code == ecr.OK:
		d.run.day = ev.Totals.Batch
		d.reply(closedMessage(d.own(), sum))
	case d.run.code == closing:
		d.reply(notClosed(d.own(), d.words.reason(ev.Code)))
	case ev.Code == ecr.OK && ev.Totals.Net >= 0:
		d.reply(totalsMessage(d.own(), done, sum))
	default:
		d.reply(totalsMessage(d.own(), notDone, 0))
	}
}

// finish: nothing is under way any more. What came meanwhile is begun.
func (d *Dialogue) finish() {
	d.phase = idle
	for _, t := range []ecr.Timer{timerAck, timerEnd, timerBeat} {
		d.stop(t)
	}
	if ev := d.next; ev != nil {
		d.next = nil
		d.received(*ev)
	}
}
