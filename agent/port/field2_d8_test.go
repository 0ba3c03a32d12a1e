package port

import (
	"context"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// TestField2_D8AProbeIsAnsweredBesideAnyFlood: a supervisor shows no token; whatever strangers ask for meanwhile, as fast as they are
// answered or sent away, it hears of each probe in time. The kind is what a flood may ask for: what takes a token, what takes none, what
// proves itself and is refused, what is not there, and the probes themselves.
func TestField2_D8AProbeIsAnsweredBesideAnyFlood(t *testing.T) {
	for _, flooded := range []string{"GET /api/v1/payments/7", "GET /openapi.json", "POST /token", "GET /none", "GET /readyz"} {
		t.Run(flooded, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ln := newPipes()
				p := open(t, ln, holding{})
				ctx, cancel := context.WithCancel(t.Context())
				ask := func(ctx context.Context, client *http.Client, method, path string) bool {
					req, err := http.NewRequestWithContext(ctx, method, "http://"+p.Addr()+path, http.NoBody)
					require.NoError(t, err)
					resp, err := client.Do(req)
					if err != nil {
						return false
					}
					_, err = io.Copy(io.Discard, resp.Body)
					return resp.Body.Close() == nil && err == nil && resp.StatusCode == http.StatusOK
				}
				var flood sync.WaitGroup
				method, path, _ := strings.Cut(flooded, " ")
				for range maxConns + 16 {
					flood.Go(func() {
						client := ln.client(5 * time.Second)
						for ctx.Err() == nil {
							_ = ask(ctx, client, method, path)
						}
					})
				}
				time.Sleep(2 * time.Second)
				client, failed := ln.client(2*time.Second), 0
				for range 10 {
					for _, probe := range []string{"/readyz", "/livez"} {
						if !ask(t.Context(), client, http.MethodGet, probe) {
							failed++
						}
					}
				}
				cancel()
				flood.Wait()
				require.LessOrEqual(t, failed, 1, "of 20")
			})
		})
	}
}

// TestField2_D8AProbeIsLookedAtOnceForAllWhoAsk: a flood of probes costs a check at a pace, and the answer is of now.
func TestField2_D8AProbeIsLookedAtOnceForAllWhoAsk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		checks := 0
		l := newLane(&auth{}, func() error { checks++; return nil })
		var all sync.WaitGroup
		for range 500 {
			all.Go(func() {
				l.pace.wait(nil)
				require.NoError(t, l.look())
			})
		}
		began := time.Now()
		all.Wait()
		require.Equal(t, laneMost, time.Since(began), "nobody waits longer")
		require.LessOrEqual(t, checks, int(1+laneMost/laneGood))
		time.Sleep(laneGood + 1)
		before := checks
		require.NoError(t, l.look())
		require.Equal(t, before+1, checks)
	})
}
