package upstream

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/cross/need"
)

// The log tells method, route, reply and time of each try, and nothing of a request's address, headers or body.
func TestTheLogTellsNothingOfARequestButItsRoute(t *testing.T) {
	var out bytes.Buffer
	at := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Reply", "canary-reply")
		if strings.HasSuffix(r.URL.Path, "/broken") {
			w.WriteHeader(http.StatusBadGateway)
		}
		_, _ = io.WriteString(w, "canary-answer")
	}).URL
	tells := func(c *Config) {
		c.Log = slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: slog.LevelDebug}))
		c.Route = func(path string) string { return "/payments/{}" }
	}
	c := client(t, at, tells)
	post := func(c *Client, url string) error {
		req, err := http.NewRequestWithContext(context.Background(), http.MethodPost, url, strings.NewReader("canary-body"))
		require.NoError(t, err)
		req.Header.Set("X-Secret", "canary-header")
		resp, err := c.Do(req)
		if err == nil {
			_, _ = io.Copy(io.Discard, resp.Body)
			err = resp.Body.Close()
		}
		return err
	}
	require.NoError(t, post(c, at+"/payments/canary-id?q=canary-query"))
	require.Regexp(t, `level=DEBUG msg=request sys=upstream method=POST route=/payments/\{\} ms=\d+ status=200\n$`, out.String())
	require.NoError(t, post(c, at+"/payments/canary-id/broken"))
	require.Regexp(t, `status=502 fault=failing\n$`, out.String())

	gone := "http://" + need.ClosedPort(t)
	c = client(t, gone, tells)
	for range openAfter {
		require.Error(t, post(c, gone+"/payments/canary-id"))
	}
	require.Regexp(t, `ms=\d+ fault=refused\n$`, out.String())
	require.Error(t, post(c, gone+"/payments/canary-id"))
	require.Regexp(t, `route=/payments/\{\} fault="not sent"\n$`, out.String())
	require.NotContains(t, out.String(), "canary")

	out.Reset()
	c = client(t, at, func(c *Config) { tells(c); c.Route = nil })
	require.NoError(t, post(c, at+"/payments/canary-id"))
	require.Regexp(t, `method=POST route="" ms=`, out.String())
}
