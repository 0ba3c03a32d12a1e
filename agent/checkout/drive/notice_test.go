package drive_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent/checkout"
)

// MONEY A.3: the line whose approval the grace timer takes back is told once; nothing else tells it.
func TestMoneyA3_TheLineIsToldWhenGraceIsOver(t *testing.T) {
	terminal(t, func(r *rig) {
		told := map[string]int{}
		for _, line := range []string{"serial", "tcp"} {
			r.OnUndo(line, func() { told[line]++ })
		}
		o := r.unconfirmed(500)
		pass(9 * time.Minute)
		require.Empty(t, told)
		pass(time.Minute)
		r.settle()
		row, _ := r.show(o.Sale)
		require.Equal(t, checkout.Done, row.State.Phase)
		require.Equal(t, map[string]int{row.Line: 1}, told)
	})
}
