package tills_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net"
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/cross/need"
	"posagent/cross/tills"
	"posagent/ecr"
	"posagent/ecr/caisseap"
	caisseaplines "posagent/ecr/caisseap/protocol"
	"posagent/ecr/ecrtest/desk"
	"posagent/ecr/nexo"
	"posagent/ecr/nexo/cert"
	"posagent/ecr/session"
	"posagent/ecr/till"
	"posagent/schemes/money"
)

// TestTills: a till whose room is another one sells, is refused, and hears the same again where its protocol can ask.
func TestTills(t *testing.T) {
	const name = "POSAGENT-000020000001.test.terminal.adyen.com"
	pem, err := cert.Make(name, []netip.Addr{netip.MustParseAddr("127.0.0.1")}, time.Now())
	require.NoError(t, err)
	own, err := tls.X509KeyPair(pem, pem)
	require.NoError(t, err)
	trusted, err := cert.Trusted(pem)
	require.NoError(t, err)
	roots := x509.NewCertPool()
	require.True(t, roots.AppendCertsFromPEM(trusted))
	encrypted, err := nexo.New(nexo.Options{POIID: "POSAGENT-000020000001", Currency: "EUR", MerchantName: "Corner Shop", TLS: &tls.Config{Certificates: []tls.Certificate{own}}})
	require.NoError(t, err)
	for protocol, speaks := range map[string]ecr.Protocol{
		"nexo": encrypted, "caisse-ap": caisseaplines.New(caisseaplines.Options{Config: caisseap.Config{Currency: "EUR"}}),
	} {
		t.Run(protocol, func(t *testing.T) {
			d := desk.New()
			ln, err := net.Listen("tcp", "127.0.0.1:0")
			require.NoError(t, err)
			ctx, stop := context.WithCancel(t.Context())
			ended := make(chan error, 1)
			go func() {
				ended <- session.New(session.Options{Line: "tcp", Desk: d, Till: d, Memory: d, Protocol: speaks}).ServeTCP(ctx, ln)
			}()
			defer func() { stop(); require.ErrorIs(t, <-ended, context.Canceled) }()
			rows, err := tills.Chosen(protocol)
			require.NoError(t, err)
			way := tills.Way{
				Addr: ln.Addr().String(), Name: "01", Wait: need.Limit(),
				Dial: func(ctx context.Context) (net.Conn, error) {
					return (&net.Dialer{}).DialContext(ctx, "tcp", ln.Addr().String())
				},
			}
			if protocol == "nexo" {
				way.Roots = func() (*x509.CertPool, error) { return roots, nil }
			}
			one := rows[0].New(way)
			paid, err := one.Pay(t.Context(), 1250, "A1")
			require.NoError(t, err)
			require.Equal(t, []any{till.Approved, int64(1250)}, []any{paid.Said, int64(paid.Amount)}, paid.Raw)
			declined, err := one.Pay(t.Context(), desk.Declines, "A2")
			require.NoError(t, err)
			require.Equal(t, till.Declined, declined.Said, declined.Raw)
			if !rows[0].Asks {
				return
			}
			for _, ask := range []func(context.Context, money.Minor, string) (till.Answer, error){one.Again, one.Pay} {
				again, err := ask(t.Context(), 1250, "A1")
				require.NoError(t, err)
				require.Equal(t, []any{till.Approved, int64(1250)}, []any{again.Said, int64(again.Amount)}, again.Raw)
			}
			none, err := one.Again(t.Context(), 1250, "A9")
			require.NoError(t, err)
			require.Equal(t, till.NotFound, none.Said)
			require.Len(t, d.Begun, 2)
		})
	}
}
