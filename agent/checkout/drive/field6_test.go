package drive_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent/checkout"
	"posagent/agent/checkout/drive"
	"posagent/agent/outbox"
	"posagent/ecr"
	"posagent/schemes/aapay"
	"posagent/schemes/methods"
	"posagent/schemes/wire"
)

// A refund after a loss may give back twice, and an alert says so until a person has looked. A sale has one
// alert: the next one about the refund took its place, and went as that was told or proven wrong. Nobody was
// told that the customer may have got the money twice. The kind: each alert that follows the first one of a refund (its end is
// not told, in each way; it is in doubt), and what ends that one alone.
func TestField6_WhatAPersonHasToSeeIsNotReplaced(t *testing.T) {
	const twice = "may have given it back already"
	ctx := context.Background()
	ways := untolds()
	ways["nobody waits"] = func(r *rig, _ ecr.Sale) {
		r.Restart(false)
		r.world.lock(func() { r.world.mute = false })
		pass(10 * time.Minute)
	}
	ways["in doubt"] = func(r *rig, s ecr.Sale) {
		require.Equal(r.t, ecr.InProgress, (<-s.Outcome).Result)
		r.Told(s, ecr.Told)
		pass(3 * time.Hour)
		require.Contains(r.t, r.alerts()[0].Reason, "in doubt")
		require.NoError(r.t, r.Box.Resolve(ctx, wire.Key(s.ID), outbox.Done, "seen in the portal"))
		pass(time.Minute)
	}
	for how, way := range ways {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			terminal(t, func(r *rig) {
				paid := r.approved(500)
				r.loses(func() { r.Approved(r.Accepted(refundOf(paid, 100)), ecr.Told) })
				r.world.lock(func() { r.world.mute = how == "in progress" || how == "nobody waits" })
				if how == "in doubt" { // accepted, and not found any more
					r.world.onInit = func(int, aapay.Type, aapay.Request) (*aapay.Reply, error, bool) {
						return &aapay.Reply{HTTPStatus: 202, Valid: true, Response: &aapay.Response{}}, nil, true
					}
				}
				s := r.Accepted(refundOf(paid, 300))
				way(r, s)
				pass(time.Second)
				one := func(why string, more bool) {
					t.Helper()
					list := r.alerts()
					require.Len(t, list, 1, why)
					require.Equal(t, []string{s.ID, string(checkout.NotKnown)}, []string{string(list[0].Key), list[0].Short}, why)
					require.Contains(t, list[0].Reason, twice, why)
					require.NotContains(t, list[0].Reason, "in doubt", why)
					if more {
						require.Contains(t, list[0].Reason, "done, but the register serial has not heard that", why)
					} else {
						require.NotContains(t, list[0].Reason, "has not heard", why)
					}
				}
				one("untold", true)
				r.Restart(false)
				one("a start", true)
				again := r.Accepted(refundOf(paid, 300))
				require.Equal(t, s.ID, again.ID)
				r.Approved(again, ecr.Lost)
				one("asked again, and not told", true)
				r.Approved(r.Accepted(refundOf(paid, 300)), ecr.Told)
				one("told", false)
				require.NoError(t, r.Box.Acknowledge(ctx, wire.Key(s.ID)))
				require.Empty(t, r.alerts())
			})
		})
	}
}

