package upstream

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/cross/certs"
	"posagent/cross/need"
	"posagent/schemes/wire"
)

// seen is what a server saw.
type seen struct {
	mu     sync.Mutex
	keys   []string
	bodies []string
	auth   []string
}

func (s *seen) note(r *http.Request) int {
	body, _ := io.ReadAll(r.Body)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.keys = append(s.keys, r.Header.Get(wire.KeyHeader))
	s.bodies = append(s.bodies, string(body))
	s.auth = append(s.auth, r.Header.Get("Authorization"))
	return len(s.keys)
}

func (s *seen) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.keys)
}

func serve(t *testing.T, h http.HandlerFunc) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s
}

func client(t *testing.T, base string, change func(*Config)) *Client {
	t.Helper()
	cfg := Config{Base: base, Timeout: need.Limit(), RetryWait: time.Millisecond, Auth: Auth{Bearer: "b"}}
	if change != nil {
		change(&cfg)
	}
	c, err := New(cfg)
	require.NoError(t, err)
	t.Cleanup(c.CloseIdle)
	return c
}

// soon is a time in which what a peer does send has come, however busy the machine: 300 ms where it is idle.
func soon() time.Duration { return need.Limit() / 200 }

// exchange sends one request through wire.Call, as every service's client does.
func exchange(t *testing.T, c *Client, method, url, key, body string) (wire.Answer, error) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	require.NoError(t, err)
	if key != "" {
		req.Header.Set(wire.KeyHeader, key)
	}
	return wire.Call{Op: "t", Write: method != http.MethodGet}.Do(c.Unanswered(), req)
}

// reset ends a connection without an answer.
func reset(w http.ResponseWriter) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(err)
	}
	_ = conn.(*net.TCPConn).SetLinger(0)
	_ = conn.Close()
}

func TestRepeats(t *testing.T) {
	status := func(n int) func(http.ResponseWriter) { return func(w http.ResponseWriter) { w.WriteHeader(n) } }
	for name, tc := range map[string]struct {
		method, key string
		answer      func(http.ResponseWriter)
		want        int
	}{
		"POST without key, 500":     {"POST", "", status(500), 1},
		"POST without key, 503":     {"POST", "", status(503), 1},
		"POST without key, reset":   {"POST", "", reset, 1},
		"POST with key, 500":        {"POST", "k1", status(500), 1},
		"POST with key, reset":      {"POST", "k1", reset, 3},
		"POST with key, 429":        {"POST", "k1", status(429), 1},
		"POST with key, 408":        {"POST", "k1", status(408), 1},
		"POST with key, 400":        {"POST", "k1", status(400), 1},
		"POST with key, 401":        {"POST", "k1", status(401), 1},
		"DELETE without key, reset": {"DELETE", "", reset, 1},
		"GET, 502":                  {"GET", "", status(502), 3},
		"GET, reset":                {"GET", "", reset, 3},
		"GET, 404":                  {"GET", "", status(404), 1},
		"GET, 503 in 1 h":           {"GET", "", func(w http.ResponseWriter) { w.Header().Set("Retry-After", "3600"); w.WriteHeader(503) }, 1},
		"GET, 503 in 10^12": {"GET", "", func(w http.ResponseWriter) {
			w.Header().Set("Retry-After", "1000000000000")
			w.WriteHeader(503)
		}, 1},
		"GET, 503 in garbage": {"GET", "", func(w http.ResponseWriter) {
			w.Header().Set("Retry-After", "soon-ish")
			w.WriteHeader(503)
		}, 3},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var s seen
			srv := serve(t, func(w http.ResponseWriter, r *http.Request) { s.note(r); tc.answer(w) })
			c := client(t, srv.URL, nil)
			start := time.Now()
			_, err := exchange(t, c, tc.method, srv.URL+"/x", tc.key, "body")
			require.Less(t, time.Since(start), need.Limit(), "no Retry-After is waited for longer than a try")
			if strings.Contains(name, "reset") {
				require.Error(t, err)
				want := wire.UnknownOutcome
				if tc.method == "GET" {
					want = wire.Unavailable
				}
				require.Equal(t, want, wire.CodeOf(err))
			} else {
				require.NoError(t, err)
			}
			require.Equal(t, tc.want, s.count())
			for i := range s.keys {
				require.Equal(t, tc.key, s.keys[i])
				require.Equal(t, "body", s.bodies[i])
				require.Equal(t, "Bearer b", s.auth[i])
			}
		})
	}
}

