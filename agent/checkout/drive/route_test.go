package drive_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent/checkout/drive/journal"
	"posagent/agent/checkout/drive/perform"
	"posagent/ecr"
	"posagent/schemes/aapay"
	"posagent/schemes/wire"
	"posagent/store/storetest"
)

// errDeployed is what a proxy says in the place of a service that is being deployed.
var errDeployed = &wire.Error{Code: wire.UnknownOutcome, Op: "test", Msg: "reply 404", Err: aapay.ErrNoRoute}

// naked are the initializes that left without a Key.
func (r *rig) naked() (n int) {
	r.world.lock(func() {
		for _, c := range r.world.inits {
			if c.plain {
				n++
			}
		}
	})
	return n
}

// missing lets the calls of the idempotent route between two numbers, and no others, find none.
func missing(from, to int) func(int, aapay.Type, aapay.Request) bool {
	return func(n int, _ aapay.Type, _ aapay.Request) bool { return n >= from && n <= to }
}

// The plain route is taken only where 404, 405 or 501 came at the very first attempt that may have
// arrived, the service itself does not know the reference, and the idempotent route never worked at
// this address. Every other time the same Key goes alone, and nothing is made twice.
func TestField2_M17ThePlainRouteNeedsProof(t *testing.T) {
	cases := map[string]struct {
		world  func(w *world)
		before func(r *rig)
		naked  int // without a Key
	}{
		"the route never was there": {world: func(w *world) { w.plain = true }, naked: 1},
		"the first attempt had no connection": {world: func(w *world) {
			w.onInit = func(int, aapay.Type, aapay.Request) (*aapay.Reply, error, bool) {
				w.onInit, w.plain = nil, true
				return nil, errGone, true
			}
		}, naked: 1},
		"the answer of the first attempt was lost": {world: func(w *world) {
			w.noRoute = missing(2, 2)
			w.after = func(int, aapay.Type) error { w.after = nil; return errLost }
		}},
		"the first attempt was carried out, and answered so": {world: func(w *world) {
			w.after = func(int, aapay.Type) error { w.after = nil; return errDeployed }
		}},
		"the first attempt was asked to be sent again": {world: func(w *world) {
			w.noRoute = missing(2, 2)
			w.onInit = func(int, aapay.Type, aapay.Request) (*aapay.Reply, error, bool) {
				w.onInit = nil
				return &aapay.Reply{HTTPStatus: 202, Response: &aapay.Response{ResponseCode: aapay.CodeResend}}, nil, true
			}
		}},
		"it has worked in this run": {before: func(r *rig) { r.approved(300) }, world: func(w *world) { w.noRoute = missing(w.keyed+1, w.keyed+2) }},
		"it has worked in an earlier run": {
			before: func(r *rig) { r.approved(300); r.Restart(true) },
			world:  func(w *world) { w.noRoute = missing(w.keyed+1, w.keyed+2) },
		},
		"it has worked at another address": {
			before: func(r *rig) { r.approved(300); r.address = "https://elsewhere.example"; r.Restart(true) },
			world:  func(w *world) { w.plain = true }, naked: 1,
		},
	}
	for name, c := range cases {
		terminal(t, func(r *rig) {
			had := int64(0)
			if c.before != nil {
				c.before(r)
				had = r.world.net()
			}
			r.world.lock(func() { c.world(r.world) })
			r.world.onStatus = approveAfter(r.world, 1)
			s := r.sale(500)
			r.Approved(s, ecr.Told)
			r.settle()
			require.Equal(t, c.naked, r.naked(), name)
			require.Equal(t, had+500, r.world.net(), name)
		})
	}
}

// Once the route has worked, a refund or a reversal that meets a deployment keeps its Key, too.
func TestField2_M17WhatGivesBackKeepsItsKey(t *testing.T) {
	for _, kind := range []ecr.Kind{ecr.Refund, ecr.Reversal} {
		for name, lost := range map[string]bool{"at once": false, "after a lost answer": true} {
			terminal(t, func(r *rig) {
				o := r.approved(1000)
				r.world.lock(func() {
					first := r.world.keyed + 1
					if lost {
						r.world.after = func(int, aapay.Type) error { r.world.after = nil; return errLost }
						first++
					}
					r.world.noRoute = missing(first, first+1)
				})
				req := ecr.Request{Kind: kind, Receipt: o.Receipt}
				if kind == ecr.Refund {
					req = refundOf(o, 400)
				}
				back := r.Approved(r.Accepted(req), ecr.Told)
				pass(time.Hour)
				require.Zero(t, r.naked(), "%s, %s", kind, name)
				require.EqualValues(t, 1000-int64(back.Amount), r.world.net(), "%s, %s", kind, name)
			})
		}
	}
}

