package upstream

import (
	"context"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"posagent/device/names"
	"posagent/schemes/wire"
)

// minRSA is the least size of an RSA key in the backend's chain, in bits.
const minRSA = 2048

// strong returns whether no certificate of a chain has an RSA key below minRSA.
func strong(chain []*x509.Certificate) bool {
	for _, cert := range chain {
		if key, ok := cert.PublicKey.(*rsa.PublicKey); ok && key.N.BitLen() < minRSA {
			return false
		}
	}
	return true
}

func newTransport(cfg Config) (*http.Transport, error) {
	tlsConfig, err := newTLS(cfg)
	if err != nil {
		return nil, err
	}
	dial := cfg.Dial
	if dial == nil {
		finder := cfg.Names
		switch {
		case finder != nil:
		case cfg.Shared != nil:
			finder = &cfg.Shared.names
		default:
			finder = &names.Finder{}
		}
		dial = finder.Dialer(net.Dialer{Timeout: 8 * time.Second, KeepAlive: 15 * time.Second})
	}
	t := &http.Transport{
		DialContext: dial, TLSClientConfig: tlsConfig,
		TLSHandshakeTimeout: 10 * time.Second, ResponseHeaderTimeout: cfg.TryTimeout, ExpectContinueTimeout: time.Second,
		IdleConnTimeout: cfg.KeepIdle, MaxIdleConns: 4, MaxIdleConnsPerHost: 4, MaxConnsPerHost: 8,
		MaxResponseHeaderBytes: MaxHeader, DisableCompression: true,
		OnProxyConnectResponse: func(_ context.Context, _ *url.URL, _ *http.Request, resp *http.Response) error {
			if resp.StatusCode != http.StatusOK {
				return proxyError(resp.StatusCode)
			}
			return nil
		},
	}
	switch cfg.Proxy {
	case "":
	case "env":
		t.Proxy = http.ProxyFromEnvironment
	default:
		u, err := url.Parse(cfg.Proxy)
		if err != nil || u.Host == "" {
			return nil, errors.New("upstream: the proxy's address is not usable")
		}
		if user, password, ok := strings.Cut(cfg.ProxyAuth.Reveal(), ":"); ok {
			u.User = url.UserPassword(user, password)
		}
		t.Proxy = http.ProxyURL(u)
	}
	return t, nil
}

func newTLS(cfg Config) (*tls.Config, error) {
	c := &tls.Config{MinVersion: tls.VersionTLS12, Time: cfg.Now}
	if cfg.Shared != nil {
		c.ClientSessionCache = cfg.Shared.sessions
	}
	if cfg.RootsFile != "" {
		pem, err := os.ReadFile(cfg.RootsFile)
		if err != nil {
			return nil, fmt.Errorf("upstream: roots: %w", err)
		}
		c.RootCAs = x509.NewCertPool()
		if !c.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("upstream: roots: %s holds no certificate", cfg.RootsFile)
		}
	}
	if cfg.ClientCert != "" {
		pair, err := tls.LoadX509KeyPair(cfg.ClientCert, cfg.ClientKey)
		if err != nil {
			return nil, fmt.Errorf("upstream: client certificate: %w", err)
		}
		c.Certificates = []tls.Certificate{pair}
	} else if cfg.Device != nil {
		c.Certificates = []tls.Certificate{*cfg.Device()}
	}
	pins := map[string]bool{}
	if len(cfg.Pins) > 0 {
		for _, p := range cfg.Pins {
			sum, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(p, "sha256/"))
			if err != nil || len(sum) != sha256.Size {
				return nil, errors.New("upstream: a pin is not the base64 text of a SHA-256")
			}
			pins[string(sum)] = true
		}
	}
	c.VerifyConnection = func(state tls.ConnectionState) error {
		fault := errWeak
		for _, chain := range state.VerifiedChains {
			switch {
			case !strong(chain):
			case len(pins) == 0 || pinned(chain, pins):
				return nil
			default:
				fault = errPin
			}
		}
		return fault
	}
	return c, nil
}

// pinned returns whether a certificate of a chain has one of the keys.
func pinned(chain []*x509.Certificate, pins map[string]bool) bool {
	for _, cert := range chain {
		sum := sha256.Sum256(cert.RawSubjectPublicKeyInfo)
		if pins[string(sum[:])] {
			return true
		}
	}
	return false
}

