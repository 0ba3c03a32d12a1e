package outbox_test

import (
	"context"
	"path/filepath"
	"strconv"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/agent/outbox"
	"posagent/schemes/wire"
	"posagent/store"
	"posagent/store/sqlite"
	"posagent/store/storetest"
)

// What an operation costs beside the waiting for the disk, which is off here.
func BenchmarkAccept(b *testing.B) {
	for _, callers := range []int{1, 64} {
		b.Run(strconv.Itoa(callers), func(b *testing.B) {
			db, err := sqlite.Open(b.Context(), sqlite.Options{Path: filepath.Join(b.TempDir(), "agent.db"), Steps: outbox.Schema(),
				Wrapper: storetest.Wrapper{}, Ballast: -1, Synchronous: "OFF"})
			require.NoError(b, err)
			defer db.Close()
			o := outbox.NewOutbox(outbox.Options{DB: db, Kinds: []outbox.Kind{{Name: "k", Send: func(context.Context, outbox.Op) outbox.Verdict { return outbox.Verdict{} }}}})
			payload := make([]byte, 300)
			b.ReportAllocs()
			var wg sync.WaitGroup
			b.ResetTimer()
			for c := range callers {
				wg.Go(func() {
					for i := c; i < b.N; i += callers {
						n := outbox.New{Key: wire.NewKey(), Kind: "k", Aggregate: string(wire.NewKey()), Payload: payload, AmountMin: 1250, Currency: "EUR"}
						if err := o.Seal(&n); err != nil {
							b.Error(err)
						}
						if err := db.Write(b.Context(), func(tx store.Tx) error { return o.Accept(tx, n) }); err != nil {
							b.Error(err)
						}
					}
				})
			}
			wg.Wait()
		})
	}
}
