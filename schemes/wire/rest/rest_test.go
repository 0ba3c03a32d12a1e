package rest_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/schemes/wire"
	"posagent/schemes/wire/check"
	"posagent/schemes/wire/rest"
)

// box is a service of every kind of endpoint; each is answered by one function.
type box func(op string, key wire.Key, in any) (any, error)

// kind is a word that reads itself.
type kind string

// UnmarshalText implements encoding.TextUnmarshaler.
func (k *kind) UnmarshalText(text []byte) error {
	if *k = kind(strings.ToLower(string(text))); *k != "payment" && *k != "refund" {
		return errors.New("want payment or refund")
	}
	return nil
}

// MarshalText implements encoding.TextMarshaler.
func (k kind) MarshalText() ([]byte, error) { return []byte(k), nil }

type body struct {
	Name   string      `json:"name" wire:"required"`
	Text   string      `json:"text,omitempty" wire:"masked"`
	Secret wire.Secret `json:"secret,omitempty"`
}

func (b body) Check(l *check.List) { l.Text("name", b.Name, 8) }

type (
	one struct {
		ID string `path:"id" json:"-"`
	}
	edit struct {
		N int64 `path:"n" json:"-"`
		body
	}
	find struct {
		Kind  kind   `path:"kind" json:"-"`
		Word  string `query:"word" json:"-"`
		Count int32  `query:"count" json:"-"`
	}
	perhaps struct {
		ID   string `path:"id" json:"-"`
		Note string `json:"note,omitempty"`
	}
	made struct {
		ID        string        `json:"id" wire:"required"`
		Token     wire.Secret   `json:"token,omitempty"`
		List      []string      `json:"list" wire:"list"`
		Operation *wire.Pending `json:"operation,omitempty"`
	}
	moved struct {
		Status int    `json:"-" rest:"status"`
		State  string `json:"state"`
	}
)

func (m made) Flaw() string {
	if m.ID == "" {
		return "reply names nothing"
	}
	return ""
}

// of makes an endpoint of a box.
func of[In, Out any](e rest.Endpoint[box, In, Out]) *rest.Endpoint[box, In, Out] {
	e.Do = func(svc box, _ context.Context, key wire.Key, in In) (Out, error) {
		out, err := svc(e.Op, key, in)
		typed, _ := out.(Out)
		return typed, err
	}
	return &e
}

var (
	boxes  = rest.API{Prefix: "/api/v1/boxes", Aliases: []string{"/boxes"}, Fold: true, Shape: rest.Problems{}}
	create = of(rest.Endpoint[box, body, made]{Op: "boxes.make", Method: "POST", Status: 201, Wants: rest.Write})
	fixed  = of(rest.Endpoint[box, body, made]{Op: "boxes.fixed", Method: "POST", Path: "/fixed", Status: 201, Also: []int{200}, Wants: rest.Write | rest.NeedsKey})
	get    = of(rest.Endpoint[box, one, made]{Op: "boxes.get", Method: "GET", Path: "/{id}", Status: 200})
	put    = of(rest.Endpoint[box, one, made]{Op: "boxes.touch", Method: "PUT", Path: "/{id}", Status: 200, Wants: rest.Write,
		Flaw: func(in one, out made) string {
			if in.ID != out.ID {
				return "reply is about another box"
			}
			return ""
		}})
	note = of(rest.Endpoint[box, perhaps, made]{Op: "boxes.note", Method: "POST", Path: "/{id}/note", Status: 200, Wants: rest.Write | rest.MayBody})
	set  = of(rest.Endpoint[box, edit, made]{Op: "boxes.set", Method: "PUT", Path: "/of/{n}", Status: 200, Wants: rest.Write})
	list = of(rest.Endpoint[box, find, made]{Op: "boxes.find", Method: "GET", Path: "/{kind}/find", Status: 200})
	move = of(rest.Endpoint[box, one, moved]{Op: "boxes.move", Method: "POST", Path: "/{id}/Move", Status: 201, Also: []int{202}, Wants: rest.Write})
)

func bound(svc box) []rest.Bound {
	return rest.Table[box]{create, fixed, get, put, note, set, list, move}.Bind(svc)
}

