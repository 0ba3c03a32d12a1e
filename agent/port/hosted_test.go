package port_test

import (
	"bytes"
	"context"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/agent/inbox"
	"posagent/cross/need"
	"posagent/schemes/backend/backendtest"
	"posagent/schemes/hosted"
	"posagent/schemes/hosted/hostedtest"
	"posagent/schemes/wire"
	"posagent/schemes/wire/wiretest"
)

// keyed shows an X-API-KEY, as a platform does.
type keyed struct{ key string }

func (k keyed) Do(r *http.Request) (*http.Response, error) {
	if k.key != "" {
		r.Header.Set(hosted.KeyHeader, k.key)
	}
	return http.DefaultTransport.RoundTrip(r)
}

// Hosted build goes through the port with every promise of its contract.
func TestHostedThroughThePort(t *testing.T) {
	x := start(t, false)
	c := &hosted.Client{BaseURL: x.addr, APIKey: token, Doer: keyed{}}
	f := backendtest.Hosted(x.backend)
	f.Sessions, f.Orders, f.Wire = c.Sessions(), c.Orders(), &wiretest.Site{BaseURL: x.addr, Doer: keyed{token}}
	hostedtest.Run(t, f)
}

// The terminal's token opens, the backend's key does not; with the backend away the answer is in the service's own shape.
func TestHostedCredentials(t *testing.T) {
	x := start(t, false)
	for _, key := range []string{"", "demo-api-key", token + "x", token[:5]} {
		c := &hosted.Client{BaseURL: x.addr, APIKey: wire.Secret(key), Doer: keyed{}}
		_, err := c.Orders().Methods(t.Context())
		require.Equal(t, wire.Unauthorized, code(t, err), key)
	}
	require.Equal(t, 401, x.ask("GET", "/api/v1/payment_methods", bearer, "", "").status, "not the service's own form")
	c := &hosted.Client{BaseURL: start(t, true).addr, APIKey: token, Doer: keyed{}}
	_, err := c.Sessions().Build(t.Context(), "", hostedtest.Good())
	require.Equal(t, wire.Unavailable, code(t, err))
	var e *wire.Error
	require.ErrorAs(t, err, &e)
	require.NotZero(t, e.RetryAfter)
}

// What the backend tells arrives at the terminal, with the token of the build that went through it, and with no other.
func TestANotificationArrives(t *testing.T) {
	x := start(t, false)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- x.backend.Run(ctx) }()
	t.Cleanup(func() { cancel(); <-done })
	c := &hosted.Client{BaseURL: x.addr, APIKey: token, Doer: keyed{}}
	req := hostedtest.Good()
	req.PaymentSession.NotificationURL = x.addr + inbox.NoticesPath
	b, err := c.Sessions().Build(t.Context(), "", req)
	require.NoError(t, err)
	require.NoError(t, x.backend.Hosted().Fill(t.Context(), b.SessionID, wire.NewPAN(visa), 2099, 12))
	_, err = c.Sessions().Finalize(t.Context(), "", b.SessionID, "")
	require.NoError(t, err)
	wait, stop := context.WithTimeout(t.Context(), need.Limit())
	defer stop()
	e, err := x.inbox.Subscribe(0).Next(wait)
	require.NoError(t, err)
	require.Equal(t, inbox.Hosted, e.Source)
	require.Equal(t, "CAPTURE.EXECUTED", e.Event)
	require.True(t, bytes.Contains(e.Body, []byte(req.Order.OrderID)))
	require.False(t, bytes.Contains(e.Body, []byte(b.SecurityToken.Reveal())))
}
