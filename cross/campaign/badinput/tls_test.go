package badinput

import (
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"net"
	"time"

	"posagent/cross/certs"
)

// leaf makes a server certificate for the backend's key; change spoils it.
func (k *kit) leaf(change func(*x509.Certificate)) *tls.Config {
	return k.ca.LeafFor(k.t, k.key, change).Config()
}

// tlsScenes: the method list comes over good TLS; then the backend's side changes in the middle of the terminal's life.
func tlsScenes() []scene {
	type attack struct {
		input string
		rare  bool
		pins  bool
		open  bool // the change is harmless: the sale is approved
		wrap  func(k *kit) func(net.Conn) net.Conn
	}
	leaf := func(change func(*x509.Certificate)) func(*kit) func(net.Conn) net.Conn {
		return func(k *kit) func(net.Conn) net.Conn { return serving(k.leaf(change)) }
	}
	text := func(s string) func(*kit) func(net.Conn) net.Conn {
		return func(*kit) func(net.Conn) net.Conn {
			return func(c net.Conn) net.Conn { return &greeter{Conn: c, text: s} }
		}
	}
	attacks := []attack{
		{input: "certificate of another root (a proxy in the middle)", wrap: func(k *kit) func(net.Conn) net.Conn {
			return serving(certs.New(k.t, "root").LeafFor(k.t, k.key, nil).Config())
		}},
		{input: "self-signed certificate", rare: true, wrap: func(k *kit) func(net.Conn) net.Conn {
			self := certs.Authority{Cert: &x509.Certificate{Subject: pkix.Name{CommonName: "backend"}}, Key: k.key}
			return serving(self.LeafFor(k.t, k.key, nil).Config())
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
		{input: "TLS 1.0 only", rare: true, wrap: func(k *kit) func(net.Conn) net.Conn {
			cfg := k.leaf(nil)
			cfg.MinVersion, cfg.MaxVersion = tls.VersionTLS10, tls.VersionTLS10
			return serving(cfg)
		}},
		{input: "TLS 1.1 only", rare: true, wrap: func(k *kit) func(net.Conn) net.Conn {
			cfg := k.leaf(nil)
			cfg.MinVersion, cfg.MaxVersion = tls.VersionTLS11, tls.VersionTLS11
			return serving(cfg)
		}},
		{input: "ALPN of another protocol only", rare: true, open: true, wrap: func(k *kit) func(net.Conn) net.Conn {
			cfg := k.leaf(nil)
			cfg.NextProtos = []string{"spdy/3"}
			return serving(cfg)
		}},
		{input: "right root, right name, key not pinned", pins: true, wrap: func(k *kit) func(net.Conn) net.Conn {
			return serving(k.ca.Leaf(k.t, nil).Config())
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
					k.be.tls.change(at.wrap(k))
					before := came()
					res := k.rig.pay(noOptions)
					after := came()
					k.be.tls.change(serving(k.leaf(nil)))
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
	k.key = certs.NewKey(k.t)
	o := options{roots: k.ca.File, tls: &tlsFront{wrap: serving(k.leaf(nil))}}
	if pins {
		o.pins = []string{certs.Pin(k.key.Public()), certs.Pin(certs.NewKey(k.t).Public())}
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
