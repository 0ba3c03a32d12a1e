package sim

import (
	"math/rand/v2"
	"time"

	"posagent/agent/checkout"
	"posagent/agent/outbox"
	"posagent/cross/referee"
	"posagent/ecr"
	"posagent/schemes/money"
	"posagent/schemes/wire"
)

// opening is how long a day is busy; it has 40 hours more to settle.
const opening = 6 * time.Hour

// theProduct is the core as it is.
func theProduct() hooks {
	return hooks{next: checkout.Next, key: func(r *row) wire.Key { return r.key }}
}

// newWorld is a world without registers. person says that one is at the terminal.
func newWorld(seed uint64, h hooks, person bool) *world {
	w := &world{seed: seed, rng: rand.New(rand.NewPCG(seed, 0x9E3779B97F4A7C15)), diskAt: -1, hooks: h, person: person}
	w.net = &network{w: w}
	w.referee = referee.New(referee.Rules{Now: func() time.Time { return epoch.Add(w.now) }}) // whatever the wall clock says
	w.bank = newBank(w)
	w.term = &terminal{w: w, j: journal{byKey: map[wire.Key]*row{}, profiles: map[string][]byte{}, batch: 1}}
	return w
}

// day plays one terminal-day and judges it.
func day(seed uint64, h hooks) *world {
	w := newWorld(seed, h, attended(seed))
	w.returns = seed%3 == 0 // the other days are as they were before registers asked for refunds
	w.weather()
	names := []string{"serial", "tcp"}
	both := w.rng.IntN(4) == 0
	for i, name := range names {
		if !both && i != int(seed%2) {
			continue
		}
		l := &line{t: w.term, name: name, tcp: name == "tcp"}
		r := &register{
			w: w, name: "till" + name[:1], line: l, tcp: l.tcp, config: []byte{0x00, 0x08, 0x8E, 0x86, 0x8A}[w.rng.IntN(5)], names: w.rng.IntN(2) == 0,
			repeats: w.rng.IntN(4) > 0, deaf: w.rng.IntN(2) == 0, anew: w.rng.IntN(2) == 0, gap: w.between(20*time.Second, 5*time.Minute), beliefs: map[int]*belief{},
		}
		l.reg = r
		w.term.lines = append(w.term.lines, l)
		w.tills = append(w.tills, r)
	}
	w.term.start(true)
	for _, r := range w.tills {
		r.rest(w.between(0, 10*time.Second), func() { r.once(r.restart) })
	}
	w.plan()
	w.personal()
	w.run(opening)
	w.close()
	w.run(opening + 40*time.Hour)
	w.judge()
	return w
}

// weather decides what goes wrong on this day: most things on few days, a few things on most.
func (w *world) weather() {
	pick := func(p, most float64) float64 {
		if w.rng.Float64() < p {
			return w.rng.Float64() * most
		}
		return 0
	}
	w.odds = odds{
		line: pick(0.5, 0.05), slow: pick(0.3, 0.05), mute: pick(0.5, 0.04), refuse: pick(0.5, 0.1),
		net: pick(0.6, 0.2), late: pick(0.4, 0.1), twice: pick(0.4, 0.1), bad: pick(0.5, 0.1),
		disk: pick(0.3, 0.05), crash: pick(0.5, 1), outage: pick(0.5, 1), clock: pick(0.5, 1),
		odd: pick(0.8, 0.8), broken: pick(0.2, 0.05),
	}
	w.bank.plain = w.rng.IntN(5) == 0
}

// plan lays out the accidents that come by themselves.
func (w *world) plan() {
	t := w.term
	if w.odds.crash > 0 {
		for range 1 + w.rng.IntN(int(1+5*w.odds.crash)) {
			newBoot, pause := w.rng.IntN(2) == 0, w.exp(20*time.Second, 20*time.Minute)
			w.after(w.between(time.Minute, opening), func() { t.crash(newBoot, pause) })
			if w.rng.IntN(3) == 0 { // and once more, soon
				w.after(w.between(time.Minute, opening), func() {
					t.crash(true, time.Second)
					w.after(w.between(time.Second, 20*time.Second), func() { t.crash(false, time.Second) })
				})
			}
		}
	}
	if w.odds.outage > 0 {
		for range 1 + w.rng.IntN(4) {
			long := w.exp(10*time.Minute, 8*time.Hour)
			w.after(w.between(0, opening), func() {
				w.stats.Outages++
				w.note("net", "is down", 0)
				w.net.down = true
				w.after(long, func() { w.net.down = false; w.note("net", "is up", 0) })
			})
		}
		if w.rng.IntN(10) == 0 { // the evening and the next day too
			w.after(opening-time.Minute, func() { w.net.down = true })
		}
	}
	if w.odds.disk > 0 {
		for range w.rng.IntN(4) {
			long := w.exp(20*time.Second, 5*time.Minute)
			w.after(w.between(0, opening), func() {
				t.diskBad, w.diskAt = true, w.now
				w.after(long, func() { t.diskBad, w.diskAt = false, w.now })
			})
		}
	}
	if w.odds.clock > 0 {
		for range 1 + w.rng.IntN(5) {
			w.after(w.between(0, opening), func() {
				w.wall += []time.Duration{time.Hour, -time.Hour, -56 * 365 * 24 * time.Hour, 10 * 365 * 24 * time.Hour}[w.rng.IntN(4)]
				w.note("clock", "jumps to "+w.clock().Format(time.DateOnly), 0)
			})
		}
	}
	for _, r := range w.tills {
		if w.odds.mute > 0 && w.rng.IntN(2) == 0 {
			w.after(w.between(0, opening), func() {
				if !r.off {
					r.die(r.cur, w.exp(10*time.Minute, time.Hour))
				}
			})
		}
	}
}

