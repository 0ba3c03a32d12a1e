package upstream

import (
	"bufio"
	"context"
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/cross/certs"
	"posagent/schemes/wire"
)

// below is a certificate with those that lead to its root.
func below(leaf tls.Certificate, between ...certs.Authority) tls.Certificate {
	for _, a := range between {
		leaf.Certificate = append(leaf.Certificate, a.Cert.Raw)
	}
	return leaf
}

// secure starts a TLS server and counts what comes through.
func secure(t *testing.T, cfg *tls.Config, s *seen) string {
	t.Helper()
	return certs.Serve(t, cfg, func(_ http.ResponseWriter, r *http.Request) { s.note(r) })
}

// An RSA key below 2048 bits, of the backend or above it, is broken by whoever has the means: nothing is sent to it.
func TestField_P12ShortRSAKeysAreRefused(t *testing.T) {
	ours := certs.New(t, "root")
	issued := func(bits int) tls.Certificate {
		t.Helper()
		key, err := rsa.GenerateKey(rand.Reader, bits)
		require.NoError(t, err)
		return ours.LeafFor(t, key, nil).Certificate
	}
	for bits, ok := range map[int]bool{1024: false, 2047: false, 2048: true} {
		cert := issued(bits)
		var s seen
		base := secure(t, &tls.Config{Certificates: []tls.Certificate{cert}}, &s)
		c := client(t, base, func(cfg *Config) { cfg.RootsFile = ours.File })
		_, err := exchange(t, c, "POST", base, "", "x")
		require.Equal(t, ok, err == nil, "%d: %v", bits, err)
		if ok {
			continue
		}
		require.Zero(t, s.count(), bits)
		require.Equal(t, wire.Unavailable, wire.CodeOf(err), "nothing was sent")
		require.ErrorIs(t, err, errWeak)
		require.ErrorContains(t, err, "the backend needs a new certificate")
		require.Equal(t, WeakKey, c.Fault().Kind)
	}
}

// Whatever is wrong with the backend's side of TLS, one by one: nothing is sent, nothing is tried again, and the caller learns that
// nothing was sent.
func TestNothingIsSentOverBadTLS(t *testing.T) {
	ours, theirs := certs.New(t, "root"), certs.New(t, "root")
	good, pin := issue(t, ours, nil)
	one := func(c tls.Certificate) *tls.Config { return &tls.Config{Certificates: []tls.Certificate{c}} }
	leaf := func(change func(*x509.Certificate)) *tls.Config { c, _ := issue(t, ours, change); return one(c) }
	own := certs.Authority{Cert: &x509.Certificate{Subject: pkix.Name{CommonName: "backend"}}, Key: good.PrivateKey.(crypto.Signer)}
	self := own.LeafFor(t, own.Key, nil).Certificate
	sha1 := ours.Below(t, func(c *x509.Certificate) { c.SignatureAlgorithm = x509.ECDSAWithSHA1 })
	underSHA1, _ := issue(t, sha1, nil)
	noCA := ours.Below(t, func(c *x509.Certificate) { c.IsCA, c.KeyUsage = false, x509.KeyUsageDigitalSignature })
	underNoCA, _ := issue(t, noCA, nil)
	gone := ours.Below(t, func(c *x509.Certificate) { c.NotAfter = time.Now().Add(-time.Minute) })
	underGone, _ := issue(t, gone, nil)
	foreign, _ := issue(t, theirs, nil)
	both := filepath.Join(t.TempDir(), "both.pem") // a shop whose network opens TLS has put the proxy's root there
	var roots []byte
	for _, a := range []certs.Authority{ours, theirs} {
		roots = append(roots, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: a.Cert.Raw})...)
	}
	require.NoError(t, os.WriteFile(both, roots, 0o600))
	between := ours.Below(t, nil)
	fine, _ := issue(t, between, nil)

	for name, tc := range map[string]struct {
		server *tls.Config
		pins   []string
		roots  string
		ok     bool
	}{
		"self-signed":                                         {server: one(self)},
		"self-signed, with the pinned key":                    {server: one(self), pins: []string{pin}},
		"another root: a proxy that opens TLS":                {server: one(foreign)},
		"another root, and it is trusted: a pin keeps it out": {server: one(foreign), pins: []string{pin}, roots: both},
		"another root sends our leaf's chain along":           {server: one(below(foreign, between, ours))},
		"another host's name":                                 {server: leaf(func(c *x509.Certificate) { c.IPAddresses, c.DNSNames = nil, []string{"pay.example"} })},
		"the name as the subject alone":                       {server: leaf(func(c *x509.Certificate) { c.IPAddresses, c.Subject.CommonName = nil, "127.0.0.1" })},
		"expired":                                             {server: leaf(func(c *x509.Certificate) { c.NotAfter = time.Now().Add(-time.Minute) })},
		"not valid yet":                                       {server: leaf(func(c *x509.Certificate) { c.NotBefore = time.Now().Add(time.Minute) })},
		"for clients only":                                    {server: leaf(func(c *x509.Certificate) { c.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth} })},
		"SHA-1":                                               {server: leaf(func(c *x509.Certificate) { c.SignatureAlgorithm = x509.ECDSAWithSHA1 })},
		"SHA-1 between leaf and root":                         {server: one(below(underSHA1, sha1))},
		"signed by what is no authority":                      {server: one(below(underNoCA, noCA))},
		"expired between leaf and root":                       {server: one(below(underGone, gone))},
		"what is between leaf and root is not sent":           {server: one(fine)},
		"what is between leaf and root is sent":               {server: one(below(fine, between)), ok: true},
		"TLS 1.0":                                             {server: &tls.Config{Certificates: []tls.Certificate{good}, MinVersion: tls.VersionTLS10, MaxVersion: tls.VersionTLS10}},
		"TLS 1.1":                                             {server: &tls.Config{Certificates: []tls.Certificate{good}, MinVersion: tls.VersionTLS10, MaxVersion: tls.VersionTLS11}},
		"TLS 1.2 with RC4 or 3DES alone":                      {server: &tls.Config{Certificates: []tls.Certificate{good}, MaxVersion: tls.VersionTLS12, CipherSuites: []uint16{tls.TLS_RSA_WITH_RC4_128_SHA, tls.TLS_RSA_WITH_3DES_EDE_CBC_SHA}}},
		"TLS 1.2":                                             {server: &tls.Config{Certificates: []tls.Certificate{good}, MaxVersion: tls.VersionTLS12}, ok: true},
		"ALPN of other protocols, which nobody offered: not used": {server: &tls.Config{Certificates: []tls.Certificate{good}, NextProtos: []string{"spdy/3", "h2"}}, ok: true},
	} {
		t.Run(name, func(t *testing.T) {
			var s seen
			cfg := tc.server.Clone()
			base := secure(t, cfg, &s)
			hands := 0
			c := client(t, base, func(cfg *Config) {
				cfg.RootsFile, cfg.Pins = ours.File, tc.pins
				if tc.roots != "" {
					cfg.RootsFile = tc.roots
				}
				cfg.Dial = func(ctx context.Context, network, addr string) (net.Conn, error) {
					hands++
					return (&net.Dialer{}).DialContext(ctx, network, addr)
				}
			})
			_, err := exchange(t, c, "POST", base, "", "x")
			require.Equal(t, 1, hands)
			if tc.ok {
				require.NoError(t, err)
				require.Equal(t, 1, s.count())
				return
			}
			require.Error(t, err)
			require.Zero(t, s.count(), "no request over a connection that is not trusted")
			require.Equal(t, wire.Unavailable, wire.CodeOf(err), "%v: nothing was sent", err)
		})
	}
}

