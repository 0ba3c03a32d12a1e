package drive_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/ecr"
	"posagent/schemes/aapay"
)

// TestField5_AServiceIDIsJudgedByRunningTime: whether a ServiceID of nexo came with another content within 48
// hours was read off the wall clock. A box that boots with its clock ahead took a repeated payment for a new
// one: the customer paid twice; and it closed a second day under the id of one that it had closed. The kind:
// the id of a sale, of one that joined it, and of an end of day; a clock ahead and behind, in the same run and
// after a boot, and set right again. Of 48 hours that the box ran they are others; an id that only begins like
// another one, or is another till's, always was.
func TestField5_AServiceIDIsJudgedByRunningTime(t *testing.T) {
	const hours = 48 * time.Hour
	for clock, jump := range wrongClocks() {
		for _, boot := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/%t", clock, boot), func(t *testing.T) {
				t.Parallel()
				terminal(t, func(r *rig) {
					r.world.onStatus = approveAfter(r.world, 1)
					ask := func(line, id, order string) ecr.Request {
						return ecr.Request{Line: line, Sequence: id + "/" + order, Amount: 500, Reference: order, ByTCP: true, Reuse: hours}
					}
					const line = "nexo/till1"
					s := r.Accepted(ask(line, "S1", "order-7"))
					r.Listens(s.ID, true)
					require.Equal(t, ecr.Approved, (<-s.Outcome).Result)
					r.cut(0)
					r.Restart(true)
					joined := r.Accepted(ask(line, "S2", "order-7"))
					require.Equal(t, s.ID, joined.ID)
					r.Approved(joined, ecr.Told)
					day := ecr.Asker{Line: line, ID: "R1", Reuse: hours}
					closed, err := r.CloseFor(context.Background(), day)
					require.NoError(t, err)

					check := func(when string) {
						t.Helper()
						for _, id := range []string{"S1", "S2"} {
							_, err := r.Ask(ask(line, id, "order-8"))
							refused(t, err, ecr.Processing)
							again := r.Accepted(ask(line, id, "order-7"))
							require.Equal(t, s.ID, again.ID, when)
							r.Approved(again, ecr.Told)
						}
						again, err := r.CloseFor(context.Background(), day)
						require.NoError(t, err)
						require.Equal(t, closed.Batch, again.Batch, when)
						require.Len(t, r.world.sent(aapay.Payment), 1, when)
					}
					r.jump(jump)
					check("the clock has jumped")
					r.Restart(boot)
					check("another clock")
					r.jump(0)
					r.Restart(boot)
					check("the right clock")
					r.runs(1)
					check("a day")
					for n, other := range []ecr.Request{ask(line, "S", "order-8"), ask(line, "S10", "order-8"), ask("nexo/till2", "S1", "order-8")} {
						r.Approved(r.Accepted(other), ecr.Told)
						require.Len(t, r.world.sent(aapay.Payment), 2+n)
					}

					r.runs(2)
					for _, id := range []string{"S1", "S2"} {
						r.Approved(r.Accepted(ask(line, id, "order-8")), ecr.Told)
						again := r.Accepted(ask(line, id, "order-7"))
						require.Equal(t, s.ID, again.ID, "a sale's own ids are its own for 90 days")
						r.Approved(again, ecr.Told)
					}
					again, err := r.CloseFor(context.Background(), day)
					require.NoError(t, err)
					require.Greater(t, again.Batch, closed.Batch)
					require.EqualValues(t, 6*500, r.world.net())
				})
			})
		}
	}
}