// A connection that dies while idle makes the standard transport send a keyed request again by itself: that would be beyond
// our count.
// A caller that asks again at a pace of its own has one request leave, whatever becomes of it, on a connection that was used before too.
func TestField2_M7OneRequestAPoll(t *testing.T) {
	for name, answer := range map[string]func(http.ResponseWriter){
		"500":   func(w http.ResponseWriter) { w.WriteHeader(500) },
		"502":   func(w http.ResponseWriter) { w.WriteHeader(502) },
		"503":   func(w http.ResponseWriter) { w.Header().Set("Retry-After", "1"); w.WriteHeader(503) },
		"429":   func(w http.ResponseWriter) { w.WriteHeader(429) },
		"reset": reset,
		"cut": func(w http.ResponseWriter) {
			w.Header().Set("Content-Length", "100")
			_, _ = w.Write([]byte("{"))
			reset(w)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var s seen
			var ill atomic.Bool
			srv := serve(t, func(w http.ResponseWriter, r *http.Request) {
				if s.note(r); ill.Load() {
					answer(w)
				}
			})
			c := client(t, srv.URL, nil)
			ask := func() error {
				req, err := http.NewRequestWithContext(wire.Once(t.Context()), "GET", srv.URL+"/x", nil)
				require.NoError(t, err)
				resp, err := c.Do(req)
				if err == nil {
					_, err = io.Copy(io.Discard, resp.Body)
					_ = resp.Body.Close()
				}
				return err
			}
			require.NoError(t, ask()) // the connection is used from now on
			ill.Store(true)
			_ = ask()
			require.Equal(t, 2, s.count(), "one request a poll")
			ill.Store(false)
			need.Until(t, "the next poll is answered", func() bool { return ask() == nil })
		})
	}
}

// Through Once a write is sent once, whatever answers and with a Key too; a read is repeated as ever.
func TestOnce(t *testing.T) {
	s := &seen{}
	srv := serve(t, func(w http.ResponseWriter, r *http.Request) {
		s.note(r)
		w.WriteHeader(http.StatusServiceUnavailable)
	})
	c := client(t, srv.URL, nil)
	for want, method := range map[int]string{1: http.MethodPost, 3: http.MethodGet} {
		before := s.count()
		req, err := http.NewRequestWithContext(t.Context(), method, srv.URL, http.NoBody)
		require.NoError(t, err)
		req.Header.Set(wire.KeyHeader, "k")
		resp, err := c.Once().Do(req)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		require.Equal(t, want, s.count()-before, method)
	}
}

// A caller that backs off itself has a 500 left to it; only a connection that broke is made good at once.
func TestField_T4AnAnsweredWriteIsLeftToItsCaller(t *testing.T) {
	for want, answer := range map[int]func(http.ResponseWriter){
		1: func(w http.ResponseWriter) { w.WriteHeader(http.StatusInternalServerError) },
		3: reset,
	} {
		s := &seen{}
		srv := serve(t, func(w http.ResponseWriter, r *http.Request) {
			s.note(r)
			answer(w)
		})
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, srv.URL, http.NoBody)
		require.NoError(t, err)
		req.Header.Set(wire.KeyHeader, "k")
		resp, err := client(t, srv.URL, nil).Unanswered().Do(req)
		if err == nil {
			require.NoError(t, resp.Body.Close())
		}
		require.Equal(t, want, s.count())
		read, err := http.NewRequestWithContext(t.Context(), http.MethodGet, srv.URL, http.NoBody)
		require.NoError(t, err)
		before := s.count()
		if resp, err = client(t, srv.URL, nil).Unanswered().Do(read); err == nil {
			require.NoError(t, resp.Body.Close())
		}
		require.Equal(t, 3, s.count()-before, "a read is repeated as ever")
	}
}

