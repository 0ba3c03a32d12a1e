package drive_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent/checkout"
	"posagent/agent/checkout/drive/journal"
	"posagent/cross/need"
	"posagent/ecr"
	"posagent/schemes/aapay"
	"posagent/schemes/methods"
	"posagent/schemes/wire"
	"posagent/store"
)

// The tests of this file bring a sale to each moment at which something is to be decided, change the
// world there, and let it come to its end. The judge knows what its till was told, and where the money
// is. They are the cells of cross/decisions that are said of every moment at once.

// played is one purchase of 5.00 as its till and its customer live it.
type played struct {
	*rig
	id     string
	sale   ecr.Sale
	kind   ecr.Kind     // of what is decided about: the payment, or a refund of 2.00 of it
	told   []ecr.Result // ends that the till has acknowledged, in their order
	gone   bool         // the journal that knew of it is gone
	person bool         // a person may have to decide: an alert says so
	pays   bool         // the customer pays as soon as the service lets him
	asks   bool         // the till asks again after the change
	fresh  []string     // sales that the change has begun itself
	till   string       // one of tills
	seq    string       // the till's own id of it, "" = none
}

// tills are the ways in which a till names its request, and in which it is told.
func tills() map[string]ecr.Request {
	return map[string]ecr.Request{
		"ZVT":        {Line: "serial"},
		"JSON lines": {Line: "jsonl", Sequence: "X1"},
		"HTTP":       {Line: "http/kiosk", Sequence: "order-1", Keep: true, ByTCP: true},
		"nexo":       {Line: "nexo/pos", Sequence: "S1/1/T1", ByTCP: true},
	}
}

const (
	purchase = 500
	refunded = 200
	others   = 77700            // of another customer, at the same service
	patience = 15 * time.Minute // of virtual time: what a till waits for at the most
)

// stranger is another customer's payment, which nobody of this terminal may touch.
func (w *world) stranger() *txn {
	x := &txn{
		typ: aapay.Payment, id: int64(len(w.order) + 1), state: aapay.Finalized, account: aapay.Commit, born: time.Now(),
		req: aapay.Request{TerminalReference: "stranger", PurchaseAmount: &aapay.Amount{CurrencyCode: "EUR", NominalAmount: others, TotalAmount: others}},
		naa: &aapay.NAA2ECR{PPRef: "PP-stranger"},
	}
	w.order, w.byRef["stranger"] = append(w.order, x), x
	w.moved["stranger"] = others
	return x
}

