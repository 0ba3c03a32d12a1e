package rest

import (
	"context"
	"io"
	"net/http"
	"reflect"
	"slices"
	"strings"

	"posagent/schemes/wire"
	"posagent/schemes/wire/check"
)

// Client is where the calls of a service go.
type Client struct {
	API     API
	BaseURL string // scheme and host, and a path before the service's if there is one
	Doer    wire.Doer
	Head    func(http.Header) // adds what the service wants besides; nil = nothing
	// Write makes the request, where a service has its own form of bodies; address is the whole of it; nil = bodies are JSON.
	Write   func(ctx context.Context, i Info, address string, in any) (*http.Request, error)
	Secrets []string // what no error repeats, besides the secrets of the request
}

// Call sends one call, once, and reads its answer. key "" sends none. Errors are those of wire.Call, what the service's Shape
// reads of a refusal, and Invalid for a request that cannot be sent.
func (e *Endpoint[S, In, Out]) Call(ctx context.Context, c Client, key wire.Key, in In) (out Out, err error) {
	err = remoteOf(e.Info(), e.Limit, e).call(ctx, c, key, in, &out)
	return out, err
}

// Send is Call with a body that is written already, by Asked.Body. in needs what stands in the address alone.
func (e *Endpoint[S, In, Out]) Send(ctx context.Context, c Client, key wire.Key, in In, body []byte) (out Out, err error) {
	err = remoteOf(e.Info(), e.Limit, e).send(ctx, c, key, in, body, &out)
	return out, err
}

// Stream is Call with a body of length bytes that open gives from its beginning.
func (e *Endpoint[S, In, Out]) Stream(ctx context.Context, c Client, key wire.Key, in In, length int64, open func() (io.ReadCloser, error)) (out Out, err error) {
	err = remoteOf(e.Info(), e.Limit, e).exchange(c, key, in, nil, &out, func(call wire.Call, url string) (wire.Answer, error) {
		return call.Stream(ctx, c.Doer, e.Method, url, key, length, open)
	})
	return out, err
}

// remote is what a Client needs of an endpoint, whatever its types.
type remote struct {
	Info
	fn    own
	limit int64
}

func remoteOf(i Info, limit int64, endpoint any) remote { return remote{i, ownOf(endpoint), limit} }

func (m remote) call(ctx context.Context, c Client, key wire.Key, in, into any) error {
	if rules, ok := in.(check.Checked); ok && m.Wants&CheckFirst != 0 {
		if err := check.Request(m.Op, rules); err != nil {
			return c.API.refused(m.Op, err)
		}
	}
	var body []byte
	if m.HasBody && m.Wants&SendsNone == 0 && c.Write == nil {
		var err error
		if body, err = encode(m.Op, in); err != nil {
			return err
		}
	}
	return m.send(ctx, c, key, in, body, into)
}

func (m remote) send(ctx context.Context, c Client, key wire.Key, in any, body []byte, into any) error {
	return m.exchange(c, key, in, body, into, func(call wire.Call, url string) (wire.Answer, error) {
		if c.Write != nil {
			return m.written(ctx, c, call, url, key, in)
		}
		return call.Send(ctx, c.Doer, m.Method, url, key, body)
	})
}

// exchange fills the Out that into points at, with the answer that do gets. After an error that is the zero Out.
func (m remote) exchange(c Client, key wire.Key, in any, body []byte, into any, do func(call wire.Call, url string) (wire.Answer, error)) error {
	if key == "" && m.Wants&NeedsKey != 0 {
		return c.API.refused(m.Op, ErrNoKey)
	}
	path, err := m.address(in)
	if err != nil {
		return c.API.refused(m.Op, err)
	}
	secrets := func() []string { return append(m.secrets(in, body), c.Secrets...) }
	call := wire.Call{Op: m.Op, Write: m.Write(), Limit: m.limit, Type: c.API.Type, Head: c.Head}
	answer, err := do(call, strings.TrimRight(c.BaseURL, "/")+c.API.Prefix+path)
	if err != nil {
		return wire.Withhold(c.API.refused(m.Op, err), c.Secrets...)
	}
	pends := m.Pends && answer.Status == http.StatusAccepted
	if answer.Status != m.Status && !pends && !slices.Contains(m.Also, answer.Status) {
		return wire.Withhold(c.API.Shape.Refusal(call, answer, key != ""), secrets()...)
	}
	out := reflect.ValueOf(into).Elem()
	if err = m.take(call, answer, in, out, pends, secrets); err != nil {
		out.SetZero()
	}
	return err
}

// written sends a request of the service's own form.
func (m remote) written(ctx context.Context, c Client, call wire.Call, address string, key wire.Key, in any) (wire.Answer, error) {
	if key != "" {
		if _, err := wire.ParseKey(string(key)); err != nil {
			return wire.Answer{}, &wire.Error{Code: wire.Invalid, Op: m.Op, Err: err}
		}
	}
	req, err := c.Write(ctx, m.Info, address, in)
	if err != nil {
		return wire.Answer{}, err
	}
	if key != "" {
		req.Header.Set(wire.KeyHeader, string(key))
	}
	return call.Do(c.Doer, req)
}

// take reads a success and judges it.
func (m remote) take(call wire.Call, answer wire.Answer, in any, out reflect.Value, pends bool, secrets func() []string) error {
	err := m.fn.read(call, answer, out)
	if err != nil {
		return err
	}
	if err = m.fn.said(out.Interface()); err != nil {
		return wire.Withhold(err, secrets()...)
	}
	known := replyOf(m.Out)
	if known.status != nil {
		out.FieldByIndex(known.status).SetInt(int64(answer.Status))
	}
	if known.date != nil {
		if date, err := http.ParseTime(answer.Header.Get("Date")); err == nil {
			out.FieldByIndex(known.date).Set(reflect.ValueOf(date))
		}
	}
	if f, ok := out.Interface().(interface{ Flaw() string }); ok {
		if flaw := f.Flaw(); flaw != "" {
			return call.Unusable(flaw)
		}
	}
	if flaw := m.fn.flaw(in, out.Interface()); flaw != "" {
		return call.Unusable(flaw)
	}
	if p := known.pendingOf(out); m.Pends && (known.status == nil && pends != (p != nil) || p != nil && p.Key == "") {
		return call.Lost("reply does not say whether it is done")
	}
	return nil
}

// secrets are what a refusal must not repeat: the request's secrets, and what its method Secrets names besides. A request that
// was written before is read for them.
func (m remote) secrets(in any, body []byte) []string {
	list := wire.Secrets(in)
	if again := reflect.New(m.In); body != nil && len(list) == 0 && wire.Decode(body, again.Interface()) == nil {
		in = again.Elem().Interface()
		list = wire.Secrets(in)
	}
	if s, ok := in.(interface{ Secrets() []string }); ok {
		list = append(list, s.Secrets()...)
	}
	return list
}