// The clients that are handed out, and what each repeats. Only a service that honours Keys may be given one that repeats a write; the
// transport must not do it either, on a connection that dies as it is used again.
func TestField2_M37AWriteLeavesOnceWhateverBreaks(t *testing.T) {
	clients := map[string]func(*Client) wire.Doer{
		"Client": func(c *Client) wire.Doer { return c }, "Once": (*Client).Once, "Unanswered": (*Client).Unanswered,
	}
	status := func(n int) func(http.ResponseWriter) { return func(w http.ResponseWriter) { w.WriteHeader(n) } }
	ends := map[string]func(http.ResponseWriter){
		"broken": reset, "408": status(408), "425": status(425), "429": status(429), "500": status(500), "502": status(502), "503": status(503), "504": status(504),
	}
	bodies := map[string]func() io.Reader{"no body": func() io.Reader { return http.NoBody }, "a body": func() io.Reader { return strings.NewReader("body") }}
	for of, pick := range clients {
		for how, end := range ends {
			for with, body := range bodies {
				for _, method := range []string{http.MethodPost, http.MethodPut, http.MethodDelete} {
					s := &seen{}
					srv := serve(t, func(w http.ResponseWriter, r *http.Request) {
						if r.Method == http.MethodGet {
							return
						}
						s.note(r)
						end(w)
					})
					want := 1
					if of == "Unanswered" && how == "broken" {
						want = 3
					}
					writes := 0
					// The transport gives a connection up that was slow to write, so on a busy machine another read may have to come first.
					need.Until(t, "a write over a connection that was used before", func() (used bool) {
						c := client(t, srv.URL, nil)
						for _, m := range []string{http.MethodGet, method} {
							req, err := http.NewRequestWithContext(httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{
								GotConn: func(i httptrace.GotConnInfo) { used = used || m == method && i.Reused },
							}), m, srv.URL, http.NoBody)
							require.NoError(t, err)
							if m == method {
								req, err = http.NewRequestWithContext(req.Context(), m, srv.URL, body())
								require.NoError(t, err)
								writes++
							}
							req.Header.Set(wire.KeyHeader, "k")
							if resp, err := pick(c).Do(req); err == nil {
								require.NoError(t, resp.Body.Close())
							}
						}
						require.Equal(t, writes*want, s.count(), "%s, %s, %s with %s", of, how, method, with)
						return used
					})
					for _, key := range s.keys {
						require.Equal(t, "k", key)
					}
				}
			}
		}
	}
}

func TestDeadIdleConnectionsDoNotMultiplyTries(t *testing.T) {
	var s seen
	srv := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if s.note(r) > 1 {
			reset(w)
		}
	})
	c := client(t, srv.URL, nil)
	_, err := exchange(t, c, "POST", srv.URL, "k1", "body")
	require.NoError(t, err)
	_, err = exchange(t, c, "POST", srv.URL, "k2", "body")
	require.Error(t, err)
	require.Equal(t, 4, s.count())
	_, err = exchange(t, c, "POST", srv.URL, "", "body")
	require.Error(t, err)
	require.Equal(t, 5, s.count())
}

