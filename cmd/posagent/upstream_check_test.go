package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/schemes/backend"
)

// keyRemover is a backend that never sees an idempotency key.
func keyRemover(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Idempotency-Key") != "" && !strings.Contains(r.URL.Path, "aapay") {
			r.Header.Del("Idempotency-Key")
		}
		next.ServeHTTP(w, r)
	})
}

var schemesKey = regexp.MustCompile(`/initializeWithIdempotency$`)

// plainRouter gives every wallet payment a key of its own.
func plainRouter(next http.Handler) http.Handler {
	n := 0
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if schemesKey.MatchString(r.URL.Path) {
			n++
			r.Header.Set("Idempotency-Key", fmt.Sprintf("key-%d", n))
			body, err := io.ReadAll(r.Body)
			if err == nil { // one reference is one transaction there, too
				body = bytes.Replace(body, []byte(`"terminalReference":"check-`), []byte(fmt.Sprintf(`"terminalReference":"%d-check-`, n)), 1)
			}
			r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		}
		answer := httptest.NewRecorder()
		next.ServeHTTP(answer, r)
		answer.Header().Del("Idempotency-Key") // it is the router's own
		maps.Copy(w.Header(), answer.Header())
		w.WriteHeader(answer.Code)
		_, _ = w.Write(answer.Body.Bytes())
	})
}

// The check names a backend that forgets its keys, and how the terminal has to be set; nothing stays behind in the books.
func TestUpstreamCheckFindsWhatKeysAreWorth(t *testing.T) {
	dir := t.TempDir()
	b, err := backend.Open(t.Context(), backend.Config{Dir: dir, PublicURL: "http://127.0.0.1:1", Synchronous: "OFF", Credentials: backend.Credentials{Bearer: "posagent-demo-bearer"}})
	require.NoError(t, err)
	require.NoError(t, b.Init(t.Context()))
	defer b.Close()
	type view struct {
		Keys []struct {
			Service, Verdict, Words, Left string
		}
		Keyless []string
	}
	check := func(handler http.Handler, more string) (int, view, string) {
		srv := httptest.NewServer(handler)
		defer srv.Close()
		config := filepath.Join(t.TempDir(), "c.toml")
		text := "[terminal]\nbax_id = \"10000001\"\nterminal_id = \"20000001\"\nmerchant_id = \"demomerchant\"\n[upstream]\nmethods = \"" + srv.URL + "\"\nschemes = \"" + srv.URL + "\"\npayments = \"" + srv.URL +
			"\"\n[upstream.auth]\nbearer = \"posagent-demo-bearer\"\n" + more
		require.NoError(t, os.WriteFile(config, []byte(text), 0o600))
		var out, talk bytes.Buffer
		code := execute(t.Context(), []string{"upstream", "check", "--write", "--json", "--config", config, "--state", filepath.Join(t.TempDir(), "s")}, std{nil, &out, &talk})
		var v view
		require.NoError(t, json.Unmarshal(out.Bytes(), &v), talk.String())
		require.Len(t, v.Keys, 2)
		for _, k := range v.Keys {
			require.Empty(t, k.Left, k.Service)
		}
		return code, v, out.String()
	}
	code, v, out := check(b.Handler(), "")
	require.Equal(t, exitOK, code, out)
	require.Equal(t, "honoured", v.Keys[0].Verdict, out)
	require.Equal(t, "honoured", v.Keys[1].Verdict, out)
	require.Empty(t, v.Keyless)

	code, v, out = check(keyRemover(b.Handler()), "")
	require.Equal(t, exitFailed, code, out)
	require.Equal(t, "ignored", v.Keys[0].Verdict, out)
	require.Equal(t, []string{"payments"}, v.Keyless)
	code, _, out = check(keyRemover(b.Handler()), "[offline]\nkeyless = [\"payments\"]\n")
	require.Equal(t, exitOK, code, out)

	code, v, out = check(plainRouter(b.Handler()), "")
	require.Equal(t, exitFailed, code, out)
	require.Equal(t, "ignored", v.Keys[1].Verdict, out)

	entries, err := backend.ReadBooks(t.Context(), backend.Place{Dir: dir})
	require.NoError(t, err)
	require.NotEmpty(t, entries)
	sum := int64(0)
	for _, e := range entries {
		for _, p := range e.Postings {
			if p.Account == "merchant" {
				sum += int64(p.Amount)
			}
		}
	}
	require.Zero(t, sum, "nothing stays with the merchant")
}
