package wire

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"mime"
	"net"
	"net/http"
	"net/http/httptrace"
	"strings"
	"sync/atomic"
)

// Call is one exchange of a Client with its service. It knows what a failure proves.
type Call struct {
	Op    string // for errors
	Write bool   // a lost reply leaves the outcome unknown
	Limit int64  // of the reply body; 0 means MaxReply
	Type  string // content type of a body; "" means JSONType
	// Head adds headers that a service wants besides; nil = none.
	Head func(http.Header)
	// Spool reads the body of a 200 to its end in place of memory, and gives what is left of it; nil = the body itself.
	Spool func(io.Reader) ([]byte, error)
}

// Answer is a reply read to its end.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte
}

// JSON says whether the reply calls itself JSON; captive pages and proxies do not.
func (a Answer) JSON() bool {
	typ, _, err := mime.ParseMediaType(a.Header.Get("Content-Type"))
	return err == nil && (typ == "application/json" || strings.HasPrefix(typ, "application/") && strings.HasSuffix(typ, "+json"))
}

// Do sends req over d and reads the whole reply. Errors are *Error:
//  1. Unavailable: provably not sent, or a read that got no usable reply;
//  2. UnknownOutcome: a write that may have been sent and got no usable reply (lost, cut off, too long, compressed,
//     from another address after a redirect, or the answer to another Key: ErrAnothers);
//  3. whatever code the Doer itself gave, unless something had already been sent.
//
// Error.Unsent says of a write that no try of it ever had a connection.
func (c Call) Do(d Doer, req *http.Request) (Answer, error) {
	if err := req.Context().Err(); err != nil {
		return Answer{}, &Error{Code: Unavailable, Op: c.Op, Msg: "not sent", Unsent: c.Write, Err: err}
	}
	req.Header.Set("Accept-Encoding", "identity")
	if t := TraceOf(req.Context()); t != "" {
		req.Header.Set(TraceHeader, t.Parent())
	}
	var t trace
	resp, err := d.Do(req.WithContext(httptrace.WithClientTrace(req.Context(), t.hooks())))
	if err != nil {
		if resp != nil && resp.Body != nil {
			_ = resp.Body.Close()
		}
		return Answer{}, c.sendError(&t, err)
	}
	defer resp.Body.Close()
	if resp.Request != nil && resp.Request.Response != nil {
		return Answer{}, c.Lost("redirected to another address")
	}
	limit := c.Limit
	if limit <= 0 {
		limit = MaxReply
	}
	read := io.ReadAll
	if c.Spool != nil && resp.StatusCode == http.StatusOK && identity(resp.Header) {
		read = c.Spool
	}
	body, err := read(io.LimitReader(resp.Body, limit+1))
	switch {
	case err != nil:
		e := c.Lost("reply broke off")
		e.Err = err
		return Answer{}, e
	case int64(len(body)) > limit:
		return Answer{}, c.Lost("reply too long")
	case !identity(resp.Header):
		return Answer{}, c.Lost("compressed reply")
	}
	if err := c.echoed(req, resp.Header); err != nil {
		return Answer{}, err
	}
	return Answer{Status: resp.StatusCode, Header: resp.Header, Body: body}, nil
}

// Send does one call with JSON in it (body nil: without a body) under key ("": without one). Errors are those of Do, and
// Invalid for a key that is none, Unavailable for an address that cannot be used.
func (c Call) Send(ctx context.Context, d Doer, method, url string, key Key, body []byte) (Answer, error) {
	if body == nil {
		return c.Stream(ctx, d, method, url, key, 0, nil)
	}
	return c.Stream(ctx, d, method, url, key, int64(len(body)), func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil })
}

