package drive_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent/checkout/drive/journal"
	"posagent/ecr"
	"posagent/store"
)

// A refund that a register was told is in progress still runs after the journal was put back: 06 20 must say so.
func TestARunningRefundIsJoinedAfterALoss(t *testing.T) {
	terminal(t, func(r *rig) {
		r.approved(1000)
		r.world.lock(func() { r.world.mute = true })
		a := r.Accepted(ecr.Request{Kind: ecr.Refund, Amount: 300, Original: "R1"})
		require.Equal(t, ecr.InProgress, (<-a.Outcome).Result)
		r.Told(a, ecr.Told) // 27=9C was acknowledged
		require.NoError(t, r.DB.Write(context.Background(), func(tx store.Tx) error {
			if err := journal.KeepLast(tx); err != nil {
				return err
			}
			return store.KeepLost(tx, store.Lost{Before: store.Before{Kind: store.WasRestored, Why: "w"}, Generation: 2, AtMS: time.Now().UnixMilli()})
		}))
		row, _ := r.show(a.ID)
		b, err := r.Last(context.Background(), row.Line)
		require.NoError(t, err, "the refund runs: 27=9C, joined")
		require.Equal(t, ecr.InProgress, (<-b.Outcome).Result)
		r.Told(b, ecr.Told)
		r.world.lock(func() { r.world.mute = false })
		r.Halt()
	})
}