func TestBadReplies(t *testing.T) {
	for name, tc := range map[string]struct {
		answer func(w http.ResponseWriter, r *http.Request)
		want   wire.Code // of a POST
	}{
		"redirect to another host": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://127.0.0.1:1/", http.StatusTemporaryRedirect)
		}, wire.UnknownOutcome},
		"redirect to itself": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "/y", http.StatusFound)
		}, wire.UnknownOutcome},
		"header of 1 MB": {func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("X-Big", strings.Repeat("x", 1<<20))
		}, wire.UnknownOutcome},
		"cookies without end": {func(w http.ResponseWriter, r *http.Request) {
			for i := range 20_000 {
				w.Header().Add("Set-Cookie", fmt.Sprintf("c%d=1", i))
			}
		}, wire.UnknownOutcome},
		"early hints without end": {func(w http.ResponseWriter, r *http.Request) {
			for range 100_000 {
				w.WriteHeader(http.StatusEarlyHints)
			}
		}, wire.UnknownOutcome},
		"body of 64 MB": {func(w http.ResponseWriter, r *http.Request) {
			block := make([]byte, 1<<16)
			for range 1024 {
				if _, err := w.Write(block); err != nil {
					return
				}
			}
		}, wire.UnknownOutcome},
		"gzip bomb": {func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			var b bytes.Buffer
			z := gzip.NewWriter(&b)
			_, _ = z.Write(make([]byte, 32<<20))
			_ = z.Close()
			_, _ = w.Write(b.Bytes())
		}, wire.UnknownOutcome},
		"truncated body": {func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Length", "100")
			_, _ = io.WriteString(w, `{"valid":`)
		}, wire.UnknownOutcome},
		"one byte, then nothing": {func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.WriteString(w, "{")
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
		}, wire.UnknownOutcome},
		"no answer at all": {func(w http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, wire.UnknownOutcome},
		"garbage instead of HTTP": {func(w http.ResponseWriter, r *http.Request) {
			conn, _, _ := http.NewResponseController(w).Hijack()
			_, _ = io.WriteString(conn, "SSH-2.0-OpenSSH_9\r\n")
			_ = conn.Close()
		}, wire.UnknownOutcome},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var s seen
			srv := serve(t, func(w http.ResponseWriter, r *http.Request) { s.note(r); tc.answer(w, r) })
			c := client(t, srv.URL, func(cfg *Config) { cfg.Timeout = soon() })
			start := time.Now()
			_, err := exchange(t, c, "POST", srv.URL+"/x", "", "body")
			require.Equal(t, tc.want, wire.CodeOf(err), "%v", err)
			require.Less(t, time.Since(start), need.Limit())
			require.Equal(t, 1, s.count())
			_, err = exchange(t, c, "GET", srv.URL+"/x", "", "")
			require.Equal(t, wire.Unavailable, wire.CodeOf(err), "%v", err)
		})
	}
}

func TestBodySlowButSteadyIsCutByTheDeadline(t *testing.T) {
	t.Parallel()
	srv := serve(t, func(w http.ResponseWriter, r *http.Request) {
		for {
			_, _ = io.WriteString(w, " ")
			_ = http.NewResponseController(w).Flush()
			select {
			case <-r.Context().Done():
				return
			case <-time.After(50 * time.Millisecond):
			}
		}
	})
	c := client(t, srv.URL, func(cfg *Config) { cfg.Timeout = soon() })
	start := time.Now()
	_, err := exchange(t, c, "POST", srv.URL, "", "x")
	require.Equal(t, wire.UnknownOutcome, wire.CodeOf(err))
	require.Less(t, time.Since(start), need.Limit())
}

func TestCaptivePageIsAnAnswerAndNoSuccess(t *testing.T) {
	srv := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, "<html>Welcome to our Wi-Fi</html>")
	})
	a, err := exchange(t, client(t, srv.URL, nil), "POST", srv.URL, "", "x")
	require.NoError(t, err)
	require.False(t, a.JSON())
}

func TestNothingWasSentIsProvable(t *testing.T) {
	base := "http://" + need.ClosedPort(t)
	c := client(t, base, nil)
	for range openAfter {
		_, err := exchange(t, c, "POST", base+"/x", "", "body")
		require.Equal(t, wire.Unavailable, wire.CodeOf(err))
		var op *net.OpError
		require.ErrorAs(t, err, &op)
		require.Equal(t, "dial", op.Op)
	}
	_, err := exchange(t, c, "POST", base+"/x", "", "body")
	require.Equal(t, wire.Unavailable, wire.CodeOf(err), "the circuit is open")
	require.False(t, c.Healthy())
	require.Error(t, c.Probe(t.Context()))
}

