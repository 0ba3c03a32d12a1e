package sim

import (
	"cmp"
	"fmt"
	"time"

	"posagent/ecr"
	"posagent/schemes/money"
	"posagent/schemes/wire"
)

// manner is how the requests of a protocol are made at the desk, and how its tills ask again.
type manner struct {
	name     string
	ids      bool          // each request has an id of the till's, by which it asks
	keep     bool          // an approval that is not heard is kept, with an alert
	last     bool          // it asks for the last result of its line
	back     []ecr.Kind    // what it gives back by
	progress bool          // the till follows a sale as long as the method takes
	patience time.Duration // of the till; 0 = the terminal's own
}

// manners are the protocols beside ZVT (MONEY A.4 and F.5).
var manners = []manner{
	{name: "jsonl", ids: true, progress: true, back: []ecr.Kind{ecr.Refund, ecr.Reversal}},
	{name: "nexo", ids: true, patience: 55 * time.Second, back: []ecr.Kind{ecr.Refund, ecr.Reversal}},
	{name: "ecr17", last: true, patience: 50 * time.Second, back: []ecr.Kind{ecr.Reversal}},
	{name: "caisse-ap", patience: 80 * time.Second, back: []ecr.Kind{ecr.Refund}},
	{name: "http", ids: true, keep: true, progress: true, back: []ecr.Kind{ecr.Refund, ecr.Reversal}},
}

// sold is one purchase, refund or reversal at a till under one id, and what the till knows of it.
type sold struct {
	id, order string
	kind      ecr.Kind
	of        *sold // a refund or reversal: the purchase
	amount    money.Minor
	receipt   int
	trace     int
	key       wire.Key   // of the sale that came of it, for the judge
	heard     ecr.Result // what the till was told last
	heardAt   time.Duration
	said      ecr.Result // what the till was told; "" = nothing
	firm      bool       // the till's acknowledgement was recorded
	none      bool       // told that nothing was done under the id, and that nothing will be
	asked     int
}

// till asks for sales at the desk. What carries its questions is the line of its protocol.
type till struct {
	w      *world
	m      manner
	line   string
	number int
	cur    *sold
	all    []*sold
	gen    int // of the question in hand
	gap    time.Duration
	paused *event
}

func (x *till) rest(d time.Duration, do func()) {
	x.paused.stop()
	x.paused = x.w.after(d, do)
}

// act makes the next purchase.
func (x *till) act() {
	if x.w.calm || x.cur != nil {
		return
	}
	if x.giveBack() {
		return
	}
	x.number++
	x.sell(fmt.Sprintf("order %d", x.number))
}

// giveBack gives back a late purchase, in part or as a whole. It is false where there is none, or where the till goes on selling.
func (x *till) giveBack() bool {
	w := x.w
	if len(x.m.back) == 0 || w.rng.IntN(4) > 0 {
		return false
	}
	var of []*sold
	for _, s := range x.all {
		if s.kind == ecr.Payment && s.said == ecr.Approved {
			of = append(of, s)
		}
	}
	if len(of) == 0 {
		return false
	}
	p := of[len(of)-1-w.rng.IntN(min(len(of), 6))]
	s := &sold{id: fmt.Sprintf("%s-%d", x.line, len(x.all)+1), kind: x.m.back[w.rng.IntN(len(x.m.back))], of: p, amount: p.amount}
	if s.kind == ecr.Refund && w.rng.IntN(2) == 0 {
		s.amount = max(1, p.amount*money.Minor(1+w.rng.IntN(9))/10)
	}
	x.begin(s)
	return true
}

// begin asks for a purchase, refund or reversal for the first time.
func (x *till) begin(s *sold) {
	x.all = append(x.all, s)
	x.cur = s
	x.ask(false)
}

