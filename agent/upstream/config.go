package upstream

import (
	"context"
	"crypto/tls"
	"log/slog"
	"net"
	"time"

	"posagent/device/names"
	"posagent/schemes/wire"
)

// Limits of a reply.
const (
	MaxHeader = 64 << 10 // bytes
	MaxBody   = 1 << 20  // bytes, unless Config says more
)

// Config makes a Client. Only Base is required.
type Config struct {
	Base       string // https://host[:port][/path]; http for loopback only
	Auth       Auth
	Timeout    time.Duration // of one call with its repeats; default 30 s
	TryTimeout time.Duration // of one try; default a third of Timeout, at least 10 s if that fits
	Proxy      string        // URL; "" = none; "env" = from the environment
	ProxyAuth  wire.Secret   // user:password for that URL
	RootsFile  string        // PEM; "" = the system's
	Pins       []string      // base64 SHA-256 of a SPKI, the current and a backup
	ClientCert string        // PEM file
	ClientKey  string        // PEM file
	UserAgent  string        // default "posagent"
	MaxBody    int64         // of a reply; default MaxBody
	Log        *slog.Logger  // a try is told at the level of debugging: its method, route, reply and time
	Now        func() time.Time
	// Route names the path of a request for the log, without what it is about; nil = it is not told.
	Route func(path string) string

	// Shared is what the clients of one terminal have in common; nil = this one stands alone.
	Shared *Shared
	// Device is shown where ClientCert names no certificate; nil = none.
	Device func() *tls.Certificate
	// KeepIdle is how long a connection is kept that nobody uses; default 60 s.
	KeepIdle time.Duration
	// Dial replaces the network, in tests; nil = net.Dialer.
	Dial func(ctx context.Context, network, addr string) (net.Conn, error)
	// Names finds the backend's address; nil = one of the client's own.
	Names *names.Finder
	// RetryWait is the pause before the first repeat; default 200 ms.
	RetryWait time.Duration
}

// Auth is one way to authorise; the first that is set is used, none sends no Authorization.
type Auth struct {
	Bearer         wire.Secret // sent as it is
	ConsumerKey    wire.Secret // with ConsumerSecret: Bearer base64(key:secret) (S1 5)
	ConsumerSecret wire.Secret
	ClientID       wire.Secret // with ClientSecret: a token from TokenURL
	ClientSecret   wire.Secret
	TokenURL       string // default Base + "/token"; must be on Base's host
}
