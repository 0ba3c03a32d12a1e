package keypad

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/device/keypad/entry"
)

func drained(q *queue) (keys []entry.Key) {
	for {
		k, ok := q.take()
		if !ok {
			return keys
		}
		keys = append(keys, k)
	}
}

func TestAFullQueueLosesTheNewest(t *testing.T) {
	q := newQueue()
	for i := range 1000 {
		q.add(entry.Digit(i % 10))
	}
	keys := drained(q)
	require.Len(t, keys, 32)
	for i := range 31 {
		require.Equal(t, entry.Digit(i%10), keys[i])
	}
	require.Equal(t, entry.Gap, keys[31])
	require.EqualValues(t, 969, q.losses())
	require.Equal(t, 32, cap(q.keys), "it has not grown")

	q.add(entry.Confirm)
	require.Equal(t, []entry.Key{entry.Confirm}, drained(q))
}

func TestAGapStandsWhereKeysWereLost(t *testing.T) {
	q := newQueue()
	for range 40 {
		q.add(entry.Digit(1))
	}
	for range 3 {
		q.take()
	}
	q.add(entry.Digit(2)) // there is room again
	keys := drained(q)
	require.Equal(t, []entry.Key{entry.Digit(1), entry.Gap, entry.Digit(2)}, keys[len(keys)-3:])

	for range 50 {
		q.add(entry.Gap)
	}
	require.Equal(t, []entry.Key{entry.Gap}, drained(q))
}

func TestAnEndedReaderGetsNothing(t *testing.T) {
	q := newQueue()
	q.add(entry.Confirm)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, ok := q.next(ctx)
	require.False(t, ok)
}
