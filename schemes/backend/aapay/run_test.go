package aapay_test

import (
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/schemes/aapay"
	wallets "posagent/schemes/backend/aapay"
	"posagent/schemes/backend/room"
	"posagent/schemes/backend/room/roomtest"
	"posagent/store"
)

// Run alone, with nobody reading a status, brings everything to its end at its time.
func TestRunMovesWhatNobodyAsks(t *testing.T) {
	path := filepath.Join(t.TempDir(), "backend.db")
	synctest.Test(t, func(t *testing.T) {
		ctx := t.Context()
		db := roomtest.Open(t, path, wallets.Schema())
		seed, err := wallets.ParseSeed(nil)
		require.NoError(t, err)
		w, err := wallets.New(wallets.Options{Options: room.Options{DB: db, PublicURL: public}, Seed: seed})
		require.NoError(t, err)
		stop := roomtest.Start(t, w.Run)

		begin := func(ref string, amount int64) {
			_, err := w.Initialize(ctx, aapay.Payment, aapay.Request{
				MerchantID: "M1", Method: swish, TerminalReference: ref, Trigger: aapay.TriggerQR,
				PurchaseAmount: &aapay.Amount{CurrencyCode: "EUR", TotalAmount: amount, NominalAmount: amount},
				Consumer:       &aapay.Consumer{},
			})
			require.NoError(t, err)
		}
		stored := func() map[string]string { // as it lies in the database, without asking for a status
			out := map[string]string{}
			require.NoError(t, db.Read(ctx, func(r store.Reader) error {
				list, err := wallets.Report(r)
				for _, row := range list {
					out[row.Reference] = row.State + row.AccountState
				}
				return err
			}))
			return out
		}
		begin("paid", 1250)
		begin("never", rowAmount(t, "never"))
		begin("late", rowAmount(t, "late-commit"))
		for _, row := range []struct {
			after time.Duration
			want  map[string]string
		}{
			{10*time.Second - time.Millisecond, map[string]string{"paid": "INITIALIZED", "never": "INITIALIZED", "late": "INITIALIZED"}},
			{2 * time.Millisecond, map[string]string{"paid": "FINALIZEDCOMMIT", "never": "INITIALIZED", "late": "INITIALIZED"}},
			{20 * time.Second, map[string]string{"paid": "FINALIZEDCOMMIT", "never": "STALE", "late": "STALE"}},
			{300 * time.Second, map[string]string{"paid": "FINALIZEDCOMMIT", "never": "TIMEDOUT", "late": "TIMEDOUT"}},
			{2 * time.Second, map[string]string{"paid": "FINALIZEDCOMMIT", "never": "TIMEDOUT", "late": "TIMEDOUTCOMMIT"}},
		} {
			time.Sleep(row.after)
			synctest.Wait()
			require.Equal(t, row.want, stored())
		}
		stop()
		require.NoError(t, db.Close())
	})
}