// An approval is kept for a till that never fetched it, and its money did not come: the second alert took the first one's place, in
// either order.
func TestField6_TwoWhoAreShortAreBothTold(t *testing.T) {
	const fetched, money = "never fetched the outcome", "timed out without COMMIT"
	for name, late := range map[string]bool{"the money first": false, "the till first": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			terminal(t, func(r *rig) {
				r.defs[0].OKCodes = []methods.OKCode{{Type: methods.Payment, Value: "RESERVED"}}
				r.world.onStatus = say(1, aapay.Reserved, "")
				req := ask("a")
				req.Keep = true
				if late {
					req.Grace = time.Second
				}
				s := r.Accepted(req)
				r.Approved(s, ecr.Lost)
				ends := func() { r.world.lock(func() { r.world.onStatus = say(1, aapay.TimedOut, "") }); pass(2 * time.Minute) }
				if !late {
					ends()
					require.Contains(t, r.alerts()[0].Reason, money)
				}
				for n := 0; n < 1200 && (len(r.alerts()) == 0 || !strings.Contains(r.alerts()[0].Reason, fetched)); n++ {
					pass(time.Second)
				}
				require.Contains(t, r.alerts()[0].Reason, fetched)
				if late {
					ends()
				}
				list := r.alerts()
				require.Len(t, list, 1)
				require.Contains(t, list[0].Reason, fetched)
				require.Contains(t, list[0].Reason, money)
			})
		})
	}
}

// A held sale was not found for its whole time, and a person was told so; then the backend found it, paid or ended without money. That
// was not told, and nothing was asked any more: a person who closed it by what stood there closed it wrongly.
func TestField6_WhatIsKnownOfAHeldSaleIsTold(t *testing.T) {
	for word, c := range map[string]struct {
		found  func(w *world)
		reason string
	}{
		"paid":  {func(w *world) { w.first().state, w.first().account = aapay.Finalized, aapay.Commit }, "held: the backend says that it was paid"},
		"ended": {func(w *world) { w.first().state, w.first().account = aapay.Cancelled, aapay.Rollback }, "without COMMIT"},
	} {
		t.Run(word, func(t *testing.T) {
			t.Parallel()
			terminal(t, func(r *rig) {
				s, _ := openStages()["approved, not acknowledged"](r)
				var byRef map[string]*txn
				r.putBack(func() { r.world.lock(func() { byRef, r.world.byRef = r.world.byRef, map[string]*txn{} }) })
				pass(time.Hour)
				require.Contains(t, r.alerts()[0].Reason, "held: the backend does not know it")
				r.world.lock(func() { r.world.byRef = byRef; c.found(r.world) })
				pass(time.Hour)
				list := r.alerts()
				require.Len(t, list, 1)
				require.Equal(t, s.ID, string(list[0].Key))
				require.Contains(t, list[0].Reason, c.reason)
				require.NotContains(t, list[0].Reason, "does not know it")
				require.NoError(t, r.Box.Acknowledge(context.Background(), list[0].Key))
				r.Restart(true)
				pass(time.Hour)
				require.Empty(t, r.alerts(), "told once")
			})
		})
	}
}

