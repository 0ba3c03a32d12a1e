package torture_test

import (
	"context"
	"crypto/tls"
	"net"
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/ecr/ecrtest/desk"
	"posagent/ecr/nexo"
	"posagent/ecr/nexo/cert"
	"posagent/ecr/session"
	"posagent/ecr/till"
	"posagent/ecr/torture"
)

// TestTrust: a terminal with a certificate of its own is believed where its root is given, whatever its name is. Nothing is sold to it
// elsewhere.
func TestTrust(t *testing.T) {
	const name = "POSAGENT-000020000001.test.terminal.adyen.com"
	made := func() []byte {
		pem, err := cert.Make(name, []netip.Addr{netip.MustParseAddr("192.0.2.1")}, time.Now())
		require.NoError(t, err)
		return pem
	}
	pem := made()
	own, err := tls.X509KeyPair(pem, pem)
	require.NoError(t, err)
	right, err := cert.Trusted(pem)
	require.NoError(t, err)
	other, err := cert.Trusted(made())
	require.NoError(t, err)
	d := desk.New()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		p := nexoLine(t, nexo.Options{TLS: &tls.Config{Certificates: []tls.Certificate{own}}})
		ended <- session.New(session.Options{Line: "tcp", Desk: d, Till: d, Memory: d, Protocol: p}).ServeTCP(ctx, ln)
	}()
	defer func() { stop(); require.ErrorIs(t, <-ended, context.Canceled) }()
	place := till.Place{Address: ln.Addr().String(), Secure: true, Local: true}
	run := func(place till.Place, roots []byte, unverified bool, o torture.Options) (torture.Scorecard, error) {
		trust, err := place.Trust(roots, unverified)
		require.NoError(t, err)
		for _, k := range till.Protocols() {
			if k.Name == "nexo" {
				o.Protocol, err = k.Make(settings)
				require.NoError(t, err)
			}
		}
		o.Connect, o.Local, o.Sales, o.Amount, o.Seed, o.Wait = place.Connector(trust), place.Local, 1, 1250, 7, time.Minute
		return torture.Run(t.Context(), o)
	}
	_, err = run(place, nil, false, torture.Options{})
	require.ErrorContains(t, err, "certificate")
	_, err = run(place, other, false, torture.Options{})
	require.ErrorContains(t, err, "certificate")
	elsewhere := place
	elsewhere.Local = false
	_, err = run(elsewhere, right, false, torture.Options{})
	require.ErrorIs(t, err, torture.ErrNotATest)
	require.Empty(t, d.Begun)

	card, err := run(elsewhere, nil, true, torture.Options{Live: true, Limit: 2500})
	require.NoError(t, err)
	require.Len(t, d.Begun, 2)
	require.Equal(t, int64(2500), int64(card.Spent))
	card, err = run(place, right, false, torture.Options{})
	require.NoError(t, err)
	require.True(t, card.Good(), "%+v", card)
	_, err = place.Trust([]byte("no PEM"), false)
	require.ErrorContains(t, err, "no certificate")
}
