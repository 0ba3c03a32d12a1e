package doctor

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"net/http"
	"testing"
	"time"

	"posagent/cross/certs"
)

// authority is one with the certificate of a server or client.
type authority struct {
	root   string // file
	cert   string // file
	key    string // file
	pin    string
	server *tls.Config
}

// newAuthority makes an authority, and a certificate for a host that ends at a time.
func newAuthority(t *testing.T, host string, until time.Time) authority {
	t.Helper()
	ca := certs.New(t, "Shop Router CA")
	leaf := ca.Leaf(t, func(c *x509.Certificate) {
		if c.NotAfter = until; net.ParseIP(host) == nil {
			c.IPAddresses, c.DNSNames = nil, []string{host}
		}
	})
	a := authority{root: ca.File, pin: leaf.Pin(), server: leaf.Config()}
	a.cert, a.key = leaf.Files(t)
	return a
}

// serveTLS puts a server in the backend's place that shows the authority's certificate.
func (b *box) serveTLS(a authority, h http.HandlerFunc) {
	b.base(certs.Serve(b.t, a.server, h))
	b.set["upstream.roots_file"] = fmt.Sprintf("%q", a.root)
}
