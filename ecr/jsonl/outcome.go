package jsonl

import (
	"encoding/json"

	"posagent/ecr"
)

// accepted says that the sale is durable, and how it goes.
func (d *Dialogue) accepted() {
	p := d.ask.progress
	d.say(answer{ID: d.ask.msg.id, Accepted: true, Step: p.Step, Text: p.Text})
	d.start(timerProgress, progressEvery)
}

// progress says how what the register has asked for goes, and comes back.
func (d *Dialogue) progress() {
	p := d.ask.progress
	switch {
	case d.phase == working:
		p = ecr.Progress{Step: ecr.StepWaiting, Text: wordsFor(d.language(d.ask.msg)).closing}
	case d.phase == idle || d.phase == telling || d.phase == recording:
		return
	case p.Step == "":
		p.Step = ecr.StepWaiting
	}
	d.say(answer{ID: d.ask.msg.id, Step: p.Step, Text: p.Text})
	d.start(timerProgress, progressEvery)
}

// ended takes the outcome of a sale.
func (d *Dialogue) ended(ev ecr.Ended) {
	if d.orphans[ev.Gen] {
		delete(d.orphans, ev.Gen)
		d.do(ecr.Deliver{Sale: ev.Outcome.Sale, Delivery: ev.Outcome.Telling(ecr.Lost)})
		return
	}
	if !d.runs(ev.Gen, running) {
		return
	}
	d.stop(timerProgress)
	if req := d.ask.msg.request; d.ask.refusal != nil && (req.Kind != ev.Outcome.Kind || req.Amount != 0 && req.Amount != ev.Outcome.Amount) {
		d.say(answer{ID: d.ask.msg.id, Outcome: refused, Code: ecr.Processing, Text: "this id was used for another request"})
		d.do(ecr.Deliver{Sale: ev.Outcome.Sale, Delivery: ev.Outcome.Telling(ecr.Lost)})
		d.finish()
		return
	}
	d.ask.outcome = ev.Outcome
	d.tell()
}

// tell says the outcome, and waits for ack.
func (d *Dialogue) tell() {
	d.phase = telling
	d.ask.told, d.ask.tries = d.ask.outcome.Result, 1
	d.say(d.outcomeAnswer())
	d.start(timerTell, tellEvery)
}

// tellAgain says an outcome again that was not acknowledged, or gives it up.
func (d *Dialogue) tellAgain() {
	switch {
	case d.phase != telling:
	case d.ask.tries < tellMost:
		d.ask.tries++
		d.say(d.outcomeAnswer())
		d.start(timerTell, tellEvery)
	case d.ask.retold:
		d.finish()
	default:
		d.record(ecr.Lost)
	}
}

// confirm takes the ack of the outcome that is being told.
func (d *Dialogue) confirm() {
	if d.ask.retold {
		d.acknowledged()
		return
	}
	d.record(ecr.Told)
}

// record hands the desk what became of the telling.
func (d *Dialogue) record(how ecr.Delivery) {
	d.phase = recording
	d.stop(timerTell)
	d.do(ecr.Deliver{Gen: d.ask.gen, Sale: d.ask.sale, Delivery: d.ask.outcome.Telling(how)})
	if how == ecr.Lost {
		d.ask.msg.id = "" // what is lost cannot be acknowledged any more
	}
}

// recorded goes on once the desk has recorded it, with the outcome as it is then.
func (d *Dialogue) recorded(ev ecr.Recorded) {
	if !d.runs(ev.Gen, recording) {
		return
	}
	switch {
	case d.ask.msg.id == "" || !ev.OK:
		d.finish()
	case d.ask.told == ecr.Approved && ev.Outcome.Result != ecr.Approved:
		d.ask.outcome, d.ask.retold = ev.Outcome, true
		d.tell()
	default:
		d.acknowledged()
	}
}

func (d *Dialogue) acknowledged() {
	id := d.ask.msg.id
	if d.done = (done{}); d.ask.told != ecr.InProgress { // that one may still be aborted
		d.done.id = id
	}
	d.say(answer{ID: id, Acknowledged: true})
	d.finish()
}

// day is the last end of day of the line, which the same id is told again.
type day struct {
	Version int    `json:"v"`
	Till    string `json:"till"`
	ID      string `json:"id"`
	Answer  answer `json:"answer"`
}

// loadDay reads what Save was given.
func loadDay(saved []byte) (d day) {
	if err := json.Unmarshal(saved, &d); err != nil || d.Version != 1 {
		return day{}
	}
	return d
}

func (d day) is(till, id string) bool { return d.Version == 1 && d.Till == till && d.ID == id }

// totalled answers totals. An end of day is stored first, because its answer may be lost.
func (d *Dialogue) totalled(ev ecr.Totalled) {
	if !d.runs(ev.Gen, working) {
		return
	}
	m := d.ask.msg
	if ev.Code != ecr.OK {
		f := &fault{Code: faultCode(ev.Code)}
		if ev.Code == ecr.EODImpossible {
			f.Text = wordsFor(d.language(m)).endOfDay
		}
		d.sayFault(m.id, f)
		d.finish()
		return
	}
	d.ask.totals = &answer{ID: m.id, Totals: d.totalsAnswer(ev.Totals, m.close)}
	if !m.close {
		d.sayTotals()
		return
	}
	d.day = day{1, d.till, m.id, *d.ask.totals}
	saved, err := json.Marshal(d.day)
	if err != nil {
		saved = nil // cannot happen: plain data
	}
	d.do(ecr.Save{Gen: d.ask.gen, Profile: saved})
}

func (d *Dialogue) sayTotals() {
	if d.ask.totals != nil {
		d.say(*d.ask.totals)
	}
	d.finish()
}
