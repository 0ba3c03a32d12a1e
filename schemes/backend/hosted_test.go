package backend_test

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/schemes/backend"
	"posagent/schemes/backend/backendtest"
	"posagent/schemes/hosted"
	"posagent/schemes/hosted/hostedtest"
	"posagent/schemes/wire"
	"posagent/schemes/wire/wiretest"
)

// The merchant is told with the token of its session, which lies nowhere in the clear; an address that is not public is
// refused unless it is on the list.
func TestHostedNotification(t *testing.T) {
	type told struct {
		body   []byte
		header http.Header
	}
	heard := make(chan told, 10)
	shop := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		heard <- told{body, r.Header}
		_, _ = io.WriteString(w, `{"outcome":"OK"}`)
	}))
	t.Cleanup(shop.Close)
	dir := t.TempDir()
	b := run(t, backend.Config{Dir: dir, PublicURL: "http://127.0.0.1:1", HookAllow: []string{strings.TrimPrefix(shop.URL, "http://")}})
	req := hostedtest.Good()
	for _, url := range []string{"http://127.0.0.1:1/x", "https://127.0.0.1/x", "https://169.254.169.254/", "http://shop.example/", "https://localhost/", "https://2130706433/"} {
		req.PaymentSession.NotificationURL = url
		_, err := b.Hosted().Build(t.Context(), "", req)
		require.ErrorIs(t, err, &wire.Error{Code: wire.Invalid, Reason: hosted.BadParameter}, url)
	}
	req.PaymentSession.NotificationURL = shop.URL + "/notify"
	built, err := b.Hosted().Build(t.Context(), "", req)
	require.NoError(t, err)
	require.NoError(t, b.Hosted().Fill(t.Context(), built.SessionID, wire.NewPAN("4111111111111111"), 2099, 1))
	s, err := b.Hosted().Finalize(t.Context(), "", built.SessionID, "")
	require.NoError(t, err)
	got := <-heard
	n, err := hosted.DecodeNotice(got.body)
	require.NoError(t, err)
	require.Equal(t, built.SecurityToken, n.SecurityToken)
	require.Equal(t, *s.Operation, n.Operation)
	require.NotEmpty(t, n.EventID)
	require.NotEmpty(t, n.EventTime)
	require.Equal(t, "application/json", got.header.Get("Content-Type"))
	require.Empty(t, got.header.Get("Authorization"))
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	require.NoError(t, err)
	for _, f := range files {
		data, err := os.ReadFile(f)
		require.NoError(t, err)
		for _, secret := range []string{built.SecurityToken.Reveal(), "4111111111111111"} {
			require.False(t, bytes.Contains(data, []byte(secret)), "%s in %s", secret, f)
		}
	}
}

// Finalize and cancel always have the list of warnings (S2 4), and no shop takes what was cancelled for paid.
func TestField_B4FinalizeHasWarnings(t *testing.T) {
	b := backendtest.Open(t)
	h := hosted.Handler(b.Hosted(), b.Hosted().Orders(), hosted.HandlerOptions{})
	for path, want := range map[string]string{
		"finalize_payment": `{"state":"PAYMENT_COMPLETE","warnings":[],"operation":`,
		"cancel":           `{"state":"PAYMENT_COMPLETE","warnings":[],"operation":`,
	} {
		made, err := b.Hosted().Build(t.Context(), "", hostedtest.Good())
		require.NoError(t, err)
		require.NoError(t, b.Hosted().Fill(t.Context(), made.SessionID, wire.NewPAN("4111111111111111"), 2099, 12))
		resp, body := wiretest.Raw(t, wiretest.Direct(h), http.MethodPost, wiretest.BaseURL+"/api/v1/build/"+path, "application/json",
			`{"sessionId":"`+made.SessionID+`"}`, "Correlation-Id", hostedtest.Correlation)
		require.Equal(t, http.StatusOK, resp.StatusCode, body)
		require.True(t, strings.HasPrefix(body, want), body)
	}
}
