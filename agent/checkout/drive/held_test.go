package drive_test

import (
	"context"
	"errors"
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
	"posagent/store/storetest"
)

// onFile writes into the journal of a terminal that does not run.
func (r *rig) onFile(fn func(tx store.Tx, db store.DB) error) error {
	r.t.Helper()
	db := storetest.OpenAt(r.t, r.path, steps()...)
	defer func() { require.NoError(r.t, db.Close()) }()
	return db.Write(context.Background(), func(tx store.Tx) error { return fn(tx, db) })
}

// putBack stops the terminal and makes its journal one that was restored: what happens to the sale
// from now on happens in the journal that is lost. It returns how many sales are held.
func (r *rig) putBack(meanwhile func()) (n int) {
	r.t.Helper()
	r.Halt()
	r.world.lock(func() { r.world.onStatus, r.world.onInit, r.world.after = nil, nil, nil })
	meanwhile()
	require.NoError(r.t, r.onFile(func(tx store.Tx, db store.DB) (err error) {
		if n, err = journal.SetAside(tx, db, "restored", time.Now()); err != nil {
			return err
		}
		if err := journal.KeepLast(tx); err != nil {
			return err
		}
		return store.KeepLost(tx, store.Lost{Before: store.Before{Kind: store.WasRestored, Why: "w"}, Generation: 2, AtMS: time.Now().UnixMilli(), RunMS: 1})
	}))
	r.Reboot()
	r.Start()
	pass(time.Minute)
	return n
}

// letGo is sale release: the terminal is stopped for it.
func (r *rig) letGo(id string) {
	r.t.Helper()
	r.Halt()
	require.NoError(r.t, r.onFile(func(tx store.Tx, db store.DB) error { return journal.TakeUp(tx, db, id, time.Now()) }))
	r.Reboot()
	r.Start()
	pass(time.Minute)
}

// first is the first transaction of the service.
func (w *world) first() *txn { return w.order[0] }

// reject is the customer who declines the only payment.
func (w *world) reject() { w.first().state, w.first().account = aapay.Rejected, aapay.Rollback }

// openStages are the ways a payment can stand in a backup. Each names the sale, and says whether its
// register was told by then that it is not paid.
func openStages() map[string]func(r *rig) (s ecr.Sale, refused bool) {
	req := ecr.Request{Kind: ecr.Payment, Amount: 500, Line: "jsonl", Sequence: "X1"}
	waiting := func(r *rig) ecr.Sale {
		r.world.onStatus = say(1, aapay.Pending, "")
		s := r.Accepted(req)
		pass(5 * time.Second)
		return s
	}
	return map[string]func(r *rig) (ecr.Sale, bool){
		"waiting": func(r *rig) (ecr.Sale, bool) { return waiting(r), false },
		"waiting, its code is shown": func(r *rig) (ecr.Sale, bool) {
			s := r.Accepted(req)
			pass(5 * time.Second)
			row, _ := r.show(s.ID)
			require.True(r.t, row.State.Shown)
			return s, false
		},
		"no answer to initialize yet": func(r *rig) (ecr.Sale, bool) {
			r.world.after = func(int, aapay.Type) error { r.world.takes(10 * time.Second); return nil }
			s := r.Accepted(req)
			pass(time.Second)
			return s, false
		},
		"aborting": func(r *rig) (ecr.Sale, bool) {
			s := waiting(r)
			r.slowStatus(10 * time.Second)
			require.NoError(r.t, r.Abort(context.Background(), s.ID))
			require.Equal(r.t, checkout.Aborting, r.phase(s.ID))
			return s, false
		},
		"approved, not acknowledged": func(r *rig) (ecr.Sale, bool) {
			r.world.onStatus = approveAfter(r.world, 1)
			s := r.Accepted(req)
			r.Approved(s, ecr.Lost)
			return s, false
		},
		"declined, watched": func(r *rig) (ecr.Sale, bool) {
			r.world.onStatus = say(1, aapay.Rejected, "")
			s := r.Accepted(req)
			require.Equal(r.t, ecr.Declined, (<-s.Outcome).Result)
			r.Told(s, ecr.Told)
			return s, true
		},
		"to be undone, no operation yet": func(r *rig) (ecr.Sale, bool) {
			r.Halt()
			r.defs[0].TransactionTypes = []methods.TransactionType{methods.Payment, methods.Refund}
			r.Start()
			s := waiting(r)
			require.NoError(r.t, r.Abort(context.Background(), s.ID))
			pass(3 * time.Second)
			require.Equal(r.t, checkout.Reversing, r.phase(s.ID))
			return s, true
		},
	}
}

