package methods_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/schemes/methods"
	"posagent/schemes/methods/methodstest"
	"posagent/schemes/wire"
	"posagent/schemes/wire/wiretest"
)

func TestEveryFieldOfTheSpecification(t *testing.T) {
	wiretest.Fields(t, "testdata/fields.txt", map[string]any{"definition": methods.Definition{}},
		"definition.queries[]{}.label", "definition.queries[]{}.min", "definition.queries[]{}.max")
}

// result is what a transcript's call comes to.
type result struct {
	Defs     []methods.Definition `json:"defs"`
	Problems int                  `json:"problems"`
	wiretest.Failure
}

func TestClientAlone(t *testing.T) {
	for _, dir := range []string{"testdata/both", "testdata/client"} {
		for _, tr := range wiretest.Load(t, dir) {
			t.Run(tr.Name, func(t *testing.T) {
				var q methods.Query
				var want result
				tr.Call(t, &q)
				tr.Result(t, &want)
				srv, problems := tr.Server(t), 0
				c := &methods.Client{BaseURL: wiretest.BaseURL, Doer: srv, Problem: func(err error) {
					require.Error(t, err)
					problems++
				}}
				defs, err := c.List(t.Context(), q)
				require.Equal(t, 1, srv.Hits)
				require.Equal(t, want.Problems, problems)
				if want.Code == "" {
					require.NoError(t, err)
					require.Equal(t, want.Defs, defs)
					return
				}
				want.Check(t, err)
			})
		}
	}
}

// scripted is a Service that expects one question and gives one result.
type scripted struct {
	t    *testing.T
	want methods.Query
	give result
	hits int
}

func (s *scripted) List(_ context.Context, q methods.Query) ([]methods.Definition, error) {
	s.hits++
	require.Equal(s.t, s.want, q)
	return s.give.Defs, s.give.Err()
}

func TestHandlerAlone(t *testing.T) {
	for _, tr := range wiretest.Load(t, "testdata/both") {
		t.Run(tr.Name, func(t *testing.T) {
			svc := &scripted{t: t}
			tr.Call(t, &svc.want)
			tr.Result(t, &svc.give)
			tr.Serve(t, methods.Handler(svc, methods.HandlerOptions{}))
			require.Equal(t, 1, svc.hits)
		})
	}
}

type doer func(*http.Request) (*http.Response, error)

func (f doer) Do(req *http.Request) (*http.Response, error) { return f(req) }

func TestCodesSurviveTheWire(t *testing.T) {
	q := methods.Query{BaxID: "B", TerminalID: "T"}
	fake := &methodstest.Fake{}
	c := &methods.Client{BaseURL: wiretest.BaseURL, Doer: doer(func(req *http.Request) (*http.Response, error) {
		rec := httptest.NewRecorder()
		methods.Handler(fake, methods.HandlerOptions{}).ServeHTTP(rec, req)
		return rec.Result(), nil
	})}
	for _, code := range wire.Codes() {
		fake.Fail(&wire.Error{Code: code, Msg: "because", RetryAfter: time.Second})
		_, err := c.List(t.Context(), q)
		var e *wire.Error
		require.ErrorAs(t, err, &e)
		require.Equal(t, code, e.Code)
		require.Equal(t, time.Second, e.RetryAfter)
	}
	fake.Fail(errors.New("dsn=secret"))
	_, err := c.List(t.Context(), q)
	require.Equal(t, wire.Internal, wire.CodeOf(err))
	require.NotContains(t, err.Error(), "secret")
}

func TestClientWithoutNetwork(t *testing.T) {
	c := &methods.Client{BaseURL: wiretest.BaseURL, Doer: doer(func(*http.Request) (*http.Response, error) { return nil, io.ErrUnexpectedEOF })}
	_, err := c.List(t.Context(), methods.Query{BaxID: "B", TerminalID: "T"})
	require.Equal(t, wire.Unavailable, wire.CodeOf(err))
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
	_, err = (&methods.Client{BaseURL: "http://a b", Doer: http.DefaultClient}).List(t.Context(), methods.Query{BaxID: "B", TerminalID: "T"})
	require.Equal(t, wire.Unavailable, wire.CodeOf(err))
}