// Stream is Send with a body that open gives from its beginning (nil: none), length bytes of it.
func (c Call) Stream(ctx context.Context, d Doer, method, url string, key Key, length int64, open func() (io.ReadCloser, error)) (Answer, error) {
	if key != "" {
		if _, err := ParseKey(string(key)); err != nil {
			return Answer{}, &Error{Code: Invalid, Op: c.Op, Err: err}
		}
	}
	req, err := http.NewRequestWithContext(ctx, method, url, nil)
	if err != nil {
		return Answer{}, &Error{Code: Unavailable, Op: c.Op, Msg: "base address not usable"}
	}
	if open != nil {
		if req.Body, err = open(); err != nil {
			return Answer{}, &Error{Code: Invalid, Op: c.Op, Msg: "body not readable", Err: err}
		}
		req.GetBody, req.ContentLength = open, length
		if length == 0 {
			req.Body = http.NoBody
		}
		req.Header.Set("Content-Type", cmp.Or(c.Type, JSONType))
	}
	req.Header.Set("Accept", "application/json")
	if c.Head != nil {
		c.Head(req.Header)
	}
	if key != "" {
		req.Header.Set(KeyHeader, string(key))
	}
	return c.Do(d, req)
}

// Read reads a success's body, in which the given fields must stand (Required). The error is that of Lost.
func (c Call) Read(a Answer, into any, fields ...string) error {
	if !a.JSON() {
		return c.Lost("reply is not JSON")
	}
	err := DecodeReply(a.Body, into)
	if err == nil {
		err = Required(a.Body, fields...)
	}
	if err != nil {
		e := c.Lost(notReadable)
		e.Err = err
		return e
	}
	return nil
}

// notReadable is Error.Msg of a success whose body is not what the contract says.
const notReadable = "reply not readable"

// Unreadable says of an error that a service has answered with what cannot be read, and which field of it that is. It repeats no value.
func Unreadable(err error) (what string, yes bool) {
	var e *Error
	if !errors.As(err, &e) || e.Msg != notReadable {
		return "", false
	}
	var field *FieldError
	if errors.As(err, &field) && field.Path != "" {
		return "the field " + field.Path + ", " + field.Reason, true
	}
	return "its form is not the contract's", true
}

// Lost is the error of a reply that cannot be used: UnknownOutcome for a write, Unavailable for a read.
func (c Call) Lost(msg string) *Error {
	code := Unavailable
	if c.Write {
		code = UnknownOutcome
	}
	return &Error{Code: code, Op: c.Op, Msg: msg}
}

// Unusable is Lost for a success of the service itself.
func (c Call) Unusable(msg string) *Error {
	e := c.Lost(msg)
	e.Answered = c.Write
	return e
}

func (c Call) sendError(t *trace, err error) *Error {
	var own *Error
	if errors.As(err, &own) && (!t.connected.Load() || !c.Write) {
		out := *own
		out.Op, out.Unsent = c.Op, c.Write // a write comes here without a connection only
		return &out
	}
	if !c.Write || !t.connected.Load() && (t.asked.Load() || dialError(err)) {
		return &Error{Code: Unavailable, Op: c.Op, Msg: "no connection", Unsent: c.Write, Err: err}
	}
	return &Error{Code: UnknownOutcome, Op: c.Op, Msg: "no reply", Err: err}
}

// dialError says that no connection was ever made.
func dialError(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && (op.Op == "dial" || op.Op == "proxyconnect")
}

// trace watches the transport over all attempts of one call: as soon as one attempt held a connection,
// bytes may have left. A transport that honours no hooks leaves only dialError as proof.
type trace struct {
	asked     atomic.Bool // a connection was asked for
	connected atomic.Bool // a connection was given
}

func (t *trace) hooks() *httptrace.ClientTrace {
	return &httptrace.ClientTrace{
		GetConn: func(string) { t.asked.Store(true) },
		GotConn: func(httptrace.GotConnInfo) { t.connected.Store(true) },
	}
}

type onceKey struct{}

// Once returns a context in which a read leaves once, as a write does: its caller asks again by itself,
// at its own pace.
func Once(ctx context.Context) context.Context { return context.WithValue(ctx, onceKey{}, true) }

// LeavesOnce says whether the reads of ctx leave once.
func LeavesOnce(ctx context.Context) bool { return ctx.Value(onceKey{}) != nil }
