package drive_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent/checkout"
	"posagent/ecr"
	"posagent/schemes/aapay"
	"posagent/schemes/methods"
	"posagent/schemes/wire"
)

func TestMoneyA1_DeclinedAndApproved(t *testing.T) {
	for _, c := range []struct {
		name    string
		word    aapay.State
		account aapay.AccountState
		want    ecr.Result
	}{
		{"rejected", aapay.Rejected, "", ecr.Declined},
		{"rolled back", aapay.Finalized, aapay.Rollback, ecr.Declined},
		{"reported and committed", aapay.Reported, aapay.Commit, ecr.Approved},
		{"a bad word with COMMIT", aapay.Failed, aapay.Commit, ecr.Approved},
	} {
		t.Run(c.name, func(t *testing.T) {
			terminal(t, func(r *rig) {
				r.world.onStatus = say(1, c.word, c.account)
				s := r.sale(500)
				o := <-s.Outcome
				require.Equal(t, c.want, o.Result)
				require.Equal(t, c.want == ecr.Approved, o.Receipt != 0)
				r.Told(s, ecr.Told)
			})
		})
	}
}

func TestMoneyA1_ReservedIsWatchedUntilCommit(t *testing.T) {
	def := swish()
	def.OKCodes = []methods.OKCode{{Type: methods.Payment, Value: "RESERVED"}}
	terminal(t, func(r *rig) {
		r.defs = []methods.Definition{def}
		r.world.onStatus = say(1, aapay.Reserved, "")
		s := r.sale(500)
		o := <-s.Outcome
		require.Equal(t, ecr.Approved, o.Result)
		require.True(t, o.Settling)
		r.Told(s, ecr.Told)
		r.world.lock(func() { r.world.onStatus = say(1, aapay.Finalized, aapay.Commit) })
		pass(time.Minute)
		require.False(t, r.last("serial").Settling)

		r.world.lock(func() { r.world.onStatus = say(1, aapay.Reserved, "") })
		s = r.sale(700)
		<-s.Outcome
		r.Told(s, ecr.Told)
		r.world.lock(func() { r.world.onStatus = say(1, aapay.Cancelled, "") })
		pass(time.Minute)
		totals, err := r.Turnover(context.Background())
		require.NoError(t, err)
		require.Len(t, totals.Exceptions, 1)
		require.Contains(t, totals.Exceptions[0], "ended CANCELLED without COMMIT")
		require.Equal(t, checkout.Confirmed, r.phase(s.ID))
	})
}

// A reservation that the register has reversed ends without COMMIT, which is no alarm; it is one where the reversal was refused.
func TestMoneyA1_AReversedReservationIsNoAlarm(t *testing.T) {
	def := swish()
	def.OKCodes = []methods.OKCode{{Type: methods.Payment, Value: "RESERVED"}, {Type: methods.Reversal, Value: "REVERSED"}}
	for name, refuses := range map[string]bool{"reversed": false, "refused": true} {
		t.Run(name, func(t *testing.T) {
			terminal(t, func(r *rig) {
				r.defs = []methods.Definition{def}
				r.world.onStatus = say(1, aapay.Reserved, "")
				s := r.sale(700)
				out := <-s.Outcome
				r.Told(s, ecr.Told)
				r.world.lock(func() {
					r.world.onInit = func(_ int, typ aapay.Type, _ aapay.Request) (*aapay.Reply, error, bool) {
						if !refuses || typ != aapay.Reversal {
							return nil, nil, false
						}
						for _, x := range r.world.order { // the provider cancels it all the same
							x.state = aapay.Cancelled
						}
						return nil, errLost, true
					}
				})
				back := r.Accepted(ecr.Request{Kind: ecr.Reversal, Receipt: out.Receipt})
				pass(20 * time.Second)
				r.world.lock(func() {
					r.world.onInit = nil
					if refuses {
						r.world.onInit = func(int, aapay.Type, aapay.Request) (*aapay.Reply, error, bool) {
							return &aapay.Reply{HTTPStatus: 201, Response: &aapay.Response{ResponseCode: aapay.CodeReject}}, nil, true
						}
					}
				})
				end := <-back.Outcome
				r.Told(back, ecr.Told)
				pass(time.Minute)
				totals, err := r.Turnover(context.Background())
				require.NoError(t, err)
				if !refuses {
					require.Equal(t, ecr.Approved, end.Result)
					require.Empty(t, totals.Exceptions)
					return
				}
				require.Equal(t, ecr.InProgress, end.Result, "its first attempt was lost: not found proves nothing before the window is over")
				pass(time.Hour)
				again := r.Accepted(ecr.Request{Kind: ecr.Reversal, Receipt: out.Receipt})
				require.Equal(t, ecr.Declined, (<-again.Outcome).Result)
				r.Told(again, ecr.Told)
				totals, err = r.Turnover(context.Background())
				require.NoError(t, err)
				require.Len(t, totals.Exceptions, 1)
				require.Contains(t, totals.Exceptions[0], "payment of 7.00 EUR, receipt 1: approved, but it ended CANCELLED without COMMIT")
			})
		})
	}
}

