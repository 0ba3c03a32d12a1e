package session

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/ecr"
	"posagent/ecr/zvt/protocol"
)

// What has not left is taken back, and what waits for an acknowledgement is not repeated; both are
// said to be unsent, in order. What comes after leaves.
func TestUnsendTakesBackWhatHasNotLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var left []byte
		s := New(Options{Protocol: protocol.New(protocol.Options{})})
		d := s.dialog(true, func(ctx context.Context, data []byte) error {
			left = append(left, data...)
			if data[0] == 4 {
				return nil
			}
			<-ctx.Done() // the peer never acknowledges
			return ctx.Err()
		})
		ctx, cancel := context.WithCancel(t.Context())
		d.jobs.Go(func() { d.write(ctx) })
		for seq := range 3 {
			d.perform(ctx, ecr.Send{Seq: seq + 1, Data: []byte{byte(seq + 1)}})
		}
		synctest.Wait()
		d.perform(ctx, ecr.Unsend{Through: 3})
		d.perform(ctx, ecr.Send{Seq: 4, Data: []byte{4}})
		began := time.Now()
		for _, want := range []ecr.Sent{{Seq: 1}, {Seq: 2}, {Seq: 3}, {Seq: 4, OK: true}} {
			require.Equal(t, ecr.Event(want), <-d.events)
		}
		require.Zero(t, time.Since(began))
		require.Equal(t, []byte{1, 4}, left)
		cancel()
		d.jobs.Wait()
	})
}
