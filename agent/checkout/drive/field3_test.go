package drive_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent/checkout"
	"posagent/agent/checkout/drive/journal"
	"posagent/ecr"
	"posagent/schemes/aapay"
	"posagent/schemes/methods"
	"posagent/schemes/wire"
	"posagent/store"
)

// alter changes the row of a sale behind the terminal's back.
func (r *rig) alter(id string) {
	r.t.Helper()
	r.Halt()
	require.NoError(r.t, r.onFile(func(tx store.Tx, _ store.DB) error {
		_, err := tx.Exec(`UPDATE checkout_sales SET decided_ms = decided_ms + 1 WHERE key = ?`, id)
		return err
	}))
	r.Start()
	pass(time.Minute)
}

// refunded is what a journal that is lost has sent under the Key of a refund: 3.00 of a payment.
func (w *world) refunded(id string, o ecr.Outcome) {
	_, _ = w.initialize(call{typ: aapay.Refund, key: wire.Key(id), req: aapay.Request{
		TerminalReference: journal.ReferenceOf(wire.Key(id)), OriginalReference: o.TransactionID,
		PurchaseAmount: &aapay.Amount{CurrencyCode: "EUR", NominalAmount: 300, TotalAmount: 300},
	}})
}

// TestField3_CheckoutA1AHeldRefundIsNotBegunAgain: a refund that a person has to look at was begun a
// second time by its repetition on the line, under another Key, and the money went back twice. The
// kind: held by a restore while its prompt was open, altered while it asks, while it runs and after an
// end that was not told; asked for without an id, and under another one.
func TestField3_CheckoutA1AHeldRefundIsNotBegunAgain(t *testing.T) {
	answer3 := answer{prompts: map[int32]string{2: "4711"}}
	for name, begin := range map[string]func(r *rig, p *prompter, o ecr.Outcome) ecr.Sale{
		"held while it asked": func(r *rig, _ *prompter, o ecr.Outcome) ecr.Sale {
			s := r.Accepted(refundOf(o, 300))
			pass(5 * time.Second)
			require.Equal(r.t, checkout.Choosing, r.phase(s.ID))
			require.Equal(r.t, 1, r.putBack(func() { r.world.refunded(s.ID, o) }))
			require.Equal(r.t, checkout.Held, r.phase(s.ID))
			return s
		},
		"altered while it asks": func(r *rig, _ *prompter, o ecr.Outcome) ecr.Sale {
			s := r.Accepted(refundOf(o, 300))
			pass(5 * time.Second)
			r.alter(s.ID)
			r.world.refunded(s.ID, o)
			return s
		},
		"altered while it runs": func(r *rig, p *prompter, o ecr.Outcome) ecr.Sale {
			r.world.lock(func() { r.world.mute = true })
			p.answers <- answer3
			s := r.Accepted(refundOf(o, 300))
			pass(5 * time.Second)
			require.Equal(r.t, checkout.Forward, r.phase(s.ID))
			r.alter(s.ID)
			r.world.lock(func() { r.world.mute = false })
			pass(2 * time.Minute)
			return s
		},
		"altered after an untold end": func(r *rig, p *prompter, o ecr.Outcome) ecr.Sale {
			p.answers <- answer3
			s := r.Accepted(refundOf(o, 300))
			r.Approved(s, ecr.Lost)
			r.alter(s.ID)
			return s
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			atCounter(t, asksBack(methods.Refund), func(r *rig, p *prompter) {
				o := r.approved(1000)
				s := begin(r, p, o)
				require.EqualValues(t, 700, r.world.net())
				for _, newBoot := range []bool{false, true} {
					for _, what := range []ecr.Delivery{ecr.Told, ecr.Lost} {
						again := r.Accepted(refundOf(o, 300))
						require.Equal(t, s.ID, again.ID)
						held(t, <-again.Outcome)
						held(t, r.Told(again, what))
					}
					own := refundOf(o, 300)
					own.Sequence = "R2"
					_, err := r.Ask(own)
					refused(t, err, ecr.StillRunning)
					r.Restart(newBoot)
				}
				pass(time.Hour)
				require.EqualValues(t, 700, r.world.net(), "given back once")

				p.answers <- answer3
				other := r.Accepted(refundOf(o, 200))
				r.Approved(other, ecr.Told)
				require.EqualValues(t, 500, r.world.net(), "another refund is another")
			})
		})
	}
}

