package sim

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"time"

	"posagent/agent/checkout"
	"posagent/ecr"
	"posagent/schemes/aapay"
	"posagent/schemes/methods"
	"posagent/schemes/wire"
)

// hooks let a test put a fault into the product to see that it is noticed.
type hooks struct {
	next func(checkout.State, checkout.Event) (checkout.State, []checkout.Effect, error)
	key  func(r *row) wire.Key
}

// desk is the shell of the checkout, after agent/checkout/drive: everything in it is lost in a crash.
type desk struct {
	t       *terminal
	w       *world
	ready   bool
	closing bool
	locked  bool
	waiting []func()
	seq     uint64
	lives   map[wire.Key]*live
	flying  map[wire.Key]bool // operations under way
}

type live struct {
	seq      uint64
	read     *event
	readGen  int
	tick     *event
	lastRead time.Duration
	waiters  []*waiter
	holds    int
	holdGen  int
	step     ecr.Step
	patient  bool         // the register acknowledged 04 FF
	silence  int          // status questions in a row without an answer
	told     *ecr.Outcome // "aborted", told while the journal could not be written
	interim  int          // of the holds, tellings of "in progress"
	interims *row         // the sale as these told it
}

// waiter is a dialogue that waits for an outcome.
type waiter struct {
	held    func()
	refused func(ecr.Code)
	begun   func(wire.Key)
	step    func(ecr.Step)
	ended   func(ecr.Outcome)
	left    func() bool // the connection is gone: nothing is begun for it; nil = never

	key     wire.Key
	ready   bool
	outcome *ecr.Outcome
}

// attach says that the sale is accepted, and what is known by now.
func (x *waiter) attach(key wire.Key) {
	x.key, x.ready = key, true
	x.begun(key)
	if x.outcome != nil {
		x.ended(*x.outcome)
	}
}

func (x *waiter) give(o ecr.Outcome) {
	x.outcome = &o
	if x.ready {
		x.ended(o)
	}
}

type step struct {
	r       row
	effects []checkout.Effect
	seq     uint64
}

func newDesk(t *terminal) *desk {
	return &desk{t: t, w: t.w, lives: map[wire.Key]*live{}, flying: map[wire.Key]bool{}}
}

func (d *desk) row(key wire.Key) *row { return d.t.j.byKey[key] }

func (d *desk) nextSeq() uint64 { d.seq++; return d.seq }

func (d *desk) live(key wire.Key) *live {
	l := d.lives[key]
	if l == nil {
		l = &live{}
		d.lives[key] = l
	}
	return l
}

// answerInTime tells "aborted" without the journal at the end of the register's patience; what was told is made good later.
func (d *desk) answerInTime(r row) {
	l, limits := d.live(r.key), r.state.Limits
	late := checkout.LastReadAt - 2*time.Second
	var at func(wait time.Duration)
	at = func(wait time.Duration) {
		d.t.after(r.state.StartedAt+wait+late-d.t.clock(), func() {
			if d.lives[r.key] != l {
				return
			}
			if l.patient && wait < limits.Long {
				at(limits.Long)
				return
			}
			waiters := l.waiters
			if l.waiters = nil; len(waiters) == 0 {
				return
			}
			told := r
			told.state.Result, told.state.Code = ecr.Aborted, ecr.AbortedByUser
			o := d.outcome(told)
			l.told = &o
			l.holds += len(waiters)
			d.w.note("sale", "told aborted before it is journalled", r.id)
			for _, x := range waiters {
				d.give(r.key, x, o)
			}
			d.insist(r.key, checkout.Event{Name: checkout.ToldAborted})
		})
	}
	at(limits.Deadline)
}

// transit applies one event inside a commit.
func (d *desk) transit(r *row, e checkout.Event) ([]checkout.Effect, error) {
	if e.Name == checkout.ToldAborted || d.live(r.key).told == nil {
		return d.transitOne(r, e)
	}
	first, err := d.transitOne(r, checkout.Event{Name: checkout.ToldAborted})
	if err != nil {
		return nil, err
	}
	rest, err := d.transitOne(r, e)
	return append(first, rest...), err
}

