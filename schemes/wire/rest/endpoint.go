package rest

import (
	"context"
	"net/http"
	"reflect"
	"strings"

	"posagent/schemes/wire"
	"posagent/schemes/wire/check"
)

// Endpoint is one route of a service S: a request In comes to an answer Out. In is a struct; its fields tagged `path` and
// `query` stand in the address (with `json:"-"`), the others are the JSON body. A struct with no others has no body.
type Endpoint[S, In, Out any] struct {
	Op      string // "tokens.create": names the call in errors, logs and the outbox
	What    string // says to people what it does
	Example string // a body of a request that the service takes
	Method  string
	Path    string // below the service's: "/{tokenizationId}/Verify"; a piece in braces is the field with that tag. A Client writes a slash at its end, too
	Status  int    // of a success; of a write whose Out is pending it is 202
	Also    []int  // more statuses that a Client takes for a success
	Wants   Wants
	May     []string // what a local client's permissions must name, all of them; nil = the port does not ask
	Limit   int64    // bytes of a reply that a Client reads; 0 = wire.MaxReply

	// Do asks the service. A method expression fits where the method takes a context, the key and In.
	Do func(svc S, ctx context.Context, key wire.Key, in In) (Out, error)
	// Flaw says what is wrong with a reply to in, "" = nothing; nil = nothing is. An Out with a method Flaw is asked first.
	Flaw func(in In, out Out) string

	// Read reads the body of a success in place of wire.Call.Read; nil = that.
	Read func(c wire.Call, a wire.Answer) (Out, error)
	// Says answers an error as a success, where the service has such answers; false = it is answered as an error. nil = none is.
	// The errors are the service's, and those of a request that breaks a rule.
	Says func(in In, err *wire.Error) (Out, bool)
	// Spool reads the body in place of the engine, where it is too long for memory; nil = the engine does. release, never nil, is
	// called when the request is answered. A Client sends such a body with Stream.
	Spool func(r *http.Request, o Options) (in In, release func(), err error)
	// Write answers with a success in place of the engine, where that is too long for memory; nil = the engine does.
	Write func(w http.ResponseWriter, r *http.Request, o Options, out Out)
	// Said is the other side of Says: the error that a reply means, nil = none.
	Said func(out Out) error
}

// Normalizer is a request that is written in several ways. Normal brings it to one form after it was read: raw is its body,
// operator the one whose own spellings are understood. A stored body is in that form.
type Normalizer interface {
	Normal(operator string, raw []byte) error
}

// Route is an Endpoint of the service S.
type Route[S any] interface {
	Info() Info
	bind(svc S) Bound
}

// Table is the routes of a service, in the order their methods are named in a 405.
type Table[S any] []Route[S]

// Bind makes the routes of a service for a Handler. It panics at a mistake in the table.
func (t Table[S]) Bind(svc S) []Bound {
	out := make([]Bound, len(t))
	for i, r := range t {
		out[i] = r.bind(svc)
	}
	return out
}

// Infos describes the table.
func (t Table[S]) Infos() []Info {
	out := make([]Info, len(t))
	for i, r := range t {
		out[i] = r.Info()
	}
	return out
}

// Bound is a route of one service.
type Bound struct {
	Info
	fn   own
	open func(r *http.Request, values []string, o Options, read Opened) (*Asked, error)
	ask  func(key wire.Key, in any) *Asked
}

// Ask makes a request that was not read from a connection: in is the endpoint's In.
func (b Bound) Ask(key wire.Key, in any) *Asked { return b.ask(key, in) }

// Info describes the endpoint. It panics at a mistake in it.
func (e *Endpoint[S, In, Out]) Info() Info {
	return describe(Info{
		Op: e.Op, What: e.What, Example: e.Example, Method: e.Method, Path: e.Path, Status: e.Status, Also: e.Also, Wants: e.Wants, May: e.May,
		In: reflect.TypeFor[In](), Out: reflect.TypeFor[Out](),
	})
}

