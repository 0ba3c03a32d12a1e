package drive_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent/checkout"
	"posagent/ecr"
	"posagent/schemes/aapay"
)

// slowStatus lets every question after a status take a while.
func (r *rig) slowStatus(d time.Duration) {
	r.world.lock(func() {
		r.world.onStatus = func(*txn) error {
			r.world.takes(d)
			return nil
		}
	})
}

// payLate is the customer who pays the only payment there is, if the service still takes it.
func (r *rig) payLate() {
	r.world.lock(func() {
		for _, x := range r.world.order {
			if x.typ == aapay.Payment && !r.world.dead[x.req.TerminalReference] {
				r.world.pay(x)
			}
		}
	})
}

// "Never sent" is a fact of the journal. The program is cut off wherever a payment can stand between
// its acceptance and its first status, and in its abort; memory is empty then. An abort after the
// start must not take it for one that never left.
func TestField2_M1ARestartMakesNoSaleUnsent(t *testing.T) {
	answer := func(code int) func(int, aapay.Type, aapay.Request) (*aapay.Reply, error, bool) {
		return func(n int, typ aapay.Type, _ aapay.Request) (*aapay.Reply, error, bool) {
			reply := &aapay.Reply{HTTPStatus: 202, Valid: true, Response: &aapay.Response{ResponseCode: code}}
			return reply, nil, typ == aapay.Payment && n == 1
		}
	}
	stages := map[string]func(r *rig) ecr.Sale{
		"an attempt is under way": func(r *rig) ecr.Sale {
			r.world.after = func(n int, typ aapay.Type) error {
				if typ == aapay.Payment && n == 1 {
					r.world.takes(5 * time.Second)
				}
				return nil
			}
			s := r.sale(500)
			pass(time.Second)
			return s
		},
		"an attempt was lost, the next one rests": func(r *rig) ecr.Sale {
			r.world.after = func(n int, typ aapay.Type) error {
				if typ == aapay.Payment && n == 1 {
					return errLost
				}
				return nil
			}
			s := r.sale(500)
			pass(time.Second)
			return s
		},
		"the answer asks to send again, the next one rests": func(r *rig) ecr.Sale {
			r.world.onInit = answer(aapay.CodeResend)
			s := r.sale(500)
			pass(time.Second)
			return s
		},
		"answered, the first status not yet asked for": func(r *rig) ecr.Sale {
			s := r.sale(500)
			pass(time.Second)
			require.Empty(r.t, r.world.reads)
			return s
		},
		"answered, the first status is under way": func(r *rig) ecr.Sale {
			s := r.sale(500)
			pass(3 * time.Second)
			require.Len(r.t, r.world.reads, 1)
			return s
		},
		"the first status has come": func(r *rig) ecr.Sale {
			s := r.sale(500)
			pass(10 * time.Second)
			row, _ := r.show(s.ID)
			require.NotZero(r.t, row.State.TransactionID)
			return s
		},
		"aborted while the attempt is under way": func(r *rig) ecr.Sale {
			r.world.after = func(n int, typ aapay.Type) error {
				if typ == aapay.Payment && n == 1 {
					r.world.takes(3 * time.Second)
				}
				return nil
			}
			s := r.sale(500)
			pass(time.Second)
			require.NoError(r.t, r.Abort(context.Background(), s.ID))
			return s
		},
		"aborted before the first status": func(r *rig) ecr.Sale {
			s := r.sale(500)
			pass(time.Second)
			require.NoError(r.t, r.Abort(context.Background(), s.ID))
			return s
		},
	}
	for name, stage := range stages {
		for _, restarts := range []int{1, 2} {
			for _, newBoot := range []bool{false, true} {
				terminal(t, func(r *rig) {
					r.slowStatus(6 * time.Second)
					s := stage(r)
					for range restarts {
						r.cut(0) // as a power cut has it: nothing more is written
						r.Restart(newBoot)
					}
					again := r.Again()
					if err := r.Abort(context.Background(), s.ID); err != nil { // the start has decided already
						require.ErrorIs(t, err, ecr.ErrTooLate, name)
					}
					o := <-again.Outcome
					require.Equal(t, ecr.Aborted, o.Result, name)
					require.NotEqual(t, ecr.NoConnection, o.Code, name)
					r.Told(again, ecr.Told)
					r.payLate()
					r.settle()
					require.Zero(t, r.world.net(), "%s: told aborted, and the merchant keeps money", name)
					require.NotEmpty(t, r.world.sent(aapay.Reversal), "%s: it may have arrived, so its undo is owed", name)
				})
			}
		}
	}
}

