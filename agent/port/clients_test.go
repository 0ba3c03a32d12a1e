package port_test

import (
	"context"
	"encoding/base64"
	"net"
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent/port"
	"posagent/agent/view"
	"posagent/schemes/paylinks"
	"posagent/schemes/payments"
	"posagent/schemes/wire"
)

// seen is a service that notes for whom it is called, and waits where it is told to.
type seen struct {
	payments.Service
	names chan string
	hold  chan struct{}
}

func (s *seen) Read(ctx context.Context, id string) (payments.Payment, error) {
	s.names <- wire.Client(ctx)
	<-s.hold
	return payments.Payment{}, wire.Errorf(wire.NotFound, "", "none")
}

// linksSeen is the same for payment links.
type linksSeen struct {
	paylinks.Links
	names chan string
}

func (s linksSeen) Read(ctx context.Context, id int64) (paylinks.Link, error) {
	s.names <- wire.Client(ctx)
	return paylinks.Link{}, wire.Errorf(wire.NotFound, "", "none")
}

const kiosk = "kiosk-token-0123456789"

// Each client is known by its own token, in each service's own form, and no other's pace is its own.
func TestClients(t *testing.T) {
	names := make(chan string, 16)
	pay := &seen{names: names, hold: make(chan struct{})}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	ok := func() error { return nil }
	p := port.New(port.Options{
		Listener: ln, Live: ok, Ready: ok, Token: token, Clients: []port.Client{{Name: "kiosk", Token: kiosk}}, Rate: 20, Parallel: 3,
		Services: []port.Service{port.Payments(pay, ""), port.Links(linksSeen{names: names}, nil, "shop", false)},
	})
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- p.Run(ctx) }()
	t.Cleanup(func() { cancel(); require.NoError(t, <-ended) })
	x := &rig{t: t, addr: "http://" + p.Addr()}

	get := func(auth string) reply { return x.ask("GET", "/api/v1/payments/7", auth, "", "") }
	answers := make(chan reply, 8)
	for range 3 { // the kiosk has all it may have in flight
		go func() { answers <- get("Bearer " + kiosk) }()
		require.Equal(t, "kiosk", <-names)
	}
	r := get("Bearer " + kiosk)
	require.Equal(t, http.StatusTooManyRequests, r.status, r.body)
	require.Contains(t, r.header.Get("Content-Type"), "application/problem+json")
	require.Equal(t, "1", r.header.Get("Retry-After"))
	go func() { answers <- get(bearer) }()
	require.Empty(t, <-names, "another client goes on; it has no name")
	close(pay.hold)
	for range 4 {
		require.Equal(t, http.StatusNotFound, (<-answers).status)
	}
	require.Equal(t, http.StatusNotFound, get("Bearer "+base64.StdEncoding.EncodeToString([]byte("any:"+kiosk))).status)
	require.Equal(t, "kiosk", <-names)
	require.Equal(t, http.StatusUnauthorized, get("Bearer kiosk").status)

	// Payment links: the instance names the client, its token signs.
	for instance, secret := range map[string]string{"shop": token, "kiosk": kiosk} {
		ask := func(secret string) reply {
			return x.ask("GET", "/v1.0/Invoice/7/?id=7&instance="+instance+"&ApiSignature="+url.QueryEscape(signBy(secret, "id=7")), "", "", "")
		}
		r := ask(secret)
		require.Len(t, names, 1, r.body)
		require.Equal(t, instance == "kiosk", <-names == "kiosk")
		require.Equal(t, http.StatusForbidden, ask("another-token-0123456789").status)
		if instance == "kiosk" {
			require.Equal(t, http.StatusForbidden, ask(token).status, "the terminal's own token is not the kiosk's")
		}
		require.Empty(t, names)
	}
	for range 60 {
		r := x.ask("POST", "/v1.0/Invoice/?instance=kiosk", "", formKind, "ApiSignature=x")
		require.Equal(t, http.StatusForbidden, r.status, "who only names a client uses up nothing of its own: %s", r.body)
	}
	limited := false
	for range 60 {
		if r := get("Bearer " + kiosk); r.status == http.StatusTooManyRequests {
			limited = true
			require.NotEmpty(t, r.header.Get("Retry-After"))
			break
		}
		<-names
	}
	require.True(t, limited, "20 a second")
	for range 60 { // on a slow machine its pace allows one more by now
		r = x.ask("GET", "/v1.0/Invoice/7/?id=7&instance=kiosk&ApiSignature="+url.QueryEscape(signBy(kiosk, "id=7")), "", "", "")
		if r.status == http.StatusTooManyRequests {
			break
		}
		<-names
	}
	require.Equal(t, http.StatusTooManyRequests, r.status, r.body)
	require.NotEmpty(t, r.header.Get("Retry-After"))
	require.Contains(t, r.body, `"status":"error"`)

	// The token route gives each client its own.
	for _, own := range []string{token, kiosk} {
		r := x.ask("POST", "/token", "", formKind, "grant_type=client_credentials&client_secret="+own)
		require.Equal(t, 200, r.status)
		require.Contains(t, r.body, `"access_token":"`+own+`"`)
	}
}