// A refund was done and its answer was lost. The register repeated it, by a protocol without ids, while another till's end of day ran, or
// as the terminal was about to restart, or was not to sell any more: it was told that nothing was begun, and the money had gone back. The
// kind: each of these, and each way in which an end stays untold, and a refund that runs; what is new is refused still.
// TestField5_WhatIsKnownIsToldWhateverTheTerminalCanDo has the requests with ids, and a disk that is full or dead.
func TestField6_ARefundIsJoinedWhateverTheTerminalCanDo(t *testing.T) {
	hindered := map[string]func(r *rig) (over func()){
		"an end of day runs": func(r *rig) func() {
			r.world.onStatus = approveAfter(r.world, 1)
			paid := r.Approved(r.Accepted(ecr.Request{Line: "other", Amount: 1000}), ecr.Told)
			r.world.lock(func() { r.world.mute = true })
			back := refundOf(paid, 400)
			back.Line = "other"
			s := r.Accepted(back)
			told := r.closing(0)
			return func() {
				r.world.lock(func() { r.world.mute = false })
				require.NoError(r.t, (<-told).err)
				<-s.Outcome
				r.Told(s, ecr.Told)
			}
		},
		"the terminal restarts": func(r *rig) func() {
			rests, err := r.Drive.Rest(context.Background())
			require.NoError(r.t, err)
			require.True(r.t, rests)
			return func() { r.Restart(false) }
		},
		"the box was replaced":    func(r *rig) func() { r.bar = drive.Replaced; return func() { r.bar = drive.NoBar } },
		"it is not confirmed yet": func(r *rig) func() { r.bar = drive.Unconfirmed; return func() { r.bar = drive.NoBar } },
	}
	for name, hinder := range hindered {
		for how := range untolds() {
			t.Run(name+"/"+how, func(t *testing.T) {
				t.Parallel()
				terminal(t, func(r *rig) {
					paid, s := r.untold(how, backs()["R"])
					newer := r.approved(900)
					over := hinder(r)
					for _, d := range []ecr.Delivery{ecr.Lost, ecr.Told} {
						again, err := r.Ask(backs()["R"](paid))
						require.NoError(t, err, "told as one that was not carried out")
						require.Equal(t, s.ID, again.ID)
						require.Equal(t, ecr.Approved, (<-again.Outcome).Result)
						r.Told(again, d)
						require.Equal(t, s.ID, r.last("serial").Sale, "what the line asked for last")
						r.Told(again, ecr.Lost)
					}
					_, err := r.Ask(refundOf(newer, 300))
					refused(t, err, ecr.NotReady)
					_, err = r.Ask(backs()["R"](paid))
					refused(t, err, ecr.NotReady)
					over()
				})
			})
		}
	}
	for _, bar := range []drive.Bar{drive.Replaced, drive.Unconfirmed} {
		terminal(t, func(r *rig) {
			paid := r.approved(500)
			r.world.lock(func() { r.world.mute = true })
			s := r.Accepted(refundOf(paid, 300))
			r.bar = bar
			again := r.Accepted(refundOf(paid, 300))
			require.Equal(t, s.ID, again.ID)
			require.Equal(t, ecr.InProgress, (<-again.Outcome).Result)
			r.Told(again, ecr.Told)
		})
	}
}

// A terminal that started on a full disk could not take its journal up, and a register repeated a command under the id of a payment that
// it had acknowledged. ZVT cannot wait for longer than 70 s, and told it as a payment that was not made. The kind: the ids of each
// protocol, and a payment and a refund that have ended; what is open, or may be undone yet, is told once the journal is taken up.
func TestField6_WhatHasEndedIsToldBeforeTheJournalIsTakenUp(t *testing.T) {
	for name, req := range ids() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			terminal(t, func(r *rig) {
				r.world.onStatus = approveAfter(r.world, 1)
				s := r.Accepted(req)
				paid := r.Approved(s, ecr.Told)
				back := refundOf(paid, 100)
				back.Line, back.Sequence = req.Line, "b/1"
				g := r.Accepted(back)
				r.Approved(g, ecr.Told)
				unheard := req
				unheard.Sequence = "u/1"
				u := r.Accepted(unheard)
				r.Approved(u, ecr.Lost)
				r.world.onStatus = say(1, aapay.Pending, "")
				open := ecr.Request{Line: "other", Sequence: "o/1", Amount: 300}
				o := r.Accepted(open)
				pass(5 * time.Second)
				r.failAtStart = 30
				r.Restart(false)
				for id, known := range map[string]ecr.Request{s.ID: req, g.ID: back} {
					again, err := r.Ask(known)
					require.NoError(t, err, "%s", known.Kind)
					require.Equal(t, id, again.ID)
					require.Equal(t, ecr.Approved, (<-again.Outcome).Result)
				}
				other := req
				other.Amount++
				for _, not := range []ecr.Request{unheard, open, other} {
					_, err := r.Ask(not)
					refused(t, err, ecr.Resuming)
				}
				pass(time.Minute)
				for id, known := range map[string]ecr.Request{s.ID: req, g.ID: back, u.ID: unheard} {
					again := r.Accepted(known)
					require.Equal(t, id, again.ID)
					r.Approved(again, ecr.Told)
				}
				require.Equal(t, o.ID, r.Accepted(open).ID)
			})
		})
	}
}
