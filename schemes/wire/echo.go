package wire

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync/atomic"
)

// ErrAnothers is the cause of an error about an answer that is the answer to another request.
var ErrAnothers = errors.New("it is the answer to another request")

// Echo is whether the answer to a call has named the call's Key: then it is the answer to that call.
type Echo struct{ named atomic.Bool }

type echoKey struct{}

// WithEcho returns a context of a call, and what the call's answer says of its Key.
func WithEcho(ctx context.Context) (context.Context, *Echo) {
	e := &Echo{}
	return context.WithValue(ctx, echoKey{}, e), e
}

// Named reports whether the answer has named the Key.
func (e *Echo) Named() bool { return e.named.Load() }

// EchoKey names the Key of a write in its answer, so that nobody takes that for the answer to another one.
func EchoKey(answer http.Header, r *http.Request) {
	if key, err := KeyFrom(r.Header); err == nil && key != "" {
		answer.Set(KeyHeader, string(key))
	}
}

// echoed compares the Key that an answer names with the request's. Services need not name it.
func (c Call) echoed(req *http.Request, answer http.Header) error {
	sent, named := req.Header.Get(KeyHeader), answer.Get(KeyHeader)
	switch {
	case sent == "", named == "":
		return nil
	case !strings.EqualFold(sent, named):
		e := c.Lost("the answer names another " + KeyHeader)
		e.Err = ErrAnothers
		return e
	}
	if e, ok := req.Context().Value(echoKey{}).(*Echo); ok {
		e.named.Store(true)
	}
	return nil
}
