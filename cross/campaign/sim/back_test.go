package sim

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"posagent/agent/checkout"
	"posagent/agent/gateway"
	"posagent/agent/outbox"
	"posagent/ecr"
	"posagent/schemes/aapay"
	"posagent/schemes/methods"
	"posagent/schemes/money"
	"posagent/schemes/wire"
)

// Refunds and reversals that a register asks for, after agent/checkout/drive/forward.go and perform.

// told of a row: the register was told "in progress".
const toldInProgress = "in progress"

const (
	answerLead    = 4 * time.Second  // before the end of the register's patience
	withdrawAfter = 30 * time.Second // of what never had a connection
)

// askedFor is how a register named the original.
func askedFor(req ecr.Request) string {
	if req.Kind == ecr.Reversal && req.Original == "" {
		return fmt.Sprint("R", req.Receipt)
	}
	return req.Original
}

// lastOf is the payment of a line that was approved last, nil = none.
func (d *desk) lastOf(line string) *row {
	for i := len(d.t.j.rows) - 1; i >= 0; i-- {
		if r := d.t.j.rows[i]; r.line == line && r.kind == ecr.Payment && r.receipt != 0 {
			return r
		}
	}
	return nil
}

// sameBack says that a request repeats a refund or reversal of its line. orig is the payment that it names now, nil = none.
func (d *desk) sameBack(r *row, req ecr.Request, orig *row) bool {
	if r.line != req.Line || r.kind != req.Kind || req.Amount != 0 && req.Amount != r.amount {
		return false
	}
	asked := askedFor(req)
	switch trace, last := strings.CutPrefix(asked, "L"); {
	case last && trace != "":
		return r.original != nil && trace == strconv.Itoa(r.original.trace)
	case orig == nil:
		return !last && asked != "" && asked == r.asked
	}
	return r.original == orig
}

// repeated finds the refund or reversal that a request repeats: one that runs, or one of the day whose end the register does not have.
func (d *desk) repeated(req ecr.Request) wire.Key {
	orig := d.named(req)
	for _, r := range d.t.j.rows {
		if checkout.Running(r.state) && d.sameBack(r, req, orig) {
			return r.key
		}
	}
	for i := len(d.t.j.rows) - 1; i >= 0; i-- {
		r := d.t.j.rows[i]
		if r.kind != ecr.Payment && !checkout.Active(r.state) && r.told != string(ecr.Told) && r.batch == d.t.j.batch && d.sameBack(r, req, orig) {
			return r.key
		}
	}
	return ""
}

// named is the payment that a request speaks of, nil = none.
func (d *desk) named(req ecr.Request) (o *row) {
	asked := askedFor(req)
	if trace, ok := strings.CutPrefix(asked, "L"); ok {
		if o = d.lastOf(req.Line); o != nil && (trace != strconv.Itoa(o.trace) || o.batch != d.t.j.batch) {
			o = nil
		}
		return o
	}
	for _, r := range d.t.j.rows {
		if r.kind == ecr.Payment && r.receipt != 0 && asked == fmt.Sprint("R", r.receipt%10000) && (req.Kind == ecr.Refund || r.batch == d.t.j.batch) {
			o = r
		}
	}
	return o
}

// original finds the payment that a request speaks of, and applies its ledger.
func (d *desk) original(req ecr.Request) (o *row, no ecr.Code) {
	o = d.named(req)
	switch {
	case o == nil:
		return nil, ecr.NotReversible
	case req.Kind == ecr.Reversal && (o.reversed || o.state.Result != ecr.Approved):
		return nil, ecr.AlreadyReversed
	case o.state.Phase != checkout.Confirmed && o.state.Phase != checkout.Done, o.state.Result != ecr.Approved:
		return nil, ecr.NotReversible
	case req.Kind == ecr.Reversal && o.debited != 0:
		return nil, ecr.NotReversible
	case req.Kind == ecr.Refund && req.Amount > o.amount-o.debited:
		return nil, ecr.AmountWrong
	}
	if typ, _ := backTo(req.Kind, o); typ == aapay.Refund && (!methods.Supports(o.method, methods.Refund) || o.state.TransactionID == 0) {
		return nil, ecr.NotReversible
	}
	return o, ""
}

// backTo is how the backend is asked to give money back, and how the original is named for it.
func backTo(kind ecr.Kind, o *row) (typ aapay.Type, original string) {
	if kind == ecr.Refund || !methods.Supports(o.method, methods.Reversal) {
		return aapay.Refund, strconv.FormatInt(o.state.TransactionID, 10)
	}
	return aapay.Reversal, o.ref
}

