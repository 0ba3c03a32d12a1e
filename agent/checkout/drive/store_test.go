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
	"posagent/store"
)

// A command whose commit fails has not come: the sale it would have settled keeps its grace timer.
func TestMoneyB6_ACommandThatIsNotStoredSettlesNothing(t *testing.T) {
	terminal(t, func(r *rig) {
		o := r.unconfirmed(500)
		r.guard.fail(1)
		_, err := r.Ask(ecr.Request{Amount: 300})
		refused(t, err, ecr.NotStored)
		synctest.Wait()
		require.Equal(t, checkout.Unconfirmed, r.phase(o.Sale))
		require.Equal(t, ecr.Approved, r.last("serial").Result)
		r.Told(ecr.Sale{ID: o.Sale}, ecr.Lost)
		r.guard.fail(1)
		_, err = r.Ask(ecr.Request{Amount: 300})
		refused(t, err, ecr.NotStored)
		pass(10 * time.Minute)
		require.Equal(t, checkout.Reversing, r.phase(o.Sale), "the grace timer runs on")
		require.Len(t, r.world.sent(aapay.Payment), 1)
		r.settle()
		require.Zero(t, r.world.net())
	})
}

// An acknowledgement that cannot be stored is kept in mind, and nothing undoes the sale meanwhile.
func TestMoneyA3_AnAcknowledgementWaitsForTheStore(t *testing.T) {
	terminal(t, func(r *rig) {
		o := r.unconfirmed(500)
		pass(9 * time.Minute)
		s := r.Again()
		require.Equal(t, ecr.Approved, (<-s.Outcome).Result)
		r.guard.fail(1)
		_, err := r.Delivered(context.Background(), o.Sale, ecr.Told)
		require.ErrorIs(t, err, store.ErrFull)
		pass(2 * time.Minute)
		require.Equal(t, checkout.Unconfirmed, r.phase(o.Sale), "acknowledged: not to be undone by the grace timer")
		_, err = r.Delivered(context.Background(), o.Sale, ecr.Told)
		require.NoError(t, err)
		require.Equal(t, checkout.Confirmed, r.phase(o.Sale))
		require.EqualValues(t, 500, r.world.net())
	})
}

// A register line that gives up while the store is full leaves no sale behind that occupies the
// terminal.
func TestMoneyA3_WhatWasHeardIsStoredOnceTheStoreCan(t *testing.T) {
	for d, want := range map[ecr.Delivery]checkout.Phase{ecr.Told: checkout.Confirmed, ecr.Lost: checkout.Unconfirmed} {
		terminal(t, func(r *rig) {
			r.world.onStatus = approveAfter(r.world, 1)
			s := r.sale(500)
			<-s.Outcome
			r.guard.fail(10)
			_, err := r.Delivered(context.Background(), s.ID, d)
			require.ErrorIs(t, err, store.ErrFull)
			pass(5*time.Minute + 30*time.Second)
			require.Equal(t, want, r.phase(s.ID))
			next := r.sale(300)
			<-next.Outcome
			r.Told(next, ecr.Told)
		})
	}
}

// An interim answer whose report fails once is still an interim answer: its end is for the
// repetition of the request.
func TestMoneyA2_AFailedReportOfInProgressIsNotOneOfTheEnd(t *testing.T) {
	terminal(t, func(r *rig) {
		o := r.approved(1000)
		r.world.lock(func() { r.world.mute = true })
		req := refundOf(o, 400)
		a := r.Accepted(req)
		require.Equal(t, ecr.InProgress, (<-a.Outcome).Result)
		r.world.lock(func() { r.world.mute = false })
		r.guard.fail(1)
		o, err := r.Delivered(context.Background(), a.ID, ecr.Told)
		require.NoError(t, err, "nothing of it has to be recorded")
		require.Equal(t, ecr.InProgress, o.Result)
		r.guard.fail(0)
		r.Box.Online()
		pass(time.Minute)
		require.Equal(t, checkout.Done, r.phase(a.ID))
		b := r.Accepted(req)
		require.Equal(t, a.ID, b.ID, "not refunded twice")
		r.Approved(b, ecr.Told)
		require.EqualValues(t, 600, r.world.net())
	})
}

func TestField_J8InProgressIsToldThoughTheStoreCannot(t *testing.T) {
	terminal(t, func(r *rig) {
		o := r.approved(1000)
		r.world.lock(func() { r.world.mute = true })
		start := time.Now()
		s := r.Accepted(ecr.Request{Kind: ecr.Reversal, Receipt: o.Receipt})
		pass(80 * time.Second)
		r.guard.fail(30)
		require.Equal(t, ecr.InProgress, (<-s.Outcome).Result)
		require.InDelta(t, 81, time.Since(start).Seconds(), 1)
		r.Told(s, ecr.Told)
	})
}

