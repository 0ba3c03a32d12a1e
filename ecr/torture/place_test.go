package torture_test

import (
	"context"
	"crypto/tls"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/ecr/ecrtest/desk"
	"posagent/ecr/nexo"
	"posagent/ecr/nexo/cert"
	"posagent/ecr/session"
	"posagent/ecr/torture"
)

// TestPlaceOf: what is on this machine is known by its host, whatever carries the messages.
func TestPlaceOf(t *testing.T) {
	kinds := map[string]torture.Kind{}
	for _, k := range torture.Protocols() {
		kinds[k.Name] = k
	}
	for text, want := range map[string]torture.Place{
		"zvt 127.0.0.1:20007":            {Address: "127.0.0.1:20007", Local: true},
		"zvt 192.168.1.50:20007":         {Address: "192.168.1.50:20007"},
		"ecr17 [::1]:1024":               {Address: "[::1]:1024", Local: true},
		"caisse-ap 0.0.0.0:8888":         {Address: "0.0.0.0:8888"},
		"http localhost:8480":            {Address: "localhost:8480", Local: true},
		"http https://10.0.0.9:8480":     {Address: "10.0.0.9:8480", Secure: true},
		"nexo 127.0.0.1:8443":            {Address: "127.0.0.1:8443", Secure: true, Local: true},
		"nexo https://127.0.0.2:8443/":   {Address: "127.0.0.2:8443", Secure: true, Local: true},
		"nexo http://127.0.0.1:8080":     {Address: "127.0.0.1:8080", Local: true},
		"nexo 192.168.1.50:8443":         {Address: "192.168.1.50:8443", Secure: true},
		"nexo https://localhost.shop:84": {Address: "localhost.shop:84", Secure: true},
		"http https://127.0.0.1.shop:84": {Address: "127.0.0.1.shop:84", Secure: true},
	} {
		name, address, _ := strings.Cut(text, " ")
		got, err := torture.PlaceOf(kinds[name], address)
		require.NoError(t, err, text)
		require.Equal(t, want, got, text)
	}
	for text, want := range map[string]string{
		"zvt 127.0.0.1": "not host:port", "zvt https://127.0.0.1:1": "no address of zvt", "nexo ftp://127.0.0.1:1": "no address of nexo", "http 127.0.0.1:": "not host:port",
		"nexo https://127.0.0.1": "not host:port",
	} {
		name, address, _ := strings.Cut(text, " ")
		_, err := torture.PlaceOf(kinds[name], address)
		require.ErrorContains(t, err, want, text)
	}
}

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
	place := torture.Place{Address: ln.Addr().String(), Secure: true, Local: true}
	run := func(place torture.Place, roots []byte, unverified bool, o torture.Options) (torture.Scorecard, error) {
		trust, err := place.Trust(roots, unverified)
		require.NoError(t, err)
		for _, k := range torture.Protocols() {
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
