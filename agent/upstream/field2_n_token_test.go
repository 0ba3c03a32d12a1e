package upstream

import (
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/schemes/wire"
)

// idle is a backend in memory that counts what it is asked for.
type idle struct {
	mu     sync.Mutex
	tokens []time.Time
	calls  int
	conns  int
	bytes  int // both ways
	answer http.HandlerFunc
}

func (i *idle) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	i.mu.Lock()
	if strings.HasSuffix(r.URL.Path, "/token") {
		i.tokens = append(i.tokens, time.Now())
	} else {
		i.calls++
	}
	i.mu.Unlock()
	i.answer(w, r)
}

// serve serves until the returned function is called, and dials.
func (i *idle) serve() (dial func(context.Context, string, string) (net.Conn, error), stop func()) {
	l := make(pipes)
	srv := &http.Server{Handler: i, IdleTimeout: 61 * time.Second} // never in the moment of a question
	go func() { _ = srv.Serve(l) }()
	return func(context.Context, string, string) (net.Conn, error) {
		near, far := net.Pipe()
		i.mu.Lock()
		i.conns++
		i.mu.Unlock()
		l <- far
		return near, nil
	}, func() { close(l); _ = srv.Close() }
}

// TestField2_N6ATokenServiceThatSaysNo: a token service that asked for ten minutes, or refused the secret, was asked 7,000 to 10,000
// times a day by each terminal, and each service of the terminal asked for itself. Its own time is kept, a refusal is followed by ever
// longer rests, and all services have one token and one budget. In virtual time: a day of questions each half minute, by three
// services. The kind: each answer of a token service that is no token, and a service that refuses each new token.
func TestField2_N6ATokenServiceThatSaysNo(t *testing.T) {
	for name, tc := range map[string]struct {
		answer http.HandlerFunc
		most   int           // tokens asked for in a day
		first  time.Duration // the second question comes no sooner
		code   wire.Code
		kind   Kind
	}{
		"429, ten minutes": {func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Retry-After", "600"); w.WriteHeader(429) }, 24 * 6, 10 * time.Minute, wire.Unavailable, TooMany},
		"429":              {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(429) }, 110, 5 * time.Second, wire.Unavailable, TooMany},
		"503, ten minutes": {func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Retry-After", "600"); w.WriteHeader(503) }, 24 * 6, 10 * time.Minute, wire.Unavailable, Failing},
		"400":              {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(400) }, 110, 5 * time.Second, wire.Unauthorized, Credentials},
		"401":              {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(401) }, 110, 5 * time.Second, wire.Unauthorized, Credentials},
		"403":              {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(403) }, 110, 5 * time.Second, wire.Unauthorized, Credentials},
		"500":              {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500) }, 1445, 5 * time.Second, wire.Unavailable, Failing},
		"no token":         {func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "{}") }, 1445, 5 * time.Second, wire.Unavailable, ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := &idle{answer: tc.answer}
				dial, stop := b.serve()
				defer stop()
				shared := NewShared()
				var services []*Client
				for range 3 {
					services = append(services, client(t, "http://127.0.0.1", func(cfg *Config) {
						cfg.Auth, cfg.Dial, cfg.Shared = Auth{ClientID: "id", ClientSecret: "secret"}, dial, shared
					}))
				}
				for range 24 * 60 * 2 {
					for _, c := range services {
						_, err := exchange(t, c, "POST", "http://127.0.0.1/x", "", "{}")
						require.Equal(t, tc.code, wire.CodeOf(err), err)
						require.True(t, wire.NeverSent(err))
					}
					time.Sleep(30 * time.Second)
				}
				require.LessOrEqual(t, len(b.tokens), tc.most)
				require.GreaterOrEqual(t, b.tokens[1].Sub(b.tokens[0]), tc.first)
				require.Zero(t, b.calls)
				if tc.kind != "" {
					require.Equal(t, tc.kind, services[0].Fault().Kind)
				}

				b.mu.Lock() // the account is mended: within its rest the terminal finds out by itself
				b.answer = func(w http.ResponseWriter, _ *http.Request) {
					_, _ = io.WriteString(w, `{"access_token":"t","expires_in":3600}`)
				}
				before := len(b.tokens)
				b.mu.Unlock()
				time.Sleep(longestRest)
				for _, c := range services {
					_, err := exchange(t, c, "GET", "http://127.0.0.1/x", "", "")
					require.NoError(t, err)
				}
				require.Len(t, b.tokens, before+1, "one token for all")
				for _, c := range services {
					c.CloseIdle()
				}
				synctest.Wait()
			})
		})
	}
	t.Run("each new token is refused", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			b := &idle{answer: func(w http.ResponseWriter, r *http.Request) {
				if !strings.HasSuffix(r.URL.Path, "/token") {
					w.WriteHeader(401)
				}
				_, _ = io.WriteString(w, `{"access_token":"t","expires_in":3600}`)
			}}
			dial, stop := b.serve()
			defer stop()
			c := client(t, "http://127.0.0.1", func(cfg *Config) { cfg.Auth, cfg.Dial = Auth{ClientID: "id", ClientSecret: "secret"}, dial })
			for range 60 {
				_, err := exchange(t, c, "GET", "http://127.0.0.1/x", "", "")
				require.NoError(t, err)
				time.Sleep(time.Second)
			}
			require.LessOrEqual(t, len(b.tokens), dropsAtOnce+1)
			c.CloseIdle()
			synctest.Wait()
		})
	})
}
