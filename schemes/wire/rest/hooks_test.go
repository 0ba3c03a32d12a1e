package rest_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/schemes/wire"
	"posagent/schemes/wire/check"
	"posagent/schemes/wire/rest"
	"posagent/schemes/wire/wiretest"
)

// spelled is a request that is written in several ways.
type spelled struct {
	Type string `json:"type" wire:"required"`
}

// Normal implements rest.Normalizer.
func (s *spelled) Normal(operator string, raw []byte) error {
	if strings.Contains(string(raw), "older") {
		return wire.Errorf(wire.Invalid, "", "older: not read")
	}
	s.Type = strings.Replace(s.Type, operator, "Provider", 1)
	return nil
}

// Check implements check.Checked.
func (s spelled) Check(l *check.List) {
	if s.Type == "" {
		l.Reason("type", "empty", "Empty")
	}
}

// ids is a list in a query.
type ids []int64

// UnmarshalText implements encoding.TextUnmarshaler.
func (l *ids) UnmarshalText(text []byte) error {
	for item := range strings.SplitSeq(string(text), ",") {
		n, err := strconv.ParseInt(item, 10, 64)
		if err != nil {
			return errors.New("want numbers separated by commas")
		}
		*l = append(*l, n)
	}
	return nil
}

// MarshalText implements encoding.TextMarshaler.
func (l ids) MarshalText() ([]byte, error) {
	var list []string
	for _, n := range l {
		list = append(list, strconv.FormatInt(n, 10))
	}
	return []byte(strings.Join(list, ",")), nil
}

type listing struct {
	Session string `query:"session" max:"4" json:"-"`
	Exclude ids    `query:"exclude" json:"-"`
}

// says is an answer that may be a refusal.
type says struct {
	Code string `json:"code"`
	Text string `json:"text,omitempty"`
}

var (
	hooked = rest.API{
		Prefix: "/hooked", Shape: rest.Problems{Catalogue: wire.Catalogue{{Code: wire.Invalid, Reason: "BadBody", Title: "b"}, {Code: wire.Invalid, Reason: "Empty", Title: "e"}}},
		Accept: func(r *http.Request) error {
			if r.Header.Get("Correlation-Id") == "" {
				return wire.Errorf(wire.Invalid, "", "Correlation-Id: missing")
			}
			return nil
		},
		Reason: func(err error) string {
			if f := (*wire.FieldError)(nil); errors.As(err, &f) && f.Path == "" {
				return "BadBody"
			}
			return ""
		},
	}
	spell = of(rest.Endpoint[box, spelled, made]{Op: "h.spell", Method: "POST", Path: "/spell", Status: 200, Wants: rest.Write | rest.CheckFirst})
	empty = of(rest.Endpoint[box, perhaps, says]{
		Op: "h.empty", Method: "POST", Path: "/{id}/empty", Status: 200, Wants: rest.Write | rest.MayBody | rest.EmptyArray,
		Says: func(in perhaps, err *wire.Error) (says, bool) {
			return says{"02", in.ID + ": " + err.Msg}, err.Code == wire.Conflict
		},
		Said: func(out says) error {
			if out.Code == "02" {
				return wire.Errorf(wire.Conflict, "h.empty", "%s", out.Text)
			}
			return nil
		},
	})
	all = of(rest.Endpoint[box, listing, []made]{
		Op: "h.all", Method: "GET", Path: "/all", Status: 200,
		Read: func(c wire.Call, a wire.Answer) ([]made, error) {
			if string(a.Body) != "[]" {
				return nil, c.Lost("reply is no list")
			}
			return nil, nil
		},
	})
)

