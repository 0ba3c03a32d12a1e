package backend

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/cross/need"
	"posagent/schemes/backend/webhooks"
	"posagent/schemes/wire"
	"posagent/store"
)

type secret = wire.Secret

// What a service owes is sent by the running backend, shown beside it, and sent again on demand, to those with credentials.
func TestHooksAreSentShownAndReplayed(t *testing.T) {
	var status, hits atomic.Int64
	status.Store(200)
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		hits.Add(1)
		if r.Header.Get("Authorization") != "Bearer shop" || r.Header.Get("Webhook-Signature") == "" {
			w.WriteHeader(http.StatusTeapot)
			return
		}
		w.WriteHeader(int(status.Load()))
	}))
	defer receiver.Close()
	dir := t.TempDir()
	b, err := Open(t.Context(), Config{
		Dir: dir, PublicURL: "http://h", Synchronous: "OFF", HookAllow: []string{strings.TrimPrefix(receiver.URL, "http://")}, HookSecrets: []secret{"k"},
	})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- b.Run(ctx) }()
	require.NoError(t, b.db.Write(ctx, func(tx store.Tx) error {
		err := b.deliver.Register(tx, "p1", []webhooks.Hook{{Event: "payment.created", URL: receiver.URL + "/x?token=t", Authorization: "Bearer shop"}})
		if err == nil {
			_, err = b.deliver.Emit(tx, webhooks.Message{ID: "m1", Event: "payment.created", Subject: "p1", Body: []byte("{}")})
		}
		return err
	}))
	var list []webhooks.Delivery
	settled := func(tries int) {
		t.Helper()
		need.Until(t, fmt.Sprint(tries, " tries and the end of the delivery"), func() bool {
			list, err = ReadHooks(ctx, Place{Dir: dir}, "")
			require.NoError(t, err)
			return len(list) == 1 && len(list[0].Attempts) == tries && list[0].State == webhooks.Done
		})
	}
	settled(1)
	require.Equal(t, receiver.URL+"/x", list[0].URL)
	list, err = ReadHooks(ctx, Place{Dir: dir}, webhooks.Dead)
	require.NoError(t, err)
	require.Empty(t, list)

	ask := func(method, path, body, auth string, header ...string) (int, string) {
		r := httptest.NewRequest(method, "http://127.0.0.1"+path, strings.NewReader(body))
		r.Header.Set("Authorization", auth)
		r.Header.Set("Content-Type", "application/json")
		for i := 0; i < len(header); i += 2 {
			r.Header.Set(header[i], header[i+1])
		}
		w := httptest.NewRecorder()
		b.Handler().ServeHTTP(w, r)
		text, err := io.ReadAll(w.Result().Body)
		require.NoError(t, err)
		require.NotContains(t, string(text), "token=t")
		return w.Code, string(text)
	}
	const good = "Bearer posagent-demo-bearer"
	for _, path := range []string{"", "/dead", "/replay", "/resume"} {
		for _, method := range []string{http.MethodGet, http.MethodPost} {
			code, _ := ask(method, HooksPrefix+path, `{"id":"m1"}`, "Bearer wrong")
			require.Equal(t, 401, code)
			code, _ = ask(method, HooksPrefix+path, `{"id":"m1"}`, good, "Origin", "http://h")
			require.Equal(t, 403, code)
		}
	}
	require.EqualValues(t, 1, hits.Load())
	code, text := ask(http.MethodGet, HooksPrefix, "", good)
	require.Equal(t, 200, code)
	require.Contains(t, text, `"id":"m1","event":"payment.created"`)
	code, text = ask(http.MethodPost, HooksPrefix+"/replay", `{"id":"m1"}`, good)
	require.Equal(t, 200, code)
	require.JSONEq(t, `{"replayed":1}`, text)
	settled(2)
	for body, want := range map[string]int{
		`{"id":"m2"}`: 404, `{}`: 400, ``: 400, `{"since":"yesterday"}`: 400, `{"id":"m1","since":"2026-01-01T00:00:00Z"}`: 400,
		`{"since":"2026-01-01T00:00:00Z"}`: 200, `{"ID":"m1"}`: 400, `{"id":"m1"}x`: 400,
	} {
		code, _ := ask(http.MethodPost, HooksPrefix+"/replay", body, good)
		require.Equal(t, want, code, body)
	}
	code, _ = ask(http.MethodPost, HooksPrefix+"/replay", `{"id":"m1"}`, good, "Content-Type", "text/plain")
	require.Equal(t, 400, code)
	for url, want := range map[string]int{receiver.URL: 200, "": 400, "https://127.0.0.1:1/": 400, "file:///etc/passwd": 400} {
		code, _ = ask(http.MethodPost, HooksPrefix+"/resume", `{"url":"`+url+`"}`, good)
		require.Equal(t, want, code, url)
	}
	code, _ = ask(http.MethodGet, HooksPrefix+"/replay", "", good)
	require.Equal(t, 405, code)
	require.EqualValues(t, 2, hits.Load())
	cancel()
	require.ErrorIs(t, <-done, context.Canceled)
	require.NoError(t, b.Close())
}
