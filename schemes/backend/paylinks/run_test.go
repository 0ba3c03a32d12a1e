package paylinks_test

import (
	"path/filepath"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	links "posagent/schemes/backend/paylinks"
	"posagent/schemes/backend/room"
	"posagent/schemes/backend/room/roomtest"
	"posagent/schemes/paylinks"
	"posagent/store"
)

// Run alone, with nobody reading, brings everything to its end at its time, renewals of subscriptions included.
func TestRunMovesWhatNobodyAsks(t *testing.T) {
	path := filepath.Join(t.TempDir(), "backend.db")
	synctest.Test(t, func(t *testing.T) {
		ctx := t.Context()
		db := roomtest.Open(t, path, links.Schema())
		var jumped atomic.Int64 // a clock that is set forward; Run notices within a second
		s, err := links.New(links.Options{Options: room.Options{
			DB: db, PublicURL: public, Now: func() time.Time { return time.Now().Add(time.Duration(jumped.Load())) },
		}})
		require.NoError(t, err)
		stop := roomtest.Start(t, s.Run)
		create := func(ref string, amount int64, change func(*paylinks.CreateRequest)) {
			req := paylinks.CreateRequest{
				Title: ref, Description: ref, ReferenceID: ref, Purpose: ref, Amount: amount, Currency: "EUR", Name: links.CounterName,
			}
			if change != nil {
				change(&req)
			}
			_, err := s.Create(ctx, "", req)
			require.NoError(t, err)
		}
		stored := func() []string { // as it lies in the database
			out := []string{}
			require.NoError(t, db.Read(ctx, func(r store.Reader) error {
				list, err := links.Report(r)
				for _, row := range list {
					out = append(out, row.Reference+" "+row.State)
				}
				return err
			}))
			return out
		}
		create("paid", 1250, nil)
		create("late", 90012, nil)
		create("never", 90008, nil)
		create("abo", 100, func(r *paylinks.CreateRequest) {
			r.SubscriptionState, r.SubscriptionInterval, r.SubscriptionPeriod = true, "P1D", "P3D"
		})
		abo := "abo confirmed"
		for _, row := range []struct {
			after time.Duration
			want  []string
		}{
			{10*time.Second - time.Millisecond, []string{}},
			{2 * time.Millisecond, []string{"paid confirmed", "late waiting", abo}},
			{3*time.Minute + time.Millisecond, []string{"paid confirmed", "late confirmed", abo}},
			{24 * time.Hour, []string{"paid confirmed", "late confirmed", abo, abo}},
			{24 * time.Hour, []string{"paid confirmed", "late confirmed", abo, abo, abo}},
			{48 * time.Hour, []string{"paid confirmed", "late confirmed", abo, abo, abo}},
		} {
			if row.after >= time.Hour {
				jumped.Add(int64(row.after))
				row.after = time.Second
			}
			time.Sleep(row.after)
			synctest.Wait()
			require.Equal(t, row.want, stored())
		}
		stop()
		require.NoError(t, db.Close())
	})
}