func TestOtherHostsGetNothing(t *testing.T) {
	var hits atomic.Int32
	other := serve(t, func(http.ResponseWriter, *http.Request) { hits.Add(1) })
	srv := serve(t, func(http.ResponseWriter, *http.Request) {})
	c := client(t, srv.URL, nil)
	_, err := exchange(t, c, "GET", other.URL, "", "")
	require.ErrorIs(t, err, ErrHost)
	require.Zero(t, hits.Load())
}

func TestCircuit(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	c := &circuit{now: func() time.Time { return now }}
	for range openAfter - 1 {
		_, ok := c.enter()
		require.True(t, ok)
		c.failed("x")
	}
	require.False(t, c.healthy())
	_, ok := c.enter()
	require.True(t, ok)
	c.failed("x")
	require.True(t, c.stats().Open)
	for i := range 10 {
		wait, ok := c.enter()
		require.False(t, ok)
		require.LessOrEqual(t, wait, longest)
		require.Positive(t, wait)
		now = now.Add(wait)
		_, ok = c.enter()
		require.True(t, ok, "half open")
		_, ok = c.enter()
		require.False(t, ok, "one at a time")
		if i < 9 {
			c.failed("still")
		}
	}
	c.leave()
	_, ok = c.enter()
	require.True(t, ok)
	c.ok()
	require.True(t, c.healthy())
	require.False(t, c.stats().Open)
	require.EqualValues(t, openAfter+11, c.stats().Calls)
	for range openAfter {
		c.failed("x")
	}
	now = now.Add(-time.Hour)
	_, ok = c.enter()
	require.True(t, ok, "a clock that went back does not lock us out")
}

func TestA500IsAnAnswer(t *testing.T) {
	srv := serve(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500) })
	c := client(t, srv.URL, nil)
	for range 2 * openAfter {
		_, err := exchange(t, c, "POST", srv.URL, "", "x")
		require.NoError(t, err)
	}
	require.True(t, c.Healthy())
	require.NoError(t, c.Probe(t.Context()))
	require.EqualValues(t, 2*openAfter, c.Stats().Calls)
}

