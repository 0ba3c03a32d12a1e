package webhooks

import (
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"sync/atomic"
	"time"

	"posagent/schemes/wire"
	"posagent/store"
)

// Hook is one endpoint's wish to be told about one event.
type Hook struct {
	Event         string
	URL           string
	Authorization wire.Secret // sent as the Authorization header; "" = none
	Headers       [][2]string // name and value, sent besides; may be secret
	Fill          wire.Secret // stands where Mark stands last in a body, "" = nowhere: it is not stored in the clear as the body is
}

// Mark is where a body has its hook's Fill.
const Mark = "{{fill}}"

// Message is one event on its way.
type Message struct {
	ID          string // unique for ever; the receiver knows repeats by it
	Event       string // the name hooks ask for
	Subject     string // whose hooks are meant
	Body        []byte
	ContentType string      // "" = application/json
	Headers     [][2]string // sent besides, to every hook
	Schedule    Schedule
}

// Options are what Deliver needs. Only DB is required.
type Options struct {
	DB     store.DB
	Shared bool                    // other processes emit, too: what they have stored is looked for every second
	Allow  []string                // hosts outside the guard: "127.0.0.1:9999", "receiver.test"
	Sign   []wire.Secret           // Standard Webhooks secrets, the current one first; the others are still valid too
	Tried  func(acknowledged bool) // is told of each attempt that was recorded; nil = nothing is
	Now    func() time.Time
	Log    *slog.Logger

	Resolve   func(ctx context.Context, host string) ([]netip.Addr, error) // nil = the system's
	Dial      func(ctx context.Context, network, addr string) (net.Conn, error)
	TLS       *tls.Config   // nil = the system's roots
	Retention time.Duration // of settled deliveries; 0 = 90 days
}

// Deliver is the sender.
type Deliver struct {
	opt    Options
	db     store.DB
	now    func() time.Time
	log    *slog.Logger
	allow  map[string]bool
	closed []netip.Prefix
	client *http.Client
	keys   [][]byte
	wake   chan struct{}
	warm   atomic.Int32 // looks still owed to a commit that an Emit announced
}

// MaxBody is the largest message, in bytes.
const MaxBody = 256 << 10

var errMessage = errors.New("deliver: a message needs an id, an event, a subject and a body of at most 256 KiB")

// Poke makes Run look for due deliveries now. Emit's callers may call it after their commit; without it Run looks by
// itself, several times within the half minute after an Emit.
func (d *Deliver) Poke() {
	select {
	case d.wake <- struct{}{}:
	default:
	}
}
