package port_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent/checkout"
	"posagent/agent/checkout/drive/journal"
	"posagent/agent/outbox"
	"posagent/agent/port"
	"posagent/agent/ready"
	"posagent/agent/view"
	"posagent/ecr"
	"posagent/schemes/wire"
	"posagent/store"
)

// pageRig is a port with a sale of 12.50 EUR, an operation of 34.50 EUR of the client kiosk and one of 9.99 EUR of the terminal's
// own client, and an audit line.
func pageRig(t *testing.T, ready error) *rig {
	x := start(t, true)
	row := &journal.Row{Key: wire.NewKey(), Kind: ecr.Payment, Line: "tcp", Amount: 1250, Currency: "EUR", Receipt: 1, Batch: 1, CreatedMS: time.Now().UnixMilli(),
		State: checkout.State{Kind: ecr.Payment, Phase: checkout.Done, Result: ecr.Approved}}
	require.NoError(t, x.db.Write(t.Context(), func(tx store.Tx) error {
		if err := journal.New(journal.Options{DB: x.db}).Insert(tx, row); err != nil {
			return err
		}
		for owner, amount := range map[string]int64{"kiosk": 3450, "": 999} {
			n := outbox.New{Key: wire.NewKey(), Kind: "test", Aggregate: "of" + owner, Owner: owner, AmountMin: amount, Currency: "EUR", Payload: []byte("card-canary")}
			if err := x.outbox.Accept(tx, n); err != nil {
				return err
			}
		}
		return nil
	}))
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	clients := []port.Client{
		{Name: "kiosk", Token: kiosk, May: []string{"read", "pay"}}, {Name: "monitor", Token: "monitor-token-0123456789", May: []string{"read", "all"}},
		{Name: "deaf", Token: "deaf-token-0123456789", May: []string{"pay"}},
	}
	p := port.New(port.Options{
		Listener: ln, Live: func() error { return nil }, Ready: func() error { return ready }, Token: token, Clients: clients,
		House: &view.Daemon{DB: x.db, Outbox: x.outbox, Inbox: x.inbox, Happened: x.happened, Now: time.Now, About: view.Status{Running: true, Version: "test", Sandbox: true},
			Ready: judged(ready),
			Deeds: func(context.Context, int) ([]view.Deed, error) { return []view.Deed{{Deed: "deed-canary"}}, nil }},
	})
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- p.Run(ctx) }()
	t.Cleanup(func() { cancel(); require.NoError(t, <-ended) })
	return &rig{t: t, addr: "http://" + p.Addr()}
}

// judged is what the daemon says of a readiness.
func judged(why error) func(context.Context) ready.Report {
	return func(context.Context) ready.Report {
		if why != nil {
			return ready.Report{NotReady: &ready.Said{Words: "no line", Remedy: "set one"}}
		}
		return ready.Report{Ready: true}
	}
}

// browse asks for the page as a browser does whose user typed the address; head replaces what it says, and "-" leaves it out.
func (x *rig) browse(method, cookie, body string, head map[string]string) reply {
	return x.browseAt("/", method, cookie, body, head)
}

