package fleet

import (
	"context"
	"fmt"
	"time"

	"posagent/store"
)

const (
	retention  = 90 * 24 * time.Hour // of what has ended
	purgeEvery = time.Hour
)

// sweep purges from time to time, and takes the open roll-out on. It is called by one goroutine.
func (f *Fleet) sweep(ctx context.Context) (next int64, err error) {
	if now := f.Now(); now.Sub(f.purged).Abs() >= purgeEvery {
		if err := f.purge(ctx, now); err != nil {
			return 0, err
		}
		f.purged = now
	}
	return f.purged.Add(purgeEvery).UnixMilli(), f.Advance(ctx)
}

// purge removes the codes that no device has shown, the configurations that no device may read any more, and how updates ended on
// boxes that were revoked, once they have been so for the retention; and roll-outs that have ended. A device that was revoked stays known for ever: whenever it asks, it has to hear that.
func (f *Fleet) purge(ctx context.Context, now time.Time) error {
	before := now.Add(-retention).UnixMilli()
	err := f.DB.Write(ctx, func(tx store.Tx) error {
		for _, step := range []string{
			`DELETE FROM fleet_enrolment WHERE device = '' AND (state = 'REVOKED' AND revoked_ms <= ? OR state = 'FRESH' AND expires_ms <= ?)`,
			`DELETE FROM fleet_revision WHERE at_ms <= ? AND NOT EXISTS (SELECT 1 FROM fleet_enrolment WHERE id = enrolment
				AND NOT (state = 'REVOKED' AND revoked_ms <= ?) AND (number >= revision OR number = confirmed_revision))`,
			`DELETE FROM fleet_outcome WHERE seen_ms <= ? AND EXISTS (SELECT 1 FROM fleet_enrolment WHERE id = enrolment AND state = 'REVOKED' AND revoked_ms <= ?)`,
		} {
			if _, err := tx.Exec(step, before, before); err != nil {
				return err
			}
		}
		for _, step := range []string{
			`DELETE FROM fleet_roll_box WHERE roll IN (SELECT id FROM fleet_roll WHERE ended_ms > 0 AND ended_ms <= ?)`,
			`DELETE FROM fleet_roll WHERE ended_ms > 0 AND ended_ms <= ?`,
		} {
			if _, err := tx.Exec(step, before); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("purge the fleet: %w", err)
	}
	return nil
}