// held wants an answer that says that a person looks.
func held(t *testing.T, o ecr.Outcome) {
	t.Helper()
	require.Equal(t, []any{ecr.InProgress, ecr.OnHold, "held: a person looks, do not repeat"}, []any{o.Result, o.Code, o.Text})
	require.Zero(t, o.Receipt)
}

// TestField2_M33WhatARestoredJournalHoldsIsReadAndKept: the sale was paid, told and acknowledged in the
// journal that is lost; this one has it open. It was never read, and the next sale, or grace, gave the
// money back. Every way to be open in a backup, and everything that touches such a sale.
func TestField2_M33WhatARestoredJournalHoldsIsReadAndKept(t *testing.T) {
	for name, stage := range openStages() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			terminal(t, func(r *rig) {
				s, refused := stage(r)
				require.Equal(t, 1, r.putBack(func() { r.world.lock(func() { r.world.pay(r.world.first()) }) }))
				kept := func(what string, phase checkout.Phase) {
					t.Helper()
					row, _ := r.show(s.ID)
					require.Equal(t, phase, row.State.Phase, what)
					require.False(t, row.State.Shown, "no code")
					require.Empty(t, r.world.sent(aapay.Reversal), what)
					require.Empty(t, r.world.sent(aapay.Refund), what)
				}
				kept("read", checkout.Held)
				r.world.lock(func() { require.NotEmpty(t, r.world.reads) })
				require.Contains(t, r.loud(s.ID)[len(r.loud(s.ID))-1], "held: the backend says that it was paid")

				again, err := r.Ask(ecr.Request{Amount: 500, Line: "jsonl", Sequence: "X1"})
				require.NoError(t, err)
				require.Equal(t, s.ID, again.ID, "the same id is the same sale")
				held(t, <-again.Outcome)
				r.Told(again, ecr.Told)
				kept("asked again", checkout.Held)
				r.world.lock(func() { r.world.onStatus = approveAfter(r.world, 1) })
				next := r.Accepted(ecr.Request{Amount: 700, Line: "jsonl", Sequence: "X2"})
				kept("the next request", checkout.Held)
				r.Approved(next, ecr.Told)
				pass(15 * time.Minute)
				kept("grace", checkout.Held)
				_, err = r.Close(context.Background())
				require.NoError(t, err, "it does not hold the day up")
				r.Restart(true)
				pass(15 * time.Minute)
				kept("another boot", checkout.Held)
				before := r.world.net()
				r.letGo(s.ID)
				if refused { // an approval would contradict what its register was told
					kept("let go on", checkout.Held)
				} else {
					kept("let go on", checkout.Confirmed)
					row, _ := r.show(s.ID)
					require.NotZero(t, row.Receipt)
					require.Empty(t, row.Aside)
				}
				r.Approved(r.Accepted(ecr.Request{Amount: 300, Line: "jsonl", Sequence: "X3"}), ecr.Told)
				pass(15 * time.Minute)
				require.Equal(t, before+300, r.world.net())
				require.Empty(t, r.world.sent(aapay.Reversal))
			})
		})
	}
}

