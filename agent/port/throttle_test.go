package port

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// Strangers that ask without a token and come back as fast as they are sent away make none of a client's requests fail, each of
// which comes over a connection of its own.
func TestField_P8StrangersFailNoClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ln := newPipes()
		p := open(t, ln, holding{})
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		for range 80 {
			wg.Go(func() {
				client := ln.client(5 * time.Second)
				for ctx.Err() == nil {
					req, _ := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+p.Addr()+"/api/v1/payments/7", http.NoBody)
					if resp, err := client.Do(req); err == nil {
						_, _ = io.Copy(io.Discard, resp.Body)
						_ = resp.Body.Close()
					}
				}
			})
		}
		failed := 0
		client := ln.client(10 * time.Second)
		for range 200 {
			req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+p.Addr()+"/api/v1/payments", http.NoBody)
			require.NoError(t, err)
			req.Header.Set("Authorization", ours)
			resp, err := client.Do(req)
			if err != nil || resp.StatusCode != http.StatusMethodNotAllowed {
				failed++
				t.Log(err)
			}
			if err == nil {
				_ = resp.Body.Close()
			}
		}
		cancel()
		wg.Wait()
		require.LessOrEqual(t, failed, 6, "of 200; before it was one in ten")
	})
}

// What nobody has to be served is answered at a pace, however many ask, and not at all late where few do.
func TestField_P8StrangersAreAnsweredAtAPace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newThrottle(200, 200)
		began := time.Now()
		for range 200 {
			c.wait(nil)
		}
		require.Zero(t, time.Since(began), "a burst")
		for range 1000 {
			c.wait(nil)
		}
		require.Equal(t, 5*time.Second, time.Since(began), "200 a second")
		time.Sleep(time.Minute)
		began = time.Now()
		for range 200 {
			c.wait(nil)
		}
		require.Zero(t, time.Since(began))
	})
}

// A client's reads of the terminal itself are served one at a time, and take a tenth of the time; another client's go on meanwhile.
func TestField_P8ListsLeaveTheProcessorFree(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		now, most := 0, 0
		read := http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
			now++
			most = max(most, now)
			time.Sleep(10 * time.Millisecond)
			now--
		})
		one, other := &client{reads: make(chan struct{}, 1)}, &client{reads: make(chan struct{}, 1)}
		req, err := http.NewRequest(http.MethodGet, "/agent/v1/operations", http.NoBody)
		require.NoError(t, err)
		began := time.Now()
		var wg sync.WaitGroup
		for range 48 {
			wg.Go(func() { one.oneRead(nil, read).ServeHTTP(nil, req) })
		}
		wg.Wait()
		require.Equal(t, 1, most)
		require.Equal(t, 10*time.Millisecond+47*100*time.Millisecond, time.Since(began))
		began = time.Now()
		other.oneRead(nil, read).ServeHTTP(nil, req)
		require.Equal(t, 10*time.Millisecond, time.Since(began))
		time.Sleep(time.Second)
	})
}

// What needs no token, or proves by itself who asks, answers strangers at their pace too: the pages of payments, the hooks, /token.
func TestField_P8EveryDoorHasAPace(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	no := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) })
	p := New(Options{Listener: ln, Live: func() error { return nil }, Ready: func() error { return nil }, Token: "token", Pages: no, Hooks: no, Services: []Service{Notices(no)}})
	defer ln.Close()
	throttle := newThrottle(1, 1)
	for method, paths := range map[string][]string{"GET": {PayPath + "L1", "/openapi.json"}, "POST": {HooksPath, NoticesPath, "/token", "/oauth2/v2.0/token"}} {
		for _, path := range paths {
			before := throttle.next
			ended, cancel := context.WithCancel(withThrottle(throttle))
			cancel()
			r := httptest.NewRequest(method, path, http.NoBody).WithContext(ended)
			p.routes.ServeHTTP(httptest.NewRecorder(), r)
			require.True(t, throttle.next.After(before), path)
		}
	}
}