// A register that was told "aborted" while the disk was dead is a fact that only memory held. A start
// in the same boot finds a payment whose patience has run out, and undoes it; what a till is to keep is
// no exception. Nobody was told of a payment that is younger: it goes on.
func TestField2_M21AStartUndoesWhatWasToldWithoutAJournal(t *testing.T) {
	stages := map[string]func(r *rig){ // until the disk dies
		"an attempt is under way": func(r *rig) {
			r.world.mu.Lock()
			r.world.after = func(n int, typ aapay.Type) error {
				if typ == aapay.Payment && n == 1 {
					r.world.takes(5 * time.Second)
				}
				return nil
			}
			r.world.mu.Unlock()
			pass(time.Second)
		},
		"answered, no status yet": func(*rig) { pass(time.Second) },
		"the code is shown":       func(*rig) { pass(10 * time.Second) },
		"the app is awaited":      func(*rig) { pass(45 * time.Second) },
	}
	for name, stage := range stages {
		for _, keep := range []bool{false, true} {
			for _, newBoot := range []bool{false, true} {
				terminal(t, func(r *rig) {
					s := r.Accepted(ecr.Request{Amount: 500, Keep: keep})
					stage(r)
					r.guard.fail(1 << 30)
					r.payLate()
					o := <-s.Outcome
					require.Equal(t, ecr.Aborted, o.Result, name)
					r.Told(s, ecr.Told)
					r.cut(0)
					r.Restart(newBoot)
					pass(3 * time.Minute) // no grace has run out
					require.NotEqual(t, ecr.Approved, r.last("serial").Result, "%s: told aborted, then approved", name)
					require.Zero(t, r.world.net(), "%s: told aborted, and the merchant keeps money", name)
				})
			}
		}
		terminal(t, func(r *rig) { // in time: no register was told anything
			s := r.Accepted(ecr.Request{Amount: 500})
			stage(r)
			r.cut(0)
			r.Restart(false)
			r.payLate()
			w := r.Again()
			require.Equal(t, s.ID, w.ID)
			r.Approved(w, ecr.Told)
			require.EqualValues(t, 500, r.world.net(), name)
		})
	}
}

// After a start, too, a dead disk keeps no register waiting that asks for the outcome again.
func TestField2_M21ADeadDiskAfterAStartKeepsNobodyWaiting(t *testing.T) {
	terminal(t, func(r *rig) {
		start := time.Now()
		s := r.sale(500)
		pass(10 * time.Second)
		r.Restart(false)
		w := r.Again()
		require.Equal(t, s.ID, w.ID)
		pass(10 * time.Second)
		r.guard.fail(1 << 30)
		r.payLate()
		left := 85*time.Second - time.Since(start)
		select {
		case o := <-w.Outcome:
			require.Equal(t, ecr.Aborted, o.Result)
		case <-time.After(left):
			require.Fail(t, "the register has waited for longer than it can")
		}
		r.Told(w, ecr.Told)
		r.guard.fail(0)
		r.settle()
		require.Zero(t, r.world.net())
	})
}