func describe(i Info) Info {
	in, out := requestOf(i.In), replyOf(i.Out)
	for _, name := range names(i.Path) {
		if in.find("path", name) == nil {
			panic("rest: " + i.Op + ": no field of its request is tagged path:\"" + name + "\"")
		}
	}
	i.Params, i.HasBody, i.Pends = in.params, in.body && i.Method != http.MethodGet, out.pending != nil && i.Write()
	return i
}

// bind joins the endpoint and a service. Only Do is called with its types here: the rest is one code for all endpoints, and
// reads their types by reflection.
func (e *Endpoint[S, In, Out]) bind(svc S) Bound {
	return bound(e.Info(), ownOf(e), func(ctx context.Context, key wire.Key, in any) (any, error) {
		return e.Do(svc, ctx, key, in.(In))
	})
}

func bound(info Info, f own, do func(ctx context.Context, key wire.Key, in any) (any, error)) Bound {
	wire.Secrets(reflect.Zero(info.In).Interface()) // reads the tags: a wrong word in one panics here
	wire.Secrets(reflect.Zero(info.Out).Interface())
	asked := func(key wire.Key, in any) *Asked {
		return &Asked{Info: info, Key: key, Request: in, release: func() {}, do: func(ctx context.Context) (any, error) { return do(ctx, key, in) }}
	}
	return Bound{
		Info: info,
		ask:  asked,
		fn:   f,
		open: func(r *http.Request, values []string, o Options, read Opened) (*Asked, error) {
			key, in, release, err := info.open(r, values, f, o, read)
			if err != nil {
				return nil, err
			}
			a := asked(key, in)
			a.release = release
			if c, ok := in.(check.Checked); ok {
				err = check.Request(info.Op, c)
			}
			return a, err
		},
	}
}

// open reads a request, refusing in an order that costs a bad one the least. in is the endpoint's In.
func (i Info) open(r *http.Request, values []string, f own, o Options, read Opened) (key wire.Key, in any, release func(), err error) {
	release = func() {}
	if i.Write() {
		if key, err = wire.KeyFrom(r.Header); err == nil && key == "" && i.Wants&NeedsKey != 0 {
			err = ErrNoKey
		}
	}
	at, body := reflect.New(i.In), reflect.New(i.In)
	if err == nil {
		err = i.readParams(at.Interface(), values, r.URL)
	}
	if err == nil && i.Write() && i.HasBody {
		err = wire.InAddress(r.URL, i.In)
	}
	switch {
	case err != nil:
	case read != nil:
		err = read.Read(body.Interface())
	case f.has("Spool"):
		release, err = f.spool(r, body.Elem(), o)
	case r.Method != http.MethodGet:
		err = i.read(r, body.Interface(), o)
	}
	if err != nil {
		return "", nil, release, err
	}
	i.copyParams(body.Interface(), at.Interface())
	return key, body.Elem().Interface(), release, nil
}

// ErrNoKey is what is wrong with a call that NeedsKey and has none.
var ErrNoKey error = &wire.FieldError{Path: "header " + wire.KeyHeader, Reason: "missing", Code: wire.Invalid}

// read reads the body into the In that into points at. One that no endpoint asked for must still be JSON.
func (i Info) read(r *http.Request, into any, o Options) error {
	typ := r.Header.Get("Content-Type")
	absent := r.ContentLength == 0 && typ == "" && i.Wants&MayBody != 0
	if i.HasBody && !absent {
		if _, err := wire.CheckJSON(typ); err != nil {
			return err
		}
	}
	data, err := wire.ReadBody(r, o.MaxBody)
	switch {
	case err != nil:
		return err
	case !i.HasBody && len(data) == 0:
		return nil
	case !i.HasBody:
		if _, err = wire.CheckJSON(typ); err == nil {
			err = wire.Check(data)
		}
		return err
	case len(data) == 0 && i.Wants&MayBody != 0:
		data = []byte("{}")
	case i.Wants&EmptyArray != 0 && strings.TrimSpace(string(data)) == "[]":
		data = []byte("{}")
	}
	if err = wire.Decode(data, into); err == nil {
		if n, ok := into.(Normalizer); ok {
			err = n.Normal(o.Operator, data)
		}
	}
	return err
}
