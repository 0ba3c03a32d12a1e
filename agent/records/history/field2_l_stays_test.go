package history_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent/ready"
)

// TestField2_L10TheStateThatStaysIsNoted: in an hour that flaps, what is over the hour's entries is left out, and the newest entry said
// READY for as long as nothing changed again. What has stayed for five minutes is noted, with the time of the change, whatever it is; what
// still flaps is not.
func TestField2_L10TheStateThatStaysIsNoted(t *testing.T) {
	for name, last := range map[string]ready.Report{
		"not ready": {NotReady: &ready.Said{Cause: "line_pulled", Words: "unplugged"}},
		"offline":   {Ready: true, Offline: &ready.Said{Cause: "stall", Words: "no answer"}},
		"ready":     {Ready: true},
	} {
		t.Run(name, func(t *testing.T) {
			x := newRig(t)
			l := x.log()
			pass := func(d time.Duration) {
				for range d / time.Second {
					x.now = x.now.Add(time.Second)
					l.Stayed(t.Context())
				}
			}
			for n := range 40 {
				l.Judged(t.Context(), ready.Report{NotReady: &ready.Said{Cause: "line_gone", Words: fmt.Sprint("number ", n)}})
				pass(20 * time.Second)
			}
			require.Len(t, x.list(1000), 30)
			changed := x.now
			l.Judged(t.Context(), last)
			pass(4 * time.Minute)
			require.Len(t, x.list(1000), 30)
			pass(2 * time.Minute)
			list := x.list(1000)
			require.Len(t, list, 31)
			require.Contains(t, list[30], " (after 10 change(s) that are not listed)")
			require.Equal(t, changed, x.newest().At)
			pass(2 * time.Hour)
			require.Len(t, x.list(1000), 31, "once")
			l.Judged(t.Context(), ready.Report{Ready: true})
			require.Equal(t, "ready  ", x.list(1)[0])
		})
	}
}