// request is a purchase, refund or reversal as the desk gets it.
func (x *till) request(s *sold) ecr.Request {
	req := ecr.Request{Kind: s.kind, Amount: s.amount, Currency: "EUR", Line: x.line, Reference: s.order, Patience: x.m.patience}
	switch {
	case s.kind == ecr.Payment:
		req.Progress, req.Keep = x.m.progress, x.m.keep
	case s.kind == ecr.Refund:
		req.Original = fmt.Sprint("R", s.of.receipt)
	case x.m.last:
		req.Amount, req.Original = 0, fmt.Sprint("L", s.of.trace)
	default:
		req.Amount, req.Receipt = 0, s.of.receipt
	}
	if x.m.ids {
		req.Sequence = s.id
	}
	return req
}

// sell makes a sale of a purchase, under a new id.
func (x *till) sell(order string) {
	x.w.stats.Asked++
	x.begin(&sold{id: fmt.Sprintf("%s-%d", x.line, len(x.all)+1), kind: ecr.Payment, order: order, amount: money.Minor(1000 + x.w.rng.Int64N(9000))})
}

// ask sends a question: the request, or one after its id.
func (x *till) ask(after bool) {
	w, s, t := x.w, x.cur, x.w.term
	x.gen++
	s.asked++
	gen, life := x.gen, t.life
	w.note(x.line, fmt.Sprintf("asks for %s, find %v", s.id, after), 0)
	if !t.up || w.hit(w.odds.line) { // a connection that breaks, or none
		x.watch(gen, life, w.now+w.between(0, 20*time.Second))
		return
	}
	x.watch(gen, life, w.now+cmp.Or(x.m.patience, 12*time.Minute)+5*time.Second)
	w.after(w.exp(8*time.Millisecond, 300*time.Millisecond), func() {
		if !t.up || t.life != life {
			return
		}
		a := x.waits(s, gen, life)
		switch {
		case after && x.m.last:
			x.askForLast(s, gen, life)
		case after:
			t.desk.find(x.line, s.id, a)
		default:
			t.desk.begin(x.request(s), a)
		}
	})
}

// watch ends a question whose connection is gone, or that takes too long.
func (x *till) watch(gen, life int, until time.Duration) {
	x.w.after(2*time.Second, func() {
		switch t := x.w.term; {
		case gen != x.gen:
		case !t.up, t.life != life, x.w.now >= until:
			x.lost()
		default:
			x.watch(gen, life, until)
		}
	})
}

// waits is what the terminal has of a question. Its calls end with the terminal's life.
func (x *till) waits(s *sold, gen, life int) *waiter {
	w, t := x.w, x.w.term
	return &waiter{
		held: func() {}, step: func(ecr.Step) {},
		left:  func() bool { return gen != x.gen },
		begun: func(key wire.Key) { s.key = key },
		refused: func(code ecr.Code) {
			w.after(w.exp(8*time.Millisecond, 300*time.Millisecond), func() { x.refused(s, gen, code) })
		},
		ended: func(o ecr.Outcome) { t.after(0, func() { x.told(s, gen, life, o) }) },
	}
}

// askForLast asks for the last result of the line. The till compares its number with those that it knows: an older one says that
// nothing was done of what it asked for last.
func (x *till) askForLast(s *sold, gen, life int) {
	w, t := x.w, x.w.term
	if !t.desk.ready || t.desk.locked { // NAK
		t.after(3*time.Second, func() {
			if gen == x.gen {
				x.askForLast(s, gen, life)
			}
		})
		return
	}
	a := x.waits(s, gen, life)
	a.begun = func(key wire.Key) {
		for _, other := range x.all {
			if s.key != key && other.key == key { // a reversal that was repeated is one with its repetition
				if s.key != "" && s.kind == ecr.Payment { // a reversal may have been joined to an earlier one, as the page of the protocol says
					w.fail("%s: G tells an older result than that of %s", x.line, s.id)
				}
				return
			}
		}
		s.key = key
	}
	refused := a.refused
	a.refused = func(code ecr.Code) {
		if code == "" || gen != x.gen {
			refused(code)
			return
		}
		x.gen++ // NAK, which says nothing
		x.rest(w.exp(5*time.Second, time.Minute), func() { x.again(s) })
	}
	ended := a.ended
	a.ended = func(o ecr.Outcome) {
		if wire.Key(o.Sale) == s.key {
			ended(o)
			return
		}
		t.after(0, func() { x.report(s, wire.Key(o.Sale), ecr.Lost, w.now) })
		x.refused(s, gen, "")
	}
	t.desk.last(x.line, a)
}