// moments are where a sale can stand. Each brings one there.
func moments() map[string]func(p *played) {
	live := func(p *played) {
		p.begin(ecr.Request{Amount: purchase})
		pass(5 * time.Second)
		require.Equal(p.t, checkout.Waiting, p.phase(p.id))
	}
	paid := func(p *played) {
		p.world.lock(func() { p.world.onStatus = approveAfter(p.world, 1) })
		p.begin(ecr.Request{Amount: purchase})
	}
	confirmed := func(p *played) ecr.Outcome {
		paid(p)
		o := <-p.sale.Outcome
		p.Told(p.sale, ecr.Told)
		p.told = append(p.told, o.Result)
		return o
	}
	return map[string]func(p *played){
		"no answer to initialize": func(p *played) {
			p.world.lock(func() {
				p.world.after = func(int, aapay.Type) error { p.world.takes(10 * time.Second); return errLost }
			})
			p.begin(ecr.Request{Amount: purchase})
			pass(time.Second)
		},
		"no connection yet": func(p *played) {
			p.world.lock(func() { p.world.offline = true })
			p.begin(ecr.Request{Amount: purchase})
			pass(3 * time.Second)
		},
		"live": live,
		"paid, not read": func(p *played) {
			live(p)
			p.slowStatus(8 * time.Second)
			pass(3 * time.Second)
			p.world.lock(func() { p.world.pay(p.mine()) })
		},
		"aborting": func(p *played) {
			live(p)
			p.slowStatus(10 * time.Second)
			require.NoError(p.t, p.Abort(context.Background(), p.id))
			require.Equal(p.t, checkout.Aborting, p.phase(p.id))
		},
		"approved, being told": func(p *played) {
			paid(p)
			require.Equal(p.t, ecr.Approved, (<-p.sale.Outcome).Result)
		},
		"approved, the telling was lost": func(p *played) {
			paid(p)
			p.Approved(p.sale, ecr.Lost)
		},
		"approved and acknowledged": func(p *played) { confirmed(p) },
		"declined": func(p *played) {
			p.world.lock(func() { p.world.onStatus = say(1, aapay.Rejected, "") })
			p.begin(ecr.Request{Amount: purchase})
			p.take(p.sale)
			p.pays = false
		},
		"undo waits for the network": func(p *played) {
			live(p)
			p.world.lock(func() { p.world.offline = true })
			require.NoError(p.t, p.Abort(context.Background(), p.id))
			pass(10 * time.Second)
			p.take(p.sale)
			require.Equal(p.t, checkout.Reversing, p.phase(p.id))
		},
		"undo sent, no answer": func(p *played) {
			live(p)
			p.world.lock(func() {
				p.world.pay(p.mine())
				p.world.after = func(_ int, typ aapay.Type) error {
					if typ == aapay.Reversal {
						p.world.takes(20 * time.Second)
						return errLost
					}
					return nil
				}
				p.world.onStatus = func(*txn) error { return errLost }
			})
			require.NoError(p.t, p.Abort(context.Background(), p.id))
			pass(10 * time.Second)
			p.take(p.sale)
			require.NotEmpty(p.t, p.world.sent(aapay.Reversal))
		},
		"refund sent, no answer": func(p *played) {
			o := confirmed(p)
			p.world.lock(func() {
				p.world.after = func(int, aapay.Type) error { p.world.takes(20 * time.Second); return errLost }
			})
			p.begin(refundOf(o, refunded))
			pass(time.Second)
			require.Len(p.t, p.world.sent(aapay.Refund), 1)
		},
		"refund waits for the network": func(p *played) {
			o := confirmed(p)
			p.world.lock(func() { p.world.offline = true })
			p.begin(refundOf(o, refunded))
			pass(time.Second)
		},
		"refund done, being told": func(p *played) {
			p.begin(refundOf(confirmed(p), refunded))
			require.Equal(p.t, ecr.Approved, (<-p.sale.Outcome).Result)
		},
	}
}

// begin asks for what is decided about.
func (p *played) begin(req ecr.Request) {
	p.t.Helper()
	as := tills()[p.till]
	as.Kind, as.Amount, as.Original = req.Kind, req.Amount, req.Original
	if as.Sequence != "" && req.Original != "" {
		as.Sequence += "R"
	}
	p.seq = as.Sequence
	p.person = p.person || as.Keep || as.ByTCP // what is kept is an alert
	p.sale = p.Accepted(as)
	p.id, p.kind = p.sale.ID, ecr.Payment
	if req.Kind != "" {
		p.kind = req.Kind
	}
}

// mine is the payment at the service, with its lock held.
func (p *played) mine() *txn { return p.world.byRef[journal.ReferenceOf(wire.Key(p.id))] }

// take hears an outcome as a till does, and acknowledges it.
func (p *played) take(s ecr.Sale) {
	p.t.Helper()
	select {
	case o, ok := <-s.Outcome:
		if !ok { // the terminal stops
			return
		}
		if _, err := p.Delivered(context.Background(), s.ID, ecr.Told); err != nil {
			require.False(p.t, journal.IsPermanent(err), err)
			return
		}
		if o.Result != ecr.InProgress {
			p.told = append(p.told, o.Result)
		}
		pass(time.Second)
	case <-time.After(patience):
	}
}

// calm lets the service answer as it should, and the customer do as he likes.
func (p *played) calm() {
	w := p.world
	w.lock(func() {
		w.offline, w.mute, w.after, w.onInit, w.onRead, w.onReply, w.answer, w.onStatus = false, false, nil, nil, nil, nil, nil, nil
		if p.pays {
			w.onStatus = func(x *txn) error { w.pay(x); return nil }
		}
	})
}

// lives lets a sale come to its end: the till asks again where it does that, and hears what it is told.
func (p *played) lives() {
	p.t.Helper()
	p.calm()
	if p.asks {
		p.again()
	}
	pass(20 * time.Minute)
	p.settle()
}

