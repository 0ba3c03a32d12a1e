package offline

import (
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/agent/outbox"
	"posagent/schemes/wire"
)

// A caller read the end right after its commit, and was gone when the outbox said that the operation has ended.
func TestAnEndThatItsCallerReadIsNoAlert(t *testing.T) {
	op := outbox.Op{New: outbox.New{Key: wire.NewKey()}, State: outbox.Failed, Reason: "refused by the bank"}
	f := &Front{ending: map[wire.Key]bool{op.Key: true}}
	f.endHeard(op.Key)
	require.NotPanics(t, func() { f.alertLate(op) }, "there is no journal to write an alert to")
	f.ending[op.Key] = true
	require.Panics(t, func() { f.alertLate(op) }, "an end that nobody has read goes to the journal")
}

// A caller that leaves without having looked knows whether its operation may have ended while it waited: nobody else is told then.
func TestField_P9WhoLeavesKnowsOfAnEnd(t *testing.T) {
	const key = wire.Key("018fb4a2-0000-7000-8000-000000000001")
	failed := outbox.Op{New: outbox.New{Key: key}, State: outbox.Failed}
	for name, c := range map[string]struct {
		before func(f *Front)
		want   bool
	}{
		"nothing happened":           {func(*Front) {}, false},
		"its end is being committed": {func(f *Front) { f.callerWaits(key) }, true},
		"its end is committed":       {func(f *Front) { f.callerWaits(key); f.alertLate(failed) }, true},
		"another one's is":           {func(f *Front) { f.callerWaits("018fb4a2-0000-7000-8000-000000000002") }, false},
	} {
		f := NewFront(Options{})
		_, leave := f.listen(key)
		c.before(f)
		require.Equal(t, c.want, leave(), name)
		require.False(t, f.callerWaits(key), "%s: a later end raises its alert itself", name)
	}
}
