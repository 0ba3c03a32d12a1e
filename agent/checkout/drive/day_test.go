package drive_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent/checkout"
	"posagent/agent/checkout/drive/drivetest"
	"posagent/agent/checkout/drive/journal"
	"posagent/ecr"
	"posagent/store"
)

// endsDays lets the terminal close its days itself, at midnight.
func (r *rig) endsDays() {
	r.t.Helper()
	r.Halt()
	r.cfg.Day = func(moment time.Time) string { return moment.UTC().Format(time.DateOnly) }
	r.Start()
}

// report reads the sums of a closed batch: transactions and net.
func (r *rig) report(batch int) []any {
	r.t.Helper()
	var got ecr.Totals
	require.NoError(r.t, r.DB.Read(context.Background(), func(rd store.Reader) (err error) { got, err = journal.Report(rd, batch); return err }))
	return []any{got.Count, int64(got.Net)}
}

// A terminal that no register ends the day of closes each day itself: so its sales are purged, and its numbers never run out.
// The kind: what has to close a day (the time, its last numbers), and what puts that off (a sale that runs, an approval
// that may still be acknowledged, a telling), so that it undoes nothing, whatever the wall clock says. One with a
// register closes nothing by itself.
func TestField2_L4ADayClosesWithoutARegister(t *testing.T) {
	const day = 24 * time.Hour
	t.Run("each day", func(t *testing.T) {
		terminal(t, func(r *rig) {
			r.endsDays()
			r.approved(1000)
			r.approved(500)
			pass(day - 2*time.Minute)
			require.Equal(t, 1, r.batch(), "the day is not over")
			pass(4 * time.Minute)
			require.Equal(t, 2, r.batch())
			require.Equal(t, []any{2, int64(1500)}, r.report(1))
			pass(3 * day)
			require.Equal(t, 2, r.batch(), "a day without a sale leaves no report")
			r.approved(700)
			r.Halt()
			pass(day)
			r.Start()
			pass(time.Minute)
			require.Equal(t, []any{1, int64(700)}, r.report(2), "it was off at midnight")
		})
	})
	t.Run("by the register alone", func(t *testing.T) {
		terminal(t, func(r *rig) {
			r.approved(1000)
			pass(3 * day)
			require.Equal(t, 1, r.batch())
		})
	})
	t.Run("an approval that may be acknowledged", func(t *testing.T) {
		for name, heard := range map[string]bool{"acknowledged": true, "never": false} {
			terminal(t, func(r *rig) {
				r.endsDays()
				r.approved(1000)
				pass(day - 5*time.Minute)
				o := r.unconfirmed(500)
				pass(7 * time.Minute)
				require.Equal(t, checkout.Unconfirmed, r.phase(o.Sale), name)
				require.Equal(t, 1, r.batch(), name)
				net := int64(1000)
				if heard {
					s := r.Again()
					require.Equal(t, ecr.Approved, (<-s.Outcome).Result)
					r.Told(s, ecr.Told)
					net += 500
				}
				pass(6 * time.Minute) // grace is over
				require.Equal(t, 2, r.batch(), name)
				require.Equal(t, net, r.report(1)[1], name)
				require.EqualValues(t, net, r.world.net(), name)
			})
		}
	})
	t.Run("a sale that runs", func(t *testing.T) {
		terminal(t, func(r *rig) {
			r.endsDays()
			r.approved(1000)
			pass(day - 30*time.Second)
			r.world.onStatus = func(*txn) error { return nil }
			s := r.sale(500)
			r.jump(day)
			pass(65 * time.Second) // at least one look
			require.Equal(t, checkout.Waiting, r.phase(s.ID))
			require.Equal(t, 1, r.batch())
			require.NoError(t, r.Abort(context.Background(), s.ID))
			require.Equal(t, ecr.Aborted, (<-s.Outcome).Result)
			r.Told(s, ecr.Told)
			pass(15 * time.Minute)
			require.Equal(t, 2, r.batch())
			require.Equal(t, []any{1, int64(1000)}, r.report(1))
		})
	})
	t.Run("an approval that is kept unheard", func(t *testing.T) {
		terminal(t, func(r *rig) {
			r.endsDays()
			req := ask("a")
			req.Keep = true
			o := r.unheard(req)
			r.jump(day)
			pass(5 * time.Minute)
			require.Equal(t, checkout.Unconfirmed, r.phase(o.Sale))
			require.Equal(t, 1, r.batch(), "its client may still ask")
			pass(10 * time.Minute)
			require.Equal(t, checkout.Done, r.phase(o.Sale), "the alert is raised, and stays")
			require.Equal(t, []any{1, int64(500)}, r.report(1))
			require.EqualValues(t, 500, r.world.net())
		})
	})
	t.Run("a clock that jumps", func(t *testing.T) {
		terminal(t, func(r *rig) {
			r.endsDays()
			for i, jump := range []time.Duration{40 * 365 * day, 0, -30 * 365 * day, 0} {
				r.approved(1000)
				o := r.unconfirmed(500)
				r.jump(jump)
				pass(3 * time.Minute)
				require.Equal(t, checkout.Unconfirmed, r.phase(o.Sale), "jump %d undoes nothing", i)
				require.Equal(t, i+1, r.batch())
				pass(12 * time.Minute)
				require.Equal(t, i+2, r.batch(), "one batch a jump")
				require.Equal(t, []any{1, int64(1000)}, r.report(i+1))
			}
		})
	})
	t.Run("the numbers run out", func(t *testing.T) {
		terminal(t, func(r *rig) {
			r.endsDays()
			r.approved(1000)
			drivetest.UseReceipts(t, r.DB, 8999)
			pass(2 * time.Minute)
			require.Equal(t, 1, r.batch())
			drivetest.UseReceipts(t, r.DB, 9000)
			pass(2 * time.Minute)
			require.Equal(t, 2, r.batch(), "long before the last one")
			require.EqualValues(t, 1000, r.report(1)[1])
			r.approved(500)
		})
	})
	t.Run("and no register closes the day", func(t *testing.T) {
		terminal(t, func(r *rig) {
			r.approved(1000)
			drivetest.UseReceipts(t, r.DB, 9999)
			pass(2 * time.Minute)
			_, err := r.Ask(ecr.Request{Amount: 500})
			refused(t, err, ecr.NotStored)
			_, err = r.Close(context.Background())
			require.NoError(t, err)
			r.approved(500)
		})
	})
}
