package drive_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent/checkout"
	"posagent/ecr"
	"posagent/schemes/aapay"
	"posagent/schemes/methods"
)

// The service's name moves to a site whose data lag. That site does not find the payment, and says
// REVERSED of it, or refuses: neither proves anything. The undo stays owed, the merchant hears of it
// once, and when the name leads back the money goes back.
func TestField2_M18ASiteThatDoesNotKnowItProvesNothing(t *testing.T) {
	moves := map[string]func(r *rig) ecr.Sale{ // the last thing that the first site says
		"it was taken": func(r *rig) ecr.Sale {
			s := r.sale(500)
			pass(time.Second)
			return s
		},
		"a state": func(r *rig) ecr.Sale { return r.waiting(aapay.Initialized, 10*time.Second) },
		"a state, and the register has asked for the end": func(r *rig) ecr.Sale {
			s := r.waiting(aapay.Pending, 10*time.Second)
			r.world.lock(func() { failReversals(r.world, 1) })
			return s
		},
	}
	for name, move := range moves {
		for _, refuses := range []bool{false, true} {
			for _, restart := range []bool{false, true} {
				terminal(t, func(r *rig) {
					away := newWorld()
					if refuses {
						failReversals(away, 100)
					}
					s := move(r)
					r.world.lock(func() { r.world.onStatus, r.world.other = nil, away })
					pass(5 * time.Second)
					require.NoError(t, r.Abort(context.Background(), s.ID))
					require.Equal(t, ecr.Aborted, (<-s.Outcome).Result)
					r.Told(s, ecr.Told)
					r.payLate() // at the first site
					pass(20 * time.Minute)
					if restart {
						r.Restart(false)
					}
					pass(time.Hour)
					require.Equal(t, checkout.Reversing, r.phase(s.ID), "%s: undone by a site that does not know it", name)
					_, lines := r.show(s.ID)
					require.Equal(t, 1, strings.Count(strings.Join(lines, "\n"), "compare the backend's portal"), "%s: %q", name, lines)

					r.world.lock(func() { r.world.other = nil })
					pass(time.Hour)
					require.Zero(t, r.world.net(), "%s: told aborted, and the merchant keeps money", name)
					require.Equal(t, checkout.Done, r.phase(s.ID), name)
				})
			}
		}
	}
}

// What the service never had ends as before: a reversal of what it does not know is its word that it
// will never begin.
func TestField2_M18WhatNeverArrivedEndsAsBefore(t *testing.T) {
	terminal(t, func(r *rig) {
		r.world.onInit = func(_ int, typ aapay.Type, _ aapay.Request) (*aapay.Reply, error, bool) {
			return nil, errLost, typ == aapay.Payment
		}
		s := r.sale(500)
		require.Equal(t, ecr.Aborted, (<-s.Outcome).Result)
		r.Told(s, ecr.Told)
		pass(time.Minute)
		require.Equal(t, checkout.Done, r.phase(s.ID))
	})
}

// An exception that has proven wrong stands in no report any more; where one was printed, the next one
// says so.
func TestField2_M6AnExceptionIsWithdrawn(t *testing.T) {
	for _, printed := range []bool{false, true} {
		terminal(t, func(r *rig) {
			r.defs[0].OKCodes = []methods.OKCode{{Type: methods.Payment, Value: "RESERVED"}}
			r.Restart(false)
			r.world.onStatus = say(1, aapay.Reserved, "")
			o := r.Approved(r.sale(500), ecr.Told)
			pass(4 * time.Minute)
			require.NotContains(t, r.raised(), "not finalized in time")
			pass(2 * time.Minute)
			require.Contains(t, r.raised(), "not finalized in time")
			if printed {
				_, err := r.Close(context.Background())
				require.NoError(t, err)
				require.NotContains(t, r.raised(), "not finalized in time")
			}
			r.world.lock(func() { r.world.onStatus = nil })
			r.payLate()
			pass(2 * time.Minute)
			require.Equal(t, printed, strings.Contains(r.raised(), "withdrawn, it has proven wrong: approved and reserved, but not finalized in time"), r.raised())
			require.Equal(t, printed, strings.Contains(r.raised(), "not finalized in time"), r.raised())
			row, _ := r.show(o.Sale)
			require.Equal(t, ecr.Approved, row.State.Result)
			require.False(t, row.State.Settling)
			require.EqualValues(t, 500, r.world.net())
		})
	}
}

// raised are the exceptions of the open batch.
func (r *rig) raised() string {
	r.t.Helper()
	totals, err := r.Turnover(context.Background())
	require.NoError(r.t, err)
	return strings.Join(totals.Exceptions, "\n")
}

// The terminal loses power as the answer leaves. The till may have read it: the sale is kept, whatever the
// till does next, and what it asks again under the same name is told.
func TestField2_M4PowerIsLostAsTheAnswerLeaves(t *testing.T) {
	ask := func(reference string, amount int64) ecr.Request {
		return ecr.Request{Amount: minor(amount), Reference: reference, ByTCP: true}
	}
	cut := func(r *rig, listens, byTCP bool) ecr.Sale {
		req := ask("order-7", 500)
		req.ByTCP = byTCP
		r.world.lock(func() { r.world.onStatus = approveAfter(r.world, 1) })
		s := r.Accepted(req)
		r.Listens(s.ID, listens)
		require.Equal(r.t, ecr.Approved, (<-s.Outcome).Result)
		r.cut(0)
		r.Restart(true)
		return s
	}
	for name, then := range map[string]func(r *rig, s ecr.Sale){
		"nothing": func(*rig, ecr.Sale) {},
		"the same purchase under another id": func(r *rig, s ecr.Sale) {
			again := r.Accepted(ask("order-7", 500))
			require.Equal(t, s.ID, again.ID, "it joins")
			r.Approved(again, ecr.Told)
		},
		"another payment of the same amount": func(r *rig, s ecr.Sale) {
			r.Approved(r.Accepted(ask("order-8", 500)), ecr.Told)
			require.Contains(t, r.raised(), "possibly charged twice")
		},
		"another payment": func(r *rig, s ecr.Sale) {
			r.Approved(r.Accepted(ask("order-8", 700)), ecr.Told)
			require.NotContains(t, r.raised(), "possibly charged twice")
		},
	} {
		terminal(t, func(r *rig) {
			s := cut(r, true, true)
			require.Contains(t, r.raised(), "the till may not have heard it")
			then(r, s)
			pass(time.Hour)
			require.Empty(t, r.world.sent(aapay.Reversal), name)
			row, _ := r.show(s.ID)
			require.Equal(t, ecr.Approved, row.State.Result, name)
		})
	}
	for name, c := range map[string]struct{ listens, byTCP bool }{"the line was broken": {false, true}, "an acknowledgement of its own": {true, false}} {
		terminal(t, func(r *rig) {
			s := cut(r, c.listens, c.byTCP)
			pass(time.Hour)
			row, _ := r.show(s.ID)
			require.Equal(t, ecr.Aborted, row.State.Result, name)
			require.Zero(t, r.world.net(), name)
		})
	}
}