func (d *desk) transitOne(r *row, e checkout.Event) ([]checkout.Effect, error) {
	before := r.state
	d.complete(r, &e)
	next, effects, err := d.w.hooks.next(r.state, e)
	if err != nil {
		return nil, err
	}
	r.state, r.boot = next, d.t.boot
	if next.Phase != before.Phase {
		r.resumes = 0
		d.w.note("sale", fmt.Sprintf("%s: %s -> %s %s %s", e.Name, before.Phase, next.Phase, next.Result, next.Text), r.id)
	} else if e.Name != checkout.StatusRead && e.Name != checkout.Tick {
		d.w.note("sale", fmt.Sprintf("%s in %s", e.Name, next.Phase), r.id)
	}
	var rest []checkout.Effect
	for _, f := range effects {
		switch f.Do {
		case checkout.Reverse:
			d.acceptUndo(r, f.Attempt, false)
		case checkout.RefundUndo:
			d.acceptUndo(r, f.Attempt, true)
		case checkout.GiveReceipt:
			d.t.j.receipts++
			d.t.j.traces++
			r.receipt, r.trace, r.batch = d.t.j.receipts, d.t.j.traces, d.t.j.batch
		case checkout.Exception:
			r.exception = true
			d.w.note("sale", "exception: "+f.Text, r.id)
		case checkout.Release:
			r.release()
		default:
			rest = append(rest, f)
		}
	}
	return rest, nil
}

func (d *desk) complete(r *row, e *checkout.Event) {
	if e.Now == 0 {
		e.Now = d.t.clock()
	}
	e.Poll, e.Patient, e.TakenBack = checkout.PollOf(r.method, 0), d.live(r.key).patient, r.reversed
}

// apply applies one event and performs its effects.
func (d *desk) apply(key wire.Key, e checkout.Event, done func(error)) {
	if d.nothingNew(key, e) {
		done(nil)
		return
	}
	var s step
	d.t.write(func() error {
		r := d.row(key)
		if r == nil {
			return errors.New("no such sale")
		}
		effects, err := d.transit(r, e)
		s = step{*r, effects, d.nextSeq()}
		return err
	}, func(err error) {
		if err == nil {
			d.perform(s)
		}
		done(err)
	})
}

// nothingNew decides without writing where the answer says what the last one said.
func (d *desk) nothingNew(key wire.Key, e checkout.Event) bool {
	switch e.Name {
	case checkout.StatusRead, checkout.StatusFailed, checkout.Tick:
	default:
		return false
	}
	r := d.row(key)
	seq := uint64(0)
	if l := d.lives[key]; l != nil {
		seq = l.seq
	}
	d.complete(r, &e)
	next, effects, err := d.w.hooks.next(r.state, e)
	if err != nil || !reflect.DeepEqual(next, r.state) {
		return false
	}
	for _, f := range effects {
		switch f.Do {
		case checkout.Reverse, checkout.RefundUndo, checkout.GiveReceipt, checkout.Release, checkout.Exception:
			return false
		}
	}
	d.perform(step{*r, effects, seq})
	return true
}

// insist applies an event that must not be lost while the store is in trouble.
func (d *desk) insist(key wire.Key, e checkout.Event) {
	e.Now = d.t.clock()
	d.apply(key, e, func(err error) {
		if err == nil || errors.Is(err, checkout.ErrRefused) {
			return
		}
		d.t.after(time.Second, func() { d.insist(key, e) })
	})
}

// perform does what follows a commit.
func (d *desk) perform(s step) {
	r := s.r
	l := d.live(r.key)
	fresh := s.seq >= l.seq
	if fresh {
		l.seq = s.seq
	}
	if r.state.UndoOpen {
		d.undoBegan(r)
	}
	for _, f := range s.effects {
		switch f.Do {
		case checkout.Initialize, checkout.SendPlain:
			d.progress(r.key, ecr.StepStarting)
			d.t.after(f.After, func() { d.initialize(r.key) })
		case checkout.ReadStatus:
			d.scheduleRead(r.key, f.After, fresh)
		case checkout.StopReading:
			if fresh {
				l.read.stop()
				l.read = nil
				l.readGen++
			}
		case checkout.ShowCode:
			d.t.after(0, func() { d.showCode(r.key) })
		case checkout.Tell:
			d.tell(r)
		}
	}
	if fresh {
		d.arm(r)
	}
	if !checkout.Active(r.state) && len(l.waiters) == 0 && l.holds == 0 {
		l.read.stop()
		l.tick.stop()
		delete(d.lives, r.key)
	}
}

