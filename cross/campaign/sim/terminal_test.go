package sim

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"posagent/agent/checkout"
	"posagent/ecr"
	"posagent/ecr/zvt"
	"posagent/schemes/aapay"
	"posagent/schemes/methods"
	"posagent/schemes/money"
	"posagent/schemes/wire"
)

// row is a sale in the journal.
type row struct {
	id      int64
	key     wire.Key
	ref     string
	line    string
	seq     string
	state   checkout.State
	amount  money.Minor
	method  methods.Definition
	receipt int
	trace   int
	batch   int
	told    string
	boot    int
	created time.Time
	undoKey wire.Key
	resumes int
	pick    checkout.Pick
	params  []aapay.KeyValue // what a person has typed
	kind    ecr.Kind
	// Of a refund or reversal: the payment, and how the register named it. Of a payment: what is, or may be, given back of it.
	original *row
	asked    string
	debited  money.Minor
	reversed bool
	// What the checker wants to know besides.
	heard     bool // the desk recorded "told" of an approval
	exception bool // the merchant was told
	asks      bool // a person has to answer before anything is sent
	answered  bool // one did
	since     time.Duration
	no        bool // of a refund or reversal: the register was told that nothing was given back
}

// journal is what survives everything.
type journal struct {
	rows     []*row
	byKey    map[wire.Key]*row
	ops      []*op
	receipts int
	traces   int
	batch    int
	profiles map[string][]byte
}

var errStore = errors.New("the disk is full")

// terminal is the box: a journal, and a life that ends with every crash.
type terminal struct {
	w       *world
	j       journal
	boot    int // which boot
	bootAt  time.Duration
	life    int
	lifeAt  time.Duration // when this life began
	up      bool
	diskBad bool
	desk    *desk
	lines   []*line
}

// clock is the boot clock.
func (t *terminal) clock() time.Duration { return t.w.now - t.bootAt }

// after schedules for this life only.
func (t *terminal) after(d time.Duration, do func()) *event {
	life := t.life
	return t.w.after(d, func() {
		if t.up && t.life == life {
			do()
		}
	})
}

// write is one commit: tx runs at one instant and is durable at once; what follows it follows after the fsync, and only
// in this life.
func (t *terminal) write(tx func() error, done func(error)) {
	t.after(t.w.exp(2*time.Millisecond, 50*time.Millisecond), func() {
		err := errStore
		if !t.diskBad && !t.w.hit(t.w.odds.disk/20) {
			err = tx()
		} else {
			t.w.diskAt = t.w.now
			t.w.note("disk", "refuses a commit", 0)
		}
		t.after(t.w.exp(5*time.Millisecond, 200*time.Millisecond), func() { done(err) })
	})
}

// start begins a life.
func (t *terminal) start(newBoot bool) {
	w := t.w
	w.referee.Restarted()
	t.up = true
	t.life++
	t.lifeAt = w.now
	if newBoot {
		t.boot++
		t.bootAt = w.now - w.between(time.Second, time.Minute)
	}
	w.note("term", fmt.Sprintf("starts, boot %d", t.boot), 0)
	t.desk = newDesk(t)
	for _, l := range t.lines {
		l.open()
	}
	t.desk.resume()
	for _, o := range t.j.ops {
		t.resumeOp(o)
	}
}

// crash ends it.
func (t *terminal) crash(newBoot bool, pause time.Duration) {
	w := t.w
	if !t.up {
		return
	}
	w.note("term", "crashes", 0)
	w.stats.Crashes++
	t.up = false
	t.desk = nil
	for _, l := range t.lines {
		l.crashed()
	}
	w.after(pause, func() { t.start(newBoot) })
}

// ---- the session of a line, after ecr/session ----

// line is one register line of the terminal.
type line struct {
	t       *terminal
	name    string
	tcp     bool
	reg     *register
	profile []byte
	dialogs []*dialog
	owner   *dialog
	sale    string
	number  int
}

func (l *line) open() {
	l.profile = l.t.j.profiles[l.name]
	l.dialogs, l.owner, l.sale = nil, nil, ""
	if !l.tcp {
		l.reg.link = l.connect()
	}
}

func (l *line) crashed() {
	for _, d := range l.dialogs {
		d.dead = true
	}
	l.reg.blame("crash")
	if l.tcp && l.reg.link != nil && l.t.w.rng.IntN(2) == 0 {
		l.reg.link.cut(l.t.w.between(0, 5*time.Second))
	}
}

// dialog is one connection with its machine.
type dialog struct {
	l       *line
	t       *terminal
	number  int
	machine *zvt.Machine
	link    *link
	dead    bool
	lost    bool
	writing bool
	out     []ecr.Send
	timers  map[ecr.Timer]*event
	telling int // receipt whose approval waits for its acknowledgement
}

// connect makes a connection for a register, nil while the terminal is down.
func (l *line) connect() *link {
	if !l.t.up {
		return nil
	}
	l.number++
	d := &dialog{l: l, t: l.t, number: l.number, timers: map[ecr.Timer]*event{}}
	d.machine = zvt.New(zvt.Config{Line: l.name, TerminalID: "29001006", Currency: "EUR", MerchantName: "Corner Shop"}, l.profile)
	d.link = &link{w: l.t.w, d: d, reg: l.reg}
	l.dialogs = append(l.dialogs, d)
	return d.link
}

func (d *dialog) post(ev ecr.Event) { d.t.after(0, func() { d.step(ev) }) }

