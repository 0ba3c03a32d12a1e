package nexo

import (
	"errors"
	"time"

	"posagent/ecr"
)

// phase is what a connection is doing. A till sends its next request when it has its answer.
type phase uint8

const (
	idle      phase = iota
	asking          // the desk has a money request, or is asked for an earlier one with its id
	running         // its sale runs
	waiting         // another connection records its telling: this request comes then
	closing         // the end of day
	polling         // a status
	working         // another question to the till
	answering       // an answer that tells no outcome is on its way
	telling         // one that does
	recording       // the desk records what became of it
)

// step is what an action of the desk is for.
type step uint8

const (
	begins step = iota // the request itself
	looks              // was it taken before
	reads              // the payment that a reversal names
	polls              // a status
	aborts
)

// follow is a sale that the session follows for this dialogue.
type follow struct {
	step  step
	sale  string
	entry entry
}

// The timers, and how long they run.
const (
	waitTimer ecr.Timer = iota + 1
	pollTimer
	lookTimer

	lookFor = time.Second // what a till asks about may come in after its question
	waitFor = 10 * time.Second
	pollFor = 4 * time.Second
)

// dialogue is the terminal's side of one connection.
type dialogue struct {
	s    *shared
	name string // of the line
	line *line

	phase   phase
	turn    int // number of the request, for timers
	gen     int // of the last action
	seq     int // of the last message
	reply   int // of the answer
	ask     *ask
	told    ecr.Outcome // that the answer tells
	follows map[int]*follow
	next    *ecr.Received
	actions []ecr.Action
}

func newDialogue(s *shared, start ecr.Start) *dialogue {
	return &dialogue{s: s, name: start.Line, line: s.line(start.Line, start.Saved), follows: map[int]*follow{}}
}

// Holds implements ecr.Dialogue.
func (d *dialogue) Holds() bool {
	switch d.phase {
	case asking, running, closing, telling, recording:
		return true
	}
	return false
}

// Waits implements ecr.Dialogue.
func (d *dialogue) Waits() bool { return d.phase == waiting }

// Settled implements ecr.Dialogue.
func (d *dialogue) Settled() bool { return d.phase == idle && len(d.follows) == 0 }

// Shown implements ecr.Dialogue. With keys each message shows by itself that it is a till's.
func (d *dialogue) Shown() bool { return len(d.s.keys) == 0 }

// Step implements ecr.Dialogue.
func (d *dialogue) Step(ev ecr.Event) []ecr.Action {
	d.s.mu.Lock()
	defer d.s.mu.Unlock()
	d.actions = nil
	switch ev := ev.(type) {
	case ecr.Received:
		if d.phase != idle {
			d.next = &ev
			break
		}
		d.received(ev)
	case ecr.Freed:
		if d.phase == waiting {
			d.do(ecr.StopTimer{Timer: waitTimer})
			d.look()
		}
	case ecr.Begun:
		d.begun(ev)
	case ecr.NotBegun:
		d.notBegun(ev)
	case ecr.Ended:
		d.ended(ev)
	case ecr.Totalled:
		switch {
		case ev.Gen != d.gen:
		case d.phase == closing || d.phase == working:
			d.totalled(ev)
		case d.phase == polling:
			d.closedDay(ev)
		}
	case ecr.Checked:
		if ev.Gen == d.gen && d.phase == working {
			d.checked(ev)
		}
	case ecr.Fired:
		if ev.Seq == d.turn {
			d.fired(ev.Timer)
		}
	case ecr.Sent:
		d.sent(ev)
	case ecr.Recorded:
		if ev.Gen == d.gen && d.phase == recording {
			d.rest()
		}
	case ecr.Gone:
		d.next = nil
		switch d.phase {
		case answering, telling, recording: // it is known soon what became of the answer
		default:
			d.rest()
		}
	}
	return d.actions
}

func (d *dialogue) do(a ecr.Action) { d.actions = append(d.actions, a) }

func (d *dialogue) enter(p phase) {
	d.phase = p
	if p == idle {
		delete(d.line.busy, d)
	} else {
		d.line.busy[d] = true
	}
}

// rest ends a request, and takes the next one.
func (d *dialogue) rest() {
	d.turn++
	d.ask, d.told = nil, ecr.Outcome{}
	d.enter(idle)
	if next := d.next; next != nil {
		d.next = nil
		d.received(*next)
	}
}

// follow numbers a question to the desk whose sale is followed.
func (d *dialogue) follow(s step) int {
	d.gen++
	d.follows[d.gen] = &follow{step: s, entry: d.ask.entry}
	return d.gen
}

// at is the line of a till: each SaleID has one of its own.
func (d *dialogue) at(saleID string) string { return d.name + "/" + escape(saleID) }

// send sends a response, or a word to the transport.
func (d *dialogue) send(status string, body []byte) int {
	d.seq++
	d.do(ecr.Send{Seq: d.seq, Data: append([]byte(status), body...)})
	return d.seq
}