func TestCancelledByTheCallerIsNoFailure(t *testing.T) {
	srv := serve(t, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	c := client(t, srv.URL, nil)
	ctx, cancel := context.WithCancel(t.Context())
	req, err := http.NewRequestWithContext(ctx, "GET", srv.URL, nil)
	require.NoError(t, err)
	time.AfterFunc(50*time.Millisecond, cancel)
	_, err = c.Do(req)
	require.ErrorIs(t, err, context.Canceled)
	require.True(t, c.Healthy())
}

func TestCredentials(t *testing.T) {
	var s seen
	srv := serve(t, func(w http.ResponseWriter, r *http.Request) {
		s.note(r)
		require.Equal(t, "posagent/1", r.UserAgent())
		require.Empty(t, r.Header.Get("Accept-Encoding"), "nothing compressed is asked for") // wire sets identity, Do is called bare here
	})
	for _, tc := range []struct {
		auth Auth
		want string
	}{
		{Auth{ConsumerKey: "demo-consumer", ConsumerSecret: "demo-consumer-secret"}, "Bearer " + base64.StdEncoding.EncodeToString([]byte("demo-consumer:demo-consumer-secret"))},
		{Auth{Bearer: "posagent-demo-bearer"}, "Bearer posagent-demo-bearer"},
		{Auth{}, ""},
	} {
		c := client(t, srv.URL, func(cfg *Config) { cfg.Auth, cfg.UserAgent = tc.auth, "posagent/1" })
		req, err := http.NewRequestWithContext(t.Context(), "GET", srv.URL, nil)
		require.NoError(t, err)
		resp, err := c.Do(req)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		require.Equal(t, tc.want, s.auth[len(s.auth)-1])
		require.NotContains(t, fmt.Sprintf("%+v", tc.auth), "demo")
	}
	_, err := New(Config{Base: srv.URL, Auth: Auth{Bearer: "a\r\nX: y"}})
	require.ErrorContains(t, err, "control character")
}

func TestToken(t *testing.T) {
	var tokens, calls, refused atomic.Int32
	status, reply := http.StatusOK, `{"access_token":"T%d","token_type":"Bearer","expires_in":3600}`
	srv := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/token" {
			id, secret, _ := r.BasicAuth()
			require.Equal(t, "id:secret", id+":"+secret)
			require.NoError(t, r.ParseForm())
			require.Equal(t, "client_credentials", r.PostForm.Get("grant_type"))
			n := tokens.Add(1)
			<-time.After(20 * time.Millisecond) // the other callers pile up meanwhile
			w.WriteHeader(status)
			if strings.Contains(reply, "%d") {
				_, _ = fmt.Fprintf(w, reply, n)
			} else {
				_, _ = io.WriteString(w, reply)
			}
			return
		}
		calls.Add(1)
		if r.Header.Get("Authorization") == "Bearer T1" && refused.Load() == 1 {
			w.WriteHeader(http.StatusUnauthorized)
		}
	})
	now := time.Now()
	var mu sync.Mutex
	c := client(t, srv.URL, func(cfg *Config) {
		cfg.Auth = Auth{ClientID: "id", ClientSecret: "secret"}
		cfg.Now = func() time.Time { mu.Lock(); defer mu.Unlock(); return now }
	})
	var wg sync.WaitGroup
	for range 5 {
		wg.Go(func() {
			a, err := exchange(t, c, "GET", srv.URL+"/x", "", "")
			require.NoError(t, err)
			require.Equal(t, 200, a.Status)
		})
	}
	wg.Wait()
	require.EqualValues(t, 1, tokens.Load(), "one fetch for all")

	refused.Store(1) // the backend forgets T1
	a, err := exchange(t, c, "POST", srv.URL+"/x", "k", "b")
	require.NoError(t, err)
	require.Equal(t, 200, a.Status)
	require.EqualValues(t, 2, tokens.Load())

	mu.Lock()
	now = now.Add(2 * time.Hour)
	mu.Unlock()
	_, err = exchange(t, c, "GET", srv.URL+"/x", "", "")
	require.NoError(t, err)
	require.EqualValues(t, 3, tokens.Load(), "expired")

	for _, tc := range []struct {
		status int
		reply  string
		want   wire.Code
	}{
		{401, "", wire.Unauthorized}, {400, "", wire.Unauthorized}, {500, "", wire.Unavailable}, {200, "<html>", wire.Unavailable},
		{200, `{"access_token":""}`, wire.Unavailable}, {200, `{"access_token":"a\r\nb"}`, wire.Unavailable},
	} {
		mu.Lock()
		now = now.Add(48 * time.Hour)
		mu.Unlock()
		status, reply = tc.status, tc.reply
		before := calls.Load()
		_, err = exchange(t, c, "POST", srv.URL+"/x", "", "b")
		require.Equal(t, tc.want, wire.CodeOf(err), "%v", err)
		require.NotContains(t, err.Error(), "secret")
		require.Equal(t, before, calls.Load(), "nothing was sent")
	}
	_, err = New(Config{Base: srv.URL, Auth: Auth{ClientID: "a", ClientSecret: "b", TokenURL: "https://elsewhere.example/token"}})
	require.Error(t, err)
}

func TestA401OnAnUnkeyedWriteIsNotSentAgain(t *testing.T) {
	var s seen
	srv := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/token" {
			_, _ = io.WriteString(w, `{"access_token":"t"}`)
			return
		}
		s.note(r)
		w.WriteHeader(401)
	})
	c := client(t, srv.URL, func(cfg *Config) { cfg.Auth = Auth{ClientID: "a", ClientSecret: "b"} })
	a, err := exchange(t, c, "POST", srv.URL+"/x", "", "b")
	require.NoError(t, err)
	require.Equal(t, 401, a.Status)
	require.Equal(t, 1, s.count())
	_, err = exchange(t, c, "POST", srv.URL+"/x", "k", "b")
	require.NoError(t, err)
	require.Equal(t, 3, s.count(), "one fresh token, not a loop")
}

