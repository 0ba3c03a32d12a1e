package live_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/agent/checkout/drive/live"
	"posagent/schemes/wire"
)

// Memory says of an attempt that it has not left only where this run has counted it, and to one
// caller. A run that has just begun says it of none.
func TestField2_M1MemoryProvesNothingOfAnEarlierRun(t *testing.T) {
	const key = wire.Key("k")
	s := live.New()
	for try := range 3 {
		require.False(t, s.TakeResting(key, try), "nothing is known of the sale")
	}
	s.Rests(key, 1)
	require.False(t, s.TakeResting(key, 0))
	require.False(t, s.TakeResting(key, 2), "another attempt")
	require.True(t, s.TakeResting(key, 1))
	require.False(t, s.TakeResting(key, 1), "taken")
	s.Rests(key, 2)
	require.False(t, s.TakeResting(key, 1), "it has left")
}