func TestHooks(t *testing.T) {
	var asked any
	var answer any
	var fail error
	routes := rest.Table[box]{spell, empty, all}.Bind(func(_ string, _ wire.Key, in any) (any, error) {
		asked = in
		return answer, fail
	})
	h := hooked.Handler(rest.Options{Operator: "Nets"}, routes)
	send := func(method, path, text string) (int, string) {
		req := httptest.NewRequestWithContext(t.Context(), method, path, strings.NewReader(text))
		req.Header.Set("Correlation-Id", "1")
		if text != "" {
			req.Header.Set("Content-Type", js)
		}
		rec := httptest.NewRecorder()
		h.ServeHTTP(rec, req)
		return rec.Code, rec.Body.String()
	}
	answer = made{ID: "x"}
	status, text := send("POST", "/hooked/spell", `{"type":"NetsHosted"}`)
	require.Equal(t, 200, status, text)
	require.Equal(t, spelled{"ProviderHosted"}, asked)
	for body, typ := range map[string]string{`{`: "bad-body", `{}`: "invalid", `{"type":""}`: "empty", `{"type":"older"}`: "invalid"} {
		status, text = send("POST", "/hooked/spell", body)
		require.Equal(t, 400, status)
		require.Contains(t, text, `"urn:problem:`+typ+`"`, body)
	}
	rec := httptest.NewRecorder()
	h.ServeHTTP(rec, httptest.NewRequestWithContext(t.Context(), "GET", "/hooked/all", nil))
	require.Contains(t, rec.Body.String(), "Correlation-Id: missing")

	answer = says{Code: "00"}
	status, text = send("POST", "/hooked/b1/empty", ` [] `)
	require.Equal(t, `200 {"code":"00"}`, strconv.Itoa(status)+" "+text)
	require.Equal(t, perhaps{ID: "b1"}, asked)
	fail = wire.Errorf(wire.Conflict, "", "closed")
	status, text = send("POST", "/hooked/b1/empty", "")
	require.Equal(t, `200 {"code":"02","text":"b1: closed"}`, strconv.Itoa(status)+" "+text)
	fail = wire.Errorf(wire.NotFound, "", "none")
	status, _ = send("POST", "/hooked/b1/empty", "")
	require.Equal(t, 404, status)

	answer, fail = []made(nil), nil
	status, text = send("GET", "/hooked/all?exclude=5,6&session=abcd", "")
	require.Equal(t, "200 []", strconv.Itoa(status)+" "+text)
	require.Equal(t, listing{"abcd", ids{5, 6}}, asked)
	for query, names := range map[string]string{"exclude=5,x": "exclude: want numbers", "session=abcde": "session: want 1 to 4 characters", "session=a&session=b": "session: given more than once"} {
		status, text = send("GET", "/hooked/all?"+query, "")
		require.Equal(t, 400, status)
		require.Contains(t, text, names)
	}
}

func TestHooksOfAClient(t *testing.T) {
	w := &wireTo{status: 200, content: js, text: `{"code":"02","text":"closed"}`}
	c := w.client()
	c.API = hooked
	_, err := empty.Call(context.Background(), c, "", perhaps{ID: "b1"})
	require.EqualError(t, err, "h.empty: conflict: closed")
	w.text = `{"code":"00"}`
	_, err = empty.Call(context.Background(), c, "", perhaps{ID: "b1"})
	require.NoError(t, err)
	w.got = ""
	_, err = spell.Call(context.Background(), c, "", spelled{})
	require.Equal(t, "Empty", wire.ReasonOf(err))
	require.Empty(t, w.got, "nothing was sent")
	w.text = `[]`
	_, err = all.Call(context.Background(), c, "", listing{"a,b", ids{5, 6}})
	require.NoError(t, err)
	require.Equal(t, "GET http://x.example/base/hooked/all?session=a%2Cb&exclude=5,6 ||-", w.got)
	w.text = `{}`
	_, err = all.Call(context.Background(), c, "", listing{})
	require.Equal(t, wire.Unavailable, wire.CodeOf(err))
}

func TestALengthThatIsNoneIsAMistake(t *testing.T) {
	require.Panics(t, func() {
		rest.Table[box]{of(rest.Endpoint[box, struct {
			ID string `path:"id" max:"x" json:"-"`
		}, made]{Op: "x", Method: "GET", Path: "/{id}"})}.Bind(nil)
	})
}

// loose has a rule of its own for what stands in its address.
type loose struct {
	ID   string `path:"id" max:"-" json:"-"`
	Word string `query:"word" max:"-" json:"-"`
}

func (l loose) Check(c *check.List) {
	if l.ID != "good" {
		c.Add("id", "want the word good")
	}
}

func TestARequestMayHaveTheRuleOfItsAddress(t *testing.T) {
	e := of(rest.Endpoint[box, loose, made]{Op: "h.loose", Method: "GET", Path: "/{id}/x", Status: 200, Wants: rest.CheckFirst})
	var asked any
	h := rest.API{Prefix: "/p", Shape: rest.Faults{Type: js}}.Handler(rest.Options{}, rest.Table[box]{e}.Bind(func(_ string, _ wire.Key, in any) (any, error) {
		asked = in
		return made{}, nil
	}))
	long := strings.Repeat("w", 2*rest.MaxID)
	rec := httptest.NewRecorder()
	h.ServeHTTP(rec, httptest.NewRequestWithContext(t.Context(), "GET", "/p/good/x?word="+long, nil))
	require.Equal(t, loose{"good", long}, asked, rec.Body.String())
	asked, rec = nil, httptest.NewRecorder()
	h.ServeHTTP(rec, httptest.NewRequestWithContext(t.Context(), "GET", "/p/other/x", nil))
	require.Equal(t, 400, rec.Code)
	require.Contains(t, rec.Body.String(), `"message":"id: want the word good"`)
	require.Nil(t, asked)
}

