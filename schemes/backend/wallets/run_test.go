package wallets_test

import (
	"context"
	"path/filepath"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/schemes/aapay"
	"posagent/schemes/backend/books/journal"
	"posagent/schemes/backend/pages/form"
	"posagent/schemes/backend/room"
	"posagent/schemes/backend/wallets"
	"posagent/store"
	"posagent/store/sqlite"
)

// Run alone, with nobody reading a status, brings everything to its end at its time.
func TestRunMovesWhatNobodyAsks(t *testing.T) {
	path := filepath.Join(t.TempDir(), "backend.db")
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(context.Background())
		db, err := sqlite.Open(ctx, sqlite.Options{
			Path: path, Steps: slices.Concat(journal.Schema(), form.Schema(), wallets.Schema()), Wrapper: openKey{}, Synchronous: "OFF",
		})
		require.NoError(t, err)
		seed, err := wallets.ParseSeed(nil)
		require.NoError(t, err)
		w, err := wallets.New(wallets.Options{Options: room.Options{DB: db, PublicURL: public}, Seed: seed})
		require.NoError(t, err)
		done := make(chan error, 1)
		go func() { done <- w.Run(ctx) }()

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
				list, err := wallets.Transactions(r)
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
		cancel()
		require.ErrorIs(t, <-done, context.Canceled)
		require.NoError(t, db.Close())
	})
}