// TestField3_CheckoutA2ARefundUnderALostIdIsReadFirst: the journal was restored, cut or lost, and the
// backend has forgotten its Keys meanwhile. A refund or reversal under an id that the lost journal had
// used went out again at once, and the money went back twice (MONEY, the Laws: a replaced journal reads
// before the first attempt under any made Key).
func TestField3_CheckoutA2ARefundUnderALostIdIsReadFirst(t *testing.T) {
	for _, kind := range []store.Kind{store.WasRestored, store.WasAccepted} {
		for name, line := range ids() {
			t.Run(string(kind)+"/"+name, func(t *testing.T) {
				t.Parallel()
				terminal(t, func(r *rig) {
					o := r.approved(1000)
					req := refundOf(o, 300)
					req.Line, req.Sequence = line.Line, line.Sequence
					key := journal.KeyOf(r.DB.MAC("checkout", "caller secret"), req.Line, req.Sequence, 0)
					r.Halt()
					r.world.refunded(string(key), o)
					r.world.lock(func() { r.world.byKey = map[wire.Key]*txn{} }) // a day and more
					require.NoError(t, r.onFile(func(tx store.Tx, _ store.DB) error {
						return store.KeepLost(tx, store.Lost{Before: store.Before{Kind: kind, Why: "w"}, Generation: 2, AtMS: time.Now().UnixMilli(), RunMS: 1})
					}))
					r.Start()
					s := r.Accepted(req)
					for range 2 { // and asked once more
						out := <-s.Outcome
						require.Equal(t, []any{ecr.Aborted, ecr.SystemError}, []any{out.Result, out.Code}, out.Text)
						require.Contains(t, out.Text, "the journal was replaced; this id was used at 2000-01-01")
						require.Contains(t, out.Text, "3.00")
						r.Told(s, ecr.Told)
						s = r.Accepted(req)
					}
					require.Len(t, r.world.sent(aapay.Refund), 1)
					require.EqualValues(t, 700, r.world.net(), "given back once")
					require.Len(t, r.loud(s.ID), 1)
					row, _ := r.show(o.Sale)
					require.EqualValues(t, 300, row.Debited, "what was given back is not given back again")

					req.Sequence += "2"
					r.Approved(r.Accepted(req), ecr.Told)
					require.EqualValues(t, 400, r.world.net(), "an id that nobody has used is refunded under")
				})
			})
		}
	}
}

// TestField3_CheckoutA4AnotherTerminalsNumberConfirmsNothing: a reversal over nexo names its payment in
// full, by receipt and transaction. One that is another terminal's, with a receipt number of this one's,
// confirmed the approval that had this number here: its register had never heard of it, and the customer
// had paid for nothing. It is undone after grace now, as before.
func TestField3_CheckoutA4AnotherTerminalsNumberConfirmsNothing(t *testing.T) {
	terminal(t, func(r *rig) {
		o := r.unconfirmed(500)
		_, err := r.Copy(context.Background(), o.Receipt, "9"+o.TransactionID)
		require.ErrorIs(t, err, ecr.ErrNone)
		require.Equal(t, checkout.Unconfirmed, r.phase(o.Sale))
		pass(15 * time.Minute)
		require.Equal(t, checkout.Done, r.phase(o.Sale))
		require.Zero(t, r.world.net())

		known := r.unconfirmed(700)
		s, err := r.Copy(context.Background(), known.Receipt, known.TransactionID)
		require.NoError(t, err)
		require.Equal(t, ecr.Approved, (<-s.Outcome).Result)
		require.Equal(t, checkout.Confirmed, r.phase(known.Sale), "named so it is known")
	})
}

// TestField3_CheckoutA6AHeldOperationIsSaidToBeHeld: the operation of a refund was held in the outbox (by
// a restore, or by hand), and its register heard "in progress" for ever. It hears that a person looks, by
// each way to ask; let go on, it is carried out, and told.
func TestField3_CheckoutA6AHeldOperationIsSaidToBeHeld(t *testing.T) {
	terminal(t, func(r *rig) {
		ctx := context.Background()
		o := r.approved(1000)
		req := refundOf(o, 300)
		req.Line, req.Sequence = "jsonl", "R1"
		r.world.lock(func() { r.world.mute = true })
		first := r.Accepted(req)
		pass(5 * time.Second)
		require.NoError(t, r.Box.Hold(ctx, wire.Key(first.ID), "by hand"))
		held(t, <-first.Outcome) // at the end of its patience
		held(t, r.Told(first, ecr.Interim))
		for how, ask := range map[string]func() (ecr.Sale, error){
			"the same id": func() (ecr.Sale, error) { return r.Ask(req) },
			"by its id":   func() (ecr.Sale, error) { return r.Find(ctx, "jsonl", "R1") },
			"by its line": func() (ecr.Sale, error) { return r.Last(ctx, "jsonl") },
			"unwritten": func() (ecr.Sale, error) {
				r.guard.full = true
				defer func() { r.guard.full = false }()
				return r.Ask(req)
			},
		} {
			s, err := ask()
			require.NoError(t, err, how)
			require.Equal(t, first.ID, s.ID)
			held(t, <-s.Outcome)
			held(t, r.Told(s, ecr.Interim))
			require.False(t, r.Selling(), "%s: nobody waits for it any more", how)
		}
		r.world.lock(func() { r.world.mute = false })
		pass(time.Hour)
		require.EqualValues(t, 1000, r.world.net())
		require.NoError(t, r.Box.Release(ctx, wire.Key(first.ID)))
		pass(time.Minute)
		r.Approved(r.Accepted(req), ecr.Told)
		require.EqualValues(t, 700, r.world.net())
	})
}

// TestField3_CheckoutA7AHeldSaleIsToldAtOnce: what a dialogue reports of a sale that a person has to look
// at, was not taken: its register waited, and the terminal counted as selling for five minutes.
func TestField3_CheckoutA7AHeldSaleIsToldAtOnce(t *testing.T) {
	for name, hold := range map[string]func(r *rig, id string){
		"held":    func(r *rig, _ string) { r.putBack(func() {}) },
		"altered": func(r *rig, id string) { r.alter(id) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			terminal(t, func(r *rig) {
				o := r.unconfirmed(500)
				hold(r, o.Sale)
				for range 2 {
					s := r.Again()
					out := <-s.Outcome
					held(t, out)
					held(t, r.Told(s, out.Telling(ecr.Told)))
					require.False(t, r.Selling())
				}
			})
		})
	}
}
