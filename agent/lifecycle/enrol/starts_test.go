package enrol_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestField2_D5APowerCutSaysNothingOfAConfiguration: a start that power ended within seconds, or that a person ended, counts against no
// configuration, however many there are. One that has lasted, and one that ended by a fault of its own, counts; so do, after many, those
// that were killed within seconds in one boot. READY proves it, and nothing takes that back. What is told is why it was given up.
func TestField2_D5APowerCutSaysNothingOfAConfiguration(t *testing.T) {
	for name, tc := range map[string]struct {
		end  func(r *rig, start int) // of a start
		boot func(start int) string
		last int    // the start that still has the configuration; 0 = there is no end
		why  string // it is given up
	}{
		"power cuts":            {boot: func(start int) string { return fmt.Sprint("boot ", start) }},
		"stopped by a person":   {end: func(r *rig, _ int) { require.NoError(t, r.box().Ended(false, "")) }},
		"it does not start":     {last: 3, end: func(r *rig, _ int) { require.NoError(t, r.box().Ended(true, "the address is in use")) }, why: "3 starts with it ended before the terminal was ready, the last one so: the address is in use"},
		"it lasts, not ready":   {last: 3, end: func(r *rig, _ int) { require.NoError(t, r.box().Lasted("the terminal was not ready, no line")) }, why: "3 starts with it ended before the terminal was ready, the last one so: the terminal was not ready, no line"},
		"killed within seconds": {last: 10, why: "the terminal was killed or crashed within seconds in each of 10 starts with it"},
		"killed and cut in turn": {boot: func(start int) string { return fmt.Sprint("boot ", start/2) }, last: 20,
			why: "the terminal was killed or crashed within seconds in each of 10 starts with it"},
	} {
		t.Run(name, func(t *testing.T) {
			r, id := enrolled(t)
			require.NoError(t, r.box().Prove(r.id(), 1))
			r.configure(id, text+"x = 2\n")
			_, err := r.box().Refresh(t.Context(), r.driver())
			require.NoError(t, err)
			for start := 1; start <= 25; start++ {
				boot := "one boot"
				if tc.boot != nil {
					boot = tc.boot(start)
				}
				gaveUp, why, err := r.box().Started(boot)
				require.NoError(t, err)
				if tc.last > 0 && start > tc.last {
					require.Equal(t, int64(2), gaveUp, start)
					require.Equal(t, tc.why, why)
					break
				}
				require.Zero(t, gaveUp, "start %d: %s", start, why)
				if tc.end != nil {
					tc.end(r, start)
				}
			}
			active, err := r.box().Active()
			require.NoError(t, err)
			list, err := r.box().History()
			require.NoError(t, err)
			if newest := list[len(list)-1]; tc.last > 0 {
				require.Equal(t, int64(1), active.Revision)
				require.Equal(t, tc.why, newest.Text)
				return
			}
			require.Equal(t, int64(2), active.Revision)
			require.NoError(t, r.box().Prove(r.id(), 2))
			for range 25 {
				gaveUp, _, err := r.box().Started("one boot")
				require.NoError(t, err)
				require.Zero(t, gaveUp, "it is proven")
				require.NoError(t, r.box().Ended(true, "the address is in use"))
			}
		})
	}
}
