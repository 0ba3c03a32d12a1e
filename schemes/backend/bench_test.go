package backend_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/schemes/backend"
	"posagent/schemes/payments"
	"posagent/schemes/wire"
	"posagent/store"
	"posagent/store/sqlite"
	"posagent/store/storetest"
)

// together runs n of do by callers at once and gives the rate per second and the 99th percentile of one.
func together(b *testing.B, callers, n int, do func() error) (rate float64, p99 time.Duration) {
	b.Helper()
	var left atomic.Int64
	left.Store(int64(n))
	all := make([][]time.Duration, callers)
	errs := make([]error, callers)
	var wg sync.WaitGroup
	start := time.Now()
	for i := range callers {
		wg.Go(func() {
			for left.Add(-1) >= 0 && errs[i] == nil {
				at := time.Now()
				errs[i] = do()
				all[i] = append(all[i], time.Since(at))
			}
		})
	}
	wg.Wait()
	took := time.Since(start)
	for _, err := range errs {
		require.NoError(b, err)
	}
	sorted := slices.Sorted(slices.Values(slices.Concat(all...)))
	return float64(n) / took.Seconds(), sorted[len(sorted)*99/100]
}

// BenchmarkPayments measures create + authorize + capture over loopback, every answer durable, beside the store's own limit
// (one small row per durable commit) with as many callers in the same run. of-limit is 3 × triples/s ÷ commits/s.
func BenchmarkPayments(b *testing.B) {
	for name, callers := range map[string]int{"one caller": 1, "16 callers": 16} {
		b.Run(name, func(b *testing.B) {
			bk, err := backend.Open(b.Context(), backend.Config{Dir: b.TempDir(), PublicURL: "http://127.0.0.1:1"})
			require.NoError(b, err)
			defer func() { require.NoError(b, bk.Close()) }()
			srv := httptest.NewServer(bk.Handler())
			defer srv.Close()
			client := &payments.Client{BaseURL: srv.URL, Doer: bearer{&http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: callers}}, demoBearer}}
			limit, err := sqlite.Open(b.Context(), sqlite.Options{Path: filepath.Join(b.TempDir(), "limit.db"), Wrapper: storetest.Wrapper{}, Ballast: -1,
				Steps: []store.Step{{Name: "limit", SQL: `CREATE TABLE line (id INTEGER PRIMARY KEY, text TEXT NOT NULL) STRICT`}}})
			require.NoError(b, err)
			defer func() { require.NoError(b, limit.Close()) }()

			triple := func() error {
				ctx := context.Background()
				out, err := client.Create(ctx, wire.NewKey(), payments.CreateRequest{
					Type: payments.ProviderHosted, Amount: 1250, CurrencyCode: "EUR", PaymentNumber: "A1",
					RedirectURLs: &payments.RedirectURLs{ReturnURL: "https://shop.example/back"},
				})
				if err == nil {
					_, err = client.Authorize(ctx, wire.NewKey(), out.PaymentID, payments.AuthorizeRequest{})
				}
				if err == nil {
					_, err = client.Capture(ctx, wire.NewKey(), out.PaymentID, payments.CaptureRequest{})
				}
				return err
			}
			commit := func() error {
				return limit.Write(context.Background(), func(tx store.Tx) error {
					_, err := tx.Exec(`INSERT INTO line (text) VALUES ('one line of about forty bytes, no more')`)
					return err
				})
			}
			together(b, callers, callers*4, triple) // warm
			b.ResetTimer()
			rate, p99 := together(b, callers, max(b.N, callers), triple)
			b.StopTimer()
			commits, c99 := together(b, callers, 3*max(b.N, callers), commit)
			b.ReportMetric(rate, "triples/s")
			b.ReportMetric(float64(p99.Microseconds())/1000, "p99-ms")
			b.ReportMetric(commits, "commits/s")
			b.ReportMetric(float64(c99.Microseconds())/1000, "commit-p99-ms")
			b.ReportMetric(3*rate/commits, "of-limit")
		})
	}
}
