package wiretest

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"path"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/schemes/wire"
	"posagent/schemes/wire/rest"
)

// Service is a service as its transcripts are replayed. A transcript's call has "op", the name of an endpoint without the
// service's ("create"), or the last piece of its path where another has that name; "key", the parameters of its address by their
// names, "id" for the one of a path, and the body under any other name. Its result has the answer under any name, with "status"
// where the answer holds one, or a Failure.
type Service struct {
	API rest.API
	// Client binds the service's routes to its Client.
	Client func(baseURL string, d wire.Doer) []rest.Bound
	// Options are those that its Handler needs besides.
	Options rest.Options
	// Reasons are those of the service's catalogue.
	Reasons wire.Catalogue
	// Survives is the reason that a code with a reason comes back with; nil = its own.
	Survives func(p wire.Problem) string
	// Secrets are what no error of a Client may repeat.
	Secrets []string
	// Adapt brings the call and the result of a transcript to that form; nil = they have it.
	Adapt func(call, result map[string]json.RawMessage)
	// Fault is a nil pointer of the type that causes an error where a result has "fault"; nil = no error has such a cause.
	Fault error
}

const operations = "/agent/v1/operations/" // where a transcript's Location leads

// routes binds the service's routes to a Client.
func (s Service) routes(d wire.Doer) map[string]rest.Bound {
	out := map[string]rest.Bound{}
	for _, b := range s.Client(BaseURL, d) {
		_, word, _ := strings.Cut(b.Op, ".")
		if _, taken := out[word]; taken {
			word = path.Base(b.Path)
		}
		out[word] = b
	}
	return out
}

// same finds the route that was asked, of a Client with another Doer.
func (s Service) same(a *rest.Asked, d wire.Doer) (out rest.Bound) {
	for _, b := range s.Client(BaseURL, d) {
		if b.Method == a.Method && b.Path == a.Path {
			out = b
		}
	}
	return out
}

// ask makes the request that a transcript's call describes.
func (s Service) ask(t *testing.T, tr Transcript, d wire.Doer) *rest.Asked {
	t.Helper()
	var c map[string]json.RawMessage
	tr.Call(t, &c)
	if s.Adapt != nil {
		s.Adapt(c, map[string]json.RawMessage{})
	}
	var op string
	var key wire.Key
	require.NoError(t, json.Unmarshal(c["op"], &op))
	b, ok := s.routes(d)[op]
	require.True(t, ok, "no endpoint is called %q", op)
	if c["key"] != nil {
		require.NoError(t, json.Unmarshal(c["key"], &key))
	}
	in := reflect.New(b.In)
	params := map[string][]byte{} // last: a body is read into the whole of in
	for name, value := range c {
		switch p := param(b.Info, name); {
		case name == "op" || name == "key":
		case p != nil:
			params[p.Name] = value
		default:
			require.True(t, b.HasBody || s.Options.Open != nil, "%s: %s has no body", name, op)
			strictly(t, value, in.Interface())
		}
	}
	for name, value := range params {
		require.NoError(t, json.Unmarshal(value, param(b.Info, name).Of(in.Elem()).Addr().Interface()))
	}
	return b.Ask(key, in.Elem().Interface())
}

// param finds a parameter by its name; "id" is the one of the path.
func param(i rest.Info, name string) *rest.Param {
	var one *rest.Param
	paths := 0
	for n := range i.Params {
		p := &i.Params[n]
		if strings.EqualFold(p.Name, name) {
			return p
		}
		if p.Place == "path" {
			one = p
			paths++
		}
	}
	if name == "id" && paths == 1 {
		return one
	}
	return nil
}

func strictly(t *testing.T, data []byte, into any) {
	t.Helper()
	dec := json.NewDecoder(strings.NewReader(string(data)))
	dec.DisallowUnknownFields()
	require.NoError(t, dec.Decode(into))
}

// result is what a transcript's call comes to.
type result struct {
	Failure
	out   any // of a success: the endpoint's Out
	cause error
}

// result reads a transcript's result for the endpoint that was asked.
func (s Service) result(t *testing.T, tr Transcript, a *rest.Asked) (r result) {
	t.Helper()
	var all map[string]json.RawMessage
	tr.Result(t, &all)
	if s.Adapt != nil {
		s.Adapt(map[string]json.RawMessage{}, all)
	}
	if all["code"] != nil {
		if r.cause = s.Fault; all["fault"] != nil {
			fault := reflect.New(reflect.TypeOf(s.Fault).Elem())
			strictly(t, all["fault"], fault.Interface())
			r.cause = fault.Interface().(error)
			delete(all, "fault")
		}
		data, err := json.Marshal(all)
		require.NoError(t, err)
		strictly(t, data, &r.Failure)
		return r
	}
	out := reflect.New(a.Out)
	if f := status(a.Out); f != nil {
		require.NoError(t, json.Unmarshal(all["status"], out.Elem().FieldByIndex(f).Addr().Interface()))
		delete(all, "status")
	}
	require.Len(t, all, 1, "a success has one answer")
	var answer []byte
	for _, answer = range all {
	}
	if answer[0] != '{' && answer[0] != '[' { // the one field of the answer
		var err error
		answer, err = json.Marshal(all)
		require.NoError(t, err)
	}
	strictly(t, answer, out.Interface())
	r.out = out.Elem().Interface()
	return r
}

