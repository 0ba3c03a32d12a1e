package scenario

import (
	"bytes"
	"context"
	"net/http"
	"strconv"
	"strings"
	"time"

	"posagent/schemes/wire"
)

// SlowReply is how long the slow-reply row takes.
const SlowReply = 10 * time.Second

// Slot carries what a service decided about its own reply to Perform, which stands around its handler.
type Slot struct{ do Do }

type slotKey struct{}

// Ask puts d into ctx's slot. It is false if there is no Perform around the call; the service then answers in its own way.
func Ask(ctx context.Context, d Do) bool {
	s, ok := ctx.Value(slotKey{}).(*Slot)
	if ok {
		s.do = d
	}
	return ok
}

// Refused is the answer of a call whose row is d and refuses it before any effect; nil: the call goes on.
func Refused(op string, d Do) *wire.Error {
	switch d {
	case RefuseInternal:
		return wire.Errorf(wire.Internal, op, "server runtime exception")
	case RefuseTooMany:
		return &wire.Error{Code: wire.TooMany, Op: op, Msg: "too many requests", RetryAfter: 2 * time.Second}
	}
	return nil
}

// Spoilt is the answer of a call after its effect where its row is d; nil: the reply stands, or Perform sees to it. lost is
// the code of a reply that is lost.
func Spoilt(ctx context.Context, op string, d Do, lost wire.Code) error {
	switch {
	case !d.Spoils() || Ask(ctx, d) || d.Readable():
		return nil
	case d == SpoilInternal:
		return wire.Errorf(wire.Internal, op, "server runtime exception")
	}
	return wire.Errorf(lost, op, "no usable reply")
}

// Lost is Spoilt for a keyed write that answers SpoilInternal in its service's own shape.
func Lost(ctx context.Context, op string, d Do) error {
	if d == SpoilInternal {
		return wire.Errorf(wire.Internal, op, "server error")
	}
	return Spoilt(ctx, op, d, wire.UnknownOutcome)
}

// Perform runs h and spoils its reply as the service asked.
func Perform(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		slot := new(Slot)
		held := &reply{header: http.Header{}, status: http.StatusOK}
		h.ServeHTTP(held, r.WithContext(context.WithValue(r.Context(), slotKey{}, slot)))
		spoil(w, r, held, slot.do)
	})
}

// reply holds back a handler's answer.
type reply struct {
	header http.Header
	status int
	wrote  bool
	body   bytes.Buffer
}

// Header implements http.ResponseWriter.
func (r *reply) Header() http.Header { return r.header }

// WriteHeader implements http.ResponseWriter.
func (r *reply) WriteHeader(status int) {
	if !r.wrote {
		r.status, r.wrote = status, true
	}
}

// Write implements http.ResponseWriter.
func (r *reply) Write(p []byte) (int, error) {
	r.wrote = true
	return r.body.Write(p)
}

func (r *reply) send(w http.ResponseWriter) {
	for k, v := range r.header {
		w.Header()[k] = v
	}
	w.WriteHeader(r.status)
	_, _ = w.Write(r.body.Bytes()) // the client may be gone; the error has no receiver
}

func spoil(w http.ResponseWriter, r *http.Request, held *reply, do Do) {
	plain := func(status int, kind, body string) {
		w.Header().Set("Content-Type", kind)
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
	}
	const json = "application/json;charset=utf-8;version=2.0"
	switch do {
	case Cut:
		cut(w)
	case SpoilInternal:
		plain(http.StatusInternalServerError, json, `{"valid":false,"error":{"message":"server runtime exception"},"response":null}`)
	case Garbage:
		plain(http.StatusOK, "text/html", "<!doctype html><title>Welcome</title><p>Please accept the terms of this network.")
	case Truncated:
		held.body.Truncate(held.body.Len() / 2)
		held.header.Del("Content-Length")
		held.send(w)
	case Empty:
		plain(http.StatusOK, json, "")
	case NoContent:
		w.WriteHeader(http.StatusNoContent)
	case WrongType:
		plain(held.status, json, `[{"valid":"yes","response":0}]`)
	case Redirect:
		w.Header().Set("Location", "http://scheme.example/elsewhere")
		w.WriteHeader(http.StatusFound)
	case BigHeader:
		w.Header().Set("X-Padding", strings.Repeat("x", 1<<20))
		held.send(w)
	case Cookies:
		for i := range 200 {
			w.Header().Add("Set-Cookie", "c"+strconv.Itoa(i)+"="+strings.Repeat("x", 64))
		}
		held.send(w)
	case OldDate:
		w.Header().Set("Date", time.Unix(0, 0).UTC().Format(http.TimeFormat))
		held.send(w)
	case PlainOK:
		held.status = http.StatusOK
		held.send(w)
	case Composite:
		text := bytes.ReplaceAll(held.body.Bytes(), []byte(`"componsiteFault"`), []byte(`"compositeFault"`))
		held.body = *bytes.NewBuffer(text)
		held.header.Del("Content-Length")
		held.send(w)
	case Slow:
		wait := time.NewTimer(SlowReply)
		defer wait.Stop()
		select {
		case <-wait.C:
			held.send(w)
		case <-r.Context().Done():
		}
	default:
		held.send(w)
	}
}

// cut ends the connection without an answer. The few bytes that do arrive keep a client's transport from asking
// again by itself, as Go's does for a request with an Idempotency-Key, so that the loss is seen every time.
func cut(w http.ResponseWriter) {
	if h, ok := w.(http.Hijacker); ok {
		if conn, _, err := h.Hijack(); err == nil {
			_, _ = conn.Write([]byte("HTTP/1.1 ")) // the connection ends either way
			_ = conn.Close()
			return
		}
	}
	panic(http.ErrAbortHandler) // what net/http offers on every other kind of connection
}