// answer sends a response that tells no outcome.
func (d *dialogue) answer(status string, body []byte) {
	d.enter(answering)
	d.reply = d.send(status, body)
}

// refuse answers a request with a failure.
func (d *dialogue) refuse(f *failure) {
	d.answer("200", envelope(d.ask.h, d.failed(f)))
}

// tell sends the response that tells a sale's outcome.
func (d *dialogue) tell(out ecr.Outcome, body object) {
	d.enter(telling)
	d.told = out
	d.reply = d.send("200", envelope(d.ask.h, body))
}

func (d *dialogue) sent(ev ecr.Sent) {
	if ev.Seq != d.reply {
		return
	}
	switch d.phase {
	case answering:
		d.rest()
	case telling:
		how := ecr.Lost
		if ev.OK {
			how = ecr.Told
		}
		d.enter(recording)
		d.gen++
		d.do(ecr.Deliver{Gen: d.gen, Sale: d.told.Sale, Delivery: d.told.Telling(how)})
	}
}

// received takes a message.
func (d *dialogue) received(ev ecr.Received) {
	d.turn++
	kind, now, text := stamped(ev.Data)
	if kind == kindStranger {
		d.crypto(text)
		return
	}
	message, err := parse(text)
	if err != nil {
		d.answer("400", ascii([]any{"Bad JSON:" + err.Error()}))
		return
	}
	request := objectAt(message, "SaleToPOIRequest")
	if request == nil {
		d.answer("400", ascii(object{"errors": []any{"At toplevel, field SaleToPOIRequest: Missing"}}))
		return
	}
	if request["NexoBlob"] != nil { // encrypted, for a terminal without keys
		d.crypto(named(message))
		return
	}
	h, err := headerOf(request)
	if errors.Is(err, errNoHeader) {
		d.answer("400", ascii(object{"errors": []any{"At SaleToPOIRequest, field MessageHeader: Missing"}}))
		return
	}
	d.ask = &ask{h: h, nowMS: now}
	root := fields{"SaleToPOIRequest", request, &d.ask.fault}
	d.ask.body = root.object(h.category + "Request").o
	var f *failure
	switch {
	case errors.As(err, &f):
	case h.version != d.s.Version:
		f = fail(noService, "ProtocolVersion %s is not spoken here: send %s", h.version, d.s.Version)
	case d.s.POIID != "" && h.poi != d.s.POIID:
		f = fail(notAllowed, "POIID %s is another terminal: this is %s", h.poi, d.s.POIID)
	case d.ask.fault != nil:
		f = d.ask.fault
	case d.ask.body == nil:
		f = root.missing(h.category + "Request")
	}
	if f != nil {
		d.refuse(f)
		return
	}
	d.serve(ev)
}

// crypto answers what is not encrypted under a key of this terminal. Every cause looks the same.
func (d *dialogue) crypto(named []byte) {
	o := object{"errors": []any{"Nexo Service: crypto error"}}
	if list, err := parse(append(append([]byte(`{"key":`), named...), '}')); err == nil {
		if values, ok := list["key"].([]any); ok && len(values) > 0 && values[0] != "" {
			o["ServiceID"] = values[0]
		}
	}
	d.answer("401", ascii(o))
}

// serve does what a request asks for.
func (d *dialogue) serve(ev ecr.Received) {
	switch d.ask.h.category {
	case "Payment", "Reversal":
		f := d.money()
		if d.ask.fault != nil {
			f = d.ask.fault
		}
		if f != nil {
			d.refuse(f)
			return
		}
		d.begin(ev.Elsewhere)
	case "TransactionStatus":
		d.status()
	case "Abort":
		d.abort()
	case "Login", "Diagnosis":
		host := d.ask.fields().flag("HostDiagnosisFlag")
		if d.ask.fault != nil {
			d.refuse(d.ask.fault)
			return
		}
		d.enter(working)
		d.gen++
		if host && len(d.line.running) == 0 {
			d.do(ecr.Check{Gen: d.gen})
		} else {
			d.do(ecr.Report{Gen: d.gen})
		}
	case "Logout":
		d.answer("200", envelope(d.ask.h, object{"Response": success()}))
	case "GetTotals":
		d.enter(working)
		d.gen++
		d.do(ecr.Turnover{Gen: d.gen})
	case "Reconciliation":
		d.reconcile(ev.Elsewhere)
	case "Print", "Display", "Input":
		d.refuse(fail(noDevice, "the terminal lends no device to a till"))
	default:
		d.refuse(fail(noService, "%s is not served by this terminal", d.ask.h.category))
	}
}

func (d *dialogue) fired(t ecr.Timer) {
	switch {
	case t == waitTimer && d.phase == waiting:
		d.ask.behind = true
		d.look()
	case t == pollTimer && d.phase == polling:
		d.refuse(fail(inProgress, "Uncompleted transaction"))
	case t == lookTimer && d.phase == polling:
		d.ask.dayless = false
		d.seek(true)
	}
}
