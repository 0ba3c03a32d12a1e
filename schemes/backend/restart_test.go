package backend_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/schemes/aapay"
	"posagent/schemes/backend"
)

// A backend that is closed and opened again answers as before: sealed requests, form tokens, keys.
func TestBackendRestart(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "deep", "state")
	ctx := context.Background()
	never := time.Duration(-1)
	open := func() *backend.Backend {
		b, err := backend.Open(ctx, backend.Config{Dir: dir, WalletDelay: &never, PublicURL: "http://h", Synchronous: "OFF"})
		require.NoError(t, err)
		return b
	}
	b := open()
	first, err := b.Aapay().InitializeWithIdempotency(ctx, "k", aapay.Payment, payment("T1", 1250))
	require.NoError(t, err)
	info, err := os.Stat(filepath.Join(dir, "backend.key"))
	require.NoError(t, err)
	require.EqualValues(t, 0o600, info.Mode().Perm())
	key, err := os.ReadFile(filepath.Join(dir, "backend.key"))
	require.NoError(t, err)
	require.NoError(t, b.Close())

	b = open()
	again, err := b.Aapay().InitializeWithIdempotency(ctx, "k", aapay.Payment, payment("T1", 1250))
	require.NoError(t, err)
	require.Equal(t, first, again)
	st, err := b.Aapay().Status(ctx, "T1", "")
	require.NoError(t, err)
	require.Equal(t, "http://h/wallet/"+st.NAA2ECR.PPRef, st.QRCodePayload)
	require.NoError(t, b.Close())

	after, err := os.ReadFile(filepath.Join(dir, "backend.key"))
	require.NoError(t, err)
	require.Equal(t, key, after)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "backend.key"), key[:16], 0o600))
	_, err = backend.Open(ctx, backend.Config{Dir: dir, PublicURL: "http://h"})
	require.ErrorContains(t, err, "damaged")
}

func TestBadConfigIsRefused(t *testing.T) {
	for name, cfg := range map[string]backend.Config{
		"no public url":      {},
		"public url of file": {PublicURL: "file:///x"},
		"missing seed":       {PublicURL: "http://h", Seed: "/nowhere/seed.json"},
		"seed not json":      {PublicURL: "http://h", Seed: "{"},
		"seed twice":         {PublicURL: "http://h", Seed: `{"methods":[{"name":"A"},{"name":"A"}]}`},
		"seed duplicate key": {PublicURL: "http://h", Seed: `{"methods":[],"methods":[]}`},
		"seed empty":         {PublicURL: "http://h", Seed: `{"methods":[]}`},
		"seed flow":          {PublicURL: "http://h", Seed: `{"methods":[{"name":"A","flow":"x"}]}`},
	} {
		cfg.Dir = t.TempDir()
		_, err := backend.Open(t.Context(), cfg)
		require.Error(t, err, name)
	}
	_, err := backend.ReadBooks(t.Context(), backend.Place{Dir: t.TempDir()})
	require.Error(t, err)
}

// The consumer's name and number lie sealed in the file.
func TestRequestsAreSealed(t *testing.T) {
	dir := t.TempDir()
	b, err := backend.Open(t.Context(), backend.Config{Dir: dir, PublicURL: "http://h", Synchronous: "OFF"})
	require.NoError(t, err)
	req := payment("T1", 1250)
	req.Method, req.Trigger = "EASY", aapay.TriggerManual
	req.Consumer.ConsumerID = "+46701740605"
	_, err = b.Aapay().Initialize(t.Context(), aapay.Payment, req)
	require.NoError(t, err)
	st, err := b.Aapay().Status(t.Context(), "T1", "")
	require.NoError(t, err)
	require.Equal(t, "+46701740605", st.PayerID)
	require.NoError(t, b.Close())
	files, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, f := range files {
		data, err := os.ReadFile(filepath.Join(dir, f.Name()))
		require.NoError(t, err)
		require.NotContains(t, string(data), "46701740605", f.Name())
	}
}

func TestServerHasLimits(t *testing.T) {
	s := backend.Server(http.NotFoundHandler())
	require.Positive(t, s.ReadHeaderTimeout)
	require.Positive(t, s.ReadTimeout)
	require.Greater(t, s.WriteTimeout, 10*time.Second, "the slow reply fits")
	require.Positive(t, s.IdleTimeout)
	require.Positive(t, s.MaxHeaderBytes)
	rec := httptest.NewRecorder()
	s.Handler.ServeHTTP(rec, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", http.NoBody))
	require.Equal(t, http.StatusNotFound, rec.Code)
}