func (d *desk) showCode(key wire.Key) {
	if d.w.hit(d.w.odds.broken) {
		d.insist(key, checkout.Event{Name: checkout.CodeBroken, Text: "too long"})
		return
	}
	d.progress(key, ecr.StepShowCode)
}

const grace = 10 * time.Minute

// arm sets the timer of the sale's next limit.
func (d *desk) arm(r row) {
	l := d.live(r.key)
	at, ok := checkout.Due(r.state)
	name := checkout.Tick
	if r.state.Phase == checkout.Unconfirmed && !r.state.Till.Kept {
		if end := r.state.UntoldAt + cmp.Or(r.state.Till.Grace, grace); !ok || end < at {
			at, ok, name = end, true, checkout.GraceOver
		}
	}
	l.tick.stop()
	l.tick = nil
	if !ok {
		return
	}
	if name != checkout.GraceOver {
		l.tick = d.t.after(at-d.t.clock(), func() { d.insist(r.key, checkout.Event{Name: name}) })
		return
	}
	l.tick = d.t.after(at-d.t.clock(), func() { d.graceOver(r.key) })
}

func (d *desk) graceOver(key wire.Key) {
	var s step
	busy := false
	d.t.write(func() error {
		if busy = d.live(key).holds > 0; busy {
			return nil
		}
		r := d.row(key)
		effects, err := d.transit(r, checkout.Event{Name: checkout.GraceOver})
		s = step{*r, effects, d.nextSeq()}
		return err
	}, func(err error) {
		if err != nil && errors.Is(err, checkout.ErrRefused) {
			return
		}
		if err != nil || busy {
			l := d.live(key)
			l.tick.stop()
			l.tick = d.t.after(time.Second, func() { d.graceOver(key) })
			return
		}
		d.perform(s)
	})
}

// ---- initialize and status ----

// initialize sends once.
func (d *desk) initialize(key wire.Key) {
	r := d.row(key)
	if r.state.Phase != checkout.Initializing {
		return
	}
	k := d.w.hooks.key(r)
	if r.state.Plain {
		k = ""
	}
	d.w.stats.Sent++
	d.w.note("sale", "initialize is sent", r.id)
	req := aapay.Request{Method: r.method.Name, TerminalReference: r.ref, Trigger: aapay.TriggerQR, Params: r.params,
		PurchaseAmount: &aapay.Amount{CurrencyCode: "EUR", NominalAmount: int64(r.amount), TotalAmount: int64(r.amount)}}
	if r.pick.Trigger == methods.Manual {
		req.Trigger = aapay.TriggerManual
	}
	sale, life, try := r.id, d.t.life, r.state.Sends
	heard := func(int, []byte) {}
	call(d.w.net, 15*time.Second, true,
		func() { heard = d.w.leftWith(aapay.Payment, k, req) },
		func() (aapay.Reply, error) { return d.w.bank.initialize(k, aapay.Payment, req, sale) },
		func(reply aapay.Reply, err error) {
			if !d.t.up || d.t.life != life {
				return
			}
			if err == nil {
				heard(reply.HTTPStatus, textOfReply(reply))
				d.progress(key, ecr.StepWaiting)
				d.insist(key, checkout.Event{Name: checkout.Replied, Reply: reply})
				return
			}
			d.insist(key, checkout.Event{Name: checkout.ReplyFailed, Failure: failureOf(err), Try: try, After: pauseOf(err), Text: err.Error()})
		})
}

// failureOf says what a failed initialize proves.
func failureOf(err error) checkout.Failure {
	var e *wire.Error
	if errors.As(err, &e) && e.Code == wire.UnknownOutcome && e.Msg == "reply 404" {
		return checkout.RouteMissing
	}
	if wire.NeverSent(err) {
		return checkout.NotSent
	}
	switch wire.CodeOf(err) {
	case wire.Invalid, wire.Unauthorized, wire.Forbidden, wire.TooLarge:
		return checkout.NoEffect
	}
	return checkout.EffectUnknown
}