// refused takes an answer that is no outcome; "" = there is no such sale.
func (x *till) refused(s *sold, gen int, code ecr.Code) {
	w := x.w
	if gen != x.gen {
		return
	}
	x.gen++
	w.note(x.line, fmt.Sprintf("is refused %s: %q", s.id, code), 0)
	switch {
	case code == "":
		s.none = true
		x.done()
	case s.kind != ecr.Payment && (code == ecr.NotReversible || code == ecr.AlreadyReversed || code == ecr.AmountWrong || code == ecr.StillRunning):
		if r := x.rowOf(s); r != nil {
			w.noWhileItRuns(r, x.line, string(code))
		}
		s.said, s.firm = ecr.Aborted, true
		x.done()
	case s.kind != ecr.Payment && !x.m.ids: // not now: nothing was done
		s.said, s.firm = ecr.Aborted, true
		x.done()
	case x.m.ids: // it says nothing of a request that was accepted before: the same again
		x.rest(w.exp(5*time.Second, time.Minute), func() { x.again(s) })
	default:
		s.said, s.firm = ecr.Aborted, true
		x.done()
	}
}

// told carries an outcome to the till, and what the till acknowledges back.
func (x *till) told(s *sold, gen, life int, o ecr.Outcome) {
	w, t := x.w, x.w.term
	report := func(after time.Duration, what ecr.Delivery) {
		t.after(after, func() { x.report(s, wire.Key(o.Sale), what, w.now) })
	}
	switch {
	case gen != x.gen, w.hit(w.odds.line), w.hit(w.odds.mute): // it has left, or the answer is lost
		w.note(x.line, "does not hear of "+s.id, 0)
		report(w.between(0, 10*time.Second), ecr.Lost)
		if gen == x.gen {
			w.after(w.between(0, 20*time.Second), func() {
				if gen == x.gen {
					x.lost()
				}
			})
		}
		return
	}
	known := !w.hit(w.odds.line) // else the acknowledgement is lost
	arrives := w.exp(8*time.Millisecond, 300*time.Millisecond)
	w.after(arrives, func() {
		if gen != x.gen {
			return
		}
		x.gen++
		if s.heard = o.Result; o.Result == ecr.InProgress { // it asks for the end
			x.rest(w.exp(20*time.Second, time.Minute), func() { x.again(s) })
			return
		}
		x.took(s, o)
		if known || !x.m.ids || w.rng.IntN(4) == 0 {
			x.done()
			return
		}
		x.rest(w.exp(5*time.Second, time.Minute), func() { x.again(s) }) // it asks until the terminal has its acknowledgement
	})
	if !known {
		report(arrives+w.between(0, 10*time.Second), ecr.Lost)
		return
	}
	t.after(arrives, func() {
		if s.heard == o.Result { // it was there to hear it
			report(w.exp(8*time.Millisecond, 300*time.Millisecond), ecr.Told)
			return
		}
		report(w.between(0, 10*time.Second), ecr.Lost)
	})
}

