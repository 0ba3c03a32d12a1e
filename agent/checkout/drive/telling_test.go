package drive_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/ecr"
)

// An acknowledgement belongs to its telling. A refund is told "in progress" on one connection and its
// end on another; each report counts for what was told there, in whatever order they come. Nobody who
// was told "approved" hears "in progress" after it, and an acknowledged "in progress" is no told end.
func TestField2_M31AnAcknowledgementBelongsToItsTelling(t *testing.T) {
	ctx := context.Background()
	for name, first := range map[string]bool{"the interim first": true, "the end first": false} {
		for _, how := range []ecr.Delivery{ecr.Told, ecr.Lost} {
			t.Run(name+", "+string(how), func(t *testing.T) {
				terminal(t, func(r *rig) {
					req := refundOf(r.approved(1000), 300)
					r.world.lock(func() { r.world.mute = true })
					interim := r.Accepted(req)
					running := <-interim.Outcome
					require.Equal(t, ecr.InProgress, running.Result)
					r.world.lock(func() { r.world.mute = false })
					pass(2 * time.Minute) // less than a telling may take
					end := r.Accepted(req)
					require.Equal(t, interim.ID, end.ID)
					ended := <-end.Outcome
					require.Equal(t, ecr.Approved, ended.Result)

					report := func(out ecr.Outcome, how ecr.Delivery) {
						now, err := r.Delivered(ctx, out.Sale, out.Telling(how))
						require.NoError(t, err)
						require.Equal(t, out.Result, now.Result, "it is told nothing else")
					}
					if first {
						report(running, ecr.Told)
						report(ended, how)
					} else {
						report(ended, how)
						report(running, ecr.Told)
					}
					row, _ := r.show(end.ID)
					require.Equal(t, string(how), row.Told, "as the end was told")
					again := r.Accepted(req)
					require.Equal(t, how == ecr.Lost, again.ID == end.ID)
					r.Approved(again, ecr.Told)
				})
			})
		}
	}
}

// Nobody reports on a telling of "in progress": that ends nothing, and the end may be told meanwhile.
func TestField2_M31AnInterimThatNobodyReportsOnIsNoEnd(t *testing.T) {
	terminal(t, func(r *rig) {
		req := refundOf(r.approved(1000), 300)
		r.world.lock(func() { r.world.mute = true })
		interim := r.Accepted(req)
		require.Equal(t, ecr.InProgress, (<-interim.Outcome).Result)
		r.world.lock(func() { r.world.mute = false })
		pass(10 * time.Minute) // it counts as lost
		end := r.Accepted(req)
		out := <-end.Outcome
		now, err := r.Delivered(context.Background(), end.ID, ecr.Interim) // of the first one, late
		require.NoError(t, err)
		require.Equal(t, ecr.Approved, now.Result)
		row, _ := r.show(end.ID)
		require.Equal(t, "in_progress", row.Told)
		r.Told(end, out.Telling(ecr.Told))
		row, _ = r.show(end.ID)
		require.Equal(t, string(ecr.Told), row.Told)
	})
}
