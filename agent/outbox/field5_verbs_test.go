package outbox_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent/outbox"
	"posagent/store"
	"posagent/store/storetest"
)

// A backup was made while the clock of its box was days ahead, and put back days later: by the two clocks hardly any time had passed, and
// the span of the numbers that the lost journal may have given was too short (MONEY B.10: the days since the backup, upper bound). The
// kind: what is said of a time that a journal keeps by a wall clock alone. A clock behind makes the span longer; the clock at the restore
// is TestField3_E6AClockBehindMakesNoSpanShorter.
func TestField5_AClockAheadAtTheBackupMakesNoSpanShorter(t *testing.T) {
	const day = int64(24 * time.Hour / time.Millisecond)
	truth := int64(1_800_000_000_000)
	for name, c := range map[string]struct{ wall, heard, since, want int64 }{
		"nothing was ever kept":              {0, 0, 0, 0},
		"no true time was ever heard":        {truth + day, 0, 0, truth + day},
		"the clock was right":                {truth + day, truth, day, truth + day},
		"two days ahead":                     {truth + 3*day, truth, day, truth + day},
		"two days behind":                    {truth - day, truth, day, truth - day},
		"ahead, and it was heard long since": {truth + 40*day, truth, 30 * day, truth + 30*day},
	} {
		t.Run(name, func(t *testing.T) {
			db := storetest.Open(t, outbox.Schema()...)
			require.NoError(t, db.Write(t.Context(), func(tx store.Tx) error {
				_, err := tx.Exec(`UPDATE outbox_clock SET wall_ms = ?, anchor_ms = ?, anchor_age = 5, age_ms = ? WHERE id = 1`, c.wall, c.heard, 5+c.since)
				return err
			}))
			require.NoError(t, db.Read(t.Context(), func(r store.Reader) error {
				ms, err := outbox.LastKept(r)
				require.Equal(t, c.want, ms)
				return err
			}))
		})
	}
}
