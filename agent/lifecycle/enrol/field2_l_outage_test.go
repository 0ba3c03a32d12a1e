package enrol_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent/lifecycle/enrol"
	"posagent/schemes/fleet"
)

// TestField2_L6AnOutageCountsAgainstNoRevision: a start that what keeps it from being ready excuses counts against no configuration,
// however it is killed; one that lasts or ends by a fault of its own afterwards does. A trial that fails where the revision in use
// does not reach the backend either is no refusal: the service hears of none, and the revision is taken up once it is over.
func TestField2_L6AnOutageCountsAgainstNoRevision(t *testing.T) {
	second := func(t *testing.T) *rig {
		r, id := enrolled(t)
		require.NoError(t, r.box().Prove(id, 1))
		r.configure(id, text+"x = 2\n")
		_, err := r.box().Refresh(t.Context(), r.driver())
		require.NoError(t, err)
		return r
	}
	for name, tc := range map[string]struct {
		end  func(b *enrol.Box) error // of a start that was excused
		last int
	}{
		"killed, or cut off":   {func(*enrol.Box) error { return nil }, 0},
		"stopped by a person":  {func(b *enrol.Box) error { return b.Ended(false, "") }, 0},
		"lasted without a way": {func(b *enrol.Box) error { return b.Lasted("the one before would do") }, 3},
		"a fault of its own":   {func(b *enrol.Box) error { return b.Ended(true, "no such line") }, 3},
	} {
		t.Run(name, func(t *testing.T) {
			r := second(t)
			for start := 1; start <= 25; start++ {
				gaveUp, why, err := r.box().Started("one boot")
				require.NoError(t, err)
				if tc.last > 0 && start > tc.last {
					require.Equal(t, int64(2), gaveUp)
					return
				}
				require.Zero(t, gaveUp, "start %d: %s", start, why)
				require.NoError(t, r.box().Excuse())
				require.NoError(t, tc.end(r.box()))
			}
		})
	}
	for name, away := range map[string]bool{"both are cut off": true, "the new one alone": false} {
		t.Run(name, func(t *testing.T) {
			now := time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)
			r := newRigAt(t, func() time.Time { return now })
			ticket, id := r.code()
			require.NoError(t, r.box().Begin(ticket, "PA-1"))
			require.NoError(t, r.box().Resume(t.Context(), r.driver()))
			require.NoError(t, r.box().Prove(id, 1))
			r.configure(id, text+"x = 2\n")
			r.try = func(enrol.Trial) error {
				if away {
					return &enrol.AwayError{Err: errTrial}
				}
				return errTrial
			}
			for range 10 {
				_, err := r.box().Refresh(t.Context(), r.driver())
				require.ErrorIs(t, err, errTrial)
				now = now.Add(time.Minute)
			}
			var applied fleet.Applied
			r.spoil = func(s fleet.Service) fleet.Service { return hearing{s, &applied} }
			_, err := r.box().Report(t.Context(), r.driver(), fleet.Outcome{})
			require.NoError(t, err)
			require.Equal(t, away, applied.Refused == 0)
			r.try, r.spoil = nil, nil
			number, err := r.box().Refresh(t.Context(), r.driver())
			require.NoError(t, err)
			require.Equal(t, int64(2), number)
		})
	}
}
