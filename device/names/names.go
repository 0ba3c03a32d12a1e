package names

import (
	"context"
	"encoding/binary"
	"net"
	"strings"
	"sync"
	"time"
)

const (
	second   = time.Second      // for what a router may never answer
	cutTCP   = 2 * time.Second  // for a TCP connection where a cut answer is there already
	silences = 10 * time.Minute // that a server's silence is remembered
)

// Finder remembers how the name servers of a box want to be asked. Its zero value is ready; it is safe for concurrent use.
type Finder struct {
	// Dial reaches a name server, in tests; nil = the network.
	Dial func(ctx context.Context, network, server string) (net.Conn, error)

	mu     sync.Mutex
	plain  map[string]bool      // servers that answer no question with an EDNS record
	silent map[string]time.Time // when a server has not answered at all
	heard  time.Time            // when any server has answered
}

// Dialer makes a dialer that finds names by f.
func (f *Finder) Dialer(d net.Dialer) func(ctx context.Context, network, address string) (net.Conn, error) {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		one := d
		one.Resolver = f.Resolver()
		return one.DialContext(ctx, network, address)
	}
}

// Resolver is for one name: what is known of its IPv4 addresses shortens the wait for the others.
func (f *Finder) Resolver() *net.Resolver {
	l := &lookup{of: f, cut: map[uint16][]byte{}, waiting: map[*question]bool{}}
	return &net.Resolver{PreferGo: true, Dial: l.dial}
}

// wantsPlain says whether a server is asked without EDNS.
func (f *Finder) wantsPlain(server string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.plain[server]
}

// answered notes that a server has; plain says that it did without EDNS alone.
func (f *Finder) answered(server string, plain bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.silent, server)
	f.heard = time.Now()
	if plain && !f.plain[server] {
		if f.plain == nil {
			f.plain = map[string]bool{}
		}
		f.plain[server] = true
	}
}

// unanswered notes that a server was silent to its end.
func (f *Finder) unanswered(server string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.silent == nil {
		f.silent = map[string]time.Time{}
	}
	f.silent[server] = time.Now()
}

// shunned says whether a server was silent lately, and another one has answered since.
func (f *Finder) shunned(server string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	at, was := f.silent[server]
	return was && f.heard.After(at) && time.Since(at) < silences
}

// lookup is the questions about one name.
type lookup struct {
	of *Finder

	mu      sync.Mutex
	found   time.Time          // when IPv4 addresses were; zero = not yet
	waiting map[*question]bool // for IPv6 addresses
	cut     map[uint16][]byte  // answers that were, by what was asked for
}

// dial is net.Resolver's.
func (l *lookup) dial(ctx context.Context, network, server string) (net.Conn, error) {
	dial := l.of.Dial
	if dial == nil {
		dial = new(net.Dialer).DialContext
	}
	if !strings.HasPrefix(network, "tcp") {
		conn, err := dial(ctx, network, server)
		if err != nil {
			return nil, err
		}
		return &question{Conn: conn, of: l, server: server}, nil
	}
	if l.wasCut() {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, cutTCP)
		defer cancel()
	}
	conn, err := dial(ctx, network, server)
	switch {
	case err == nil && l.of.wantsPlain(server):
		return plainStream{conn}, nil
	case err == nil:
		return conn, nil
	case l.wasCut():
		return &cutAnswer{of: l}, nil
	}
	return nil, err
}

func (l *lookup) wasCut() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.cut) > 0
}

// take looks at a good reply before it is handed on.
func (l *lookup) take(kind uint16, reply []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	answers := binary.BigEndian.Uint16(reply[6:]) > 0
	switch {
	case reply[2]&truncated != 0:
		if answers {
			l.cut[kind] = append([]byte{}, reply...)
		}
	case kind == typeA && answers && l.found.IsZero():
		l.found = time.Now()
		for q := range l.waiting {
			_ = q.Conn.SetReadDeadline(l.found.Add(second))
		}
	}
}

// enough says whether IPv6 addresses were waited for long enough. The caller holds the mutex.
func (l *lookup) enough(kind uint16) bool {
	return kind == typeAAAA && !l.found.IsZero() && time.Since(l.found) >= second
}