// The acknowledgement comes between a status read and its decision: the watch goes on.
func TestMoneyA1_AnAcknowledgementDoesNotEndTheWatch(t *testing.T) {
	def := swish()
	def.OKCodes = []methods.OKCode{{Type: methods.Payment, Value: "RESERVED"}}
	for skip := range 3 {
		terminal(t, func(r *rig) {
			r.defs = []methods.Definition{def}
			r.world.onStatus = say(1, aapay.Reserved, "")
			s := r.sale(500)
			<-s.Outcome
			r.guard.mu.Lock()
			r.guard.skip, r.guard.onRead = skip, func() { _, _ = r.Delivered(context.Background(), s.ID, ecr.Told) }
			r.guard.mu.Unlock()
			pass(70 * time.Second)
			require.Equal(t, checkout.Confirmed, r.phase(s.ID))
			r.world.lock(func() { r.world.onStatus = say(1, aapay.Finalized, aapay.Commit) })
			pass(time.Minute)
			row, _ := r.show(s.ID)
			require.False(t, row.State.Settling)
		})
	}
}

func TestMoneyA1_CommitAfterDeclinedIsUndone(t *testing.T) {
	terminal(t, func(r *rig) {
		s := r.declined()
		r.world.lock(func() { r.world.onStatus = nil; r.world.pay(r.world.order[0]) })
		require.EqualValues(t, 500, r.world.net())
		pass(2 * time.Minute)
		require.Zero(t, r.world.net())
		require.Equal(t, checkout.Done, r.phase(s.ID))
		require.Equal(t, ecr.Declined, r.last("serial").Result)
	})
}

// Nothing left the terminal: the register hears so, and no undo is opened, not even after a
// restart.
func TestField_L7NoConnectionHasItsOwnAnswer(t *testing.T) {
	terminal(t, func(r *rig) {
		r.world.offline = true
		start := time.Now()
		s := r.sale(500)
		o := <-s.Outcome
		require.Equal(t, ecr.Aborted, o.Result)
		require.Equal(t, ecr.NoConnection, o.Code)
		require.Equal(t, "no connection", o.Text)
		require.False(t, o.Settling)
		require.Equal(t, 4*time.Second, time.Since(start), "at once: three attempts, 2 s between them")
		require.Equal(t, ecr.NoConnection, r.Told(s, ecr.Told).Code)
		require.Equal(t, checkout.Done, r.phase(s.ID))
		require.True(t, r.Health(context.Background()).Offline)
		r.Restart(true)
		r.world.lock(func() { r.world.offline = false })
		pass(20 * time.Minute)
		require.Empty(t, r.world.sent(aapay.Reversal))
		require.Equal(t, ecr.NoConnection, r.last("serial").Code, "asked again, the same")
	})
	terminal(t, func(r *rig) { // the first attempt may have left
		r.world.onInit = func(n int, _ aapay.Type, _ aapay.Request) (*aapay.Reply, error, bool) {
			if n == 1 {
				return nil, errLost, true
			}
			return nil, errGone, true
		}
		s := r.sale(500)
		require.Equal(t, ecr.AbortedByUser, (<-s.Outcome).Code)
		r.Told(s, ecr.Told)
		require.Equal(t, checkout.Reversing, r.phase(s.ID))
	})
	terminal(t, func(r *rig) { // nor does a refusal by the backend count as never sent
		r.world.onInit = func(int, aapay.Type, aapay.Request) (*aapay.Reply, error, bool) {
			return nil, &wire.Error{Code: wire.Unavailable, Op: "test", Msg: "reply 503"}, true
		}
		s := r.sale(500)
		require.Equal(t, ecr.AbortedByUser, (<-s.Outcome).Code)
		r.Told(s, ecr.Told)
		require.Equal(t, checkout.Reversing, r.phase(s.ID))
	})
	terminal(t, func(r *rig) { // the attempt before the crash has no end in the journal
		r.world.onInit = func(int, aapay.Type, aapay.Request) (*aapay.Reply, error, bool) {
			<-time.After(10 * time.Second)
			return nil, errGone, true
		}
		s := r.sale(500)
		pass(time.Second)
		r.guard.mu.Lock()
		r.guard.left = 0
		r.guard.mu.Unlock()
		pass(20 * time.Second)
		r.world.lock(func() { r.world.onInit = nil })
		r.world.lock(func() { r.world.offline = true })
		r.Restart(false)
		require.Equal(t, ecr.AbortedByUser, r.last("serial").Code)
		require.Equal(t, checkout.Reversing, r.phase(s.ID))
	})
}