// A 401 proves that nothing happened only if no earlier try of the same request can have arrived, and
// a 404 that a route is missing only then.
func TestField2_M17RefusedAfterALostTry(t *testing.T) {
	for _, status := range []int{http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusNotImplemented} {
		var s seen
		srv := serve(t, func(w http.ResponseWriter, r *http.Request) {
			if s.note(r) == 1 {
				reset(w)
				return
			}
			w.WriteHeader(status)
		})
		c := client(t, srv.URL, nil)
		_, err := exchange(t, c, http.MethodPost, srv.URL, "k", "{}")
		require.ErrorIs(t, err, ErrLost)
		require.Equal(t, 2, s.count())
		a, err := exchange(t, c, http.MethodPost, srv.URL, "k", "{}")
		require.NoError(t, err)
		require.Equal(t, status, a.Status)
	}
}

func TestUnusableConfig(t *testing.T) {
	for _, base := range []string{"", "pay.example", "ftp://pay.example", "https://u:p@pay.example", "http://pay.example", "://"} {
		_, err := New(Config{Base: base})
		require.Error(t, err, base)
		require.NotContains(t, err.Error(), "u:p")
	}
	for _, cfg := range []Config{
		{RootsFile: "/nonexistent"}, {RootsFile: "/dev/null"}, {ClientCert: "/nonexistent", ClientKey: "/nonexistent"},
		{Pins: []string{"x"}}, {Proxy: "nowhere"},
	} {
		cfg.Base = "https://pay.example"
		_, err := New(cfg)
		require.Error(t, err)
	}
}

// issue makes a certificate, which change spoils, and the pin of its key.
func issue(t *testing.T, a certs.Authority, change func(*x509.Certificate)) (tls.Certificate, string) {
	t.Helper()
	leaf := a.Leaf(t, change)
	return leaf.Certificate, leaf.Pin()
}

func TestTLS(t *testing.T) {
	ours, theirs := certs.New(t, "root"), certs.New(t, "root")
	good, pin := issue(t, ours, nil)
	_, otherPin := issue(t, ours, nil)
	certFile, keyFile := ours.Leaf(t, nil).Files(t)
	pool := x509.NewCertPool()
	pool.AddCert(ours.Cert)

	wrongHost, _ := issue(t, ours, func(c *x509.Certificate) { c.IPAddresses = nil; c.DNSNames = []string{"pay.example"} })
	expired, _ := issue(t, ours, func(c *x509.Certificate) { c.NotAfter = time.Now().Add(-time.Minute) })
	foreign, _ := issue(t, theirs, nil)

	for name, tc := range map[string]struct {
		server *tls.Config
		change func(*Config)
		ok     bool
	}{
		"good":                  {server: &tls.Config{Certificates: []tls.Certificate{good}}, ok: true},
		"good, pinned":          {server: &tls.Config{Certificates: []tls.Certificate{good}}, change: func(c *Config) { c.Pins = []string{otherPin, "sha256/" + pin} }, ok: true},
		"good, pinned root":     {server: &tls.Config{Certificates: []tls.Certificate{good}}, change: func(c *Config) { c.Pins = []string{certs.Pin(ours.Cert.PublicKey)} }, ok: true},
		"good, other pin":       {server: &tls.Config{Certificates: []tls.Certificate{good}}, change: func(c *Config) { c.Pins = []string{otherPin} }},
		"wrong host":            {server: &tls.Config{Certificates: []tls.Certificate{wrongHost}}},
		"expired":               {server: &tls.Config{Certificates: []tls.Certificate{expired}}},
		"unknown root":          {server: &tls.Config{Certificates: []tls.Certificate{foreign}}},
		"TLS 1.1":               {server: &tls.Config{Certificates: []tls.Certificate{good}, MinVersion: tls.VersionTLS10, MaxVersion: tls.VersionTLS11}},
		"client certificate":    {server: &tls.Config{Certificates: []tls.Certificate{good}, ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: pool}, change: func(c *Config) { c.ClientCert, c.ClientKey = certFile, keyFile }, ok: true},
		"no client certificate": {server: &tls.Config{Certificates: []tls.Certificate{good}, ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: pool}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var s seen
			srv := httptest.NewUnstartedServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { s.note(r) }))
			srv.TLS = tc.server
			srv.Config.ErrorLog = nil
			srv.StartTLS()
			t.Cleanup(srv.Close)
			c := client(t, srv.URL, func(cfg *Config) {
				cfg.RootsFile = ours.File
				if tc.change != nil {
					tc.change(cfg)
				}
			})
			_, err := exchange(t, c, "POST", srv.URL, "k", "x")
			if tc.ok {
				require.NoError(t, err)
				return
			}
			require.Error(t, err)
			require.Zero(t, s.count(), "no request over a connection that is not trusted")
		})
	}
}