func pauseOf(err error) time.Duration {
	var e *wire.Error
	if errors.As(err, &e) {
		return e.RetryAfter
	}
	return 0
}

func (d *desk) scheduleRead(key wire.Key, after time.Duration, replace bool) {
	l := d.live(key)
	if l.read != nil && !replace {
		return
	}
	l.read.stop()
	l.readGen++
	gen := l.readGen
	if l.lastRead > 0 {
		after = max(after, l.lastRead+2*time.Second-d.t.clock())
	}
	l.read = d.t.after(after, func() { d.read(key, gen) })
}

func (d *desk) read(key wire.Key, gen int) {
	l := d.live(key)
	l.lastRead, l.read = d.t.clock(), nil
	r := d.row(key)
	id, asked := r.ref, d.t.clock()
	life := d.t.life
	heard := func(int, []byte) {}
	call(d.w.net, 10*time.Second, false,
		func() { heard = d.w.left(http.MethodGet, id+"/status", "", nil) },
		func() (aapay.Status, error) { return d.w.bank.status(id) },
		func(st aapay.Status, err error) {
			if !d.t.up || d.t.life != life {
				return
			}
			switch {
			case err == nil:
				heard(http.StatusOK, textOfStatus(st))
			case wire.CodeOf(err) == wire.NotFound:
				heard(http.StatusNotFound, []byte("{}"))
			}
			if err == nil {
				d.live(key).silence = 0
				d.insist(key, checkout.Event{Name: checkout.StatusRead, Asked: asked, Status: st})
				return
			}
			if d.live(key).readGen != gen {
				return
			}
			failure := checkout.EffectUnknown
			d.live(key).silence++
			if wire.CodeOf(err) == wire.NotFound {
				failure, d.live(key).silence = checkout.NotFound, 0
			}
			d.insist(key, checkout.Event{Name: checkout.StatusFailed, Asked: asked, Failure: failure, Silence: d.live(key).silence, After: pauseOf(err)})
		})
}

// ---- what the dialogue asks for ----

// begin implements ecr.Desk.
func (d *desk) begin(req ecr.Request, x *waiter) {
	if x.left != nil && x.left() {
		return
	}
	if !d.ready { // the answer is held
		d.t.after(3*time.Second, func() {
			if !d.ready {
				x.held()
			}
			d.begin(req, x)
		})
		return
	}
	if d.locked {
		d.waiting = append(d.waiting, func() { d.begin(req, x) })
		return
	}
	if d.closing {
		x.refused(ecr.NotReady)
		return
	}
	if d.t.diskBad && d.w.rng.IntN(2) == 0 { // the reserve is gone
		if !d.joinUnwritten(req, x) {
			x.refused(ecr.NotStored)
		}
		return
	}
	if key := d.known(req); key != "" {
		d.w.stats.Joined++
		d.joinKnown(key, x)
		return
	}
	if req.Kind != ecr.Payment {
		d.beginBack(req, x)
		return
	}
	offers, unfit := d.offers(req)
	if unfit != "" {
		x.refused(unfit)
		return
	}
	d.locked = true
	key := wire.Key(fmt.Sprintf("%016x-%d", d.w.rng.Uint64(), len(d.t.j.rows)))
	d.live(key).waiters = []*waiter{x}
	var steps []step
	var no ecr.Code
	d.t.write(func() error {
		no, steps = "", nil
		for _, r := range d.t.j.rows {
			if checkout.Open(r.state) {
				no = ecr.Busy
				return nil
			}
		}
		if err := d.goOn(req, &steps); err != nil {
			return err
		}
		steps = append(steps, d.insert(key, req, offers))
		return nil
	}, func(err error) {
		if err != nil || no != "" {
			delete(d.lives, key)
		}
		for _, s := range steps {
			d.perform(s)
		}
		d.unlock()
		switch {
		case err != nil:
			x.refused(ecr.NotStored)
		case no != "":
			x.refused(no)
		default:
			d.w.stats.Accepted++
			r := steps[len(steps)-1].r
			d.answerInTime(r)
			x.attach(key)
			if r.asks {
				d.progress(key, ecr.StepAsking)
				d.ask(key, r.id, r.pick, req)
			}
		}
	})
}

func (d *desk) unlock() {
	d.locked = false
	next := d.waiting
	d.waiting = nil
	for _, do := range next {
		do()
	}
}