// took books what the till was told. Told one thing it must not be told another.
func (x *till) took(s *sold, o ecr.Outcome) {
	said := o.Result
	if r := x.rowOf(s); r != nil && said != ecr.Approved {
		x.w.noWhileItRuns(r, x.line, string(said))
	}
	s.receipt, s.trace = o.Receipt, o.Trace
	x.w.note(x.line, fmt.Sprintf("is told %s of %s", said, s.id), 0)
	// The documented exception: its acknowledgement was lost, and it did not ask again before the grace was over.
	late := s.said == ecr.Approved && !s.firm && said == ecr.Aborted && s.kind == ecr.Payment && x.w.now-s.heardAt > grace
	if s.said != "" && s.said != said && !late {
		x.w.fail("%s: %s was told %s, then %s", x.line, s.id, s.said, said)
	}
	if s.none {
		x.w.fail("%s: %s was told not found, then %s", x.line, s.id, said)
	}
	s.said, s.heardAt = said, x.w.now
}

// rowOf is what the journal has of a purchase, refund or reversal, nil = nothing.
func (x *till) rowOf(s *sold) *row {
	for _, r := range x.w.term.j.rows {
		if r.line == x.line && (r.seq != "" && r.seq == s.id || r.key == s.key) {
			return r
		}
	}
	return nil
}

// report tells the desk what became of a telling, until it is recorded.
func (x *till) report(s *sold, key wire.Key, what ecr.Delivery, began time.Duration) {
	w, t := x.w, x.w.term
	t.desk.delivered(key, what, func(o ecr.Outcome, err error) {
		switch {
		case err == nil:
			s.firm = s.firm || what == ecr.Told && o.Result == s.said
		case w.now-began < 10*time.Minute:
			t.after(time.Second, func() { x.report(s, key, what, began) })
		}
	})
}

// done ends a purchase.
func (x *till) done() {
	x.cur = nil
	x.rest(x.w.exp(x.gap, 10*x.gap), x.act)
}

// lost is what a till does about a question without an answer.
func (x *till) lost() {
	w, s := x.w, x.cur
	x.gen++
	if s == nil {
		return
	}
	w.note(x.line, "has no answer for "+s.id, 0)
	w.stats.Lost++
	switch {
	case !x.m.ids && !x.m.last: // it cannot ask
		x.cur = nil
		x.rest(w.exp(20*time.Second, 5*time.Minute), func() { x.goOn(s.order) })
	case !w.calm && s.asked > 2 && w.rng.IntN(4) == 0: // it has lost the id
		order := s.order
		if s.said == ecr.Approved { // it is paid, as this till knows: nobody rings it up again
			order = ""
		}
		x.cur = nil
		x.rest(w.exp(20*time.Second, 5*time.Minute), func() { x.goOn(order) })
	default:
		x.rest(w.exp(5*time.Second, time.Minute), func() { x.again(s) })
	}
}

// again asks for a sale by its id, in one of the two ways.
func (x *till) again(s *sold) {
	switch {
	case x.cur != s:
	case !x.m.ids: // by the last result, or for a refund with the same request: it joins
		x.ask(x.m.last)
	default:
		x.ask(x.w.rng.IntN(2) == 0)
	}
}

// goOn makes the same purchase under another id, or the next one.
func (x *till) goOn(order string) {
	if x.cur != nil || x.w.calm {
		return
	}
	if order != "" && x.w.rng.IntN(2) == 0 {
		x.sell(order)
		return
	}
	x.act()
}

// find implements ecr.Finder.
func (d *desk) find(line, id string, x *waiter) {
	switch key := d.known(ecr.Request{Line: line, Sequence: id}); {
	case x.left != nil && x.left():
	case !d.ready || d.locked:
		d.t.after(3*time.Second, func() { d.find(line, id, x) })
	case key != "":
		d.t.after(0, func() { d.join(key, x) })
	default:
		x.refused("")
	}
}

// closeDay makes the end of day, as often as it takes.
func (w *world) closeDay() {
	again := func() { w.after(10*time.Minute, w.closeDay) }
	if !w.term.up {
		again()
		return
	}
	w.term.desk.close(func(_ ecr.Totals, code ecr.Code) {
		if code != ecr.OK {
			again()
		}
	})
}

