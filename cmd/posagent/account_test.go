package main

import (
	"net/http"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/agent/config"
	"posagent/agent/ready"
	"posagent/agent/upstream"
)

// TestTheAccountOfAMethod: it is asked until it accepts the credentials, a refusal is one whatever the status of its reply, and a
// service that is away says nothing of the credentials.
func TestTheAccountOfAMethod(t *testing.T) {
	var reply atomic.Pointer[http.HandlerFunc]
	say := func(h http.HandlerFunc) { reply.Store(&h) }
	var asked atomic.Int32
	cfg := config.Default()
	cfg.Upstream.Base = plainServer(t, func(w http.ResponseWriter, r *http.Request) { asked.Add(1); (*reply.Load())(w, r) })
	cfg.Upstream.Auth.Instance, cfg.Upstream.Auth.Secret = "demo", "hush"
	cfg.Paylinks.Method, cfg.Paylinks.Label = true, "Link"
	client, err := linkUpstream(cfg, nil, nil)
	require.NoError(t, err)
	a := accountOf(cfg, client)

	no := `{"status":"error","message":"An error occurred: The API secret is not correct."}`
	for status, detail := range map[int]string{403: "the method Link, reply 403", 200: "the method Link"} {
		say(answer(status, "application/json", no))
		a.ask(t.Context())
		got := a.trouble()
		require.NotNil(t, got, status)
		require.Equal(t, ready.ServiceRefused, got.Cause)
		require.Equal(t, "secret or instance", got.Keys)
		require.Contains(t, got.Detail, detail)
	}
	say(answer(200, "application/json", `{"status":"success","data":[{"id":1}]}`))
	a.ask(t.Context())
	require.Nil(t, a.trouble())
	before := asked.Load()
	a.ask(t.Context())
	require.Equal(t, before, asked.Load(), "it has accepted them")

	say(answer(500, "application/json", `{}`))
	fresh := accountOf(cfg, client)
	fresh.ask(t.Context())
	require.Nil(t, fresh.trouble())
	cfg.Paylinks.Method = false
	require.Nil(t, accountOf(cfg, client))
	require.Nil(t, (*account)(nil).trouble())
}

// TestADoubtAboutTheHost: another service of the same host was not reached after the schemes' last answer. Their next one ends it.
func TestADoubtAboutTheHost(t *testing.T) {
	var away atomic.Bool
	base := plainServer(t, func(w http.ResponseWriter, r *http.Request) {
		if away.Load() {
			panic(http.ErrAbortHandler)
		}
		answer(404, "application/json", `{}`)(w, r)
	})
	to := func(base string) *upstream.Client {
		c, err := upstream.New(upstream.Config{Base: base})
		require.NoError(t, err)
		return c
	}
	call := func(c *upstream.Client, base string) {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, base, http.NoBody)
		require.NoError(t, err)
		if resp, err := c.Do(req); err == nil {
			require.NoError(t, resp.Body.Close())
		}
	}
	schemes, payments := to(base), to(base)
	f := facts{schemes: schemes, ways: map[string]*upstream.Client{"schemes": schemes, "payments": payments}}
	call(schemes, base)
	require.False(t, f.doubt())
	away.Store(true)
	call(payments, base)
	require.True(t, f.doubt())
	away.Store(false)
	call(schemes, base)
	require.False(t, f.doubt(), "the schemes have answered since")

	elsewhere := to(base)
	f = facts{schemes: to("http://127.0.0.1:1"), ways: map[string]*upstream.Client{"payments": elsewhere}}
	away.Store(true)
	call(elsewhere, base)
	require.False(t, f.doubt(), "another host")
}
