package drive_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent/checkout/drive/journal"
	"posagent/ecr"
	"posagent/store"
)

// The last commits of a journal were lost, and its own mark has seen every number that it gave. A refund that it had sent, and that had not
// ended, has no number: the register repeated it, the money was given back twice, and nothing was said. The kind: each way to be told which
// numbers are lost (none, some, all there are), for what has no number yet; TestDecisions_WhatIsGivenBackAfterALossIsSaid has the
// refund that was given one.
func TestField5_ARefundWithoutANumberIsLostToo(t *testing.T) {
	for name, past := range map[string]func(own journal.Numbers) journal.Past{
		"the mark has seen each number": func(own journal.Numbers) journal.Past { return journal.Past{Seen: own, Known: true} },
		"it saw one more": func(own journal.Numbers) journal.Past {
			own.Receipt++
			own.Trace++
			return journal.Past{Seen: own, Known: true}
		},
		"it is not known": func(journal.Numbers) journal.Past { return journal.Past{} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			terminal(t, func(r *rig) {
				paid, other := r.approved(purchase), r.approved(purchase)
				r.losesBy(past, func() { r.Accepted(refundOf(paid, refunded)); pass(time.Second) })
				again := r.Accepted(ecr.Request{Kind: ecr.Refund, Amount: refunded, Original: fmt.Sprintf("R%d/%d", paid.Batch, paid.Receipt)})
				r.Told(again, ecr.Told)
				require.Len(t, r.alerts(), 1, "it may be given back twice")
				require.Equal(t, again.ID, string(r.alerts()[0].Key))
				require.NoError(t, r.DB.Write(context.Background(), func(tx store.Tx) error {
					released, err := journal.ReleaseNumbers(tx)
					require.True(t, released)
					return err
				}))
				r.Told(r.Accepted(refundOf(other, refunded)), ecr.Told)
				require.Len(t, r.alerts(), 1, "a person has compared")
			})
		})
	}
}
