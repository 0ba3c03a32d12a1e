package badinput

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// authority is the root the terminals trust, and what it can be asked for.
type authority struct {
	t     testing.TB
	cert  *x509.Certificate
	key   crypto.Signer
	roots string // PEM file
}

func newKey(t testing.TB) *ecdsa.PrivateKey {
	k, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	return k
}

func newAuthority(t testing.TB, dir string) *authority {
	a := &authority{t: t, key: newKey(t), roots: filepath.Join(dir, "roots.pem")}
	tmpl := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "root"}, NotBefore: time.Now().Add(-time.Hour),
		NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign}
	der, err := x509.CreateCertificate(rand.Reader, tmpl, tmpl, a.key.Public(), a.key)
	require.NoError(t, err)
	a.cert, err = x509.ParseCertificate(der)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(a.roots, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600))
	return a
}

// leaf makes a server certificate for 127.0.0.1; change spoils it.
func (a *authority) leaf(key *ecdsa.PrivateKey, change func(*x509.Certificate)) tls.Certificate {
	tmpl := &x509.Certificate{SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: "backend"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}}
	if change != nil {
		change(tmpl)
	}
	der, err := x509.CreateCertificate(rand.Reader, tmpl, a.cert, key.Public(), a.key)
	require.NoError(a.t, err)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

func pin(key *ecdsa.PrivateKey) string {
	der, err := x509.MarshalPKIXPublicKey(key.Public())
	if err != nil {
		panic(err)
	}
	sum := sha256.Sum256(der)
	return base64.StdEncoding.EncodeToString(sum[:])
}

func with(c tls.Certificate) *tls.Config { return &tls.Config{Certificates: []tls.Certificate{c}} }