// No list of revoked certificates is asked, and no staple is read. The remedy for a stolen key is its pin: without it the
// key's certificate, valid still, is refused before anything is sent, and the backup pin lets the backend's next key in at once.
func TestARevokedKeyIsShutOutByItsPin(t *testing.T) {
	ours := certs.New(t, "root")
	old, oldPin := issue(t, ours, nil)
	next, nextPin := issue(t, ours, nil)
	_, spare := issue(t, ours, nil)
	old.OCSPStaple = []byte("a staple that says revoked")
	for name, tc := range map[string]struct {
		cert tls.Certificate
		pins []string
		ok   bool
	}{
		"revoked, no pins: not noticed":          {old, nil, true},
		"revoked, its pin is there: not noticed": {old, []string{oldPin, nextPin}, true},
		"revoked, its pin is gone":               {old, []string{nextPin, spare}, false},
		"the next key, by the backup pin":        {next, []string{oldPin, nextPin}, true},
		"the next key, the old pin is gone":      {next, []string{nextPin, spare}, true},
	} {
		var s seen
		base := secure(t, &tls.Config{Certificates: []tls.Certificate{tc.cert}}, &s)
		c := client(t, base, func(cfg *Config) { cfg.RootsFile, cfg.Pins = ours.File, tc.pins })
		_, err := exchange(t, c, "POST", base, "k", "x")
		if tc.ok {
			require.NoError(t, err, name)
			continue
		}
		require.ErrorIs(t, err, errPin, name)
		require.Equal(t, wire.Unavailable, wire.CodeOf(err), name)
		require.Zero(t, s.count(), name)
	}
}

// What comes over good TLS and is cut there is no answer, and neither is another protocol: a write's outcome is then open.
func TestBrokenOffTLS(t *testing.T) {
	ours := certs.New(t, "root")
	cert, _ := issue(t, ours, nil)
	const head = "HTTP/1.1 202 Accepted\r\nContent-Type: application/json\r\n"
	for name, tc := range map[string]struct {
		reply string
		alert bool // close_notify
		ok    bool
	}{
		"whole, no close_notify":                       {head + "Content-Length: 2\r\n\r\n{}", false, true},
		"cut in a body of known length":                {head + "Content-Length: 20\r\n\r\n{}", false, false},
		"cut in a body of known length, with an alert": {head + "Content-Length: 20\r\n\r\n{}", true, false},
		"cut between chunks":                           {head + "Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n", false, false},
		"cut in the header":                            {head, false, false},
		"nothing":                                      {"", false, false},
		"HTTP/2, which nobody offered":                 {"\x00\x00\x06\x04\x00\x00\x00\x00\x00\x00\x03\x00\x00\x00\x80", false, false},
		"an alert for an answer":                       {"", true, false},
	} {
		l, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: []tls.Certificate{cert}})
		require.NoError(t, err)
		asked := make(chan bool, 8)
		go func() {
			for {
				conn, err := l.Accept()
				if err != nil {
					return
				}
				if _, err := http.ReadRequest(bufio.NewReader(conn)); err == nil {
					asked <- true
					_, _ = io.WriteString(conn, tc.reply)
				}
				if !tc.alert {
					_ = conn.(*tls.Conn).NetConn().Close()
				}
				_ = conn.Close()
			}
		}()
		base := fmt.Sprintf("https://%s", l.Addr())
		_, err = exchange(t, client(t, base, func(cfg *Config) { cfg.RootsFile = ours.File }), "POST", base, "", "x")
		require.Len(t, asked, 1, "%s: sent once", name)
		if tc.ok {
			require.NoError(t, err, name)
		} else {
			require.Equal(t, wire.UnknownOutcome, wire.CodeOf(err), "%s: %v", name, err)
		}
		require.NoError(t, l.Close())
	}
}