// status finds the field of an answer that holds its HTTP status; nil = none does.
func status(out reflect.Type) []int {
	if out.Kind() == reflect.Struct {
		for _, f := range reflect.VisibleFields(out) {
			if f.Tag.Get("rest") == "status" {
				return f.Index
			}
		}
	}
	return nil
}

// ClientAlone replays the transcripts of testdata/both and testdata/client against the service's Client: it sends the request
// byte for byte, once, and comes to the result.
func (s Service) ClientAlone(t *testing.T) {
	for _, dir := range []string{"testdata/both", "testdata/client"} {
		for _, tr := range Load(t, dir) {
			t.Run(tr.Name, func(t *testing.T) {
				srv := tr.Server(t)
				a := s.ask(t, tr, srv)
				want := s.result(t, tr, a)
				got, err := a.Do(t.Context())
				require.Equal(t, 1, srv.Hits, "each call is sent once")
				if want.Code == "" {
					require.NoError(t, err)
					require.Equal(t, want.out, got)
					return
				}
				want.Check(t, err)
				if s.Fault != nil {
					fault := reflect.New(reflect.TypeOf(s.Fault))
					errors.As(err, fault.Interface())
					require.Equal(t, want.cause, fault.Elem().Interface())
				}
				for _, secret := range s.Secrets {
					require.NotContains(t, err.Error(), secret)
				}
			})
		}
	}
}

// HandlerAlone replays the transcripts of testdata/both against the service's Handler: it asks the service for the call, once, and
// answers the response byte for byte.
func (s Service) HandlerAlone(t *testing.T) {
	for _, tr := range Load(t, "testdata/both") {
		t.Run(tr.Name, func(t *testing.T) {
			want := s.ask(t, tr, nil)
			give := s.result(t, tr, want)
			hits := 0
			tr.Serve(t, s.handler(func(_ context.Context, got *rest.Asked) (any, error) {
				hits++
				require.Equal(t, want.Method+want.Path, got.Method+got.Path)
				require.Equal(t, want.Key, got.Key)
				require.Equal(t, want.Request, got.Request)
				sent, err := want.Body()
				require.NoError(t, err)
				read, err := got.Body()
				require.NoError(t, err)
				require.Equal(t, string(sent), string(read))
				if give.cause != nil && give.cause != s.Fault { //nolint:errorlint // the nil pointer itself
					return nil, &wire.Error{Code: give.Code, Msg: give.Msg, Err: give.cause}
				}
				return give.out, give.Err()
			}))
			require.Equal(t, 1, hits)
		})
	}
}

// handler is the service's Handler, with a script in place of the service.
func (s Service) handler(script func(context.Context, *rest.Asked) (any, error)) http.Handler {
	o := s.Options
	o.OperationURL, o.Around = func(k wire.Key) string { return operations + string(k) }, script
	return s.API.Handler(o, s.Client(BaseURL, nil))
}

// calls are one call of each endpoint, the first that testdata/both has; a write with a key and, where it may be, without.
func (s Service) calls(t *testing.T) func(wire.Doer) []*rest.Asked {
	t.Helper()
	var firsts []Transcript
	seen := map[string]bool{}
	for _, tr := range Load(t, "testdata/both") {
		if a := s.ask(t, tr, nil); !seen[a.Method+a.Path] {
			seen[a.Method+a.Path] = true
			firsts = append(firsts, tr)
		}
	}
	require.Len(t, firsts, len(s.routes(nil)), "each endpoint has a transcript")
	return func(d wire.Doer) (list []*rest.Asked) {
		for _, tr := range firsts {
			a := s.ask(t, tr, d)
			switch ask := s.same(a, d).Ask; {
			case !a.Write():
				list = append(list, a)
			case a.Wants&rest.NeedsKey != 0:
				list = append(list, ask(wire.NewKey(), a.Request))
			default:
				list = append(list, ask(wire.NewKey(), a.Request), ask("", a.Request))
			}
		}
		return list
	}
}