// TestField5_WhatIsKnownIsToldWhateverTheTerminalCanDo: a payment was acknowledged, its connection broke before
// the register had heard that the command was over, and it repeated the command under the same id (TLV 1F73).
// While another line's end of day ran, the terminal was about to restart, or the disk was full or dead, it was
// refused, which ZVT tells as a payment that was not made: the customer paid again. The kind: each of these;
// the ids of ZVT, JSON lines, HTTP and nexo; a payment that was approved, one that was aborted, a refund; and a
// request that is new, which is refused still. An approval that nobody has acknowledged may be undone by what
// follows, so with a dead disk it is told by nobody.
func TestField5_WhatIsKnownIsToldWhateverTheTerminalCanDo(t *testing.T) {
	type world struct {
		hinder func(r *rig) (over func())
		code   ecr.Code
	}
	hindered := map[string]world{
		"an end of day runs": {func(r *rig) func() {
			paid := r.approved(1000)
			r.world.lock(func() { r.world.mute = true })
			back := r.Accepted(refundOf(paid, 400))
			closed := make(chan error, 1)
			go func() {
				_, err := r.Close(context.Background())
				closed <- err
			}()
			pass(time.Second)
			return func() {
				r.world.lock(func() { r.world.mute = false })
				require.NoError(r.t, <-closed)
				<-back.Outcome
				r.Told(back, ecr.Told)
			}
		}, ecr.NotReady},
		"the terminal restarts": {func(r *rig) func() {
			rests, err := r.Drive.Rest(context.Background())
			require.NoError(r.t, err)
			require.True(r.t, rests)
			return func() { r.Restart(false) }
		}, ecr.NotReady},
		"the disk is full": {func(r *rig) func() {
			r.guard.full = true
			return func() { r.guard.full = false }
		}, ecr.NotStored},
		"the disk is dead": {func(r *rig) func() {
			r.guard.full = true
			r.guard.fail(1 << 30)
			return func() {
				r.guard.full = false
				r.guard.fail(0)
			}
		}, ecr.NotStored},
	}
	for name, req := range ids() {
		for how, h := range hindered {
			t.Run(name+"/"+how, func(t *testing.T) {
				t.Parallel()
				terminal(t, func(r *rig) {
					r.world.onStatus = approveAfter(r.world, 1)
					s := r.Accepted(req)
					paid := r.Approved(s, ecr.Told)
					back := refundOf(paid, 100)
					back.Line, back.Sequence = req.Line, "b/1"
					g := r.Accepted(back)
					r.Approved(g, ecr.Told)
					r.world.onStatus = nil
					stopped := req
					stopped.Sequence = "s/1"
					a := r.Accepted(stopped)
					require.NoError(t, r.Abort(context.Background(), a.ID))
					require.Equal(t, ecr.Aborted, (<-a.Outcome).Result)
					r.Told(a, ecr.Told)
					pass(time.Hour) // and is undone
					r.world.lock(func() { r.world.onStatus = approveAfter(r.world, 1) })

					over := h.hinder(r)
					for id, known := range map[string]struct {
						req    ecr.Request
						result ecr.Result
					}{s.ID: {req, ecr.Approved}, g.ID: {back, ecr.Approved}, a.ID: {stopped, ecr.Aborted}} {
						again, err := r.Ask(known.req)
						require.NoError(t, err, "%s under its id is told what became of it", known.req.Kind)
						require.Equal(t, id, again.ID)
						require.Equal(t, known.result, (<-again.Outcome).Result)
						_, _ = r.Delivered(context.Background(), again.ID, ecr.Told) // where it can be stored
					}
					other := req
					other.Sequence = "n/1"
					_, err := r.Ask(other)
					refused(t, err, h.code)
					over()
					pass(time.Hour)
					require.Equal(t, ecr.Approved, r.Approved(r.Accepted(req), ecr.Told).Result)
				})
			})
		}
	}
	terminal(t, func(r *rig) {
		req := ids()["ZVT number"]
		r.world.onStatus = approveAfter(r.world, 1)
		s := r.Accepted(req)
		r.Approved(s, ecr.Lost)
		r.guard.full = true
		r.guard.fail(1 << 30)
		_, err := r.Ask(req)
		refused(t, err, ecr.NotStored)
		r.guard.full = false
		r.guard.fail(0)
		pass(time.Hour)
		require.Zero(t, r.world.net(), "and its grace is over")
	})
}