// beginBack accepts a refund or reversal, in the commit that debits its original.
func (d *desk) beginBack(req ecr.Request, x *waiter) {
	d.locked = true
	key := wire.Key(fmt.Sprintf("%016x-b%d", d.w.rng.Uint64(), len(d.t.j.rows)))
	d.live(key).waiters = []*waiter{x}
	var steps []step
	var no ecr.Code
	var join wire.Key
	d.t.write(func() error {
		no, steps = "", nil
		if join = d.repeated(req); join != "" {
			if req.Sequence != "" { // begun under another id
				join, no = "", ecr.StillRunning
			}
			return nil
		}
		for _, r := range d.t.j.rows {
			if checkout.Open(r.state) {
				no = ecr.Busy
				return nil
			}
		}
		if err := d.goOn(req, &steps); err != nil {
			return err
		}
		var o *row
		if o, no = d.original(req); no == "" {
			steps = append(steps, d.insertBack(key, req, o))
		}
		return nil
	}, func(err error) {
		if err != nil || no != "" || join != "" {
			delete(d.lives, key)
		}
		for _, s := range steps {
			d.perform(s)
		}
		d.unlock()
		switch {
		case err != nil && d.joinUnwritten(req, x):
		case err != nil:
			x.refused(ecr.NotStored)
		case join != "":
			d.w.stats.Joined++
			d.joinKnown(join, x)
		case no != "":
			x.refused(no)
		default:
			d.w.stats.Backs++
			x.attach(key)
			d.bound(key, cmp.Or(req.Patience, checkout.Patience))
			d.t.attemptSoon(d.opOf(key), 0)
			d.withdrawal(key)
		}
	})
}

// joinUnwritten joins what a request repeats while the journal cannot be written: refused, it would be taken for one that is not
// carried out. It is false where the request repeats nothing.
func (d *desk) joinUnwritten(req ecr.Request, x *waiter) bool {
	if req.Kind == ecr.Payment {
		return false
	}
	key := d.known(req)
	if req.Sequence == "" {
		key = d.repeated(req)
	}
	return key != "" && d.rejoin(key, x)
}

// joinKnown joins the sale that a request repeats; a refund or reversal also where the journal cannot be written.
func (d *desk) joinKnown(key wire.Key, x *waiter) {
	refused := x.refused
	x.refused = func(code ecr.Code) {
		if d.row(key).kind == ecr.Payment || !d.rejoin(key, x) {
			refused(code)
		}
	}
	d.join(key, x)
}

// rejoin joins a refund or reversal without the journal.
func (d *desk) rejoin(key wire.Key, x *waiter) bool {
	r := *d.row(key)
	d.live(key).waiters = append(d.live(key).waiters, x)
	x.attach(key)
	switch {
	case checkout.Running(r.state):
		d.bound(key, cmp.Or(r.state.Till.Patience, checkout.Patience))
	case d.take(key, x):
		d.give(key, x, d.outcome(r))
	}
	return true
}

func (d *desk) insertBack(key wire.Key, req ecr.Request, o *row) step {
	r := &row{
		id: int64(len(d.t.j.rows) + 1), key: key, ref: strings.ReplaceAll("R"+string(key), "-", ""), line: req.Line, seq: req.Sequence, amount: req.Amount,
		method: o.method, batch: d.t.j.batch, boot: d.t.boot, created: d.w.clock(), since: d.w.now, kind: req.Kind, original: o, asked: askedFor(req),
	}
	if req.Kind == ecr.Reversal {
		r.amount = o.amount
	}
	patience := cmp.Or(req.Patience, checkout.Patience)
	r.state, _ = checkout.Start(checkout.Terms{
		Kind: req.Kind, Limits: checkout.LimitsOf(o.method, methods.UnitMinutes, patience, false), Till: checkout.Till{Patience: req.Patience},
	}, d.t.clock())
	o.debited += r.amount
	o.reversed = o.reversed || r.kind == ecr.Reversal
	typ, original := backTo(r.kind, o)
	d.accept(r, key, typ, original, r.ref, o.ref)
	d.t.j.rows = append(d.t.j.rows, r)
	d.t.j.byKey[key] = r
	d.w.note("sale", fmt.Sprintf("%s of %d of sale %d accepted from %s by %s", r.kind, r.amount, o.id, r.line, typ), r.id)
	return step{*r, nil, d.nextSeq()}
}

// accept puts an undo, a refund or a reversal into the queue; aggregate is the queue of its own where it has to wait for those before it.
func (d *desk) accept(r *row, key wire.Key, typ aapay.Type, original, ref, aggregate string) {
	kind := gateway.KindReversal
	if typ == aapay.Refund {
		kind = gateway.KindRefund
	}
	p := gateway.UndoPayload{
		Request: aapay.Request{Method: r.method.Name, TerminalReference: ref, OriginalReference: original,
			PurchaseAmount: &aapay.Amount{CurrencyCode: "EUR", NominalAmount: int64(r.amount), TotalAmount: int64(r.amount)}},
		Window: r.state.Limits.Window(),
	}
	for _, c := range r.method.OKCodes {
		if aapay.Type(c.Type) == typ {
			p.OKWords = append(p.OKWords, c.Value)
		}
	}
	payload, err := json.Marshal(p)
	if err != nil {
		d.w.fail("payload: %v", err)
	}
	d.t.j.ops = append(d.t.j.ops, &op{sale: r.id, sentAt: -1, aggregate: aggregate, Op: outbox.Op{ID: int64(len(d.t.j.ops) + 1), State: outbox.Pending,
		New: outbox.New{Key: key, Kind: kind, Payload: payload}}})
}

