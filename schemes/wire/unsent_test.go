package wire_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/schemes/wire"
)

type doer func(*http.Request) (*http.Response, error)

func (d doer) Do(r *http.Request) (*http.Response, error) { return d(r) }

// Only a write whose every try stayed without a connection was never sent: no try that had one, in whatever order, no
// reply, and no transport that says nothing about its connections.
func TestField_L7OnlyTheTransportProvesNeverSent(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/503" {
			http.Error(w, "no", http.StatusServiceUnavailable)
			return
		}
		panic(http.ErrAbortHandler)
	}))
	defer server.Close()
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	two := func(first, second string) doer {
		return func(r *http.Request) (*http.Response, error) {
			_, err := http.DefaultTransport.RoundTrip(to(r, first))
			if err == nil || second == "" {
				return nil, err
			}
			return http.DefaultTransport.RoundTrip(to(r, second))
		}
	}
	circuit := doer(func(*http.Request) (*http.Response, error) {
		return nil, &wire.Error{Code: wire.Unavailable, Msg: "backend not reachable lately"}
	})
	silent := doer(func(*http.Request) (*http.Response, error) { return nil, errors.New("no") })
	for name, c := range map[string]struct {
		d    wire.Doer
		want bool
	}{
		"refused": {two(gone.URL, ""), true}, "refused twice": {two(gone.URL, gone.URL), true}, "open circuit": {circuit, true},
		"connected, then refused": {two(server.URL, gone.URL), false}, "refused, then connected": {two(gone.URL, server.URL), false},
		"a transport without hooks": {silent, false},
	} {
		send := func(write bool) error {
			_, err := wire.Call{Op: "t", Write: write}.Send(context.Background(), c.d, http.MethodPost, "http://127.0.0.1:1/", "", []byte("{}"))
			require.Error(t, err, name)
			return err
		}
		require.Equal(t, c.want, wire.NeverSent(send(true)), name)
		require.False(t, wire.NeverSent(send(false)), "%s: a read says nothing", name)
	}
	a, err := wire.Call{Op: "t", Write: true}.Send(context.Background(), http.DefaultClient, http.MethodPost, server.URL+"/503", "", []byte("{}"))
	require.NoError(t, err)
	require.Equal(t, http.StatusServiceUnavailable, a.Status)
	over, cancel := context.WithCancel(context.Background())
	cancel()
	_, err = wire.Call{Op: "t", Write: true}.Send(over, http.DefaultClient, http.MethodPost, server.URL, "", []byte("{}"))
	require.True(t, wire.NeverSent(err))
}

// to points a request elsewhere.
func to(r *http.Request, base string) *http.Request {
	out, err := http.NewRequestWithContext(r.Context(), r.Method, base, io.NopCloser(strings.NewReader("{}")))
	if err != nil {
		panic(err)
	}
	return out
}
