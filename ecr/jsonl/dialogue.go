package jsonl

import (
	"time"

	"posagent/ecr"
	"posagent/schemes/money"
)

// Config is what the terminal is, and how this line is set up.
type Config struct {
	Line         string // ecr.Request.Line
	TerminalID   string
	Currency     string // ISO 4217 alpha; "" = EUR
	MerchantName string
	Language     string // "de" or anything else for English
	Version      string // of the software
	Sandbox      bool   // no real money
	Password     string // hello must show it before anything else is done; "" = none
	Cable        bool   // the connection is a serial cable, on which messages follow each other
}

// The timers.
const (
	timerProgress ecr.Timer = iota // the next sign of life
	timerTell                      // the next telling of an outcome that was not acknowledged
	timerLook                      // the next look for a sale that was not found
	timers
)

// The times of the protocol.
const (
	progressEvery = 10 * time.Second // README.md promises 15 s
	tellEvery     = 5 * time.Second
	tellMost      = 6 // tellings; then the outcome counts as lost
	lookEvery     = time.Second
	looksMost     = 2 // of a register that has just connected: its last message may come in after its question
	looksBeside   = 5 // the same, where another connection is in the middle of a request
	maxAsides     = 4 // hello and status that wait for the terminal's health
)

// Dialogue is the terminal's side of one connection: an ecr.Dialogue. It is not safe for concurrent
// use.
type Dialogue struct {
	cfg      Config
	currency money.Currency

	shown bool   // the register has shown the password
	till  string // hello named it; its line is its own
	width int    // of its printer, 0 = not said

	phase   phase
	ask     ask
	gen     int
	orphans map[int]bool // sales that no register waits for on this connection, by their gen
	next    *message     // waits until the desk has recorded what became of the telling
	done    done
	aborts  struct {
		gen int
		id  string
	}
	asides map[int]message
	day    day

	seq      int
	timers   [timers]int // number of the running timer, 0 = none
	timerSeq int

	actions []ecr.Action
}

// ask is what the register has asked for.
type ask struct {
	gen      int
	msg      message
	look     bool // the sale was looked for, so the body of its request is not known here
	beside   bool // another connection of the line was in the middle of a request
	looks    int
	refusal  *ecr.NotBegun // the desk's, which is told if the id names no sale
	stop     bool          // abort came before the sale was there
	sale     string
	progress ecr.Progress
	outcome  ecr.Outcome
	told     ecr.Result
	retold   bool // the sale was undone before its approval was acknowledged, and is told again
	tries    int
	totals   *answer
}

// done is the last outcome that was acknowledged.
type done struct{ id string }

// New begins the terminal's side of a connection; saved is what Save was given last.
func New(cfg Config, saved []byte) *Dialogue {
	cur, ok := money.Lookup(cfg.Currency)
	if !ok {
		cur, _ = money.Lookup("EUR")
	}
	return &Dialogue{cfg: cfg, currency: cur, shown: cfg.Password == "", orphans: map[int]bool{}, asides: map[int]message{}, day: loadDay(saved)}
}

// Holds implements ecr.Dialogue.
func (d *Dialogue) Holds() bool { return d.phase != idle }

// Waits implements ecr.Dialogue: a request with an id needs no turn, the desk knows it again.
func (d *Dialogue) Waits() bool { return false }

// Settled implements ecr.Dialogue.
func (d *Dialogue) Settled() bool { return d.phase == idle && len(d.orphans) == 0 }

// Shown implements ecr.Dialogue.
func (d *Dialogue) Shown() bool { return d.shown }

// Step implements ecr.Dialogue.
func (d *Dialogue) Step(ev ecr.Event) []ecr.Action {
	d.actions = nil
	switch ev := ev.(type) {
	case ecr.Received:
		d.received(ev)
	case ecr.Begun:
		d.begun(ev)
	case ecr.Held:
		if d.runs(ev.Gen, asking) {
			d.say(answer{ID: d.ask.msg.id, Step: ecr.StepStarting, Text: wordsFor(d.language(d.ask.msg)).resuming})
		}
	case ecr.NotBegun:
		d.notBegun(ev)
	case ecr.Progressed:
		if d.runs(ev.Gen, running) {
			d.ask.progress = ev.Progress
			d.progress()
		}
	case ecr.Ended:
		d.ended(ev)
	case ecr.AbortDecided:
		if ev.Gen == d.aborts.gen && ev.Gen != 0 {
			d.sayAbort(d.aborts.id, ev.Done)
			d.aborts.gen = 0
		}
	case ecr.Recorded:
		d.recorded(ev)
	case ecr.Totalled:
		d.totalled(ev)
	case ecr.Saved:
		if d.runs(ev.Gen, working) {
			d.sayTotals()
		}
	case ecr.Checked:
		if m, ok := d.asides[ev.Gen]; ok {
			delete(d.asides, ev.Gen)
			d.say(d.terminalAnswer(m, ev.Health))
		}
	case ecr.Fired:
		d.fired(ev)
	case ecr.Gone:
		d.drop()
	case ecr.Undoing:
		if d.shown && d.till == "" { // the sales of a till are on another line
			d.say(answer{Notice: "undoing", Text: wordsFor(d.cfg.Language).undoing})
		}
	case ecr.Learned:
		d.day = loadDay(ev.Profile)
	}
	return d.actions
}

// runs reports whether an event belongs to what the register has asked for last.
func (d *Dialogue) runs(gen int, p phase) bool { return gen == d.ask.gen && d.phase == p }

func (d *Dialogue) do(a ecr.Action) { d.actions = append(d.actions, a) }

func (d *Dialogue) say(a answer) {
	d.seq++
	d.do(ecr.Send{Seq: d.seq, Data: encode(a)})
}

func (d *Dialogue) sayFault(id string, f *fault) { d.say(answer{ID: id, Error: f}) }

// at is the register's line.
func (d *Dialogue) at() string {
	if d.till == "" {
		return d.cfg.Line
	}
	return d.cfg.Line + "/" + d.till
}

func (d *Dialogue) start(t ecr.Timer, after time.Duration) {
	d.timerSeq++
	d.timers[t] = d.timerSeq
	d.do(ecr.StartTimer{Timer: t, Seq: d.timerSeq, After: after})
}

func (d *Dialogue) stop(t ecr.Timer) {
	if d.timers[t] != 0 {
		d.timers[t] = 0
		d.do(ecr.StopTimer{Timer: t})
	}
}

func (d *Dialogue) fired(ev ecr.Fired) {
	if ev.Timer >= timers || d.timers[ev.Timer] != ev.Seq || ev.Seq == 0 {
		return
	}
	d.timers[ev.Timer] = 0
	switch ev.Timer {
	case timerProgress:
		d.progress()
	case timerTell:
		d.tellAgain()
	case timerLook:
		if d.phase == asking {
			d.look()
		}
	}
}

// finish ends what the register has asked for, and begins what waited for that.
func (d *Dialogue) finish() {
	for t := range timers {
		d.stop(t)
	}
	d.phase, d.ask = idle, ask{}
	if m := d.next; m != nil {
		d.next = nil
		d.take(*m, false)
	}
}

// drop gives up what the register has asked for: its connection is gone.
func (d *Dialogue) drop() {
	switch d.phase {
	case asking, running:
		d.orphans[d.ask.gen] = true
	case telling:
		if !d.ask.retold {
			d.do(ecr.Deliver{Sale: d.ask.sale, Delivery: d.ask.outcome.Telling(ecr.Lost)})
		}
	}
	d.next = nil
	clear(d.asides)
	d.finish()
}