// Services that share a prefix take their own paths only, below each of their prefixes.
func TestServicesShareAPrefix(t *testing.T) {
	shared := rest.API{Prefix: "/api/v1/own", Aliases: []string{"/api/v1"}, First: []string{"boxes", "lids"}, Shape: rest.Problems{}}
	for path, own := range map[string]bool{
		"/api/v1/own/boxes": true, "/api/v1/boxes/7": true, "/api/v1/lids/": true,
		"/api/v1/own": false, "/api/v1": false, "/api/v1/other": false, "/api/v1/own/other": false, "/api/v1/Boxes": false, "/boxes": false,
	} {
		require.Equal(t, own, shared.Is(httptest.NewRequestWithContext(t.Context(), "GET", path, nil)), path)
	}
	h := shared.Handler(rest.Options{}, rest.Table[box]{of(rest.Endpoint[box, one, made]{Op: "b.get", Method: "GET", Path: "/boxes/{id}", Status: 200})}.Bind(
		func(string, wire.Key, any) (any, error) { return made{ID: "x"}, nil }))
	for path, status := range map[string]int{"/api/v1/own/boxes/7": 200, "/api/v1/boxes/7": 200, "/api/v1/boxes": 404} {
		rec := httptest.NewRecorder()
		h.ServeHTTP(rec, httptest.NewRequestWithContext(t.Context(), "GET", path, nil))
		require.Equal(t, status, rec.Code, path)
	}
}

// What cannot be sent has the service's word too, and no error repeats a secret of the Client.
func TestAClientsOwnRefusals(t *testing.T) {
	w := &wireTo{status: 400, content: "application/problem+json", text: `{"type":"urn:problem:invalid","title":"t","detail":"not my-key","status":400}`}
	c := w.client()
	c.API.Reason = func(err error) string {
		if errors.Is(err, rest.ErrNoKey) || errors.Is(err, wire.ErrKey) {
			return "Key"
		}
		return "Other"
	}
	c.Secrets = []string{"my-key"}
	_, err := fixed.Call(t.Context(), c, "", body{Name: "n"})
	require.EqualError(t, err, "boxes.fixed: invalid: header Idempotency-Key: missing")
	require.Equal(t, "Key", wire.ReasonOf(err))
	_, err = fixed.Call(t.Context(), c, "a b", body{Name: "n"})
	require.Equal(t, "Key", wire.ReasonOf(err))
	_, err = get.Call(t.Context(), c, "", one{})
	require.Equal(t, "Other", wire.ReasonOf(err))
	require.Empty(t, w.got, "nothing was sent")
	_, err = get.Call(t.Context(), c, "", one{"7"})
	require.EqualError(t, err, "boxes.get: invalid: the reply's own words are withheld")
}

// A body and an answer that are too long for memory pass by the engine; a request that breaks a rule is answered by Says too.
func TestWhatIsTooLongForMemoryPassesBy(t *testing.T) {
	var seen []string
	big := of(rest.Endpoint[box, spelled, says]{
		Op: "h.big", Method: "POST", Path: "/big", Status: 200, Wants: rest.Write,
		Spool: func(r *http.Request, o rest.Options) (in spelled, release func(), err error) {
			data, err := io.ReadAll(r.Body)
			if string(data) == "broken" {
				return in, func() {}, wire.Errorf(wire.TooLarge, "", "above 1 byte")
			}
			return spelled{string(data)}, func() { seen = append(seen, "released in "+o.Dir) }, err
		},
		Says: func(in spelled, err *wire.Error) (says, bool) {
			return says{"99", in.Type + err.Msg}, err.Reason == "Empty" || err.Code == wire.Internal
		},
		Write: func(w http.ResponseWriter, _ *http.Request, _ rest.Options, out says) {
			seen = append(seen, "written")
			_, _ = io.WriteString(w, "<"+out.Code+">")
		},
	})
	log := new(strings.Builder)
	var fail error
	h := rest.API{Prefix: "/h", Shape: rest.Problems{}}.Handler(rest.Options{Dir: "dir", Log: slog.New(slog.NewTextHandler(log, nil))}, rest.Table[box]{big}.Bind(
		func(_ string, key wire.Key, in any) (any, error) {
			seen = append(seen, fmt.Sprintf("asked %s %v", key, in))
			return says{Code: "00"}, fail
		}))
	c := rest.Client{API: rest.API{Prefix: "/h", Shape: rest.Problems{}}, BaseURL: "http://x.example", Doer: wiretest.Direct(h)}
	send := func(text string) (string, error) {
		seen = nil
		out, err := big.Stream(t.Context(), c, "k1", spelled{}, int64(len(text)), func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(text)), nil })
		return out.Code + out.Text, err
	}
	_, err := send("long")
	require.ErrorContains(t, err, "reply is not JSON")
	require.Equal(t, []string{"asked k1 {long}", "written", "released in dir"}, seen)
	_, err = send("broken")
	require.Equal(t, wire.TooLarge, wire.CodeOf(err))
	require.Empty(t, seen)
	got, err := send("")
	require.NoError(t, err)
	require.Equal(t, "99type: empty", got)
	require.Equal(t, []string{"released in dir"}, seen)
	fail = errors.New("the disk is full")
	got, err = send("x")
	require.NoError(t, err)
	require.Equal(t, "99x", got)
	require.Contains(t, log.String(), "the disk is full", "nobody else sees it")
}