// A client may name the account as its instance, as its library was told to, and is known by its own token all the same.
func TestField_P10InstanceOfTheAccount(t *testing.T) {
	names := make(chan string, 4)
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	ok := func() error { return nil }
	p := port.New(port.Options{Listener: ln, Live: ok, Ready: ok, Token: token, Clients: []port.Client{{Name: "kiosk", Token: kiosk}},
		Services: []port.Service{port.Links(linksSeen{names: names}, nil, "shop", false)}})
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- p.Run(ctx) }()
	t.Cleanup(func() { cancel(); require.NoError(t, <-ended) })
	x := &rig{t: t, addr: "http://" + p.Addr()}
	for _, c := range []struct{ instance, secret, who string }{
		{"shop", kiosk, "kiosk"}, {"kiosk", kiosk, "kiosk"}, {"shop", token, ""},
	} {
		r := x.ask("GET", "/v1.0/Invoice/7/?id=7&instance="+c.instance+"&ApiSignature="+url.QueryEscape(signBy(c.secret, "id=7")), "", "", "")
		require.Equal(t, http.StatusNotFound, r.status, r.body)
		require.Equal(t, c.who, <-names, c.instance)
	}
	r := x.ask("GET", "/v1.0/Invoice/7/?id=7&instance=shop&ApiSignature="+url.QueryEscape(signBy("another-token-0123456789", "id=7")), "", "", "")
	require.Equal(t, http.StatusForbidden, r.status)
	require.Empty(t, names)
}

// A client that listens as often as it can leaves places for the others.
func TestField_P8OneClientDoesNotTakeAllStreams(t *testing.T) {
	x := start(t, false)
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	ok := func() error { return nil }
	p := port.New(port.Options{
		Listener: ln, Live: ok, Ready: ok, Token: token, Clients: []port.Client{{Name: "kiosk", Token: kiosk, May: []string{"read"}}},
		House: &view.Daemon{DB: x.db, Outbox: x.outbox, Inbox: x.inbox, Happened: x.happened, Now: time.Now},
	})
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- p.Run(ctx) }()
	t.Cleanup(func() { cancel(); require.NoError(t, <-ended) })
	listen := func(auth string) int {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+p.Addr()+"/agent/v1/events", http.NoBody)
		require.NoError(t, err)
		req.Header.Set("Authorization", auth)
		resp, err := http.DefaultTransport.RoundTrip(req)
		require.NoError(t, err)
		t.Cleanup(func() { _ = resp.Body.Close() })
		return resp.StatusCode
	}
	for range 4 {
		require.Equal(t, http.StatusOK, listen("Bearer "+kiosk))
	}
	for range 12 {
		require.Equal(t, http.StatusTooManyRequests, listen("Bearer "+kiosk))
	}
	require.Equal(t, http.StatusOK, listen(bearer))
}