// again is the till that asks for the line's last outcome, until the terminal can say something.
func (p *played) again() {
	p.t.Helper()
	for range 30 {
		s, err := p.ask()
		switch {
		case err == nil && s.ID == p.id:
			p.take(s)
			return
		case err == nil:
			p.Told(s, ecr.Lost)
			return
		case errors.Is(err, ecr.ErrNone), errors.As(err, new(*ecr.Refusal)):
			return
		}
		pass(time.Second)
	}
	require.Fail(p.t, "the terminal answers no more")
}

// ask is how the till asks for the outcome: by its id, or for its line's last.
func (p *played) ask() (ecr.Sale, error) {
	if p.seq != "" {
		return p.Find(context.Background(), tills()[p.till].Line, p.seq)
	}
	return p.Last(context.Background(), "serial")
}

// judge compares what the till was told with where the money is.
func (p *played) judge() {
	p.t.Helper()
	var net, stranger int64
	references := map[string]bool{}
	p.world.lock(func() {
		for _, x := range p.world.order {
			if x.typ == aapay.Payment && x.account == aapay.Commit && x.req.TerminalReference != "stranger" {
				references[x.req.TerminalReference] = true
			}
		}
		for ref, sum := range p.world.moved {
			if ref == "stranger" {
				stranger = sum
			} else {
				net += sum
			}
		}
	})
	require.EqualValues(p.t, others, stranger, "another customer's payment was touched")
	require.LessOrEqual(p.t, len(references), 1+len(p.fresh), "paid twice")
	require.LessOrEqual(p.t, len(uniqueKeys(p.world.sent(aapay.Refund))), 1, "refunded twice")
	require.LessOrEqual(p.t, len(slices.Compact(slices.Clone(p.told))), 2, "told %v", p.told)

	approved := len(p.told) > 0 && p.told[0] == ecr.Approved
	want, alert := int64(0), p.named()
	if approved {
		want = purchase
	}
	if p.kind == ecr.Payment {
		for _, r := range p.told {
			require.Equal(p.t, p.told[0], r, "told one end, then another: %v", p.told)
		}
	} else { // of a refund: the first word was the payment's
		back := len(p.told) > 1 && p.told[1] == ecr.Approved
		if len(p.told) == 1 && !p.gone { // the till does not know: as the journal says
			row, _ := p.show(p.id)
			back = row.State.Result == ecr.Approved
		}
		if back {
			want -= refunded
		}
	}
	if p.gone { // nobody here can know of it
		return
	}
	require.True(p.t, net == want || p.person && alert, "told %v, and the merchant has %d instead of %d", p.told, net, want)
	if approved {
		require.GreaterOrEqual(p.t, net, int64(purchase-refunded), "told approved, and taken back")
	}
}

// named says whether an alert names the sale, or one that it is about.
func (p *played) named() bool {
	for _, a := range p.alerts() {
		if string(a.Key) == p.id {
			return true
		}
	}
	return false
}

// plays runs a change at every moment: with a customer who pays and one who does not, with a till that
// asks again and one that does not. The tills of the protocols take turns.
func plays(t *testing.T, change func(p *played)) {
	t.Helper()
	stand, ways := moments(), slices.Sorted(maps.Keys(tills()))
	for i, name := range slices.Sorted(maps.Keys(stand)) {
		for j, c := range []struct{ pays, asks bool }{{true, true}, {true, false}, {false, true}, {false, false}}[:need.Size(2, 4)] {
			for k := range need.Size(1, 2) {
				till := ways[(i+j+2*k)%len(ways)]
				t.Run(fmt.Sprintf("%s/%s, pays %v, asks %v", name, till, c.pays, c.asks), func(t *testing.T) {
					t.Parallel()
					terminal(t, func(r *rig) {
						p := &played{rig: r, pays: c.pays, asks: c.asks, till: till}
						r.world.lock(func() { r.world.stranger() })
						stand[name](p)
						change(p)
						p.lives()
						p.judge()
					})
				})
			}
		}
	}
}

func TestDecisions_TheProcessStartsAgain(t *testing.T) {
	t.Parallel()
	plays(t, func(p *played) { p.Restart(false) })
}

