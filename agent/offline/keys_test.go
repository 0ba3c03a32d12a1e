package offline_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent/offline"
	"posagent/agent/outbox"
	"posagent/schemes/aapay"
	"posagent/schemes/wire"
)

// However often the answer is lost, it is one operation with one Key and one body.
func TestUndoIsSentAgainUnderItsKey(t *testing.T) {
	for _, kind := range []string{offline.KindReversal, offline.KindRefund} {
		svc := &service{
			start: func(n int, _ bool) (aapay.Reply, error) {
				if n < 4 {
					return aapay.Reply{}, wire.Errorf(wire.UnknownOutcome, "t", "no reply")
				}
				return reply(202, 0, "pp-1"), nil
			},
			status: func(int, string) (aapay.Status, error) { return state(aapay.Finalized, aapay.Commit), nil },
		}
		run(t, kind, svc, nil, 10*time.Minute, func(op outbox.Op, _ []offline.UndoResult) {
			require.Equal(t, outbox.Done, op.State)
			require.Len(t, svc.keys, 4)
			for i, key := range svc.keys {
				require.Equal(t, op.Key, key)
				require.Equal(t, svc.requests[0], svc.requests[i])
			}
		})
	}
}
