package rest

import (
	"context"
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
	Secrets []string          // what no error repeats, besides the secrets of the request
}

// Call sends one call, once, and reads its answer. key "" sends none. Errors are those of wire.Call, what the service's Shape
// reads of a refusal, and Invalid for a request that cannot be sent.
func (e Endpoint[S, In, Out]) Call(ctx context.Context, c Client, key wire.Key, in In) (Out, error) {
	var body []byte
	if rules, ok := any(in).(check.Checked); ok && e.Wants&CheckFirst != 0 {
		if err := check.Request(e.Op, rules); err != nil {
			var none Out
			return none, c.API.refused(e.Op, err)
		}
	}
	if requestOf(reflect.TypeFor[In]()).body && e.Method != http.MethodGet {
		var err error
		if body, err = encode(e.Op, in); err != nil {
			var none Out
			return none, err
		}
	}
	return e.Send(ctx, c, key, in, body)
}

// Send is Call with a body that is written already, by Asked.Body. in needs what stands in the address alone.
func (e Endpoint[S, In, Out]) Send(ctx context.Context, c Client, key wire.Key, in In, body []byte) (Out, error) {
	var none, out Out
	info := e.Info()
	if key == "" && e.Wants&NeedsKey != 0 {
		return none, c.API.refused(e.Op, ErrNoKey)
	}
	path, err := info.address(in)
	if err != nil {
		return none, c.API.refused(e.Op, err)
	}
	secrets := func() []string { return append(e.secrets(in, body), c.Secrets...) }
	call := wire.Call{Op: e.Op, Write: info.Write(), Limit: e.Limit, Type: c.API.Type, Head: c.Head}
	answer, err := call.Send(ctx, c.Doer, e.Method, strings.TrimRight(c.BaseURL, "/")+c.API.Prefix+path, key, body)
	if err != nil {
		return none, wire.Withhold(c.API.refused(e.Op, err), c.Secrets...)
	}
	known := replyOf(reflect.TypeFor[Out]())
	pends := info.Pends && answer.Status == http.StatusAccepted
	if answer.Status != e.Status && !pends && !slices.Contains(e.Also, answer.Status) {
		return none, wire.Withhold(c.API.Shape.Refusal(call, answer, key != ""), secrets()...)
	}
	if e.Read != nil {
		out, err = e.Read(call, answer)
	} else {
		err = call.Read(answer, &out)
	}
	if err == nil && e.Said != nil {
		err = wire.Withhold(e.Said(out), secrets()...)
	}
	if err != nil {
		return none, err
	}
	v := reflect.ValueOf(&out).Elem()
	if known.status != nil {
		v.FieldByIndex(known.status).SetInt(int64(answer.Status))
	}
	if flaw := e.flaw(in, out); flaw != "" {
		return none, call.Lost(flaw)
	}
	if p := known.pendingOf(v); info.Pends && (known.status == nil && pends != (p != nil) || p != nil && p.Key == "") {
		return none, call.Lost("reply does not say whether it is done")
	}
	return out, nil
}

// flaw says what is wrong with a reply, "" = nothing.
func (e Endpoint[S, In, Out]) flaw(in In, out Out) string {
	if f, ok := any(out).(interface{ Flaw() string }); ok {
		if flaw := f.Flaw(); flaw != "" {
			return flaw
		}
	}
	if e.Flaw == nil {
		return ""
	}
	return e.Flaw(in, out)
}

// secrets are what a refusal must not repeat: the request's secrets, and what its method Secrets names besides. A request that
// was written before is read for them.
func (e Endpoint[S, In, Out]) secrets(in In, body []byte) []string {
	list := wire.Secrets(in)
	if again := new(In); body != nil && len(list) == 0 && wire.Decode(body, again) == nil {
		in, list = *again, wire.Secrets(*again)
	}
	if s, ok := any(in).(interface{ Secrets() []string }); ok {
		list = append(list, s.Secrets()...)
	}
	return list
}