// close ends the day: nothing goes wrong any more, and the registers ask a last time, or leave.
func (w *world) close() {
	w.note("day", "is over", 0)
	down := w.net.down && w.rng.IntN(2) == 0
	w.calm = true
	w.term.diskBad = false
	if down { // the network comes back a day later
		w.after(27*time.Hour, func() { w.net.down = false })
	} else {
		w.net.down = false
	}
	if !w.term.up {
		w.after(time.Hour, func() {
			if !w.term.up {
				w.fail("the terminal never came back")
			}
		})
	}
	for _, r := range w.tills {
		switch w.rng.IntN(3) {
		case 0:
			r.quit = true
		case 1:
			w.after(20*time.Minute, func() {
				if r.cur == nil && !r.off && r.repeats {
					r.repeat()
				}
			})
		}
	}
}

// judge compares what the registers believe with what the backend's books say.
func (w *world) judge() {
	if len(w.bad) > 0 {
		return
	}
	for _, v := range w.referee.Verdict(nil) {
		w.fail("referee: %s", v)
	}
	for _, t := range w.bank.txns { // also those that nobody reads any more
		w.bank.advance(t)
	}
	receipts := map[int]bool{}
	for _, r := range w.term.j.rows {
		w.judgeSale(r, receipts)
	}
	w.judgeTills()
	for _, o := range w.term.j.ops {
		if !o.State.Final() && o.State != outbox.Doubt {
			w.fail("an undo of sale %d is still %s: %s", o.sale, o.State, o.Reason)
		}
	}
	if w.bank.sum != 0 {
		w.fail("the postings sum to %d", w.bank.sum)
	}
	for _, r := range w.tills {
		if r.cur != nil {
			w.fail("%s still waits for %04X", r.name, uint16(r.cur.cmd))
		}
		for n := range r.beliefs {
			if !receipts[n] {
				w.fail("%s has receipt %d, which no sale has", r.name, n)
			}
		}
	}
}

func (w *world) judgeSale(r *row, receipts map[int]bool) {
	s := r.state
	if r.receipt != 0 {
		if receipts[r.receipt] {
			w.fail("receipt %d was given twice", r.receipt)
		}
		receipts[r.receipt] = true
	}
	if doubt := s.Phase == checkout.Forward && s.Excepted; !doubt && (s.Result == "" || checkout.Open(s) || checkout.Active(s) && s.Phase != checkout.Confirmed) {
		w.fail("sale %d is still %s %s", r.id, s.Phase, s.Result)
		return
	}
	w.judgeAsked(r)
	if len(w.callers) > 0 {
		return // judgeTills has the rest
	}
	net, payments := w.bank.net(r.ref)
	approved := s.Result == ecr.Approved
	want := r.amount - w.givenBack(r)
	known, ignored := false, false
	for _, t := range w.tills {
		if b := t.beliefs[r.receipt]; b != nil && r.receipt != 0 && t.line.name == r.line {
			known, ignored = b.approved, b.ignored
			if known && b.amount != r.amount {
				w.fail("sale %d over %d was told over %d", r.id, r.amount, b.amount)
			}
		}
	}
	switch {
	case r.kind != ecr.Payment:
		w.judgeBack(r, known, r.no)
	case approved:
		w.stats.Approved++
		switch {
		case !known:
			w.fail("sale %d, receipt %d, is approved, and its register does not know it", r.id, r.receipt)
		case net == 0 && r.exception:
			w.stats.Excepted++
		case net != want || payments > 1:
			w.fail("sale %d is approved over %d, %d of it is not given back, and %d payments with %d are committed", r.id, r.amount, want, payments, money.Minor(net))
		}
	case net != 0:
		w.fail("sale %d was told %s, and %d is committed", r.id, s.Result, net)
	case known && (r.heard || ignored):
		w.fail("sale %d, receipt %d, was acknowledged and undone", r.id, r.receipt)
	case known:
		w.stats.Unheard++
	}
	if !approved && s.UndoTries > 0 {
		w.stats.Undone++
	}
}