func (d *dialog) step(ev ecr.Event) {
	if d.dead {
		return
	}
	l := d.l
	switch e := ev.(type) {
	case ecr.Received:
		e.Elsewhere, e.OpenSale = l.owner != nil && l.owner != d, l.sale
		ev = e
	case ecr.Begun:
		l.sale = e.Sale
	case ecr.Ended:
		if l.sale == e.Outcome.Sale {
			l.sale = ""
		}
	case ecr.Gone:
		d.lost = true
	case ecr.Freed:
		if l.owner != d {
			return
		}
	}
	actions := d.machine.Step(ev)
	switch holds := d.machine.Holds(); {
	case holds && (l.owner == nil || l.owner == d):
		l.owner = d
	case l.owner == d && !holds:
		l.handOver()
	}
	for _, a := range actions {
		d.perform(a)
	}
	if d.lost && d.machine.Settled() {
		d.leave()
	}
}

// handOver gives the line to the connection whose 06 20 has waited longest, or to none.
func (l *line) handOver() {
	l.owner = nil
	for _, d := range l.dialogs {
		if d.machine.Waits() {
			l.owner = d
			d.post(ecr.Freed{})
			return
		}
	}
}

func (d *dialog) leave() {
	d.dead = true
	for _, e := range d.timers {
		e.stop()
	}
	if d.l.owner == d {
		d.l.handOver()
	}
	for i, other := range d.l.dialogs {
		if other == d {
			d.l.dialogs = append(d.l.dialogs[:i:i], d.l.dialogs[i+1:]...)
			break
		}
	}
}

func (d *dialog) perform(a ecr.Action) {
	desk := d.t.desk
	switch a := a.(type) {
	case ecr.Send:
		d.out = append(d.out, a)
		d.write()
	case ecr.StartTimer:
		d.timers[a.Timer].stop()
		d.timers[a.Timer] = d.t.after(a.After, func() { d.step(ecr.Fired{Timer: a.Timer, Seq: a.Seq}) })
	case ecr.StopTimer:
		d.timers[a.Timer].stop()
	case ecr.Begin:
		desk.begin(a.Request, d.follow(a.Gen))
	case ecr.Last:
		desk.last(d.l.name, d.follow(a.Gen))
	case ecr.Abort:
		desk.abort(wire.Key(a.Sale), func(err error) { d.post(ecr.AbortDecided{Gen: a.Gen, Done: err == nil}) })
	case ecr.Waits:
		desk.live(wire.Key(a.Sale)).patient = true
	case ecr.Deliver:
		d.telling = 0
		d.deliver(a, d.t.w.now, 200*time.Millisecond, false)
	case ecr.CloseBatch:
		desk.close(func(tot ecr.Totals, code ecr.Code) { d.post(ecr.Totalled{Gen: a.Gen, Totals: tot, Code: code}) })
	case ecr.Turnover:
		d.post(ecr.Totalled{Gen: a.Gen, Totals: ecr.Totals{Time: d.t.w.clock()}, Code: ecr.OK})
	case ecr.Check:
		d.post(ecr.Checked{Gen: a.Gen, OK: true})
	case ecr.Report:
		d.post(ecr.Checked{Gen: a.Gen, Health: ecr.Health{Ready: true}, OK: true})
	case ecr.Save:
		d.l.profile = a.Profile
		d.t.write(func() error { d.t.j.profiles[d.l.name] = a.Profile; return nil }, func(error) {
			if a.Gen != 0 {
				d.post(ecr.Saved{Gen: a.Gen})
			}
		})
		for _, other := range d.l.dialogs {
			if other != d {
				other.post(ecr.Learned{Profile: a.Profile})
			}
		}
	case ecr.Unsend:
		d.out = slices.DeleteFunc(d.out, func(one ecr.Send) bool {
			if one.Seq <= a.Through {
				d.post(ecr.Sent{Seq: one.Seq})
			}
			return one.Seq <= a.Through
		})
	}
}

// write sends what waits, one after the other.
func (d *dialog) write() {
	if d.writing || len(d.out) == 0 {
		return
	}
	d.writing = true
	one := d.out[0]
	d.out = d.out[1:]
	d.link.toRegister(one.Data, func(ok bool) {
		d.writing = false
		d.step(ecr.Sent{Seq: one.Seq, OK: ok})
		d.write()
	})
}

// deliver reports a delivery until it is recorded.
func (d *dialog) deliver(a ecr.Deliver, began, wait time.Duration, answered bool) {
	d.t.desk.delivered(wire.Key(a.Sale), a.Delivery, func(out ecr.Outcome, err error) {
		if err == nil {
			if !answered && a.Gen != 0 {
				d.post(ecr.Recorded{Gen: a.Gen, Outcome: out, OK: true})
			}
			return
		}
		now := d.t.w.now
		if now-began > 10*time.Minute {
			return
		}
		if !answered && now-began+wait > 15*time.Second {
			answered = true
			if a.Gen != 0 {
				d.post(ecr.Recorded{Gen: a.Gen})
			}
		}
		d.t.after(wait, func() { d.deliver(a, began, min(2*wait, 20*time.Second), answered) })
	})
}

// follow posts what becomes of a sale.
func (d *dialog) follow(gen int) *waiter {
	return &waiter{
		held:    func() { d.post(ecr.Held{Gen: gen}) },
		refused: func(code ecr.Code) { d.post(ecr.NotBegun{Gen: gen, Code: code}) },
		begun:   func(sale wire.Key) { d.post(ecr.Begun{Gen: gen, Sale: string(sale)}) },
		step:    func(s ecr.Step) { d.post(ecr.Progressed{Gen: gen, Progress: ecr.Progress{Step: s}}) },
		ended:   func(o ecr.Outcome) { d.post(ecr.Ended{Gen: gen, Outcome: o}) },
	}
}
