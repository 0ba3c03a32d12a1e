package session

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/ecr/zvt"
)

// What has not left is taken back, and said to be unsent, in order.
func TestUnsendTakesBackWhatHasNotLeft(t *testing.T) {
	d := &dialog{out: make(chan zvt.Send, maxOut)}
	for seq := range 3 {
		d.perform(context.Background(), zvt.Send{Seq: seq + 1})
	}
	d.perform(context.Background(), zvt.Unsend{})
	require.Empty(t, d.out)
	require.Equal(t, []zvt.Event{zvt.Sent{Seq: 1}, zvt.Sent{Seq: 2}, zvt.Sent{Seq: 3}}, d.own)
}