// ask sends one request to a box, and returns what it was asked and what it answered.
func ask(t *testing.T, answer any, fail error, method, path, content, text string, header ...string) (asked string, resp *http.Response, got string) {
	t.Helper()
	h := boxes.Handler(rest.Options{OperationURL: func(k wire.Key) string { return "/operations/" + string(k) }}, bound(func(op string, key wire.Key, in any) (any, error) {
		asked = strings.TrimSpace(fmt.Sprintf("%s %s %+v", op, key, in))
		return answer, fail
	}))
	req := httptest.NewRequestWithContext(t.Context(), method, path, strings.NewReader(text))
	if content != "" {
		req.Header.Set("Content-Type", content)
	}
	for i := 0; i < len(header); i += 2 {
		req.Header.Add(header[i], header[i+1])
	}
	rec := httptest.NewRecorder()
	h.ServeHTTP(rec, req)
	return asked, rec.Result(), rec.Body.String()
}

const js = "application/json"

func TestRoutes(t *testing.T) {
	for _, c := range []struct {
		method, path string
		status       int
		want         string // what the service was asked, or the header Allow
	}{
		{"GET", "/api/v1/boxes/b1", 200, "boxes.get  {ID:b1}"},
		{"GET", "/API/v1/Boxes/B1/", 200, "boxes.get  {ID:B1}"},
		{"GET", "/boxes/a%2Fb", 200, "boxes.get  {ID:a/b}"},
		{"PUT", "/api/v1/boxes/b1", 200, "boxes.touch  {ID:b1}"},
		{"POST", "/api/v1/boxes/b1/NOTE", 200, "boxes.note  {ID:b1 Note:}"},
		{"GET", "/api/v1/boxes/Payment/find?word=a+b&count=3", 200, "boxes.find  {Kind:payment Word:a b Count:3}"},
		{"GET", "/api/v1/boxes/refund/find?word=", 200, "boxes.find  {Kind:refund Word: Count:0}"},
		{"GET", "/api/v1/boxes/fixed", 405, "POST"}, // not the box called fixed
		{"GET", "/api/v1/boxes", 405, "POST"},
		{"DELETE", "/api/v1/boxes/b1", 405, "GET, PUT"},
		{"HEAD", "/api/v1/boxes/b1", 405, "GET, PUT"},
		{"GET", "/api/v1/boxes/b1/note", 405, "POST"},
		{"GET", "/api/v1/boxes/b1/other", 404, ""},
		{"GET", "/api/v1/boxes/b1/note/more", 404, ""},
		{"GET", "/api/v1/boxes//b1", 404, ""},
		{"GET", "/api/v1/box", 404, ""},
		{"GET", "/api/v1/boxesb1", 404, ""},
		{"GET", "/api/v1/boxes/..", 400, ""},
		{"GET", "/api/v1/boxes/" + strings.Repeat("x", 129), 400, ""},
		{"GET", "/api/v1/boxes/reversal/find", 400, ""},
		{"GET", "/api/v1/boxes/payment/find?word=a&word=b", 400, ""},
		{"GET", "/api/v1/boxes/payment/find?count=0", 400, ""},
		{"GET", "/api/v1/boxes/payment/find?count=2147483648", 400, ""},
		{"PUT", "/api/v1/boxes/of/0", 400, ""},
		{"PUT", "/api/v1/boxes/of/01", 400, ""},
	} {
		asked, resp, text := ask(t, made{ID: "b1"}, nil, c.method, c.path, "", "")
		require.Equal(t, c.status, resp.StatusCode, "%s %s: %s", c.method, c.path, text)
		switch c.status {
		case 200:
			require.Equal(t, c.want, asked, c.path)
			require.Equal(t, `{"id":"b1","list":[]}`, text)
			require.Equal(t, wire.JSONType, resp.Header.Get("Content-Type"))
			require.Equal(t, "no-store", resp.Header.Get("Cache-Control"))
		default:
			require.Empty(t, asked, c.path)
			require.Equal(t, c.want, resp.Header.Get("Allow"), c.path)
			require.Equal(t, wire.ProblemType, resp.Header.Get("Content-Type"))
		}
	}
}