func TestMoneyA2_DeadNetworkIsAbortedAndOwed(t *testing.T) {
	terminal(t, func(r *rig) {
		r.world.mute = true
		start := time.Now()
		s := r.sale(500)
		o := <-s.Outcome
		require.Equal(t, ecr.Aborted, o.Result)
		require.Equal(t, ecr.AbortedByUser, o.Code)
		require.True(t, o.Settling)
		require.Less(t, time.Since(start), 20*time.Second)
		r.Told(s, ecr.Told)
		require.Equal(t, checkout.Reversing, r.phase(s.ID))
		require.True(t, r.Health(context.Background()).Offline)
		pass(time.Hour)
		require.Equal(t, checkout.Reversing, r.phase(s.ID), "no proof, no end")
		r.world.lock(func() { r.world.mute = false })
		pass(10 * time.Minute)
		require.Equal(t, checkout.Done, r.phase(s.ID))
	})
}

func TestMoneyA2_RefundStillRunningIsJoined(t *testing.T) {
	terminal(t, func(r *rig) {
		o := r.approved(1000)
		r.world.lock(func() { r.world.mute = true })
		req := refundOf(o, 400)
		start := time.Now()
		a := r.Accepted(req)
		told := <-a.Outcome
		require.Equal(t, ecr.InProgress, told.Result)
		require.Equal(t, ecr.StillRunning, told.Code)
		require.Equal(t, 81*time.Second, time.Since(start))
		r.Told(a, ecr.Told)

		b := r.Accepted(req)
		require.Equal(t, a.ID, b.ID, "the same request joins")
		start = time.Now()
		require.Equal(t, ecr.InProgress, (<-b.Outcome).Result)
		require.Equal(t, 81*time.Second, time.Since(start))
		require.Equal(t, ecr.InProgress, r.Told(b, ecr.Told).Result)
		r.Restart(false)
		b = r.Accepted(req)
		require.Equal(t, a.ID, b.ID, "after a restart too")
		r.world.lock(func() { r.world.mute = false })
		end := <-b.Outcome
		require.Equal(t, ecr.Approved, end.Result)
		require.True(t, end.MerchantCopy)
		require.Equal(t, o.Trace, end.OriginalTrace)
		r.Told(b, ecr.Told)
		require.Len(t, uniqueKeys(r.world.sent(aapay.Refund)), 1)
		require.EqualValues(t, 600, r.world.net())
	})
}

