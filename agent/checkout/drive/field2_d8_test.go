package drive_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent/checkout"
	"posagent/device/display"
	"posagent/ecr"
)

// TestField2_D8ACodeThatNobodyCanScanEndsTheSale: where the panel has no room for a code, the sale ends at once with that reason and is
// undone; a fault of another screen, and one that may pass, end none.
func TestField2_D8ACodeThatNobodyCanScanEndsTheSale(t *testing.T) {
	small := fmt.Errorf("%w: 117 modules a side: %w", display.ErrUnseen, display.ErrTooSmall)
	for name, tc := range map[string]struct {
		err  error
		ends bool
	}{
		"the panel":              {errors.Join(errors.New("console: gone"), small), true},
		"a console or a picture": {display.ErrTooSmall, false},
		"a screen that is stuck": {display.ErrStuck, false},
	} {
		terminal(t, func(r *rig) {
			r.screen.err = tc.err
			s := r.sale(1250)
			pass(5 * time.Second)
			if !tc.ends {
				require.True(t, r.screen.code(), name)
				r.screen.err = nil
				r.world.lock(func() { r.world.pay(r.world.order[0]); r.world.onStatus = nil })
				r.Approved(s, ecr.Told)
				return
			}
			out := <-s.Outcome
			require.Equal(t, ecr.Aborted, out.Result, name)
			r.Told(s, ecr.Told)
			pass(time.Minute)
			_, said := r.show(s.ID)
			history := strings.Join(said, "\n")
			require.Contains(t, history, "the code cannot be shown: nobody can scan the code: 117 modules a side")
			require.NotContains(t, history, "console", "what another screen suffers is not the reason")
			require.Equal(t, checkout.Done, r.phase(s.ID))
		})
	}
}