func TestBodies(t *testing.T) {
	const good = `{"name":"n","text":"4111111111111111","secret":"s"}`
	for _, c := range []struct {
		method, path, content, body string
		status                      int
		want                        string // what the service was asked, or what the refusal says
	}{
		{"POST", "/boxes", js, good, 201, "boxes.make  {Name:n Text:411111******1111 Secret:[secret]}"},
		{"PUT", "/boxes/of/7", js, `{"name":"n","N":9,"n":9}`, 200, "boxes.set  {N:7 body:{Name:n Text: Secret:}}"},
		{"POST", "/boxes", "", good, 400, "content type"},
		{"POST", "/boxes", "text/plain", good, 400, "content type"},
		{"POST", "/boxes", js, ``, 400, "empty"},
		{"POST", "/boxes", js, `{"name":"n","name":"m"}`, 400, "duplicate"},
		{"POST", "/boxes", js, `{"text":"x"}`, 400, "name: missing"},
		{"POST", "/boxes", js, `{"name":"more than eight"}`, 400, "name: longer"},
		{"POST", "/boxes", js, `{"name":"` + strings.Repeat("x", wire.MaxRequest) + `"}`, 413, "above"},
		{"POST", "/boxes/b1/note", "", "", 200, "boxes.note  {ID:b1 Note:}"},
		{"POST", "/boxes/b1/note", js, "", 200, "boxes.note  {ID:b1 Note:}"},
		{"POST", "/boxes/b1/note", js, `{"note":"x","id":"other","ID":"other"}`, 200, "boxes.note  {ID:b1 Note:x}"},
		{"POST", "/boxes/b1/note", "", `{"note":"x"}`, 400, "content type"},
		{"POST", "/boxes/b1/note", "text/plain", ``, 400, "content type"},
		{"PUT", "/boxes/b1", "", "", 200, "boxes.touch  {ID:b1}"},
		{"PUT", "/boxes/b1", js, `[]`, 200, "boxes.touch  {ID:b1}"},
		{"PUT", "/boxes/b1", js, `{`, 400, "a key was expected"},
		{"PUT", "/boxes/b1", "text/plain", `{}`, 400, "content type"},
	} {
		asked, resp, text := ask(t, made{ID: "b1"}, nil, c.method, c.path, c.content, c.body)
		require.Equal(t, c.status, resp.StatusCode, "%s %.40s: %s", c.path, c.body, text)
		if c.status < 300 {
			require.Equal(t, c.want, asked)
			continue
		}
		require.Empty(t, asked)
		require.Contains(t, text, c.want)
	}
}

func TestKeys(t *testing.T) {
	for _, c := range []struct {
		path   string
		keys   []string
		status int
		want   string
	}{
		{"/boxes/fixed", []string{"k"}, 201, "boxes.fixed k {Name:n Text: Secret:}"},
		{"/boxes/fixed", nil, 400, "header Idempotency-Key: missing"},
		{"/boxes", []string{"a b"}, 400, "visible ASCII"},
		{"/boxes", []string{"a", "b"}, 400, "more than one"},
	} {
		var header []string
		for _, k := range c.keys {
			header = append(header, wire.KeyHeader, k)
		}
		asked, resp, text := ask(t, made{ID: "b1"}, nil, "POST", c.path, js, `{"name":"n"}`, header...)
		require.Equal(t, c.status, resp.StatusCode, text)
		require.Contains(t, asked+text, c.want)
	}
}

func TestAnswers(t *testing.T) {
	_, resp, text := ask(t, made{ID: "L1", Token: "t", Operation: &wire.Pending{Key: "k 1", Status: wire.PendingStatus}}, nil, "POST", "/boxes", js, `{"name":"n"}`)
	require.Equal(t, 202, resp.StatusCode)
	require.Equal(t, "/operations/k 1", resp.Header.Get("Location"))
	require.Equal(t, `{"id":"L1","token":"t","list":[],"operation":{"key":"k 1","status":"pending"}}`, text)

	_, resp, text = ask(t, moved{Status: 202, State: "x"}, nil, "POST", "/boxes/b1/move", "", "")
	require.Equal(t, 202, resp.StatusCode)
	require.Equal(t, `{"state":"x"}`, text)
	_, resp, _ = ask(t, moved{Status: 204}, nil, "POST", "/boxes/b1/move", "", "")
	require.Equal(t, 500, resp.StatusCode)

	_, resp, text = ask(t, nil, wire.Errorf(wire.Conflict, "", "no room for 4111111111111111"), "GET", "/boxes/b1", "", "")
	require.Equal(t, 422, resp.StatusCode)
	require.Contains(t, text, "no room for 411111******1111")
	_, resp, text = ask(t, nil, errors.New("dsn=secret"), "GET", "/boxes/b1", "", "")
	require.Equal(t, 500, resp.StatusCode)
	require.NotContains(t, text, "dsn")
}