func TestMoneyA2_EndOfARefundToldInProgressReachesItsRepetition(t *testing.T) {
	terminal(t, func(r *rig) {
		o := r.approved(1000)
		r.world.lock(func() { r.world.mute = true })
		req := ecr.Request{Kind: ecr.Reversal, Receipt: o.Receipt}
		a := r.Accepted(req)
		require.Equal(t, ecr.InProgress, (<-a.Outcome).Result)
		r.Told(a, ecr.Told)
		r.world.lock(func() { r.world.mute = false })
		pass(10 * time.Minute)
		require.Equal(t, checkout.Done, r.phase(a.ID))
		b := r.Accepted(req)
		require.Equal(t, a.ID, b.ID)
		end := <-b.Outcome
		require.Equal(t, ecr.Approved, end.Result)
		require.False(t, end.Repeat)
		r.Told(b, ecr.Told)
		_, err := r.Ask(req)
		refused(t, err, ecr.AlreadyReversed)
	})
}

func uniqueKeys(calls []call) map[string]bool {
	out := map[string]bool{}
	for _, c := range calls {
		out[string(c.key)] = true
	}
	return out
}

func TestMoneyA3_ToldRefusedLost(t *testing.T) {
	for d, want := range map[ecr.Delivery]checkout.Phase{ecr.Told: checkout.Confirmed, ecr.Lost: checkout.Unconfirmed, ecr.Refused: checkout.Reversing} {
		terminal(t, func(r *rig) {
			r.world.onStatus = approveAfter(r.world, 1)
			s := r.sale(500)
			<-s.Outcome
			o := r.Told(s, d)
			require.Equal(t, want, r.phase(s.ID))
			require.Equal(t, d == ecr.Refused, o.Result == ecr.Aborted)
			pass(9 * time.Minute)
			if d == ecr.Lost {
				require.Equal(t, checkout.Unconfirmed, r.phase(s.ID))
			}
			pass(10 * time.Minute)
			require.Equal(t, d == ecr.Told, r.world.net() == 500)
		})
	}
}

func TestMoneyA3_GraceIsTenMinutesExactly(t *testing.T) {
	terminal(t, func(r *rig) {
		o := r.unconfirmed(500)
		pass(10*time.Minute - time.Millisecond)
		require.Equal(t, checkout.Unconfirmed, r.phase(o.Sale))
		pass(time.Millisecond)
		require.Equal(t, checkout.Reversing, r.phase(o.Sale))
	})
}

func TestMoneyA3_NothingUndoesASaleWhileItIsBeingTold(t *testing.T) {
	terminal(t, func(r *rig) {
		o := r.unconfirmed(500)
		pass(9 * time.Minute)
		s := r.Again()
		require.Equal(t, ecr.Approved, (<-s.Outcome).Result)
		pass(2 * time.Minute)
		require.Equal(t, checkout.Unconfirmed, r.phase(o.Sale), "held over the end of the grace")
		next := r.Accepted(ecr.Request{Amount: 100})
		require.Equal(t, checkout.Unconfirmed, r.phase(o.Sale), "and over the next command")
		require.Equal(t, ecr.Approved, r.Told(s, ecr.Told).Result)
		require.Equal(t, checkout.Confirmed, r.phase(o.Sale))
		<-next.Outcome
		r.Told(next, ecr.Told)
	})
}

func TestMoneyA4_DeadlineOf85Seconds(t *testing.T) {
	terminal(t, func(r *rig) {
		r.world.onStatus = say(1, aapay.Authorized, "")
		start := time.Now()
		s := r.sale(500)
		o := <-s.Outcome
		require.Equal(t, ecr.Aborted, o.Result)
		took := time.Since(start)
		require.GreaterOrEqual(t, took, 77*time.Second)
		require.Less(t, took, 81*time.Second, "one more status read, not more")
		r.Told(s, ecr.Told)
		pass(time.Minute)
		require.Equal(t, checkout.Done, r.phase(s.ID))
	})
}

func TestMoneyA4_LastReadApproves(t *testing.T) {
	terminal(t, func(r *rig) {
		start := time.Now()
		r.world.onStatus = func(x *txn) error {
			x.state = aapay.Authorized
			if time.Since(start) >= 77*time.Second {
				r.world.pay(x)
			}
			return nil
		}
		s := r.sale(500)
		r.Approved(s, ecr.Told)
	})
}