func TestDecisions_AnotherClock(t *testing.T) {
	t.Parallel()
	for _, jump := range []time.Duration{100 * 24 * time.Hour, -100 * 24 * time.Hour}[:need.Size(1, 2)] {
		t.Run(fmt.Sprint(jump), func(t *testing.T) {
			plays(t, func(p *played) {
				p.jump(jump)
				p.Restart(true)
			})
		})
	}
}

// An older backup: what it holds is as it was at the moment; the sale came to its end since.
func TestDecisions_AnOlderBackup(t *testing.T) {
	t.Parallel()
	plays(t, func(p *played) {
		p.person = true
		p.loses(p.lives)
	})
}

// A new journal knows nothing of the sale, and takes nothing of it for another one's.
func TestDecisions_ANewJournal(t *testing.T) {
	t.Parallel()
	plays(t, func(p *played) {
		p.gone = true
		p.replace(store.WasLost, 1)
	})
}

// Another till asks for the same amount in the middle. What it gets is its own.
func TestDecisions_AnotherTillAsksTheSame(t *testing.T) {
	t.Parallel()
	plays(t, func(p *played) {
		s, err := p.Ask(ecr.Request{Amount: purchase, Line: "tcp"})
		if err != nil {
			return
		}
		require.NotEqual(p.t, p.id, s.ID)
		require.NoError(p.t, p.Abort(context.Background(), s.ID))
		o := <-s.Outcome
		require.Equal(p.t, ecr.Aborted, o.Result)
		p.Told(s, ecr.Told)
		p.fresh = append(p.fresh, s.ID)
	})
}

// The method list has changed, and its method is not in it any more.
func TestDecisions_AnotherMethod(t *testing.T) {
	t.Parallel()
	plays(t, func(p *played) {
		p.defs = []methods.Definition{{
			Priority: 1, PaymentProviderID: 2, Name: "OTHER", Label: "Other", MeanDelay: 20, Trigger: []methods.Trigger{methods.QR},
			TransactionTypes: []methods.TransactionType{methods.Payment, methods.Refund},
		}}
		p.Restart(false)
	})
}

// The next writes run and do not commit.
func TestDecisions_AWriteFails(t *testing.T) {
	t.Parallel()
	for _, n := range []int{3, 1, 20}[:need.Size(1, 3)] {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			plays(t, func(p *played) { p.guard.fail(n) })
		})
	}
}

// Every answer takes half a minute from now on.
func TestDecisions_TheAnswerIsLate(t *testing.T) {
	t.Parallel()
	plays(t, func(p *played) {
		p.world.lock(func() {
			p.world.onRead = func() error { p.world.takes(30 * time.Second); return nil }
			p.world.after = func(int, aapay.Type) error { p.world.takes(30 * time.Second); return nil }
		})
		pass(3 * time.Minute)
	})
}

// Each request arrives twice, and the second answer counts.
func TestDecisions_TheAnswerIsDoubled(t *testing.T) {
	t.Parallel()
	plays(t, func(p *played) {
		p.world.lock(func() { p.world.twice = true })
		pass(time.Minute)
	})
}

// The answers of three minutes are another customer's: to a status, and to an initialize.
func TestDecisions_TheAnswerIsAnothers(t *testing.T) {
	t.Parallel()
	plays(t, func(p *played) {
		p.world.lock(func() {
			x := p.world.byRef["stranger"]
			p.world.answer = func(_ *txn, st *aapay.Status) { *st = p.world.statusOf(x) }
			p.world.onReply = func(_ *txn, r *aapay.Reply) { r.Response = &aapay.Response{NAA2ECR: x.naa} }
		})
		pass(3 * time.Minute)
	})
}

// What answers for three minutes is not to be read, or has no body of the service's.
func TestDecisions_TheAnswerIsUnreadable(t *testing.T) {
	t.Parallel()
	for _, code := range []wire.Code{wire.UnknownOutcome, wire.Internal, wire.Unauthorized}[:need.Size(1, 3)] {
		t.Run(string(code), func(t *testing.T) {
			plays(t, func(p *played) {
				no := &wire.Error{Code: code, Op: "test", Msg: "unreadable"}
				p.world.lock(func() {
					p.world.onRead = func() error { return no }
					p.world.after = func(int, aapay.Type) error { return no }
				})
				pass(3 * time.Minute)
			})
		})
	}
}