// Who stands around the service gets each good request once, with the bytes that are stored and sent.
func TestAround(t *testing.T) {
	var bytes [2]string
	h := boxes.Handler(rest.Options{Around: func(ctx context.Context, a *rest.Asked) (any, error) {
		require.True(t, a.Write())
		require.Equal(t, wire.Key("k"), a.Key)
		for i := range bytes {
			data, err := a.Body()
			require.NoError(t, err)
			bytes[i] = string(data)
		}
		first, _ := a.Body()
		second, _ := a.Body()
		require.Same(t, &first[0], &second[0], "written once")
		return a.Do(ctx)
	}}, bound(func(op string, key wire.Key, in any) (any, error) {
		return made{ID: op + " " + string(key)}, nil
	}))
	req := httptest.NewRequestWithContext(t.Context(), "PUT", "/boxes/of/3", strings.NewReader(` {"later":1, "secret":"s","name":"n","text":""}`))
	req.Header.Set("Content-Type", js)
	req.Header.Set(wire.KeyHeader, "k")
	rec := httptest.NewRecorder()
	h.ServeHTTP(rec, req)
	require.Equal(t, `{"id":"boxes.set k","list":[]}`, rec.Body.String())
	require.Equal(t, [2]string{`{"name":"n","secret":"s"}`, `{"name":"n","secret":"s"}`}, bytes)
}

// wireTo answers every request with one reply, and keeps the request.
type wireTo struct {
	status        int
	content, text string
	got           string
}

func (w *wireTo) Do(req *http.Request) (*http.Response, error) {
	data := []byte("-")
	if req.Body != nil {
		data, _ = io.ReadAll(req.Body)
	}
	w.got = fmt.Sprintf("%s %s %s|%s|%s", req.Method, req.URL, req.Header.Get(wire.KeyHeader), req.Header.Get("Content-Type"), data)
	return &http.Response{StatusCode: w.status, Header: http.Header{"Content-Type": {w.content}}, Body: io.NopCloser(strings.NewReader(w.text))}, nil
}

func (w *wireTo) client() rest.Client {
	return rest.Client{API: boxes, BaseURL: "http://x.example/base/", Doer: w, Head: func(h http.Header) { h.Set("X-Seen", "1") }}
}

func TestCallsAreWritten(t *testing.T) {
	w := &wireTo{status: 200, content: js, text: `{"id":"b1"}`}
	for _, c := range []struct {
		call func() error
		want string
	}{
		{func() error { _, err := put.Call(t.Context(), w.client(), "k", one{"b1"}); return err }, "PUT http://x.example/base/api/v1/boxes/b1 k||-"},
		{func() error { _, err := get.Call(t.Context(), w.client(), "", one{"a/b c"}); return err }, "GET http://x.example/base/api/v1/boxes/a%2Fb%20c ||-"},
		{func() error { _, err := note.Call(t.Context(), w.client(), "", perhaps{ID: "b1"}); return err }, "POST http://x.example/base/api/v1/boxes/b1/note |" + wire.JSONType + "|{}"},
		{func() error {
			_, err := set.Call(t.Context(), w.client(), "", edit{7, body{Name: "n", Secret: "s"}})
			return err
		}, "PUT http://x.example/base/api/v1/boxes/of/7 |" + wire.JSONType + `|{"name":"n","secret":"s"}`},
		{func() error {
			_, err := set.Send(t.Context(), w.client(), "k", edit{N: 7}, []byte(`{"name":"kept"}`))
			return err
		}, "PUT http://x.example/base/api/v1/boxes/of/7 k|" + wire.JSONType + `|{"name":"kept"}`},
		{func() error {
			_, err := list.Call(t.Context(), w.client(), "", find{Kind: "refund", Word: "a&b", Count: 2})
			return err
		}, "GET http://x.example/base/api/v1/boxes/refund/find?word=a%26b&count=2 ||-"},
		{func() error { _, err := list.Call(t.Context(), w.client(), "", find{Kind: "refund"}); return err }, "GET http://x.example/base/api/v1/boxes/refund/find ||-"},
	} {
		w.got = ""
		require.NoError(t, c.call())
		require.Equal(t, c.want, w.got)
	}
	w.got = ""
	for _, bad := range []error{
		second(get.Call(t.Context(), w.client(), "", one{})), second(get.Call(t.Context(), w.client(), "", one{".."})),
		second(set.Call(t.Context(), w.client(), "", edit{body: body{Name: "n"}})), second(fixed.Call(t.Context(), w.client(), "", body{Name: "n"})),
		second(list.Call(t.Context(), w.client(), "", find{Kind: "refund", Count: -1})), second(put.Call(t.Context(), w.client(), "a b", one{"b1"})),
	} {
		require.Equal(t, wire.Invalid, wire.CodeOf(bad), "%v", bad)
	}
	require.Empty(t, w.got, "nothing was sent")
}

