package doctor

import (
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/cross/certs"
)

// turning is a server in the backend's place, which is the real one at first. turn gives it another answer from then on.
func (b *box) turning() (turn func(http.HandlerFunc)) {
	var now atomic.Pointer[http.HandlerFunc]
	turn = func(h http.HandlerFunc) { now.Store(&h) }
	turn(b.through(nil))
	b.serve(func(w http.ResponseWriter, r *http.Request) { (*now.Load())(w, r) })
	return turn
}

// turningTLS is a server in the backend's place that shows the certificate of one of two authorities, which the terminal trusts both.
func (b *box) turningTLS(first, second authority) (turn func()) {
	var now atomic.Pointer[tls.Config]
	now.Store(first.server)
	cfg := first.server.Clone()
	cfg.GetConfigForClient = func(*tls.ClientHelloInfo) (*tls.Config, error) { return now.Load(), nil }
	b.base(certs.Serve(b.t, cfg, b.through(nil)))
	roots := filepath.Join(b.dir, "roots.pem")
	var both []byte
	for _, a := range []authority{first, second} {
		text, err := os.ReadFile(a.root)
		require.NoError(b.t, err)
		both = append(both, text...)
	}
	require.NoError(b.t, os.WriteFile(roots, both, 0o644))
	b.set["upstream.roots_file"] = fmt.Sprintf("%q", roots)
	return func() { now.Store(second.server) }
}

// proxied puts a proxy between the terminal and the backend, which speaks TLS. lock lets it demand a login from then on.
func (b *box) proxied() (lock func()) {
	b.serveTLS(newAuthority(b.t, "127.0.0.1", time.Now().AddDate(0, 6, 0)), b.through(nil))
	backend := b.set["upstream.base"]
	var locked atomic.Bool
	b.serve(func(w http.ResponseWriter, r *http.Request) {
		if locked.Load() || r.Method != http.MethodConnect {
			answers(http.StatusProxyAuthRequired, "text/html", "login")(w, r)
			return
		}
		to, err := net.Dial("tcp", r.Host)
		if err != nil {
			answers(http.StatusBadGateway, "text/plain", "")(w, r)
			return
		}
		defer to.Close()
		from, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			return
		}
		defer from.Close()
		_, _ = io.WriteString(from, "HTTP/1.1 200 OK\r\n\r\n")
		go func() { _, _ = io.Copy(to, from); _ = to.Close() }()
		_, _ = io.Copy(from, to)
	})
	b.set["upstream.proxy"], b.set["upstream.base"] = b.set["upstream.base"], backend
	return func() { locked.Store(true) }
}

// named gives the backend a name that the box's own name server knows at first.
func (b *box) named() *names {
	n := b.names()
	n.say(loopback)
	b.serveTLS(newAuthority(b.t, "backend.example", time.Now().AddDate(0, 6, 0)), b.through(nil))
	b.set["upstream.base"] = strings.Replace(b.set["upstream.base"], "127.0.0.1", "backend.example", 1)
	b.run(isReady)
	return n
}

// laterFaults come over a terminal that was ready, whose settings the backend has accepted.
func laterFaults() []fault {
	soon := time.Now().AddDate(0, 6, 0)
	over := func(h http.HandlerFunc) func(b *box) {
		return func(b *box) {
			turn := b.turning()
			b.run(isReady)
			turn(h)
		}
	}
	return []fault{
		{name: "later: the backend refuses the credentials", as: "later: wrong credentials", want: "PA-UPS-003", code: 1, seen: "reply 401", seed: over(answers(401, "application/json", "{}"))},
		{name: "later: the name service is away", as: "later: dead DNS", want: "PA-NET-002", code: 1, seen: "name service", root: true, seed: func(b *box) { b.named().say(nothing) }},
		{name: "later: the name is gone", as: "later: unknown name", want: "PA-NET-003", code: 1, seen: "does not exist", root: true, seed: func(b *box) { b.named().say(noSuchName) }},
		{name: "later: a certificate of an unknown authority", as: "later: untrusted certificate", want: "PA-NET-008", code: 1, seen: "Shop Router CA", seed: func(b *box) {
			first := newAuthority(b.t, "127.0.0.1", soon)
			turn := b.turningTLS(first, newAuthority(b.t, "127.0.0.1", soon))
			b.set["upstream.roots_file"] = fmt.Sprintf("%q", first.root)
			b.run(isReady)
			turn()
		}},
		{name: "later: the certificate is out of date", as: "later: certificate out of date", want: "PA-NET-007", code: 1, seen: "date -u", seed: func(b *box) {
			turn := b.turningTLS(newAuthority(b.t, "127.0.0.1", soon), newAuthority(b.t, "127.0.0.1", time.Now().Add(-time.Hour)))
			b.run(isReady)
			turn()
		}},
		{name: "later: the backend has a new key", as: "later: pin", want: "PA-NET-010", code: 1, seen: "pinned", seed: func(b *box) {
			first := newAuthority(b.t, "127.0.0.1", soon)
			turn := b.turningTLS(first, newAuthority(b.t, "127.0.0.1", soon))
			b.set["upstream.pins"] = fmt.Sprintf("[%q, %q]", first.pin, newAuthority(b.t, "backup", soon).pin)
			b.run(isReady)
			turn()
		}},
		{name: "later: the proxy demands a login", as: "later: 407", want: "PA-NET-004", code: 1, seen: "demands a login", seed: func(b *box) {
			lock := b.proxied()
			b.run(isReady)
			lock()
		}},
		{name: "later: a login page answers", as: "later: captive portal", want: "PA-NET-012", code: 1, seen: "login page", seed: over(answers(200, "text/html", "<h1>Welcome</h1>"))},
		{name: "later: the path is gone", as: "later: 404", want: "PA-UPS-002", code: 1, seen: "reply 404", seed: over(http.NotFound)},
		{name: "later: the backend fails", as: "later: 500", want: "PA-UPS-001", code: 1, seen: "reply 500", seed: over(answers(500, "text/plain", "oops"))},
		{name: "later: the backend stalls", as: "later: stall", want: "PA-NET-011", code: 1, seen: "does not answer in time", seed: over(func(_ http.ResponseWriter, r *http.Request) {
			<-r.Context().Done()
		})},
		{name: "later: the adapter is gone at the next start", as: "later: missing serial device", want: "PA-SER-002", code: 1, seen: "is not there", seed: func(b *box) {
			c := b.cable()
			b.run(isReady)
			b.stop()
			c.Pull()
			b.run(notReady + "the register line")
		}},
	}
}