// The ledger of a payment goes back with the journal: what the lost one gave back is given back again
// where the service does not refuse it. The merchant is told of each such refund, whatever names its
// payment, until a person has released the lost numbers. A reversal is refused: the loss has closed the day.
func TestDecisions_WhatIsGivenBackAfterALossIsSaid(t *testing.T) {
	t.Parallel()
	for name, ask := range map[string]func(o ecr.Outcome) ecr.Request{
		"a refund by its transaction": func(o ecr.Outcome) ecr.Request { return refundOf(o, refunded) },
		"a refund by batch and receipt": func(o ecr.Outcome) ecr.Request {
			return ecr.Request{Kind: ecr.Refund, Amount: refunded, Original: fmt.Sprintf("R%d/%d", o.Batch, o.Receipt)}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			terminal(t, func(r *rig) {
				paid, other := r.approved(purchase), r.approved(purchase)
				r.loses(func() { r.Approved(r.Accepted(refundOf(paid, refunded)), ecr.Told) })
				require.Empty(t, r.alerts())
				again := r.Accepted(ask(paid))
				r.Told(again, ecr.Told)
				require.Len(t, r.alerts(), 1, "it may be given back twice")
				require.Equal(t, again.ID, string(r.alerts()[0].Key))
				require.Contains(t, r.alerts()[0].Reason, "may have given it back already")
				pass(time.Hour)
				require.Len(t, r.alerts(), 1, "until a person has looked")

				fresh := r.approved(purchase)
				r.Told(r.Accepted(refundOf(fresh, refunded)), ecr.Told)
				require.Len(t, r.alerts(), 1, "what was sold since is in the ledger")
				require.NoError(t, r.DB.Write(context.Background(), func(tx store.Tx) error { _, err := journal.ReleaseNumbers(tx); return err }))
				r.Told(r.Accepted(refundOf(other, refunded)), ecr.Told)
				require.Len(t, r.alerts(), 1, "a person has compared")
			})
		})
	}
}

// A day whose commit fails is not closed, and asked again it is closed once, with all that was on it.
func TestDecisions_ADayIsClosedWholeOrNot(t *testing.T) {
	t.Parallel()
	for n := range 3 {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			t.Parallel()
			terminal(t, func(r *rig) {
				r.approved(1000)
				r.approved(200)
				r.guard.fail(n)
				totals, err := r.Close(context.Background())
				for ; err != nil; totals, err = r.Close(context.Background()) {
					refused(t, err, ecr.NotStored)
					require.Equal(t, 1, r.batch())
					require.Zero(t, r.rows("checkout_batches"))
				}
				require.EqualValues(t, []any{1, 2, minor(1200)}, []any{totals.Batch, totals.Count, totals.Net})
				require.Equal(t, 2, r.batch())
				require.Equal(t, 1, r.rows("checkout_batches"))
			})
		})
	}
}

// While the journal cannot be written nothing of an old sale is gone; then it goes whole. One whose row
// was changed from outside stays.
func TestDecisions_NothingIsForgottenByHalf(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	terminal(t, func(r *rig) {
		r.Halt()
		r.cfg.KeepSales = 2 * day
		r.Start()
		for range 3 {
			r.approved(1000)
		}
		_, err := r.Close(context.Background())
		require.NoError(t, err)
		r.approved(1000)
		require.NoError(t, r.DB.Write(context.Background(), rawExec(`UPDATE checkout_sales SET amount = 999 WHERE id = 2`)))
		pass(46 * time.Hour)
		r.guard.fail(1_000)
		pass(4 * day)
		for _, table := range []string{"checkout_sales", "checkout_requests"} {
			require.Equal(t, 4, r.rows(table))
		}
		r.guard.fail(0)
		pass(6 * day)
		for _, table := range []string{"checkout_sales", "checkout_requests"} {
			require.Equal(t, 2, r.rows(table), "the newest, and the one that was changed")
		}
		require.NoError(t, r.DB.Read(context.Background(), func(rd store.Reader) error {
			ids, err := store.Column[int64](rd, `SELECT id FROM checkout_sales ORDER BY id`)
			require.Equal(t, []int64{2, 4}, ids)
			return err
		}))
	})
}