// browseAt asks for another path.
func (x *rig) browseAt(path, method, cookie, body string, head map[string]string) reply {
	req, err := http.NewRequest(method, x.addr+path, strings.NewReader(body))
	require.NoError(x.t, err)
	said := map[string]string{"Sec-Fetch-Site": "none", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document", "Accept-Language": "en"}
	if method == http.MethodPost {
		said["Sec-Fetch-Site"], said["Origin"], said["Content-Type"] = "same-origin", "null", "application/x-www-form-urlencoded"
	}
	for k, v := range head {
		said[k] = v
	}
	for k, v := range said {
		if v != "-" {
			req.Header.Set(k, v)
		}
	}
	if cookie != "" {
		req.Header.Set("Cookie", cookie)
	}
	if host := head["Host"]; host != "" {
		req.Host = host
		req.Header.Del("Host")
	}
	resp, err := http.DefaultTransport.RoundTrip(req)
	require.NoError(x.t, err)
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	require.NoError(x.t, err)
	return reply{resp.StatusCode, resp.Header, string(data)}
}

// enter sends the form with a token, and returns the browser's cookie.
func (x *rig) enter(token string) string {
	r := x.browse("POST", "", url.Values{"token": {token}}.Encode(), nil)
	require.Equal(x.t, 303, r.status, r.body)
	require.Equal(x.t, "/", r.header.Get("Location"))
	set := r.header.Get("Set-Cookie")
	require.Regexp(x.t, `^posagent_page_\d+=[A-Z2-7]{26}; Path=/; Max-Age=28800; HttpOnly; SameSite=Strict$`, set)
	require.NotContains(x.t, set, token)
	cookie, _, _ := strings.Cut(set, ";")
	return cookie
}

// figures are what nobody sees without a token.
func figures() []string {
	return []string{"12.50", "34.50", "44.49", "EUR", "deed-canary", "card-canary"}
}

// Without a token the page says READY or why not, and no amount; it is not framed, not kept and runs nothing.
func TestThePageShowsStrangersNoAmount(t *testing.T) {
	x := pageRig(t, nil)
	r := x.browse("GET", "", "", nil)
	require.Equal(t, 200, r.status)
	require.Contains(t, r.body, ">READY<")
	require.Contains(t, r.body, "SANDBOX")
	for _, s := range figures() {
		require.NotContains(t, r.body, s)
	}
	require.NotContains(t, r.body, "<script")
	for name, want := range map[string]string{
		"Content-Type": "text/html; charset=utf-8", "Cache-Control": "no-store", "X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY",
		"Referrer-Policy": "no-referrer", "Cross-Origin-Resource-Policy": "same-origin", "Set-Cookie": "",
	} {
		require.Equal(t, want, r.header.Get(name), name)
	}
	require.Contains(t, r.header.Get("Content-Security-Policy"), "default-src 'none'; style-src 'sha256-")
	require.Contains(t, r.header.Get("Content-Security-Policy"), "frame-ancestors 'none'")
	require.Equal(t, 200, x.browse("GET", "posagent_page_1=AAAA", "", nil).status, "a cookie of another visit")

	x = pageRig(t, errors.New("no line: set one"))
	r = x.browse("GET", "", "", map[string]string{"Accept-Language": "de-CH,de"})
	require.Contains(t, r.body, ">NOT READY<")
	require.Contains(t, r.body, "no line: <strong>set one</strong>")
	require.Contains(t, r.body, `<html lang="de">`)
}

// What the page shows after a token was entered is what that client may see.
func TestThePageShowsWhatTheClientMaySee(t *testing.T) {
	x := pageRig(t, nil)
	for _, tc := range []struct{ token, sees string }{
		{token, "12.50 44.49 deed-canary"}, {kiosk, "34.50"}, {"monitor-token-0123456789", "44.49 deed-canary"},
	} {
		cookie := x.enter(tc.token)
		r := x.browse("GET", cookie, "", map[string]string{"Sec-Fetch-Site": "same-origin"})
		require.Equal(t, 200, r.status, r.body)
		for _, s := range []string{"12.50", "34.50", "44.49", "deed-canary"} {
			require.Equal(t, strings.Contains(tc.sees, s), strings.Contains(r.body, s), "%s sees %s: %s", tc.token, s, r.body)
		}
		require.NotContains(t, r.body, "card-canary")
		require.NotContains(t, r.body, tc.token)
		require.Equal(t, "no-store", r.header.Get("Cache-Control"))

		r = x.browse("POST", cookie, "leave=1", nil)
		require.Equal(t, 303, r.status)
		require.Regexp(t, `=; Path=/; Max-Age=0; HttpOnly; SameSite=Strict$`, r.header.Get("Set-Cookie"))
		require.NotContains(t, x.browse("GET", cookie, "", nil).body, "EUR", "a visit that was left")
	}
	r := x.browse("GET", x.enter("deaf-token-0123456789"), "", nil)
	require.Equal(t, 403, r.status)
	require.Contains(t, r.body, "may not read")
	require.NotContains(t, r.body, "34.50")
}

// The visit shows the page, and nothing else on the port.
func TestTheVisitIsNoToken(t *testing.T) {
	x := pageRig(t, nil)
	cookie := x.enter(token)
	_, id, _ := strings.Cut(cookie, "=")
	for _, path := range []string{"/agent/v1/status", "/metrics", "/agent/v1/sales"} {
		require.Equal(t, 401, x.ask("GET", path, "Bearer "+id, "", "").status, path)
		req, err := http.NewRequest("GET", x.addr+path, http.NoBody)
		require.NoError(t, err)
		req.Header.Set("Cookie", cookie)
		resp, err := http.DefaultTransport.RoundTrip(req)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		require.Equal(t, 401, resp.StatusCode, path)
	}
	require.NotContains(t, x.ask("GET", "/", bearer, "", "").body, "12.50", "nor does a program's token open the page")
}

// Another page can neither read, frame, lead to nor send to the page, with a visit's cookie even.
func TestThePageIsClosedToOtherPages(t *testing.T) {
	x := pageRig(t, nil)
	cookie := x.enter(token)
	_, number, err := net.SplitHostPort(strings.TrimPrefix(x.addr, "http://"))
	require.NoError(t, err)
	for what, head := range map[string]map[string]string{
		"a link of another site":        {"Sec-Fetch-Site": "cross-site"},
		"a page of another port":        {"Sec-Fetch-Site": "same-site"},
		"a frame":                       {"Sec-Fetch-Site": "same-origin", "Sec-Fetch-Dest": "iframe"},
		"an image":                      {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Dest": "image", "Sec-Fetch-Mode": "no-cors"},
		"a script's fetch":              {"Sec-Fetch-Site": "same-origin", "Sec-Fetch-Dest": "empty", "Sec-Fetch-Mode": "cors"},
		"an origin":                     {"Sec-Fetch-Site": "-", "Origin": "http://evil.example"},
		"the port's own origin":         {"Sec-Fetch-Site": "-", "Origin": x.addr},
		"a referer":                     {"Sec-Fetch-Site": "-", "Referer": "http://evil.example/"},
		"a name that was rebound":       {"Sec-Fetch-Site": "-", "Sec-Fetch-Mode": "-", "Sec-Fetch-Dest": "-", "Host": "evil.example:" + number},
		"another spelling of the host":  {"Host": "127.1:" + number},
		"another port of this machine":  {"Host": "127.0.0.1:1"},
		"the address of all interfaces": {"Host": "0.0.0.0:" + number},
	} {
		r := x.browse("GET", cookie, "", head)
		require.Equal(t, 403, r.status, what)
		require.NotContains(t, r.body, "READY", what)
	}
	require.Contains(t, x.browse("GET", cookie, "", map[string]string{"Host": "LocalHost:" + number}).body, "12.50")
	form := url.Values{"token": {token}}.Encode()
	for what, head := range map[string]map[string]string{
		"a form of another site":       {"Sec-Fetch-Site": "cross-site"},
		"a form of another port":       {"Sec-Fetch-Site": "same-site"},
		"a browser that does not say":  {"Sec-Fetch-Site": "-"},
		"another origin":               {"Origin": "http://evil.example"},
		"a form in a frame":            {"Sec-Fetch-Dest": "iframe"},
		"a script":                     {"Sec-Fetch-Dest": "empty", "Sec-Fetch-Mode": "cors"},
		"a name that was rebound":      {"Host": "evil.example:" + number},
		"a page with the port's names": {"Origin": "http://localhost.evil.example:" + number},
	} {
		r := x.browse("POST", "", form, head)
		require.Equal(t, 403, r.status, what)
		require.Empty(t, r.header.Get("Set-Cookie"), what)
	}
	require.Equal(t, 405, x.ask("POST", "/", "", "application/x-www-form-urlencoded", form).status, "a program")
	require.Equal(t, 405, x.browse("HEAD", "", "", map[string]string{"Sec-Fetch-Site": "-", "Sec-Fetch-Mode": "-", "Sec-Fetch-Dest": "-"}).status)
	require.Equal(t, 403, x.browse("HEAD", "", "", nil).status)
	require.Equal(t, 400, x.browse("POST", "", form, map[string]string{"Content-Type": "text/plain"}).status)
	require.Equal(t, 413, x.browse("POST", "", "token="+strings.Repeat("a", 5000), nil).status)
	require.Equal(t, 303, x.browse("POST", "", form, map[string]string{"Origin": x.addr}).status)
}

// Five wrong tokens close the form to strangers for a while: a good one is taken at once.
func TestThePageIsLockedAfterWrongTokens(t *testing.T) {
	x := pageRig(t, nil)
	cookie := x.enter(token)
	for range 5 {
		r := x.browse("POST", "", "token=guess", nil)
		require.Equal(t, 403, r.status)
		require.Contains(t, r.body, "This is no token of this terminal.")
		require.NotContains(t, r.body, "guess")
		require.Empty(t, r.header.Get("Set-Cookie"))
	}
	r := x.browse("POST", "", "token=guess", nil)
	require.Equal(t, 429, r.status)
	require.Equal(t, "60", r.header.Get("Retry-After"))
	require.Contains(t, r.body, "Too many wrong tokens.")
	require.Contains(t, x.browse("GET", cookie, "", nil).body, "12.50", "a visit goes on")
	require.Equal(t, 200, x.ask("GET", "/agent/v1/status", bearer, "", "").status)
	require.Equal(t, 303, x.browse("POST", "", url.Values{"token": {token}}.Encode(), nil).status)
}
