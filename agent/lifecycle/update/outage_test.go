package update

import (
	"encoding/json"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent/control/socket"
	"posagent/agent/lifecycle/rollout"
)

// TestField2_D12AnOutageCountsAgainstNoVersion: a program that is taken back for what the network or the backend may have done counts as a
// bad one only where the program before works again. What it does not reach either says nothing of the new one: no try is counted, and
// the fleet hears nothing. So it is with a trial that was cut off by power again and again, and with a program that never ran.
func TestField2_D12AnOutageCountsAgainstNoVersion(t *testing.T) {
	well := condition{Version: "1.0.0", Ready: true, Answered: true}
	stalls := condition{Version: "1.0.0", Causes: []string{"stall"}, Passing: []string{"stall"}}
	for name, tc := range map[string]struct {
		failed condition // of the new program, where its trial failed
		reason string    // else
		cuts   int
		after  condition // of the one before, once it runs again
		counts bool
	}{
		"both do not reach it":            {failed: stalls, after: stalls},
		"the old one does not name it so": {failed: stalls, after: condition{Version: "1.0.0", Causes: []string{"stall"}}},
		"the old one reaches it":          {failed: stalls, after: well, counts: true},
		"a fault of its own":              {failed: condition{Version: "2.0.0", Causes: []string{"journal"}}, after: stalls, counts: true},
		"a fault of its own, too":         {failed: condition{Version: "2.0.0", Causes: []string{"stall", "journal"}, Passing: []string{"stall"}}, after: stalls, counts: true},
		"both refuse the credentials":     {failed: condition{Version: "2.0.0", Causes: []string{"credentials"}}, after: condition{Version: "1.0.0", Causes: []string{"credentials"}}, counts: true},
		"cut off by power":                {reason: "power", cuts: mostCuts, after: well},
	} {
		t.Run(name, func(t *testing.T) {
			dir, err := os.MkdirTemp("", "update-*") // a socket's path is short
			require.NoError(t, err)
			defer os.RemoveAll(dir)
			self, err := os.Executable()
			require.NoError(t, err)
			placed := filepath.Join(dir, "posagent")
			require.NoError(t, os.WriteFile(placed, []byte("the one before"), 0o755))
			from, err := sum(placed)
			require.NoError(t, err)
			require.NoError(t, os.WriteFile(placed+".previous", []byte("the one before"), 0o755))
			require.NoError(t, os.WriteFile(placed, []byte("the new one"), 0o755))
			to, err := sum(placed)
			require.NoError(t, err)
			var now atomic.Pointer[condition]
			now.Store(&tc.after)
			ln, err := net.Listen("unix", filepath.Join(dir, socket.Name))
			require.NoError(t, err)
			srv := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				_ = json.NewEncoder(w).Encode(struct {
					condition
					Schema string `json:"schema"`
				}{*now.Load(), "posagent.health/1"})
			})}
			go func() { _ = srv.Serve(ln) }()
			defer srv.Close()
			at := time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)
			d := &Driver{Dir: dir, Place: Place{Program: placed}, Terminal: Terminal{Program: self, State: dir}, Now: func() time.Time { return at }, Say: t.Logf}
			d.Times = Times{Trial: time.Nanosecond, Look: time.Nanosecond}.orDefault()
			before := well
			before.Serves = true
			r := &record{Schema: recordSchema, Box: "a box", State: Trial, From: program{"1.0.0", from}, To: program{"2.0.0", to}, Before: before, Resumed: tc.cuts}
			if tc.reason != "" {
				require.ErrorIs(t, d.finish(t.Context(), r, cut), ErrReturned)
			} else {
				tc.failed.Serves = true
				r.Reason, r.Away = tc.failed.worse(before), tc.failed.away(before)
				require.NotEmpty(t, r.Reason)
				require.ErrorIs(t, d.finish(t.Context(), r, sick), ErrReturned)
			}
			require.Equal(t, Idle, r.State)
			tried := r.Tries["2.0.0"]
			require.Equal(t, tc.counts, tried.Count == 1, "%+v", tried)
			told, err := rollout.Last(placed)
			require.NoError(t, err)
			require.Equal(t, tc.counts, told != (rollout.Outcome{}), "%+v", told)
			why, err := d.reasonNot(*r, Release{Version: "2.0.0", Percent: 100}, "1.0.0", Options{})
			require.NoError(t, err)
			require.Contains(t, why, "it is tried again in 24h0m0s")
			if tc.failed.Version != "" && !tc.counts {
				require.Contains(t, why, "and neither was 1.0.0 as before: the trial does not count")
			}
		})
	}
}