// judgeTills holds what the tills know against the books.
func (w *world) judgeTills() {
	for _, x := range w.callers {
		if x.cur != nil && (x.m.ids || x.m.last) {
			w.fail("%s still has no answer for %s", x.line, x.cur.id)
		}
		of := map[wire.Key]*sold{}
		ids := map[string]*sold{}
		for _, s := range x.all {
			of[s.key], ids[s.id] = s, s
		}
		seen := map[string]bool{}
		for _, r := range w.term.j.rows {
			if r.line != x.line {
				continue
			}
			s := of[r.key]
			if r.seq != "" {
				s = ids[r.seq]
				if seen[r.seq] {
					w.fail("sale %d is a second one of %s", r.id, r.seq)
				}
				seen[r.seq] = true
			}
			x.judge(r, s)
		}
		for _, s := range x.all {
			if s.none && seen[s.id] {
				w.fail("%s: %s was told not found, and is a sale", x.line, s.id)
			}
			if s.said == ecr.Approved && !seen[s.id] && x.m.ids {
				w.fail("%s: %s was told approved, and is no sale", x.line, s.id)
			}
		}
	}
}

// judge judges a sale of the journal; s is the purchase that it came of, nil where no till knows of it.
func (x *till) judge(r *row, s *sold) {
	w, st := x.w, r.state
	said := ecr.Result("")
	if s != nil {
		said = s.said
	}
	if r.kind != ecr.Payment {
		w.judgeBack(r, said == ecr.Approved, said == ecr.Declined || said == ecr.Aborted)
		return
	}
	net, payments := w.bank.net(r.ref)
	want := r.amount - w.givenBack(r)
	switch approved := st.Result == ecr.Approved; {
	case approved && said != "" && said != ecr.Approved:
		w.fail("sale %d is approved, and its till was told %s", r.id, said)
	case approved && said == "" && !(x.m.keep && st.Till.Kept):
		w.fail("sale %d is approved, its till was told nothing, and nobody was alerted", r.id)
	case approved && net == 0 && st.Excepted:
		w.stats.Approved, w.stats.Excepted = w.stats.Approved+1, w.stats.Excepted+1
	case approved && (net != want || payments > 1):
		w.fail("sale %d is approved over %d, %d of it is not given back, and %d payments with %d are committed", r.id, r.amount, want, payments, net)
	case approved:
		w.stats.Approved++
	case net != 0:
		w.fail("sale %d was told %s, and %d is committed", r.id, st.Result, net)
	case said == ecr.Approved && (r.heard || s.firm):
		w.fail("sale %d was acknowledged and undone", r.id)
	case x.m.keep && r.receipt != 0 && st.Text != "the till asked for the same purchase again":
		w.fail("sale %d was approved and is to be kept, and was undone: %s", r.id, st.Text)
	case said == ecr.Approved && x.m.keep:
		w.fail("sale %d was heard and undone, and is to be kept", r.id)
	case said == ecr.Approved:
		w.stats.Unheard++
	}
	if st.Result != ecr.Approved && st.UndoTries > 0 {
		w.stats.Undone++
	}
}

// dayOf plays one day of tills of a protocol, two of them on some days.
func dayOf(seed uint64, m manner, h hooks) *world {
	w := newWorld(seed, h, false)
	w.weather()
	for i := range 1 + w.rng.IntN(2) {
		x := &till{w: w, m: m, line: fmt.Sprintf("%s/till%d", m.name, i+1), gap: w.between(20*time.Second, 5*time.Minute)}
		w.callers = append(w.callers, x)
	}
	w.term.start(true)
	for _, x := range w.callers {
		x.rest(w.between(0, 10*time.Second), x.act)
	}
	w.odds.clock = 0 // ids hold for 90 days of the calendar
	w.plan()
	w.run(opening)
	w.close()
	w.after(20*time.Hour, w.closeDay)
	w.run(opening + 40*time.Hour)
	w.judge()
	return w
}