func (d *desk) opOf(key wire.Key) *op {
	for _, o := range d.t.j.ops {
		if o.Key == key {
			return o
		}
	}
	return nil
}

// waits says that an operation of the same payment has to end before this one.
func (t *terminal) waits(o *op) bool {
	for _, other := range t.j.ops {
		if other == o {
			return false
		}
		if o.aggregate != "" && other.aggregate == o.aggregate && !other.State.Final() {
			return true
		}
	}
	return false
}

// bound answers "in progress" when the register cannot wait any longer, also where the journal cannot be written.
func (d *desk) bound(key wire.Key, patience time.Duration) {
	told, runs := false, false
	var at func()
	at = func() {
		if !checkout.Running(d.row(key).state) {
			return
		}
		now := *d.row(key)
		d.t.write(func() error {
			r := d.row(key)
			if runs = checkout.Running(r.state); runs {
				r.told = toldInProgress
			}
			now = *r
			return nil
		}, func(err error) {
			if !told && (err != nil || runs) {
				d.tellInterim(now)
			}
			if err != nil {
				told = true
				d.t.after(time.Second, at)
			}
		})
	}
	d.t.after(patience-answerLead, at)
}

func (d *desk) tellInterim(r row) {
	l := d.live(r.key)
	waiters := l.waiters
	l.waiters = nil
	l.holds, l.interim, l.interims = l.holds+len(waiters), l.interim+len(waiters), &r
	for _, x := range waiters {
		d.w.stats.Running++
		d.give(r.key, x, d.outcome(r))
	}
}

// withdrawal ends a refund or reversal of which nothing has left the terminal in time.
func (d *desk) withdrawal(key wire.Key) {
	var at func()
	at = func() {
		d.withdraw(key, func(done bool) {
			if !done && d.row(key).state.Phase == checkout.Forward {
				d.t.after(20*time.Second, at)
			}
		})
	}
	d.t.after(withdrawAfter, at)
}

// withdraw ends one that was never sent; whatever the sender is about to do, either it never leaves, or done is false.
func (d *desk) withdraw(key wire.Key, done func(withdrawn bool)) {
	var s *step
	d.t.write(func() error {
		s = nil
		o := d.opOf(key)
		if o.State != outbox.Pending || gateway.Refund(nil, nil, nil).Touched(o.Op) {
			return nil
		}
		o.State, o.Reason = outbox.Expired, "not done: no connection"
		s = d.t.settled(o)
		return nil
	}, func(err error) {
		if err == nil && s != nil {
			d.perform(*s)
		}
		done(err == nil && s != nil)
	})
}

// abortBack lets go of a refund or reversal that was never sent.
func (d *desk) abortBack(key wire.Key, err error, done func(error)) {
	if r := d.row(key); r == nil || !errors.Is(err, checkout.ErrRefused) || r.state.Phase != checkout.Forward {
		done(err)
		return
	}
	d.withdraw(key, func(withdrawn bool) {
		if withdrawn {
			err = nil
		}
		done(err)
	})
}

// release gives a debited amount back to the original, after the backend's final no.
func (r *row) release() {
	r.original.debited -= r.amount
	if r.kind == ecr.Reversal {
		r.original.reversed = false
	}
}

// givenBack is what the books have to show less for a payment: the sum of what was given back of it.
func (w *world) givenBack(o *row) (sum money.Minor) {
	for _, r := range w.term.j.rows {
		if r.original == o && r.state.Result == ecr.Approved {
			sum += r.amount
		}
	}
	if sum > o.amount {
		w.fail("sale %d over %d had %d given back", o.id, o.amount, sum)
	}
	return sum
}

// judgeBack holds a refund or reversal against what its register was told; no: it was told that nothing was given back.
func (w *world) judgeBack(r *row, yes, no bool) {
	switch done := r.state.Result == ecr.Approved; {
	case no && done:
		w.fail("sale %d gave %d back, and its register was told no", r.id, r.amount)
	case yes && !done:
		w.fail("sale %d gave nothing back (%s), and its register was told that it did", r.id, r.state.Result)
	case done:
		w.stats.Back++
	}
}

// noWhileItRuns is MONEY A.2: a register is not told no of a refund or reversal that may give money back yet.
func (w *world) noWhileItRuns(r *row, who, what string) {
	if checkout.Running(r.state) {
		w.fail("sale %d runs, and %s was told %s of it", r.id, who, what)
	}
}
