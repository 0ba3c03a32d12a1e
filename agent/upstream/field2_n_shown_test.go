package upstream

import (
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"net"
	"net/http"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/cross/certs"
)

// TestField2_N5TheCertificateThatCameIsNamed: a captive portal answered with a certificate of its own, and a server left its intermediate
// out; the terminal said neither, and named settings that were right. The kind: each certificate that does not prove the backend, with
// and without an answer of the right host before it.
func TestField2_N5TheCertificateThatCameIsNamed(t *testing.T) {
	ours, theirs := certs.New(t, "root"), certs.New(t, "guest root")
	between := ours.Below(t, nil)
	good := between.Leaf(t, nil).Certificate
	good.Certificate = append(good.Certificate, between.Cert.Raw)
	for name, tc := range map[string]struct {
		shown  tls.Certificate
		kind   Kind
		detail string
		before bool // that it answered before is told
	}{
		"a portal's": {theirs.Leaf(t, func(c *x509.Certificate) {
			c.Subject, c.DNSNames, c.IPAddresses = pkix.Name{CommonName: "guest"}, []string{"login.guest.test"}, []net.IP{net.IPv4(192, 0, 2, 1)}
		}).Certificate, WrongName, `"login.guest.test", issuer "guest root"`, true},
		"without its intermediate": {between.Leaf(t, nil).Certificate, NoChain, `issuer "between"`, false},
		"of its own":               {selfSigned(t), Untrusted, `issuer "guest"`, true},
	} {
		for _, before := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				var bad atomic.Bool
				bad.Store(!before)
				base := certs.Serve(t, &tls.Config{GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) {
					if bad.Load() {
						return &tls.Config{Certificates: []tls.Certificate{tc.shown}}, nil
					}
					return &tls.Config{Certificates: []tls.Certificate{good}}, nil
				}}, func(http.ResponseWriter, *http.Request) {})
				c := client(t, base, func(cfg *Config) { cfg.RootsFile = ours.File })
				if before {
					_, err := exchange(t, c, "GET", base, "", "")
					require.NoError(t, err)
					c.CloseIdle()
				}
				bad.Store(true)
				_, err := exchange(t, c, "GET", base, "", "")
				require.Error(t, err)
				want := tc.detail
				if before && tc.before {
					want += "; " + answeredBefore
				}
				require.Equal(t, tc.kind, c.Fault().Kind)
				require.Equal(t, want, c.Fault().Detail)
			})
		}
	}
}

func selfSigned(t *testing.T) tls.Certificate {
	t.Helper()
	own := certs.Authority{Cert: &x509.Certificate{Subject: pkix.Name{CommonName: "guest"}}, Key: certs.NewKey(t)}
	return own.LeafFor(t, own.Key, func(c *x509.Certificate) { c.Subject = pkix.Name{CommonName: "guest"} }).Certificate
}

// TestField2_N8AFirewallsPageIsNobodysWord: a 403 with a page came from a firewall, and the credentials were called wrong (MONEY law II).
func TestField2_N8AFirewallsPageIsNobodysWord(t *testing.T) {
	for _, status := range []int{http.StatusUnauthorized, http.StatusForbidden} {
		for typ, want := range map[string]Kind{"text/html; charset=utf-8": Portal, "application/xhtml+xml": Portal, "application/json": Credentials, "application/problem+json": Credentials, "": Credentials} {
			kind, detail := FaultOfReply(&http.Response{StatusCode: status, Header: http.Header{"Content-Type": {typ}}})
			require.Equal(t, want, kind, typ)
			require.Contains(t, detail, "reply 40")
		}
	}
}
