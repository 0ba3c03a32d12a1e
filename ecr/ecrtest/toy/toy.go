package toy

import (
	"cmp"
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"

	"posagent/ecr"
	"posagent/schemes/money"
)

// Protocol returns the protocol, for serial lines and TCP.
func Protocol() ecr.Protocol {
	return ecr.Protocol{
		Dialogue: func(s ecr.Start) ecr.Dialogue { return &dialogue{line: s.Line, lost: map[int]bool{}} },
		Serial:   func(conn ecr.Conn) ecr.Transport { return frame(conn, true) },
		TCP:      func(conn net.Conn) ecr.Transport { return frame(conn, false) },
	}
}

const ackWithin = 30 * time.Second

type phase uint8

const (
	idle phase = iota
	asking
	running
	telling
	recording
	closing
)

// dialogue is the terminal's side of one connection.
type dialogue struct {
	line, till string
	phase      phase
	gen, seq   int
	id         string // of the request
	sale       string
	outcome    ecr.Outcome
	next       []string     // came while the desk records what became of the last one
	lost       map[int]bool // sales without a connection, by their gen: their outcome is lost
	actions    []ecr.Action
}

// Holds implements ecr.Dialogue.
func (d *dialogue) Holds() bool { return d.phase != idle }

// Waits implements ecr.Dialogue.
func (d *dialogue) Waits() bool { return false }

// Settled implements ecr.Dialogue.
func (d *dialogue) Settled() bool { return d.phase == idle && len(d.lost) == 0 }

// Shown implements ecr.Dialogue.
func (d *dialogue) Shown() bool { return true }

// Step implements ecr.Dialogue.
func (d *dialogue) Step(ev ecr.Event) []ecr.Action {
	d.actions = nil
	switch ev := ev.(type) {
	case ecr.Received:
		d.received(strings.Fields(string(ev.Data)), ev.Elsewhere)
	case ecr.Begun:
		if ev.Gen == d.gen && d.phase == asking {
			d.phase, d.sale = running, ev.Sale
		}
	case ecr.NotBegun:
		delete(d.lost, ev.Gen)
		if ev.Gen == d.gen && d.phase == asking {
			d.phase = idle
			d.say(map[ecr.Code]string{"": "none", ecr.Busy: "busy"}[ev.Code], "refused")
		}
	case ecr.Ended:
		switch {
		case d.lost[ev.Gen]:
			delete(d.lost, ev.Gen)
			d.do(ecr.Deliver{Sale: ev.Outcome.Sale, Delivery: ev.Outcome.Telling(ecr.Lost)})
		case ev.Gen == d.gen && d.phase == running:
			d.outcome = ev.Outcome
			d.tell()
		}
	case ecr.AbortDecided:
		if ev.Gen == d.gen {
			d.say(map[bool]string{true: "stopping"}[ev.Done], "late")
		}
	case ecr.Recorded:
		if ev.Gen == d.gen && d.phase == recording {
			d.phase = idle
			if next := d.next; next != nil {
				d.next = nil
				d.received(next, false)
			}
		}
	case ecr.Totalled:
		d.phase = idle
		if ev.Code != ecr.OK {
			d.say("refused")
			return d.actions
		}
		d.say(fmt.Sprintf("total %d %d", ev.Totals.Count, ev.Totals.Net))
	case ecr.Fired:
		if ev.Seq == d.gen {
			d.told(ecr.Lost)
		}
	case ecr.Gone:
		d.drop()
	}
	return d.actions
}

func (d *dialogue) do(a ecr.Action) { d.actions = append(d.actions, a) }

// say sends the first word that is not empty.
func (d *dialogue) say(words ...string) {
	d.seq++
	d.do(ecr.Send{Seq: d.seq, Data: []byte(cmp.Or(words...))})
}

// at is the name of the register's line.
func (d *dialogue) at() string {
	if d.till == "" {
		return d.line
	}
	return d.line + "/" + d.till
}

func (d *dialogue) received(words []string, elsewhere bool) {
	if d.phase == recording {
		d.next = words
		return
	}
	switch command := strings.Join(words[:min(1, len(words))], ""); {
	case command == "till" && len(words) == 2 && d.phase == idle:
		d.till = words[1]
	case command == "ack" && len(words) == 1:
		d.told(ecr.Told)
	case command == "abort" && len(words) == 1:
		if d.phase != running {
			d.say("late")
			return
		}
		d.do(ecr.Abort{Gen: d.gen, Sale: d.sale})
	case command == "pay" && len(words) == 3:
		d.pay(words[1], words[2], elsewhere)
	case command == "last" && len(words) == 1:
		if d.phase != running && d.mayBegin(elsewhere) {
			d.begin("")
			d.do(ecr.Last{Gen: d.gen, Line: d.at()})
		}
	case command == "close" && len(words) == 1:
		if d.mayBegin(elsewhere) {
			d.phase = closing
			d.gen++
			d.do(ecr.CloseBatch{Gen: d.gen})
		}
	default:
		d.say("refused")
	}
}

func (d *dialogue) pay(id, amount string, elsewhere bool) {
	n, err := strconv.ParseUint(amount, 10, 32)
	switch {
	case err != nil || n == 0:
		d.say("refused")
	case d.phase == telling && id == d.id && id != "-": // it has not heard the answer
		d.tell()
	case (d.phase == asking || d.phase == running) && id == d.id && id != "-": // the answer will come
	case d.mayBegin(elsewhere):
		d.begin(id)
		req := ecr.Request{Kind: ecr.Payment, Line: d.at(), Amount: money.Minor(n)}
		if id != "-" {
			req.Sequence = id
		}
		d.do(ecr.Begin{Gen: d.gen, Request: req})
	}
}

// mayBegin says busy where a request runs. One that comes while an outcome waits for its ack shows
// that the register does not know that outcome: it is lost.
func (d *dialogue) mayBegin(elsewhere bool) bool {
	if d.phase == telling {
		d.drop()
	}
	if d.phase != idle || elsewhere {
		d.say("busy")
		return false
	}
	return true
}

func (d *dialogue) begin(id string) {
	d.gen++
	d.phase, d.id, d.sale = asking, id, ""
}

func (d *dialogue) tell() {
	d.phase = telling
	switch d.outcome.Result {
	case ecr.Approved:
		d.say(fmt.Sprintf("approved %d", d.outcome.Amount))
	case ecr.Declined:
		d.say("declined")
	default:
		d.say("aborted")
	}
	d.do(ecr.StartTimer{Seq: d.gen, After: ackWithin})
}

func (d *dialogue) told(how ecr.Delivery) {
	if d.phase != telling {
		return
	}
	d.phase = recording
	d.do(ecr.StopTimer{})
	d.do(ecr.Deliver{Gen: d.gen, Sale: d.sale, Delivery: d.outcome.Telling(how)})
}

// drop gives the request up: no register waits for its outcome.
func (d *dialogue) drop() {
	switch d.phase {
	case asking, running:
		d.lost[d.gen] = true
	case telling:
		d.do(ecr.StopTimer{})
		d.do(ecr.Deliver{Sale: d.sale, Delivery: d.outcome.Telling(ecr.Lost)})
	}
	d.phase = idle
}
