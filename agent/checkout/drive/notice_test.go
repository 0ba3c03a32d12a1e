package drive_test

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent/checkout"
)

// The line whose approval the grace timer takes back is told once; nothing else tells
// it.
func TestMoneyA3_TheLineIsToldWhenGraceIsOver(t *testing.T) {
	terminal(t, func(r *rig) {
		told := map[string]*atomic.Int64{"serial": {}, "tcp": {}}
		for line, n := range told {
			r.OnUndo(line, func() { n.Add(1) })
		}
		o := r.unconfirmed(500)
		pass(9 * time.Minute)
		require.Zero(t, told["serial"].Load()+told["tcp"].Load())
		pass(time.Minute)
		r.settle()
		row, _ := r.show(o.Sale)
		require.Equal(t, checkout.Done, row.State.Phase)
		require.EqualValues(t, 1, told[row.Line].Load())
		require.EqualValues(t, 1, told["serial"].Load()+told["tcp"].Load(), "the other line was told nothing")
	})
}