// TestField2_M33WhatWasNotPaidIsClosed: a final word without money ends it once it can change no more,
// and its register hears that. "Not found" and a live word end nothing.
func TestField2_M33WhatWasNotPaidIsClosed(t *testing.T) {
	for name, stage := range openStages() {
		for word, meanwhile := range map[string]func(w *world){
			"refused": (*world).reject,
			"unknown": func(w *world) { w.byRef, w.order = map[string]*txn{}, nil },
			"live":    func(w *world) { w.first().state, w.first().account = aapay.Pending, "" },
		} {
			t.Run(name+"/"+word, func(t *testing.T) {
				t.Parallel()
				terminal(t, func(r *rig) {
					s, _ := stage(r)
					r.putBack(func() { r.world.lock(func() { meanwhile(r.world) }) })
					row, _ := r.show(s.ID)
					if word != "refused" {
						pass(time.Hour)
						require.Equal(t, checkout.Held, r.phase(s.ID))
						again := r.Accepted(ecr.Request{Amount: 500, Line: "jsonl", Sequence: "X1"})
						held(t, <-again.Outcome)
						r.Told(again, ecr.Told)
						require.Empty(t, r.world.sent(aapay.Reversal))
						if word == "unknown" {
							require.Contains(t, r.loud(s.ID)[len(r.loud(s.ID))-1], "held: the backend does not know it")
						}
						return
					}
					require.Equal(t, checkout.Held, row.State.Phase, "it can still be paid")
					r.world.lock(func() { r.world.first().state, r.world.first().account = aapay.Finalized, aapay.Commit })
					pass(time.Minute)
					require.Equal(t, checkout.Held, r.phase(s.ID), "it was paid after all: a person decides")
					require.Empty(t, r.world.sent(aapay.Reversal))
					r.world.lock(r.world.reject)
					r.Restart(true)
					pass(time.Hour)
					row, _ = r.show(s.ID)
					require.Equal(t, []any{checkout.Done, ""}, []any{row.State.Phase, row.Aside})
					again := r.Accepted(ecr.Request{Amount: 500, Line: "jsonl", Sequence: "X1"})
					require.Contains(t, []ecr.Result{ecr.Aborted, ecr.Declined}, (<-again.Outcome).Result)
					r.Told(again, ecr.Told)
				})
			})
		}
	}
}

// TestField2_M33EveryAskerHearsThatItIsHeld: a sale that a person has to look at was "refused" with an
// empty text, or quarantined. The kind: held, altered from outside, set aside by an earlier program,
// and closed by hand; by its id, by its line, by its receipt, and as the original of a refund.
func TestField2_M33EveryAskerHearsThatItIsHeld(t *testing.T) {
	const legacy = `INSERT INTO checkout_aside (sale, why, closed_ms) SELECT key, 'of an older program', 0 FROM checkout_sales`
	for name, make := range map[string]func(r *rig, id string){
		"held": func(r *rig, _ string) { r.putBack(func() {}) },
		"altered": func(r *rig, _ string) {
			r.Halt()
			require.NoError(r.t, r.onFile(func(tx store.Tx, _ store.DB) error {
				_, err := tx.Exec(`UPDATE checkout_sales SET amount = 501`)
				return err
			}))
			r.Start()
		},
		"altered and restored": func(r *rig, _ string) {
			r.putBack(func() {
				require.NoError(r.t, r.onFile(func(tx store.Tx, _ store.DB) error {
					_, err := tx.Exec(`UPDATE checkout_sales SET amount = 501`)
					return err
				}))
			})
		},
		"set aside by an earlier program": func(r *rig, id string) {
			r.Halt()
			require.NoError(r.t, r.onFile(func(tx store.Tx, _ store.DB) error { _, err := tx.Exec(legacy); return err }))
			r.Reboot()
			r.Start()
			pass(time.Minute)
			row, _ := r.show(id)
			require.Equal(r.t, []any{checkout.Held, "of an older program"}, []any{row.State.Phase, row.Aside})
		},
		"closed by hand": func(r *rig, id string) {
			r.putBack(func() {})
			r.Halt()
			require.NoError(r.t, r.onFile(func(tx store.Tx, db store.DB) error { return journal.CloseAside(tx, db, id, "seen", time.Now()) }))
			r.Start()
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			terminal(t, func(r *rig) {
				r.world.onStatus = approveAfter(r.world, 1)
				s := r.Accepted(ecr.Request{Amount: 500, Line: "jsonl", Sequence: "X1"})
				o := r.Approved(s, ecr.Lost)
				require.Equal(t, checkout.Unconfirmed, r.phase(s.ID))
				make(r, s.ID)
				ctx := context.Background()
				for how, ask := range map[string]func() (ecr.Sale, error){
					"the same id":    func() (ecr.Sale, error) { return r.Ask(ecr.Request{Amount: 500, Line: "jsonl", Sequence: "X1"}) },
					"by its id":      func() (ecr.Sale, error) { return r.Find(ctx, "jsonl", "X1") },
					"by its line":    func() (ecr.Sale, error) { return r.Last(ctx, "jsonl") },
					"by its receipt": func() (ecr.Sale, error) { return r.Copy(ctx, o.Receipt, "") },
				} {
					for _, what := range []ecr.Delivery{ecr.Told, ecr.Lost, ecr.Refused} {
						again, err := ask()
						require.NoError(t, err, how)
						require.Equal(t, s.ID, again.ID)
						held(t, <-again.Outcome)
						held(t, r.Told(again, what))
					}
				}
				_, err := r.Ask(ecr.Request{Kind: ecr.Refund, Amount: 100, Line: "jsonl", Sequence: "R1", Original: "T" + o.TransactionID})
				refused(t, err, ecr.NotReversible)
				require.ErrorContains(t, err, "a person ")
				require.ErrorIs(t, r.Abort(ctx, s.ID), ecr.ErrTooLate)
				_, err = r.Receipt(ctx, wire.Key(s.ID))
				require.Error(t, err, "no paper speaks of it")
				pass(15 * time.Minute)
				require.EqualValues(t, 500, r.world.net())
				require.Equal(t, 1, len(r.world.sent(aapay.Payment)))
			})
		})
	}
}