func (d *desk) insert(key wire.Key, req ecr.Request, offers []checkout.Pick) step {
	pick := offers[d.w.rng.IntN(len(offers))]
	r := &row{
		id: int64(len(d.t.j.rows) + 1), key: key, ref: strings.ReplaceAll("R"+string(key), "-", ""), line: req.Line, seq: req.Sequence, amount: req.Amount,
		method: pick.Method, batch: d.t.j.batch, boot: d.t.boot, created: d.w.clock(), pick: pick, asks: req.Amount == 0 || pick.Asks(), kind: ecr.Payment,
	}
	terms := checkout.TermsOf(pick, methods.UnitMinutes, cmp.Or(req.Patience, checkout.Patience), req.Progress)
	terms.Ask = r.asks
	terms.Till = checkout.Till{Reference: req.Reference, Patience: req.Patience, Grace: req.Grace, Keep: req.Keep}
	state, effects := checkout.Start(terms, d.t.clock())
	r.state = state
	d.t.j.rows = append(d.t.j.rows, r)
	d.t.j.byKey[key] = r
	d.w.note("sale", fmt.Sprintf("accepted from %s: %d by %s", r.line, r.amount, r.method.Name), r.id)
	return step{*r, effects, d.nextSeq()}
}

// known finds the sale a message sequence id repeats.
func (d *desk) known(req ecr.Request) wire.Key {
	if req.Sequence == "" {
		return ""
	}
	for i := len(d.t.j.rows) - 1; i >= 0; i-- {
		r := d.t.j.rows[i]
		if r.line != req.Line || r.seq != req.Sequence {
			continue
		}
		set := time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)
		if r.boot != d.t.boot && r.created.After(set) && d.w.clock().Sub(r.created) > 90*24*time.Hour {
			return ""
		}
		return r.key
	}
	return ""
}

// goOn settles the line's unconfirmed sales.
func (d *desk) goOn(req ecr.Request, steps *[]step) error {
	for i, r := range d.t.j.rows {
		if r.state.Phase != checkout.Unconfirmed || r.line != req.Line || d.live(r.key).holds > 0 {
			continue
		}
		e := checkout.Event{Name: checkout.NextCommand}
		if order := r.state.Till.Reference; order != "" && order == req.Reference && req.Kind == ecr.Payment {
			e.Sync = checkout.Again
		}
		if last := req.LastReceipt; last != nil {
			before := 0
			for _, other := range d.t.j.rows[:i] {
				if other.line == r.line && other.receipt != 0 {
					before = other.receipt
				}
			}
			switch *last {
			case r.receipt:
				e.Sync = checkout.Same
			case before, r.receipt - 1:
				e.Sync = checkout.Before
			}
		}
		effects, err := d.transit(r, e)
		if err != nil {
			return err
		}
		*steps = append(*steps, step{*r, effects, d.nextSeq()})
	}
	return nil
}

// last implements ecr.Desk.
func (d *desk) last(line string, x *waiter) {
	for i := len(d.t.j.rows) - 1; i >= 0; i-- {
		if r := d.t.j.rows[i]; r.line == line {
			d.t.after(0, func() { d.join(r.key, x) })
			return
		}
	}
	x.refused("")
}

// join waits for a sale's outcome, or tells it at once where it is decided.
func (d *desk) join(key wire.Key, x *waiter) {
	l := d.live(key)
	l.waiters = append(l.waiters, x)
	if l.told != nil && d.take(key, x) {
		x.attach(key)
		d.give(key, x, *l.told)
		return
	}
	var r row
	taken := false
	d.t.write(func() error {
		r = *d.row(key)
		if r.state.Result != "" && d.take(key, x) {
			taken = true
		}
		return nil
	}, func(err error) {
		if err != nil {
			if taken || d.take(key, x) {
				d.released(key, false)
			}
			x.refused(ecr.SystemError)
			return
		}
		x.attach(key)
		switch {
		case taken:
			d.give(key, x, d.outcome(r))
		case checkout.Running(r.state):
			d.bound(key, cmp.Or(r.state.Till.Patience, checkout.Patience))
		}
	})
}

