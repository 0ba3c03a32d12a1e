package rest_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/schemes/wire"
	"posagent/schemes/wire/rest"
)

// plain is a service whose requests are a bare name, proven by a header, and whose successes stand in an envelope.
var (
	plain = rest.API{
		Prefix: "/plain", Shape: rest.Problems{},
		Pieces: func(list []string) ([]string, bool) { return list[:len(list)-1], list[len(list)-1] == "end" },
		Wrap: func(out any) any {
			return struct {
				Data made `json:"data"`
			}{out.(made)}
		},
	}
	named = of(rest.Endpoint[box, edit, made]{Op: "plain.name", Method: "POST", Path: "/name/{n}/", Status: 200, Wants: rest.Write})
)

// letter is a request of the service.
type letter struct {
	text   string
	closed *int
}

// Read implements rest.Opened.
func (l letter) Read(into any) error {
	if l.text == "bad" {
		return wire.Errorf(wire.Invalid, "", "a bad name")
	}
	into.(*edit).Name = l.text
	return nil
}

// Close implements rest.Opened.
func (l letter) Close() { *l.closed++ }

func TestAServiceOpensItsRequests(t *testing.T) {
	for _, c := range []struct {
		name, path, proof, key, text string
		admit                        bool
		status                       int
		want                         string // in the answer
		asked                        string
		closed                       int
	}{
		{"good", "/plain/name/7/end", "p", "k", "joe", true, 200, `{"data":{"id":"joe","list":[]}}`, "k {N:7 body:{Name:joe Text: Secret:}}", 1},
		{"nothing is looked at before the proof", "/plain/name/x/end", "", "a b", "bad", true, 403, "not proven", "", 0},
		{"what was read is closed where the proof is bad", "/plain/name/7/end", "q", "k", "joe", true, 403, "not proven", "", 1},
		{"the key comes after it", "/plain/name/x/end", "p", "a b", "bad", true, 400, "visible ASCII", "", 1},
		{"then the address", "/plain/name/x/end", "p", "k", "joe", true, 400, "n: want a whole number", "", 1},
		{"then the body", "/plain/name/7/end", "p", "k", "bad", true, 400, "a bad name", "", 1},
		{"then the rules", "/plain/name/7/end", "p", "k", "more than eight", true, 400, "name: longer", "", 1},
		{"the service's own gate answers", "/plain/name/7/end", "p", "k", "joe", false, 429, "later", "", 1},
		{"no route", "/plain/name/7", "p", "k", "joe", true, 404, "", "", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			asked, closed := "", 0
			routes := rest.Table[box]{named}.Bind(func(_ string, key wire.Key, in any) (any, error) {
				asked = strings.TrimSpace(string(key) + " " + fmt.Sprintf("%+v", in))
				return made{ID: in.(edit).Name}, nil
			})
			h := plain.Handler(rest.Options{
				Open: func(r *http.Request, i rest.Info, values []string) (rest.Opened, error) {
					require.Equal(t, "plain.name", i.Op)
					require.Len(t, values, 1)
					switch r.Header.Get("Proof") {
					case "":
						return nil, wire.Errorf(wire.Forbidden, "", "not proven")
					case "q":
						return letter{"", &closed}, wire.Errorf(wire.Forbidden, "", "not proven")
					}
					data, err := io.ReadAll(r.Body)
					return letter{string(data), &closed}, err
				},
				Admit: func(w http.ResponseWriter, r *http.Request, o rest.Opened, serve http.HandlerFunc) {
					require.Zero(t, closed, "it is open while it is served")
					require.Equal(t, c.text, o.(letter).text)
					if c.admit {
						serve(w, r)
						return
					}
					http.Error(w, "later", http.StatusTooManyRequests)
				},
			}, routes)
			req := httptest.NewRequestWithContext(t.Context(), "POST", c.path, strings.NewReader(c.text))
			req.Header.Set("Proof", c.proof)
			req.Header.Set(wire.KeyHeader, c.key)
			rec := httptest.NewRecorder()
			h.ServeHTTP(rec, req)
			require.Equal(t, c.status, rec.Code, rec.Body.String())
			require.Contains(t, rec.Body.String(), c.want)
			require.Equal(t, c.asked, asked)
			require.Equal(t, c.closed, closed)
		})
	}
}

func TestAServiceWritesItsRequests(t *testing.T) {
	w := &wireTo{status: 200, content: js, text: `{"id":"b1"}`}
	c := rest.Client{API: plain, BaseURL: "http://x.example/", Doer: w, Write: func(ctx context.Context, i rest.Info, address string, in any) (*http.Request, error) {
		if in.(edit).Name == "" {
			return nil, wire.Errorf(wire.Unavailable, i.Op, "no name")
		}
		return http.NewRequestWithContext(ctx, i.Method, address+"?p=1", strings.NewReader(in.(edit).Name))
	}}
	write := rest.Endpoint[box, edit, made]{Op: "plain.name", Method: "POST", Path: "/name/{n}/", Status: 200, Wants: rest.Write}
	_, err := write.Call(t.Context(), c, "k", edit{7, body{Name: "joe"}})
	require.NoError(t, err)
	require.Equal(t, "POST http://x.example/plain/name/7/?p=1 k||joe", w.got)
	w.got = ""
	_, err = write.Call(t.Context(), c, "a b", edit{7, body{Name: "joe"}})
	require.Equal(t, wire.Invalid, wire.CodeOf(err))
	_, err = write.Call(t.Context(), c, "k", edit{7, body{}})
	require.Equal(t, wire.Unavailable, wire.CodeOf(err))
	_, err = write.Call(t.Context(), c, "k", edit{0, body{Name: "joe"}})
	require.Equal(t, wire.Invalid, wire.CodeOf(err))
	require.Empty(t, w.got, "nothing was sent")
	c.Doer = wireFails{}
	_, err = write.Call(t.Context(), c, "k", edit{7, body{Name: "joe"}})
	require.Equal(t, wire.UnknownOutcome, wire.CodeOf(err))
}

// wireFails is a line that breaks.
type wireFails struct{}

// Do implements wire.Doer.
func (wireFails) Do(*http.Request) (*http.Response, error) { return nil, errors.New("broken") }