// What the register says it knows counts, even while a telling is not reported on yet.
func TestMoneyB6_TheSameReceiptConfirmsWhileATellingIsOpen(t *testing.T) {
	terminal(t, func(r *rig) {
		o := r.unconfirmed(500)
		s := r.Again()
		<-s.Outcome
		next := r.Accepted(ecr.Request{Amount: 300, LastReceipt: &o.Receipt})
		require.Equal(t, checkout.Confirmed, r.phase(o.Sale))
		require.Equal(t, ecr.Approved, r.Told(s, ecr.Lost).Result)
		<-next.Outcome
		r.Told(next, ecr.Told)
		pass(20 * time.Minute)
		require.EqualValues(t, 800, r.world.net())
	})
}

// The reversal is answered while the code is still being taken off a slow screen: the next attempt
// is not forgotten.
func TestMoneyB3_AnAnswerThatOvertakesTheScreenIsFollowed(t *testing.T) {
	terminal(t, func(r *rig) {
		failReversals(r.world, 1)
		r.screen.slow = time.Second
		r.world.onStatus = say(4, aapay.TimedOut, "")
		s := r.sale(500)
		require.Equal(t, ecr.Aborted, (<-s.Outcome).Result)
		r.Told(s, ecr.Told)
		r.world.lock(func() { r.world.onStatus = nil; r.world.pay(r.world.order[0]) })
		pass(5 * time.Minute)
		require.Len(t, r.world.sent(aapay.Reversal), 2)
		require.Zero(t, r.world.net())
		require.Equal(t, checkout.Done, r.phase(s.ID))
	})
}

// A start with a full disk waits for space; it does not give up.
func TestMoneyB1_AStartWaitsForTheStore(t *testing.T) {
	terminal(t, func(r *rig) {
		s := r.waiting(aapay.Pending, 5*time.Second)
		r.failAtStart = 5
		r.Restart(true)
		_, err := r.Ask(ecr.Request{Amount: 100})
		refused(t, err, ecr.Resuming)
		pass(10 * time.Second)
		require.NotEqual(t, checkout.Waiting, r.phase(s.ID))
		next := r.sale(100)
		require.NoError(t, r.Abort(context.Background(), next.ID))
		<-next.Outcome
		r.Told(next, ecr.Told)
		r.settle()
		require.Zero(t, r.world.net())
	})
}

// "The last payment" is another one now: its refund is not the one that still runs.
func TestMoneyB7_ARefundOfTheLastPaymentIsOfThatPayment(t *testing.T) {
	terminal(t, func(r *rig) {
		r.cfg.RefundLast = true
		r.Restart(false)
		r.approved(400)
		r.world.lock(func() {
			r.world.onInit = func(n int, typ aapay.Type, _ aapay.Request) (*aapay.Reply, error, bool) {
				return nil, errGone, typ == aapay.Refund && n < 20
			}
		})
		req := ecr.Request{Kind: ecr.Refund, Amount: 400}
		a := r.Accepted(req)
		again := r.Accepted(req)
		require.Equal(t, a.ID, again.ID)
		r.approved(400)
		b := r.Accepted(req)
		require.NotEqual(t, a.ID, b.ID)
		r.world.lock(func() { r.world.onInit = nil })
		r.Box.Online()
		for _, s := range []ecr.Sale{a, again, b} {
			r.Approved(s, ecr.Told)
		}
		require.Zero(t, r.world.net())
	})
}

// An unconfirmed sale that is being told just now is neither undone nor passed over by the end of
// day.
func TestMoneyB13_EndOfDayWaitsForATelling(t *testing.T) {
	for d, count := range map[ecr.Delivery]int{ecr.Told: 1, ecr.Lost: 0} {
		terminal(t, func(r *rig) {
			o := r.unconfirmed(500)
			s := r.Again()
			<-s.Outcome
			var totals ecr.Totals
			closed := make(chan error, 1)
			go func() {
				var err error
				totals, err = r.Close(context.Background())
				closed <- err
			}()
			pass(30 * time.Second)
			require.Empty(t, closed)
			require.Equal(t, checkout.Unconfirmed, r.phase(o.Sale))
			r.Told(s, d)
			require.NoError(t, <-closed)
			require.Equal(t, count, totals.Count)
			require.EqualValues(t, 500*count, r.world.net())
			require.Equal(t, checkout.Done, r.phase(o.Sale))
		})
	}
}

// A sale that rests between two attempts without a connection is aborted at once: no answer is on
// its way.
func TestMoneyA5_AnAbortWaitsForNoAnswerToWhatWasNotSent(t *testing.T) {
	terminal(t, func(r *rig) {
		r.world.offline = true
		s := r.sale(300)
		pass(time.Second)
		require.Len(t, r.world.sent(aapay.Payment), 1)
		start := time.Now()
		require.NoError(t, r.Abort(context.Background(), s.ID))
		o := <-s.Outcome
		require.Equal(t, ecr.AbortedByUser, o.Code)
		require.Less(t, time.Since(start), 100*time.Millisecond)
		r.Told(s, ecr.Told)
		require.Equal(t, checkout.Done, r.phase(s.ID), "nothing left the terminal")
		pass(time.Minute)
		require.Len(t, r.world.sent(aapay.Payment), 1)
	})
}