func second[T any](_ T, err error) error { return err }

func TestRepliesAreTakenWhole(t *testing.T) {
	pending := `{"id":"b1","operation":{"key":"k","status":"pending"}}`
	for _, c := range []struct {
		status  int
		content string
		text    string
		want    wire.Code // of put, a write
	}{
		{200, js, `{"id":"b1","later":1}`, ""},
		{202, js, pending, ""},
		{200, js, pending, wire.UnknownOutcome},
		{202, js, `{"id":"b1"}`, wire.UnknownOutcome},
		{202, js, `{"id":"b1","operation":{"key":"","status":"pending"}}`, wire.UnknownOutcome},
		{201, js, `{"id":"b1"}`, wire.UnknownOutcome},
		{204, js, ``, wire.UnknownOutcome},
		{200, "text/html", `{"id":"b1"}`, wire.UnknownOutcome},
		{200, js, `{"id":"b1"`, wire.UnknownOutcome},
		{200, js, `{}`, wire.UnknownOutcome},
		{200, js, `{"id":""}`, wire.UnknownOutcome},
		{200, js, `{"id":"b2"}`, wire.UnknownOutcome},
		{422, "application/problem+json", `{"type":"urn:problem:conflict","title":"t","status":422}`, wire.Conflict},
		{404, "text/html", ``, wire.UnknownOutcome},
	} {
		w := &wireTo{status: c.status, content: c.content, text: c.text}
		_, err := put.Call(t.Context(), w.client(), "k", one{"b1"})
		require.Equal(t, c.want, wire.CodeOf(err), "%d %s: %v", c.status, c.text, err)
	}
	w := &wireTo{status: 200, content: "text/html"}
	_, err := get.Call(t.Context(), w.client(), "", one{"b1"})
	require.Equal(t, wire.Unavailable, wire.CodeOf(err), "a read that was not answered is known to have done nothing")
	w = &wireTo{status: 202, content: js, text: `{"state":"s"}`}
	got, err := move.Call(t.Context(), w.client(), "", one{"b1"})
	require.NoError(t, err)
	require.Equal(t, moved{202, "s"}, got)
	w = &wireTo{status: 200, content: js, text: `{"id":"b1"}`}
	_, err = fixed.Call(t.Context(), w.client(), "k", body{Name: "n"})
	require.NoError(t, err, "another status that it says")
}

// A refusal that repeats a secret of the request is not repeated, whether the request is at hand or its bytes alone.
func TestRefusalsRepeatNoSecret(t *testing.T) {
	w := &wireTo{status: 400, content: "application/problem+json", text: `{"type":"urn:problem:invalid","title":"t","detail":"not hush","status":400}`}
	_, err := set.Call(t.Context(), w.client(), "", edit{1, body{Name: "n", Secret: "hush"}})
	require.Equal(t, wire.Invalid, wire.CodeOf(err))
	require.NotContains(t, err.Error(), "hush")
	_, err = set.Send(t.Context(), w.client(), "", edit{N: 1}, []byte(`{"name":"n","secret":"hush"}`))
	require.NotContains(t, err.Error(), "hush")
	_, err = set.Call(t.Context(), w.client(), "", edit{1, body{Name: "n", Secret: "other"}})
	require.ErrorContains(t, err, "not hush")
}