func (d *desk) take(key wire.Key, x *waiter) bool {
	l := d.live(key)
	for i, other := range l.waiters {
		if other == x {
			l.waiters = append(l.waiters[:i:i], l.waiters[i+1:]...)
			l.holds++
			return true
		}
	}
	return false
}

func (d *desk) released(key wire.Key, interim bool) {
	if l := d.lives[key]; l != nil && l.holds > 0 {
		if interim {
			l.interim = max(0, l.interim-1)
		}
		if l.holds--; l.holds == 0 {
			l.holdGen++
		}
	}
}

// give ends a waiter; a telling nobody reports on counts as lost after 5 minutes.
func (d *desk) give(key wire.Key, x *waiter, o ecr.Outcome) {
	x.give(o)
	l := d.live(key)
	gen := l.holdGen
	d.t.after(5*time.Minute, func() {
		if now := d.lives[key]; now == l && l.holds > 0 && l.holdGen == gen {
			what := ecr.Lost
			if l.interim > 0 {
				what = ecr.Interim
			}
			d.delivered(key, what, func(ecr.Outcome, error) {})
		}
	})
}

func (d *desk) tell(r row) {
	l := d.live(r.key)
	waiters := l.waiters
	l.waiters = nil
	l.holds += len(waiters)
	for _, x := range waiters {
		d.give(r.key, x, d.outcome(r))
	}
	if len(waiters) == 0 && l.holds == 0 && r.state.Phase == checkout.Approved {
		d.t.after(0, func() { d.insist(r.key, checkout.Event{Name: checkout.Lost}) })
	}
}

func (d *desk) outcome(r row) ecr.Outcome {
	s := r.state
	o := ecr.Outcome{Sale: string(r.key), Kind: r.kind, Result: s.Result, Code: s.Code, Amount: r.amount, Currency: "EUR", Time: d.w.clock(),
		TerminalID: "29001006", Method: r.method.Name}
	if s.Result == "" { // only a refund or reversal is told before its end
		o.Result, o.Code = ecr.InProgress, ecr.StillRunning
	}
	if s.Result == ecr.Approved {
		o.Receipt, o.Trace = r.receipt%10000, r.trace
	}
	return o
}

// abort implements ecr.Desk.
func (d *desk) abort(key wire.Key, done func(error)) {
	d.apply(key, checkout.Event{Name: checkout.AbortAsked}, func(err error) { d.abortBack(key, err, done) })
}

// delivered implements ecr.Desk.
func (d *desk) delivered(key wire.Key, what ecr.Delivery, done func(ecr.Outcome, error)) {
	name := map[ecr.Delivery]checkout.Name{ecr.Told: checkout.Told, ecr.Refused: checkout.Refused, ecr.Lost: checkout.Lost}[what]
	l := d.live(key)
	interim := l.interim > 0 && (what == ecr.Interim || l.interim == l.holds)
	if interim || what != ecr.Interim {
		d.released(key, interim)
	}
	switch { // no end, whatever became of the telling
	case interim:
		done(d.outcome(*l.interims), nil)
		return
	case what == ecr.Interim:
		done(d.outcome(*d.row(key)), nil)
		return
	}
	if l := d.live(key); l.told != nil { // the journal hears of it when it can
		done(*l.told, nil)
		return
	}
	var s step
	d.t.write(func() error {
		r := d.row(key)
		if r.state.Result == "" && checkout.Running(r.state) {
			s = step{*r, nil, d.nextSeq()}
			return nil
		}
		approved := r.state.Result == ecr.Approved
		if r.told != string(ecr.Told) {
			r.told = string(what)
		}
		effects, err := d.transit(r, checkout.Event{Name: name})
		s = step{*r, effects, d.nextSeq()}
		if approved && what == ecr.Told {
			r.heard = r.heard || r.state.Phase == checkout.Confirmed || r.state.Phase == checkout.Done
		}
		return err
	}, func(err error) {
		if err != nil {
			done(ecr.Outcome{}, err)
			return
		}
		d.perform(s)
		done(d.outcome(s.r), nil)
	})
}

func (d *desk) progress(key wire.Key, s ecr.Step) {
	l := d.live(key)
	if l.step == s {
		return
	}
	l.step = s
	for _, x := range l.waiters {
		if x.ready {
			x.step(s)
		}
	}
}
