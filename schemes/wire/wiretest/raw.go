package wiretest

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/schemes/wire"
)

// Raw sends one request as it stands and reads the answer to its end. contentType "" sends none; header names and values
// alternate, come last, and an empty value removes the header.
func Raw(t *testing.T, d wire.Doer, method, url, contentType, body string, header ...string) (*http.Response, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	require.NoError(t, err)
	for i, h := 0, append([]string{"Content-Type", contentType}, header...); i < len(h); i += 2 {
		req.Header.Del(h[i])
		if h[i+1] != "" {
			req.Header.Set(h[i], h[i+1])
		}
	}
	return Send(t, d.Do, req)
}

// Send sends a request by a client's Do, or by a transport's RoundTrip, which follows no redirect, and reads the answer to its end.
func Send(t testing.TB, do func(*http.Request) (*http.Response, error), req *http.Request) (*http.Response, string) {
	t.Helper()
	resp, err := do(req)
	require.NoError(t, err)
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	return resp, string(data)
}

// Problem checks a refusal in the shape of S0 7, whose detail contains names.
func Problem(t *testing.T, resp *http.Response, body string, status int, names string) {
	t.Helper()
	require.Equal(t, status, resp.StatusCode, body)
	require.Equal(t, wire.ProblemType, resp.Header.Get("Content-Type"))
	var p map[string]any
	require.NoError(t, json.Unmarshal([]byte(body), &p))
	require.Len(t, p, 5)
	require.EqualValues(t, status, p["status"])
	require.NotEmpty(t, p["title"])
	require.NotEmpty(t, p["detail"])
	require.Contains(t, p["detail"], names)
	require.Contains(t, p["type"], "urn:problem:")
	instance, _ := p["instance"].(string)
	require.Contains(t, strings.ToLower(instance), "/api/v1/")
}