func TestInfos(t *testing.T) {
	i := set.Info()
	require.Equal(t, reflect.TypeFor[edit](), i.In)
	require.Equal(t, reflect.TypeFor[made](), i.Out)
	require.True(t, i.HasBody && i.Pends && i.Write())
	require.Len(t, i.Params, 1)
	require.Equal(t, "n path int64", i.Params[0].Name+" "+i.Params[0].Place+" "+i.Params[0].Type.String())
	i = list.Info()
	require.False(t, i.HasBody || i.Write())
	require.Len(t, i.Params, 3)
	require.False(t, move.Info().Pends)
}

// A read that shows a pending operation is answered all the same: it is not itself pending.
func TestReadsDoNotPend(t *testing.T) {
	_, resp, text := ask(t, made{ID: "b1", Operation: &wire.Pending{Key: "k", Status: wire.PendingStatus}}, nil, "GET", "/boxes/b1", "", "")
	require.Equal(t, 200, resp.StatusCode)
	require.Empty(t, resp.Header.Get("Location"))
	w := &wireTo{status: 200, content: js, text: text}
	got, err := get.Call(t.Context(), w.client(), "", one{"b1"})
	require.NoError(t, err)
	require.Equal(t, wire.Key("k"), got.Operation.Key)
	w.status = 202
	_, err = get.Call(t.Context(), w.client(), "", one{"b1"})
	require.Equal(t, wire.Unavailable, wire.CodeOf(err))
	require.False(t, get.Info().Pends)
}

// A mistake in a table shows when it is bound.
func TestMistakesInATable(t *testing.T) {
	bind := func(r rest.Route[box]) func() { return func() { rest.Table[box]{r}.Bind(nil) } }
	require.Panics(t, bind(of(rest.Endpoint[box, body, made]{Op: "x", Method: "PUT", Path: "/{id}"})), "no field for a name")
	require.Panics(t, bind(of(rest.Endpoint[box, struct {
		ID string `path:"id"`
	}, made]{Op: "x", Method: "PUT", Path: "/{id}"})), "in the address and in the body")
	require.Panics(t, bind(of(rest.Endpoint[box, struct {
		ID []string `path:"id" json:"-"`
	}, made]{Op: "x", Method: "PUT", Path: "/{id}"})), "no text")
	require.Panics(t, bind(of(rest.Endpoint[box, struct {
		Name string `json:"name" wire:"requird"`
	}, made]{Op: "x", Method: "POST"})), "no such word")
}

func TestFaults(t *testing.T) {
	api := rest.API{Prefix: "/ms/boxes", Type: "application/json;version=2.0", Shape: rest.Faults{Type: "application/json;version=2.0"}}
	h := api.Handler(rest.Options{}, bound(func(string, wire.Key, any) (any, error) { return nil, wire.Errorf(wire.NotFound, "", "no box") }))
	for path, status := range map[string]int{"/ms/boxes/b1": 404, "/ms/boxes/fixed": 405, "/ms/boxes/b1/x": 404, "/MS/boxes/b1": 404} {
		rec := httptest.NewRecorder()
		h.ServeHTTP(rec, httptest.NewRequestWithContext(t.Context(), "GET", path, nil))
		require.Equal(t, status, rec.Code, path)
		require.Contains(t, rec.Body.String(), `"valid":false`)
		require.Equal(t, path == "/ms/boxes/b1", strings.Contains(rec.Body.String(), `"not_found"`), rec.Body.String())
	}
	w := &wireTo{status: 404, content: js, text: `{"valid":false,"error":{"message":"no box"}}`}
	c := w.client()
	c.API = api
	_, err := get.Call(t.Context(), c, "", one{"b1"})
	require.Equal(t, wire.NotFound, wire.CodeOf(err))
	require.True(t, api.Is(httptest.NewRequestWithContext(t.Context(), "GET", "/ms/boxes/b1", nil)))
	require.False(t, api.Is(httptest.NewRequestWithContext(t.Context(), "GET", "/ms/boxesb1", nil)))
}