// TestField2_M29AReleaseUndoesNothing: the start that followed a release undid the sale without
// asking.
func TestField2_M29AReleaseUndoesNothing(t *testing.T) {
	for word, meanwhile := range map[string]func(w *world){
		"paid":    func(w *world) { w.pay(w.first()) },
		"live":    func(*world) {},
		"unknown": func(w *world) { w.byRef, w.order = map[string]*txn{}, nil },
		"offline": func(w *world) { w.pay(w.first()); w.offline = true },
	} {
		for _, again := range []bool{false, true} { // at once, or after the start has read it
			t.Run(word, func(t *testing.T) {
				t.Parallel()
				terminal(t, func(r *rig) {
					s := r.waiting(aapay.Pending, 5*time.Second)
					r.putBack(func() { r.world.lock(func() { meanwhile(r.world) }) })
					if again {
						r.Restart(true)
						pass(time.Hour)
					}
					r.letGo(s.ID)
					r.Restart(true)
					pass(time.Hour)
					if word == "offline" {
						require.Equal(t, checkout.Held, r.phase(s.ID))
						r.world.lock(func() { r.world.offline = false })
						pass(time.Hour)
					}
					require.Empty(t, r.world.sent(aapay.Reversal))
					want := checkout.Held
					if word == "paid" || word == "offline" {
						want = checkout.Confirmed
						require.EqualValues(t, 500, r.world.net())
						day, err := r.Turnover(context.Background())
						require.NoError(t, err)
						require.EqualValues(t, 500, day.Net, "it counts")
					}
					require.Equal(t, want, r.phase(s.ID))
				})
			})
		}
	}
}

// TestField3_E4WhatAPersonLetsCountIsInOneDaysSum: an approval that was open in a backup has a receipt of a day that is closed without it
// as the journal takes another's place. Let go on, or closed by hand, it counted as paid and stood in no day's sum, against the words of
// "sale release". It counts in the open day, under its receipt, once.
func TestField3_E4WhatAPersonLetsCountIsInOneDaysSum(t *testing.T) {
	for name, decide := range map[string]func(r *rig, id string){
		"released": (*rig).letGo,
		"closed": func(r *rig, id string) {
			r.Halt()
			require.NoError(r.t, r.onFile(func(tx store.Tx, db store.DB) error { return journal.CloseAside(tx, db, id, "seen", time.Now()) }))
			r.Start()
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			terminal(t, func(r *rig) {
				ctx := context.Background()
				r.world.onStatus = approveAfter(r.world, 1)
				s := r.Accepted(ecr.Request{Amount: 500, Line: "jsonl", Sequence: "X1"})
				o := r.Approved(s, ecr.Lost)
				r.putBack(func() {
					require.NoError(t, r.onFile(func(tx store.Tx, db store.DB) error {
						_, err := journal.SetAside(tx, db, "restored", time.Now())
						return errors.Join(err, journal.GoOn(tx, db, journal.Past{LastMS: time.Now().UnixMilli()}, time.Now()))
					}))
				})
				held, err := r.Turnover(ctx)
				require.NoError(t, err)
				require.Zero(t, held.Net, "a person decides")
				decide(r, s.ID)
				totals, err := r.Close(ctx)
				require.NoError(t, err)
				require.EqualValues(t, 500, totals.Net)
				require.Equal(t, 1, totals.Count)
				require.Equal(t, o.Receipt, totals.FirstReceipt, "its slip has this number")
				totals, err = r.Close(ctx)
				require.NoError(t, err)
				require.Zero(t, totals.Net, "once")
			})
		})
	}
}