// A command that names an unacknowledged sale by what only its approval carried shows that the
// register has it: the sale is told, and the command is carried out. What any register can say of a
// sale that it never heard of shows nothing.
func TestField2_M22WhatNamesAnApprovalHasHeardIt(t *testing.T) {
	request := func(kind ecr.Kind, amount int64, original string, receipt int) ecr.Request {
		return ecr.Request{Kind: kind, Amount: minor(amount), Original: original, Receipt: receipt, Part: kind == ecr.Reversal && amount > 0}
	}
	knows := map[string]func(o ecr.Outcome) ecr.Request{
		"a refund in part, by the receipt": func(o ecr.Outcome) ecr.Request {
			return request(ecr.Refund, 200, fmt.Sprintf("R%d", o.Receipt), 0)
		},
		"a refund, by batch and receipt": func(o ecr.Outcome) ecr.Request {
			return request(ecr.Refund, 500, fmt.Sprintf("R%d/%d", o.Batch, o.Receipt), 0)
		},
		"a refund, by the transaction": func(o ecr.Outcome) ecr.Request {
			return request(ecr.Refund, 200, "T"+o.TransactionID, 0)
		},
		"a reversal, by the receipt":         func(o ecr.Outcome) ecr.Request { return request(ecr.Reversal, 0, "", o.Receipt) },
		"a reversal in part, by the receipt": func(o ecr.Outcome) ecr.Request { return request(ecr.Reversal, 200, "", o.Receipt) },
		"a reversal, by the trace": func(o ecr.Outcome) ecr.Request {
			return request(ecr.Reversal, 0, fmt.Sprintf("L%d", o.Trace), 0)
		},
	}
	for name, ask := range knows {
		for _, line := range []string{"serial", "another till"} {
			if name == "a reversal, by the trace" && line != "serial" { // it names the last one of its own line
				continue
			}
			terminal(t, func(r *rig) {
				o := r.unconfirmed(500)
				req := ask(o)
				req.Line = line
				back := r.Approved(r.Accepted(req), ecr.Told)
				require.Equal(t, checkout.Confirmed, r.phase(o.Sale), name)
				require.EqualValues(t, 500-int64(back.Amount), r.world.net(), name)
				pass(time.Hour)
				require.EqualValues(t, 500-int64(back.Amount), r.world.net(), "%s: no grace takes it back later", name)
			})
		}
	}
	terminal(t, func(r *rig) { // nor does it matter that the command itself is refused
		o := r.unconfirmed(500)
		_, err := r.Ask(request(ecr.Refund, 900, fmt.Sprintf("R%d", o.Receipt), 0))
		refused(t, err, ecr.AmountWrong)
		require.Equal(t, checkout.Confirmed, r.phase(o.Sale))
	})
	terminal(t, func(r *rig) { // the outcome is asked for by its receipt
		o := r.unconfirmed(500)
		s, err := r.Copy(context.Background(), o.Receipt, "")
		require.NoError(t, err)
		require.Equal(t, ecr.Approved, (<-s.Outcome).Result)
		require.Equal(t, checkout.Confirmed, r.phase(o.Sale))
	})

	ignorant := map[string]func(older, o ecr.Outcome) ecr.Request{
		"the last payment, whichever": func(_, _ ecr.Outcome) ecr.Request { return request(ecr.Refund, 200, "", 0) },
		"the line's last payment":     func(_, _ ecr.Outcome) ecr.Request { return request(ecr.Reversal, 0, "L", 0) },
		"another trace":               func(_, o ecr.Outcome) ecr.Request { return request(ecr.Reversal, 0, fmt.Sprintf("L%d", o.Trace+1), 0) },
		"an older receipt": func(older, _ ecr.Outcome) ecr.Request {
			return request(ecr.Refund, 200, fmt.Sprintf("R%d", older.Receipt), 0)
		},
		"a receipt that is still to come": func(_, o ecr.Outcome) ecr.Request {
			return request(ecr.Refund, 200, fmt.Sprintf("R%d", o.Receipt+1), 0)
		},
		"a new payment": func(_, _ ecr.Outcome) ecr.Request { return request(ecr.Payment, 700, "", 0) },
	}
	for name, ask := range ignorant {
		terminal(t, func(r *rig) {
			r.cfg.RefundLast = true
			r.Restart(false)
			older := r.approved(300)
			o := r.unconfirmed(500)
			if s, err := r.Ask(ask(older, o)); err == nil {
				<-s.Outcome
				r.Told(s, ecr.Told)
			}
			row, _ := r.show(o.Sale)
			require.Equal(t, ecr.Aborted, row.State.Result, name)
		})
	}
}