// While the one read is under way that the plain route needs, an abort or a restart ends or resumes
// the sale as any other; a read without an answer proves nothing.
func TestField2_M17TheReadBeforeThePlainRoute(t *testing.T) {
	slow := func(r *rig, answer error) {
		r.world.plain = true
		r.world.onRead = func() error {
			r.world.takes(5 * time.Second)
			return answer
		}
	}
	terminal(t, func(r *rig) {
		slow(r, nil)
		s := r.sale(500)
		pass(time.Second)
		require.NoError(t, r.Abort(context.Background(), s.ID))
		require.Equal(t, ecr.Aborted, (<-s.Outcome).Result)
		r.Told(s, ecr.Told)
		r.settle()
		require.Empty(t, r.world.sent(aapay.Payment))
		require.Zero(t, r.world.net())
	})
	terminal(t, func(r *rig) {
		slow(r, nil)
		s := r.sale(500)
		pass(time.Second)
		r.cut(0)
		r.Restart(false)
		r.world.onStatus = approveAfter(r.world, 1)
		w := r.Again()
		require.Equal(t, s.ID, w.ID)
		r.Approved(w, ecr.Told)
		require.Equal(t, 1, r.naked())
		require.EqualValues(t, 500, r.world.net())
	})
	terminal(t, func(r *rig) {
		slow(r, errLost)
		s := r.sale(500)
		require.Equal(t, ecr.Aborted, (<-s.Outcome).Result)
		r.Told(s, ecr.Told)
		r.world.lock(func() { r.world.onRead = nil })
		r.settle()
		require.Empty(t, r.world.sent(aapay.Payment))
	})
}

// A backend without the idempotent route may say so in its own words. Sales, refunds and undos go on
// over the plain one, each once.
func TestField2_M8AMissingRouteWhateverItSays(t *testing.T) {
	for _, code := range []wire.Code{wire.UnknownOutcome, wire.NotFound, wire.Invalid} {
		terminal(t, func(r *rig) {
			r.world.plain, r.world.missing = true, code
			o := r.approved(1000)
			r.Approved(r.Accepted(refundOf(o, 400)), ecr.Told)
			require.EqualValues(t, 600, r.world.net(), code)
			r.unconfirmed(500)
			pass(time.Hour)
			require.EqualValues(t, 600, r.world.net(), "%s: the undo found its way, too", code)
			require.Equal(t, 4, r.naked(), "two payments, a refund, an undo")
		})
	}
}

// routes is a service whose two routes are there or not.
type routes struct {
	aapay.Service
	keyed, plain error
}

func (r *routes) InitializeWithIdempotency(context.Context, wire.Key, aapay.Type, aapay.Request) (aapay.Reply, error) {
	return aapay.Reply{}, r.keyed
}

func (r *routes) Initialize(context.Context, aapay.Type, aapay.Request) (aapay.Reply, error) {
	return aapay.Reply{}, r.plain
}

// That both routes are missing is known of the last call that was answered, and of no address at which
// the idempotent one has ever worked.
func TestField2_M8NeitherRouteIsThere(t *testing.T) {
	svc := &routes{keyed: errDeployed, plain: errDeployed}
	r := perform.NewRoute(svc, storetest.Open(t, journal.Schema()...), "https://backend.example", nil, nil)
	plain := func(err error) bool {
		svc.plain = err
		_, _ = r.Initialize(t.Context(), aapay.Payment, aapay.Request{})
		return r.Neither()
	}
	keyed := func(err error) bool {
		svc.keyed = err
		_, _ = r.InitializeWithIdempotency(t.Context(), wire.NewKey(), aapay.Payment, aapay.Request{})
		return r.Neither()
	}
	require.False(t, keyed(errDeployed), "the plain one may be there")
	require.True(t, plain(errDeployed))
	require.True(t, keyed(errDeployed))
	require.True(t, plain(&wire.Error{Code: wire.NotFound, Err: aapay.ErrNoRoute}), "in the service's own words")
	require.True(t, plain(errGone), "what had no connection says nothing")
	require.False(t, plain(errLost))
	require.True(t, plain(errDeployed))
	require.False(t, plain(nil))
	require.True(t, plain(errDeployed))
	require.False(t, keyed(nil))
	require.False(t, plain(errDeployed), "the idempotent one has worked here")
}
