package ecr17

import (
	"encoding/json"
	"slices"
	"time"

	"posagent/ecr"
	"posagent/schemes/money"
)

// Patience is how long a register waits for a result after our ACK, as long as the configuration
// does not say: the known ones give up after 60 s.
const Patience = 50 * time.Second

// Times of the protocol.
const (
	ackWithin   = 1500 * time.Millisecond // registers wait 2 s
	beatEvery   = 8 * time.Second         // registers give up after 20 s without progress
	beatSoon    = 500 * time.Millisecond  // another step is told, unless the sale ends before
	tagsWithin  = 5 * time.Second
	repeatTold  = 3 * time.Minute  // MONEY F.4: a told result is repeated for so long
	repeatsLast = 10 * time.Second // registers send four times, every 2.2 s
)

// Config is what the terminal is, and how this line is set up.
type Config struct {
	TerminalID   string        // eight digits that requests must name; "" = any
	Currency     string        // ISO 4217 alpha; "" = EUR
	MerchantName string        // on receipts
	Language     string        // of texts: "en…" English, else Italian
	Version      string        // of the software
	Patience     time.Duration // the result leaves within; 0 = Patience
}

// The timers.
const (
	timerAck     ecr.Timer = iota // the register does not wait for its ACK any longer
	timerEnd                      // nor for its result, or for tags
	timerBeat                     // the next progress text
	timerRepeats                  // the bytes of the last request are a new one after that
)

// Dialogue is the terminal's side of one connection or cable: an ecr.Dialogue. It is not safe for
// concurrent use.
type Dialogue struct {
	cfg      Config
	line     string
	cable    bool
	currency money.Currency
	words    words

	phase   phase
	run     run
	next    *ecr.Received // came while something else was under way
	gen     int
	orphans map[int]orphan
	marks   []mark
	paper   bool         // the register has asked for receipts, for one request
	told    *ecr.Outcome // the last approval that was acknowledged here
	toldTo  string       // the till that it was of: a reprint names none
	stale   string       // the last request of a cable, whose result was not acknowledged

	seq, timerSeq int
	awaited       int    // the message of which the register's ACK is awaited
	timers        [4]int // number of the running timer, 0 = none
	list          []ecr.Action
}

// run is the request that is under way.
type run struct {
	request
	gen   int
	sale  string // of the desk, "" as long as there is none
	open  string // the sale that the line ran when the request came
	acked bool
	naked bool // NAK went out: what is accepted now must come to nothing
	gone  bool
	was   string // what was remembered of the till before, where that has changed
	step  ecr.Step
	queue [][]byte    // what has to be sent still, one after the other
	tells bool        // the last of it is the sale's outcome
	out   ecr.Outcome // that
	day   int         // the batch that was closed, 0 = none
}

// orphan is a sale that the register does not wait for.
type orphan struct {
	how   ecr.Delivery // what the desk hears of an approved payment
	abort bool         // as soon as there is a sale
}

// mark is what the line remembers of a till: the code of its last request for money, or void where
// the terminal refused that one without a sale.
type mark struct {
	Till string `json:"till"`
	Code string `json:"code"`
}

const void = "-"

// maxMarks bounds the tills that a line remembers; the one that was heard of longest ago goes.
const maxMarks = 32

type memory struct {
	Version int    `json:"v"`
	Tills   []mark `json:"tills"`
}

// New begins the terminal's side of a connection; saved is what Save was given last.
func New(cfg Config, line string, cable bool, saved []byte) *Dialogue {
	if cfg.Patience <= 0 {
		cfg.Patience = Patience
	}
	cur, ok := money.Lookup(cfg.Currency)
	if !ok {
		cur, _ = money.Lookup("EUR")
	}
	d := &Dialogue{cfg: cfg, line: line, cable: cable, currency: cur, words: wordsFor(cfg.Language), orphans: map[int]orphan{}}
	d.learn(saved)
	return d
}

func (d *Dialogue) learn(saved []byte) {
	var m memory
	if err := json.Unmarshal(saved, &m); err == nil && m.Version == 1 {
		d.marks = m.Tills
	}
}

// markOf is the mark of a till: that of a payment where it has none.
func (d *Dialogue) markOf(till string) string {
	for _, m := range d.marks {
		if m.Till == till {
			return m.Code
		}
	}
	return string(rune(payment))
}

// note changes the mark of a till.
func (d *Dialogue) note(till, code string) {
	d.marks = slices.DeleteFunc(slices.Clone(d.marks), func(m mark) bool { return m.Till == till })
	d.marks = append(d.marks, mark{till, code})
	d.marks = d.marks[max(0, len(d.marks)-maxMarks):]
}

// mark remembers a till's last request. gen = 0 asks for no answer.
func (d *Dialogue) mark(till, code string, gen int) {
	d.note(till, code)
	profile, err := json.Marshal(memory{1, d.marks})
	if err != nil {
		profile = nil // cannot happen: plain data
	}
	d.do(ecr.Save{Gen: gen, Profile: profile, Must: gen != 0})
}

