package enrol_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent/lifecycle/enrol"
	"posagent/schemes/fleet"
	"posagent/schemes/wire"
)

// TestField2_L2AWrongClockHearsTheOperator: every call to the operator's service carries a proof with the box's time, and a box whose
// clock was ten minutes off heard nothing any more, its revocation included, and sold on. The proof is made by the service's own time. The
// kind: a newer configuration, a report, a revocation; a renewal and a confirmation are made by the same call.
func TestField2_L2AWrongClockHearsTheOperator(t *testing.T) {
	for _, off := range []time.Duration{10 * time.Minute, -10 * time.Minute, 30 * 24 * time.Hour, -365 * 24 * time.Hour} {
		t.Run(off.String(), func(t *testing.T) {
			r, id := enrolled(t)
			wrong := enrol.At(r.dir, func() time.Time { return time.Now().Add(off) })
			d := r.driver()
			_, err := wrong.Refresh(t.Context(), d)
			require.Equal(t, fleet.NotProven, wire.ReasonOf(err), "no reply has told the time")
			d.Time = func() (time.Time, bool) { return time.Now(), true }
			r.configure(id, text+"\n# newer\n")
			number, err := wrong.Refresh(t.Context(), d)
			require.NoError(t, err)
			require.Equal(t, int64(2), number)
			_, err = wrong.Report(t.Context(), d, fleet.Outcome{})
			require.NoError(t, err)
			_, err = r.desk.Revoke(t.Context(), wire.NewKey(), fleet.RevokeRequest{ID: id, Reason: "stolen"})
			require.NoError(t, err)
			var refused *enrol.RefusedError
			_, err = wrong.Refresh(t.Context(), d)
			require.ErrorAs(t, err, &refused)
			active, err := wrong.Active()
			require.NoError(t, err)
			require.Contains(t, active.Revoked, "was revoked")
		})
	}
}