func TestEarlyCloseIsNotAShortAnswer(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			buf := make([]byte, 4096)
			_, _ = conn.Read(buf)
			_, _ = io.WriteString(conn, "HTTP/1.1 202 Accepted\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{\"val")
			_ = conn.Close()
		}
	}()
	base := "http://" + l.Addr().String()
	_, err = exchange(t, client(t, base, nil), "POST", base, "", "x")
	require.Equal(t, wire.UnknownOutcome, wire.CodeOf(err))
}

func TestConnectionsAreReused(t *testing.T) {
	var conns atomic.Int32
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "ok") }))
	srv.Config.ConnState = func(_ net.Conn, s http.ConnState) {
		if s == http.StateNew {
			conns.Add(1)
		}
	}
	srv.Start()
	t.Cleanup(srv.Close)
	c := client(t, srv.URL, nil)
	for range 10 {
		_, err := exchange(t, c, "GET", srv.URL, "", "")
		require.NoError(t, err)
	}
	require.EqualValues(t, 1, conns.Load())
}

func TestProxy(t *testing.T) {
	var s seen
	proxy := serve(t, func(w http.ResponseWriter, r *http.Request) { s.note(r); w.WriteHeader(http.StatusProxyAuthRequired) })
	c := client(t, "http://127.0.0.1:9", func(cfg *Config) { cfg.Proxy = proxy.URL })
	a, err := exchange(t, c, "GET", "http://127.0.0.1:9/x", "", "")
	require.NoError(t, err)
	require.Equal(t, http.StatusProxyAuthRequired, a.Status)
	require.Equal(t, 1, s.count())
}

// TestField2_M10TheTimeIsTheBackends: the client knows the time by the Date of a reply, whatever its
// status says of the request; a server that is broken tells none, and so does one without a Date.
func TestField2_M10TheTimeIsTheBackends(t *testing.T) {
	date, status := time.Date(2031, 5, 6, 7, 8, 9, 0, time.UTC), http.StatusInternalServerError
	s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header()["Date"] = nil
		if status != http.StatusNoContent {
			w.Header().Set("Date", date.Format(http.TimeFormat))
		}
		w.WriteHeader(status)
	})
	c := client(t, s.URL, nil)
	for _, status = range []int{http.StatusInternalServerError, http.StatusNoContent} {
		_, _ = exchange(t, c, http.MethodPost, s.URL+"/x", "", "{}")
		_, ok := c.Time()
		require.False(t, ok, status)
	}
	for _, status = range []int{http.StatusOK, http.StatusNotFound} {
		date = date.Add(time.Hour)
		_, _ = exchange(t, c, http.MethodPost, s.URL+"/x", "", "{}")
		at, ok := c.Time()
		require.True(t, ok, status)
		require.WithinDuration(t, date, at, need.Limit())
	}
}