// tlsScenes: the method list comes over good TLS; then the backend's side changes in the middle of the terminal's life.
func tlsScenes() []scene {
	type attack struct {
		input string
		rare  bool
		pins  bool
		open  bool // the change is harmless: the sale is approved
		wrap  func(a *authority, key *ecdsa.PrivateKey) func(net.Conn) net.Conn
	}
	leaf := func(change func(*x509.Certificate)) func(*authority, *ecdsa.PrivateKey) func(net.Conn) net.Conn {
		return func(a *authority, key *ecdsa.PrivateKey) func(net.Conn) net.Conn {
			return serving(with(a.leaf(key, change)))
		}
	}
	text := func(s string) func(*authority, *ecdsa.PrivateKey) func(net.Conn) net.Conn {
		return func(*authority, *ecdsa.PrivateKey) func(net.Conn) net.Conn {
			return func(c net.Conn) net.Conn { return &greeter{Conn: c, text: s} }
		}
	}
	attacks := []attack{
		{input: "certificate of another root (a proxy in the middle)", wrap: func(a *authority, key *ecdsa.PrivateKey) func(net.Conn) net.Conn {
			other := newAuthority(a.t, a.t.TempDir())
			return serving(with(other.leaf(key, nil)))
		}},
		{input: "self-signed certificate", rare: true, wrap: func(a *authority, key *ecdsa.PrivateKey) func(net.Conn) net.Conn {
			self := &authority{t: a.t, key: key}
			self.cert = &x509.Certificate{Subject: pkix.Name{CommonName: "backend"}}
			return serving(with(self.leaf(key, nil)))
		}},
		{input: "certificate for another host", rare: true, wrap: leaf(func(c *x509.Certificate) {
			c.IPAddresses, c.DNSNames = []net.IP{net.IPv4(127, 0, 0, 2)}, []string{"backend.example"}
		})},
		{input: "expired certificate", rare: true, wrap: leaf(func(c *x509.Certificate) { c.NotAfter = time.Now().Add(-time.Minute) })},
		{input: "certificate not valid yet", rare: true, wrap: leaf(func(c *x509.Certificate) { c.NotBefore = time.Now().Add(time.Minute) })},
		{input: "certificate for clients only", rare: true, wrap: leaf(func(c *x509.Certificate) {
			c.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
		})},
		{input: "certificate signed with SHA-1", rare: true, wrap: leaf(func(c *x509.Certificate) { c.SignatureAlgorithm = x509.ECDSAWithSHA1 })},
		{input: "TLS 1.0 only", rare: true, wrap: func(a *authority, key *ecdsa.PrivateKey) func(net.Conn) net.Conn {
			cfg := with(a.leaf(key, nil))
			cfg.MinVersion, cfg.MaxVersion = tls.VersionTLS10, tls.VersionTLS10
			return serving(cfg)
		}},
		{input: "TLS 1.1 only", rare: true, wrap: func(a *authority, key *ecdsa.PrivateKey) func(net.Conn) net.Conn {
			cfg := with(a.leaf(key, nil))
			cfg.MinVersion, cfg.MaxVersion = tls.VersionTLS11, tls.VersionTLS11
			return serving(cfg)
		}},
		{input: "ALPN of another protocol only", rare: true, open: true, wrap: func(a *authority, key *ecdsa.PrivateKey) func(net.Conn) net.Conn {
			cfg := with(a.leaf(key, nil))
			cfg.NextProtos = []string{"spdy/3"}
			return serving(cfg)
		}},
		{input: "right root, right name, key not pinned", pins: true, wrap: func(a *authority, _ *ecdsa.PrivateKey) func(net.Conn) net.Conn {
			return serving(with(a.leaf(newKey(a.t), nil)))
		}},
		{input: "plain HTTP on the TLS port", rare: true, wrap: text("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")},
		{input: "random bytes instead of a ServerHello", rare: true, wrap: text("\x16\x03\x03\xff\xff\x02\x00\x00")},
		{input: "closed in the middle of the handshake", rare: true, wrap: text("")},
	}
	var all []scene
	for _, at := range attacks {
		all = append(all, scene{name: "D82 " + at.input, rare: at.rare,
			make: func(k *kit) options { return k.secure(at.pins) },
			play: func(k *kit) {
				k.row("D82", "initialize over TLS: "+at.input, func() string {
					came := func() (n int) { // of the sale: a question for the list may have arrived before the change, and be counted after it
						for _, s := range k.be.seenAll() {
							if s != onList && s != "elsewhere" {
								n++
							}
						}
						return n
					}
					k.be.tls.change(at.wrap(k.ca, k.key))
					before := came()
					res := k.rig.pay(noOptions)
					after := came()
					k.be.tls.change(serving(with(k.ca.leaf(k.key, nil))))
					if res.Approved != at.open || (after == before) == at.open {
						k.bad("%s: %d requests came through, %s", at.input, after-before, definite(res, nil))
					}
					return fmt.Sprintf("%s, %d requests came through", definite(res, nil), after-before)
				})
			}})
	}
	all = append(all, scene{name: "D82 early close", make: func(k *kit) options { return k.secure(false) }, play: func(k *kit) {
		for _, s := range []spot{onInitialize, onStatus} {
			k.row("D82", string(s)+" over TLS: whole reply, closed without close_notify", func() string {
				return k.sale(func(x *exchange) bool {
					if x.n > 2 {
						return false
					}
					conn, _, err := hijack(x)
					if err != nil {
						return false
					}
					fmt.Fprintf(conn, "HTTP/1.1 %d Fine\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n%s", x.status, x.good)
					if secure, ok := conn.(*tls.Conn); ok {
						secure.NetConn().Close()
					}
					return true
				}, s)
			})
		}
	}})
	return all
}

// secure makes the options of a terminal that trusts the authority, and of its backend.
func (k *kit) secure(pins bool) options {
	k.key = newKey(k.t)
	o := options{roots: k.ca.roots, tls: &tlsFront{wrap: serving(with(k.ca.leaf(k.key, nil)))}}
	if pins {
		o.pins = []string{pin(k.key), pin(newKey(k.t))}
	}
	return o
}

// greeter says its text to whoever comes, and closes.
type greeter struct {
	net.Conn
	text string
	said bool
}

func (g *greeter) Read(p []byte) (int, error) {
	n, err := g.Conn.Read(p)
	if !g.said {
		g.said = true
		_, _ = g.Conn.Write([]byte(g.text))
		_ = g.Conn.Close()
	}
	return n, err
}

var _ net.Listener = (*tlsFront)(nil)