func TestMoneyA4_LongDeadlineWithProgress(t *testing.T) {
	terminal(t, func(r *rig) {
		r.world.onStatus = say(1, aapay.Authorized, "")
		start := time.Now()
		s := r.Accepted(ecr.Request{Amount: 500, Progress: true})
		require.Equal(t, ecr.Aborted, (<-s.Outcome).Result)
		require.InDelta(t, 600, time.Since(start).Seconds(), 6)
		r.Told(s, ecr.Told)
		two := int32(2)
		d := swish()
		d.StaleTimeOut = &two
		r.defs = []methods.Definition{d}
		r.world.lock(func() { r.world.onStatus = say(1, aapay.Pending, "") })
		start = time.Now()
		s = r.Accepted(ecr.Request{Amount: 500, Progress: true})
		require.Equal(t, ecr.Aborted, (<-s.Outcome).Result)
		require.InDelta(t, 125, time.Since(start).Seconds(), 6, "PENDING ran out after the method's 2 minutes")
		r.Told(s, ecr.Told)
	})
}

func TestMoneyA4_WallClockDecidesNothing(t *testing.T) {
	terminal(t, func(r *rig) {
		s := r.waiting(aapay.Pending, 20*time.Second)
		r.jump(10 * 365 * 24 * time.Hour)
		r.Restart(false)
		require.Equal(t, checkout.Waiting, r.phase(s.ID))
		row, _ := r.show(s.ID)
		require.Equal(t, 1000*time.Second, row.State.StartedAt)
		start := time.Now()
		w := r.Again()
		<-w.Outcome
		require.InDelta(t, 57, time.Since(start).Seconds(), 6, "what was left of the deadline")
		r.Told(w, ecr.Told)
	})
}

func TestMoneyA5_AbortBeforeAndAfterTheApproval(t *testing.T) {
	terminal(t, func(r *rig) {
		s := r.waiting(aapay.Pending, 5*time.Second)
		require.NoError(t, r.Abort(context.Background(), s.ID))
		require.Contains(t, []checkout.Phase{checkout.Aborting, checkout.Reversing}, r.phase(s.ID))
		require.NoError(t, r.Abort(context.Background(), s.ID), "again is the same")
		r.world.lock(func() { r.world.onStatus = nil; r.world.pay(r.world.order[0]) })
		o := <-s.Outcome
		require.Equal(t, ecr.Aborted, o.Result)
		r.Told(s, ecr.Told)
		require.ErrorIs(t, r.Abort(context.Background(), s.ID), ecr.ErrTooLate)
		pass(time.Minute)
		require.Zero(t, r.world.net(), "the COMMIT only fed the undo")

		r.world.lock(func() { r.world.onStatus = approveAfter(r.world, 1) })
		s = r.sale(600)
		<-s.Outcome
		require.ErrorIs(t, r.Abort(context.Background(), s.ID), ecr.ErrTooLate)
		require.Equal(t, ecr.Approved, r.Told(s, ecr.Told).Result)
	})
}

func TestMoneyA5_AbortIsDurableBeforeItsAnswer(t *testing.T) {
	terminal(t, func(r *rig) {
		s := r.waiting(aapay.Pending, 5*time.Second)
		require.NoError(t, r.Abort(context.Background(), s.ID))
		r.guard.mu.Lock()
		r.guard.left = 0 // power fails right after the answer
		r.guard.mu.Unlock()
		r.world.lock(func() { r.world.onStatus = nil; r.world.pay(r.world.order[0]) })
		r.Restart(false)
		pass(time.Minute)
		require.Zero(t, r.world.net())
		require.Equal(t, ecr.Aborted, r.last("serial").Result)
	})
}

func TestMoneyA6_Currency(t *testing.T) {
	terminal(t, func(r *rig) {
		_, err := r.Ask(ecr.Request{Amount: 1, Currency: "USD"})
		refused(t, err, ecr.WrongCurrency)
		r.world.lock(func() { r.world.onStatus = approveAfter(r.world, 1) })
		for _, currency := range []string{"", "EUR"} {
			s := r.Accepted(ecr.Request{Amount: 100, Currency: currency})
			require.Equal(t, "EUR", (<-s.Outcome).Currency)
			r.Told(s, ecr.Told)
		}
		synctest.Wait()
	})
}
