package port_test

import (
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/agent/port"
	"posagent/schemes/disputes"
	"posagent/schemes/hosted"
	"posagent/schemes/methods"
	"posagent/schemes/onboarding"
	"posagent/schemes/paylinks"
	"posagent/schemes/wire"
)

// A backend that refuses the terminal's credentials is not a wrong local token: the caller learns whose they are, and where they are set.
func TestTheTerminalsOwnCredentials(t *testing.T) {
	status := http.StatusUnauthorized
	backend := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) }))
	t.Cleanup(backend.Close)
	build := &hosted.Client{BaseURL: backend.URL, Doer: http.DefaultClient}
	links := &paylinks.Client{BaseURL: backend.URL, Instance: "shop", Secret: "theirs", Doer: http.DefaultClient}
	cases := &disputes.Client{BaseURL: backend.URL, Doer: http.DefaultClient, Dir: t.TempDir()}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	p := port.New(port.Options{Listener: ln, Token: token, Live: func() error { return nil }, Ready: func() error { return nil }, Services: []port.Service{
		port.Hosted(build.Sessions(), build.Orders()),
		port.Disputes(cases, cases, ""),
		port.Onboarding(&onboarding.Client{BaseURL: backend.URL, Doer: http.DefaultClient}),
		port.Links(links.Links(), links.Transactions(), "shop", false),
		port.Methods(&methods.Client{BaseURL: backend.URL, Doer: http.DefaultClient}),
	}})
	go func() { _ = p.Run(t.Context()) }()
	x := &rig{t: t, addr: "http://" + p.Addr()}
	for _, status = range []int{401, 403} {
		_, err := (&hosted.Client{BaseURL: x.addr, APIKey: token, Doer: keyed{}}).Orders().Methods(t.Context())
		require.Equal(t, wire.Unavailable, code(t, err))
		require.ErrorContains(t, err, "[upstream.auth] api_key")
		for _, path := range []string{"/v1.0/Invoice/7/?", "/v1.0/Transaction/7/?", "/v1.0/Transaction/?limit=1&"} {
			_, form, _ := strings.Cut(path, "?")
			ask := func(secret string) reply {
				return x.ask("GET", path+"instance=shop&ApiSignature="+url.QueryEscape(signBy(secret, strings.TrimSuffix(form, "&"))), "", "", "")
			}
			r := ask(token)
			require.Equal(t, 503, r.status, path+r.body)
			require.Contains(t, r.body, `"status":"error"`)
			require.Contains(t, r.body, "[upstream.auth] instance and secret")
			require.NotEmpty(t, r.header.Get("Retry-After"), path)
			require.Equal(t, 403, ask(token+"x").status, "a wrong local signature")
		}
		for _, c := range []struct{ path, auth, shape, key string }{
			{"/api/v1/disputes/key", bearer, `"type":"urn:problem:unavailable"`, "[upstream.auth] bearer"},
			{"/api/v1/onboarding/applications/7", bearer, `"type":"urn:problem:unavailable"`, "[upstream.auth] bearer"},
			{"/ms/naa/terminal/method/list/B1/T1", bearer, `"componsiteFault"`, "[upstream.auth] consumer_key"},
		} {
			r := x.ask("GET", c.path, c.auth, "", "")
			require.Equal(t, 503, r.status, c.path)
			require.Contains(t, r.body, c.shape, c.path)
			require.Contains(t, r.body, c.key, c.path)
			require.NotEmpty(t, r.header.Get("Retry-After"), c.path)
			require.Equal(t, 401, x.ask("GET", c.path, c.auth+"x", "", "").status, "a wrong local token")
		}
	}
}