// try bounds one try, body included, and keeps the transport from repeating what it was not told to.
type try struct {
	next    *http.Transport
	timeout time.Duration
	limit   int64 // bytes of a reply
	told    told
	heard   atomic.Pointer[heard]
}

// heard is a time that the other side has told, and when.
type heard struct{ said, at time.Time }

// RoundTrip implements http.RoundTripper.
func (t *try) RoundTrip(req *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithTimeout(req.Context(), t.timeout)
	out := req.Clone(ctx)
	if out.Body != nil && out.Body != http.NoBody {
		out.GetBody = nil // else the transport itself sends a keyed request again on a dead connection
	} else if key := out.Header.Get(wire.KeyHeader); key != "" {
		out.Header.Del(wire.KeyHeader)
		out.Header[strings.ToLower(wire.KeyHeader)] = []string{key} // the same without a body: it knows the name in this spelling only
	}
	if trace := traceOf(out); trace != "" {
		out.Header.Set(wire.TraceHeader, trace.Parent()) // each try is a span of its own
	}
	began := time.Now()
	out, naming := named(out)
	resp, err := t.roundTrip(out)
	if err != nil && naming.Load() && ctx.Err() != nil { // the transport tells of the time alone
		err = &net.DNSError{Err: err.Error(), UnwrapErr: err, Name: req.URL.Hostname(), IsTimeout: true}
	}
	t.told.tried(req, resp, err, time.Since(began))
	if err != nil {
		cancel()
		return nil, err
	}
	if said, err := http.ParseTime(resp.Header.Get("Date")); err == nil && resp.StatusCode < http.StatusInternalServerError {
		if age, err := strconv.ParseUint(resp.Header.Get("Age"), 10, 31); err == nil { // a cache on the way kept it for so long
			said = said.Add(time.Duration(age) * time.Second)
		}
		t.heard.Store(&heard{said, time.Now()})
	}
	resp.Body = &body{ReadCloser: resp.Body, left: t.limit, done: cancel}
	return resp, nil
}

// named notes whether a request still waits for the name of its host.
func named(out *http.Request) (*http.Request, *atomic.Bool) {
	naming := &atomic.Bool{}
	trace := &httptrace.ClientTrace{
		DNSStart: func(httptrace.DNSStartInfo) { naming.Store(true) },
		DNSDone:  func(httptrace.DNSDoneInfo) { naming.Store(false) },
	}
	return out.WithContext(httptrace.WithClientTrace(out.Context(), trace)), naming
}

// roundTrip keeps a read that leaves once from being repeated by the transport, which does so where a connection that was used before
// breaks. Where nothing of it had left, because that connection was dead, it goes out on another.
func (t *try) roundTrip(out *http.Request) (*http.Response, error) {
	if !wire.LeavesOnce(out.Context()) || out.Body != nil && out.Body != http.NoBody {
		return t.next.RoundTrip(out)
	}
	for {
		used, left := false, false
		trace := &httptrace.ClientTrace{
			GotConn:      func(c httptrace.GotConnInfo) { used = c.Reused },
			WroteRequest: func(w httptrace.WroteRequestInfo) { left = w.Err == nil },
		}
		one := out.WithContext(httptrace.WithClientTrace(out.Context(), trace))
		one.Body = io.NopCloser(strings.NewReader("")) // the transport repeats nothing that has a body
		resp, err := t.next.RoundTrip(one)
		if err == nil || !used || left || out.Context().Err() != nil {
			return resp, err
		}
	}
}

// traceOf is the trace of a request: that of its context, else that of its Key.
func traceOf(req *http.Request) wire.Trace {
	if t := wire.TraceOf(req.Context()); t != "" {
		return t
	}
	return wire.TraceOfKey(wire.Key(req.Header.Get(wire.KeyHeader)))
}

// CloseIdleConnections is what http.Client looks for.
func (t *try) CloseIdleConnections() { t.next.CloseIdleConnections() }

// body bounds what is read and ends the timer when it is closed.
type body struct {
	io.ReadCloser
	left int64
	done context.CancelFunc
}

func (b *body) Read(p []byte) (int, error) {
	if b.left < 0 {
		return 0, ErrBody
	}
	if int64(len(p)) > b.left+1 {
		p = p[:b.left+1]
	}
	n, err := b.ReadCloser.Read(p)
	if b.left -= int64(n); b.left < 0 {
		return n + int(b.left), ErrBody
	}
	return n, err
}

func (b *body) Close() error {
	err := b.ReadCloser.Close()
	b.done()
	return err
}