// CodesSurvive proves that every code and every reason of the service comes back from its wire, with the call's name and the time to
// wait. A reason of another service is left out. An error without a code is Internal and keeps its words to itself; also checks that
// error besides, nil = nothing.
func (s Service) CodesSurvive(t *testing.T, also func(t *testing.T, internal error)) {
	all := s.Reasons
	for _, code := range wire.Codes() {
		all = append(all, wire.Problem{Code: code})
	}
	failing := func(err error) wire.Doer {
		return Direct(s.handler(func(context.Context, *rest.Asked) (any, error) { return nil, err }))
	}
	calls := s.calls(t)
	for _, p := range all {
		reason := p.Reason
		if s.Survives != nil {
			reason = s.Survives(p)
		}
		for _, a := range calls(failing(&wire.Error{Code: p.Code, Reason: p.Reason, Msg: "because", RetryAfter: 3 * time.Second})) {
			_, err := a.Do(t.Context())
			want := Failure{Code: p.Code, Reason: reason, RetryAfter: 3}
			if p.Code == wire.Internal && s.Fault != nil {
				want.RetryAfter = 0 // the error's own body says no time
			}
			want.Check(t, err)
			require.ErrorIs(t, err, &wire.Error{Code: p.Code, Reason: reason})
			require.Contains(t, err.Error(), a.Op+": ")
		}
	}
	for _, a := range calls(failing(&wire.Error{Code: wire.Conflict, Reason: "BadWeather"})) {
		_, err := a.Do(t.Context())
		Failure{Code: wire.Conflict}.Check(t, err)
	}
	for _, a := range calls(failing(errors.New("dsn=secret"))) {
		_, err := a.Do(t.Context())
		require.Equal(t, wire.Internal, wire.CodeOf(err))
		require.NotContains(t, err.Error(), "secret")
		if also != nil {
			also(t, err)
		}
	}
}

// NeverSent proves what a Client says of a call that never left: Unavailable for an address that is none, for a caller that has gone
// and for a connection that was never made, Invalid for a key or a parameter that cannot be sent. A write that may have left is
// UnknownOutcome.
func (s Service) NeverSent(t *testing.T) {
	nowhere := s
	nowhere.Client = func(_ string, d wire.Doer) []rest.Bound { return s.Client("http://a b", d) }
	for _, a := range nowhere.calls(t)(http.DefaultClient) {
		_, err := a.Do(t.Context())
		require.Equal(t, wire.Unavailable, wire.CodeOf(err), "%s %v", a.Op, err)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	for _, a := range s.calls(t)(Direct(nil)) {
		_, err := a.Do(gone)
		require.Equal(t, wire.Unavailable, wire.CodeOf(err), "%s %v", a.Op, err)
		require.ErrorIs(t, err, context.Canceled)
		for _, p := range a.Params {
			if p.Place == "path" {
				in := reflect.New(a.In).Elem()
				in.Set(reflect.ValueOf(a.Request))
				p.Of(in).SetZero()
				s.invalid(t, a, a.Key, in.Interface())
			}
		}
		for _, key := range []wire.Key{"a b", "ü"} {
			if a.Key != "" {
				s.invalid(t, a, key, a.Request)
			}
		}
	}
	s.failing(t, wire.Unavailable, fails(&net.OpError{Op: "dial", Err: errors.New("refused")}))
	s.failing(t, wire.Unavailable, fails(wire.Errorf(wire.Unavailable, "", "circuit open")))
	s.failing(t, wire.UnknownOutcome, fails(errors.New("broken")))
	srv := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // the request arrived whole; what is in it does not matter
		panic(http.ErrAbortHandler)
	}))
	defer srv.Close()
	there := s
	there.Client = func(_ string, d wire.Doer) []rest.Bound { return s.Client(srv.URL, d) }
	there.failing(t, wire.UnknownOutcome, srv.Client())
}

// fails is a Doer that gives an error.
func fails(err error) wire.Doer {
	return doer(func(*http.Request) (*http.Response, error) { return nil, err })
}

type doer func(*http.Request) (*http.Response, error)

// Do implements wire.Doer.
func (d doer) Do(r *http.Request) (*http.Response, error) { return d(r) }

// invalid proves that a call with this key and request is refused before it is sent.
func (s Service) invalid(t *testing.T, a *rest.Asked, key wire.Key, in any) {
	t.Helper()
	_, err := s.same(a, Direct(nil)).Ask(key, in).Do(t.Context())
	require.Equal(t, wire.Invalid, wire.CodeOf(err), "%s %v", a.Op, err)
}

// failing proves what each write comes to over a Doer that fails; a read is Unavailable.
func (s Service) failing(t *testing.T, write wire.Code, d wire.Doer) {
	t.Helper()
	for _, a := range s.calls(t)(d) {
		want := wire.Unavailable
		if a.Write() {
			want = write
		}
		_, err := a.Do(t.Context())
		require.Equal(t, want, wire.CodeOf(err), "%s %v", a.Op, err)
	}
}
