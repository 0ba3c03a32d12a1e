package port

import (
	"io"
	"math"
	"net/http"
	"sync"
	"time"

	"posagent/schemes/wire"
)

// large are the large bodies of a route that come in. They lie on the disk until their request has ended.
type large struct {
	known  chan struct{} // places of those whose client is known before its body comes
	mu     sync.Mutex
	others []*incoming
}

// maxOthers is how many bytes those may keep together whose client is not known yet: as much as maxLarge of them have at most. It is bytes
// that they have, and no places: a body that announces much and sends little takes nothing from others.
const maxOthers = maxLarge * maxLinkBody

// incoming is a body whose client is not known yet, because its proof lies in it.
type incoming struct {
	io.ReadCloser
	of   *large
	stop func() // wakes its reader

	// Under of.mu.
	stored int64
	recent float64   // bytes of about the last quarter of a second
	at     time.Time // of recent
	cut    bool      // it made room for another one
}

func isLarge(r *http.Request) bool { return r.ContentLength > wire.MaxRequest || r.ContentLength < 0 }

func othersSend(why string) *wire.Error {
	return &wire.Error{Code: wire.Unavailable, Msg: why, RetryAfter: 2 * time.Second}
}

// limitLarge lets a few large bodies of known clients in at a time, and all small ones.
func limitLarge(why string, fail failFunc, h http.Handler) http.Handler {
	l := &large{known: make(chan struct{}, maxLarge)}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { l.serveKnown(why, fail, h, w, r) })
}

// limitProving is limitLarge for a service whose clients may prove themselves within the body: such bodies have room of their own, of which
// the slowest goes for the others. proven says that a request has shown its proof already.
func limitProving(why string, proven func(*http.Request) bool, fail failFunc, h http.Handler) http.Handler {
	l := &large{known: make(chan struct{}, maxLarge)}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !isLarge(r) || proven(r) {
			l.serveKnown(why, fail, h, w, r)
			return
		}
		conn := http.NewResponseController(w)
		in := &incoming{ReadCloser: r.Body, of: l, at: time.Now(), stop: func() { _ = conn.SetReadDeadline(time.Now()) }}
		l.mu.Lock()
		l.others = append(l.others, in)
		l.mu.Unlock()
		defer l.forget(in)
		r.Body = reader{in, othersSend(why)}
		h.ServeHTTP(w, r)
	})
}

// serveKnown serves a request when there is a place for its body.
func (l *large) serveKnown(why string, fail failFunc, h http.Handler, w http.ResponseWriter, r *http.Request) {
	if isLarge(r) {
		select {
		case l.known <- struct{}{}:
			defer func() { <-l.known }()
		default:
			unread(w, r)
			fail(w, r, othersSend(why))
			return
		}
	}
	h.ServeHTTP(w, r)
}

func (l *large) forget(in *incoming) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i, one := range l.others {
		if one == in {
			l.others = append(l.others[:i], l.others[i+1:]...)
			return
		}
	}
}

// reader is an incoming body as its handler reads it; why is what it hears when its body has made room.
type reader struct {
	*incoming
	why *wire.Error
}

// Read implements io.Reader.
func (r reader) Read(p []byte) (int, error) {
	n, err := r.ReadCloser.Read(p)
	if r.came(int64(n)) {
		return 0, r.why
	}
	return n, err
}

// came counts bytes, and says whether the body has made room for another one. Where all together have too many, the one goes of which the
// fewest have come lately.
func (in *incoming) came(n int64) (cut bool) {
	l := in.of
	l.mu.Lock()
	defer l.mu.Unlock()
	if in.cut {
		return true
	}
	now := time.Now()
	in.stored, in.recent, in.at = in.stored+n, in.lately(now)+float64(n), now
	var all int64
	var slowest *incoming
	for _, one := range l.others {
		if all += one.stored; !one.cut && (slowest == nil || one.lately(now) < slowest.lately(now)) {
			slowest = one
		}
	}
	if all > maxOthers && slowest != nil {
		slowest.cut, slowest.stored = true, 0
		if slowest != in {
			slowest.stop()
		}
	}
	return in.cut
}

// lately is recent, as it is now.
func (in *incoming) lately(now time.Time) float64 {
	const half = 250 * time.Millisecond
	return in.recent * math.Exp2(-float64(now.Sub(in.at))/float64(half))
}
