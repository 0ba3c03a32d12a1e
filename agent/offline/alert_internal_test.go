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
	f.seen(op.Key)
	require.NotPanics(t, func() { f.after(op) }, "there is no journal to write an alert to")
	f.ending[op.Key] = true
	require.Panics(t, func() { f.after(op) }, "an end that nobody has read goes to the journal")
}