// Holds implements ecr.Dialogue.
func (d *Dialogue) Holds() bool {
	return d.phase == tagging || d.phase >= asking && d.phase <= recording && d.run.till != ""
}

// Waits implements ecr.Dialogue.
func (d *Dialogue) Waits() bool { return d.phase == waiting }

// Settled implements ecr.Dialogue.
func (d *Dialogue) Settled() bool { return d.phase == idle && len(d.orphans) == 0 }

// Shown implements ecr.Dialogue.
func (d *Dialogue) Shown() bool { return true }

// Step implements ecr.Dialogue.
func (d *Dialogue) Step(ev ecr.Event) []ecr.Action {
	d.list = nil
	switch ev := ev.(type) {
	case ecr.Received:
		d.received(ev)
	case ecr.Begun:
		d.begun(ev)
	case ecr.NotBegun:
		d.notBegun(ev)
	case ecr.Progressed:
		if ev.Gen == d.run.gen && d.phase == running {
			if ev.Progress.Step != d.run.step {
				d.run.step = ev.Progress.Step
				d.start(timerBeat, beatSoon)
			}
		}
	case ecr.Ended:
		d.ended(ev)
	case ecr.Sent:
		if ev.Seq == d.awaited && table[answerLeft][d.phase] == next {
			d.left(ev.OK)
		}
	case ecr.Recorded:
		if ev.Gen == d.run.gen {
			d.apply(recorded)
		}
	case ecr.Saved:
		switch {
		case ev.Gen != d.run.gen || ev.Gen == 0:
		case ev.Failed:
			d.notMarked()
		default:
			d.apply(saved)
		}
	case ecr.Totalled:
		if ev.Gen == d.run.gen && table[worked][d.phase] == answer {
			d.totalled(ev)
		}
	case ecr.Checked:
		if ev.Gen == d.run.gen && table[worked][d.phase] == answer {
			d.reply(statusMessage(d.own(), ev.Health, d.cfg.Version))
		}
	case ecr.Fired:
		d.fired(ev)
	case ecr.Freed:
		d.apply(freed)
	case ecr.Gone:
		d.next, d.stale = nil, ""
		d.apply(gone)
	case ecr.Learned:
		d.learn(ev.Profile)
	}
	return d.list
}

func (d *Dialogue) fired(ev ecr.Fired) {
	if int(ev.Timer) >= len(d.timers) || ev.Seq == 0 || d.timers[ev.Timer] != ev.Seq {
		return
	}
	d.timers[ev.Timer] = 0
	switch ev.Timer {
	case timerAck:
		d.apply(unanswered)
	case timerEnd:
		d.apply(deadline)
	case timerBeat:
		d.apply(beat)
	case timerRepeats:
		d.stale = ""
	}
}

// apply performs the rules that need no more than the phase.
func (d *Dialogue) apply(h happening) {
	switch table[h][d.phase] {
	case ask:
		d.ask()
	case progress:
		d.send(progressText(d.words.step(d.run.step)))
		d.start(timerBeat, beatEvery)
	case noAnswer:
		d.noAnswer()
	case late:
		d.late()
	case leave:
		d.leave()
	case finish:
		d.finish()
	}
}

// received takes a message.
func (d *Dialogue) received(ev ecr.Received) {
	r, ok := read(ev.Data, d.cfg.TerminalID)
	if !ok {
		d.nak()
		return
	}
	h := otherCame
	switch {
	case d.phase != idle && r.data == d.run.data:
		h = sameCame
	case r.money():
		h = saleCame
	case r.code == last:
		h = lastCame
	case r.code == tags:
		h = tagsCame
	}
	rule := table[h][d.phase]
	if rule == rejoin && r.till != d.run.till {
		rule = giveUp
	}
	switch rule {
	case take:
		d.take(r, ev)
	case refuse:
		d.nak()
	case again:
		d.ack()
	case hold:
		d.run.naked = false
		if !d.run.acked {
			d.start(timerAck, ackWithin)
		}
	case later:
		if d.next == nil {
			d.start(timerAck, ackWithin)
		}
		d.next = &ev
	case giveUp:
		d.giveUp()
		d.take(r, ev)
	case rejoin:
		d.run.data = r.data
		d.ack()
		d.apply(beat)
		d.start(timerEnd, d.cfg.Patience)
	case untag:
		d.ack()
		d.refuse(unknownTag, d.words.tag)
	}
}

func (d *Dialogue) do(a ecr.Action) { d.list = append(d.list, a) }

func (d *Dialogue) send(data []byte) {
	d.seq++
	d.do(ecr.Send{Seq: d.seq, Data: data})
}

// own is the id by which the terminal answers.
func (d *Dialogue) own() string {
	if d.cfg.TerminalID != "" {
		return d.cfg.TerminalID
	}
	return d.run.terminal
}

func (d *Dialogue) ack() {
	d.send([]byte{ACK})
	d.stop(timerAck)
}

func (d *Dialogue) nak() { d.send([]byte{NAK}) }

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
