package methods_test

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/schemes/methods"
	"posagent/schemes/wire"
	"posagent/schemes/wire/rest"
	"posagent/schemes/wire/wiretest"
)

func TestEveryFieldOfTheSpecification(t *testing.T) {
	types := map[string]any{"definition": methods.Definition{}}
	wiretest.Compared(t, methods.Table().Infos(), types, nil)
	wiretest.Fields(t, "testdata/fields.txt", types,
		"definition.queries[]{}.label", "definition.queries[]{}.min", "definition.queries[]{}.max")
}

func transcripts() wiretest.Service {
	return wiretest.Service{
		API: methods.API(),
		Client: func(base string, d wire.Doer) []rest.Bound {
			return methods.Table().Bind(&methods.Client{BaseURL: base, Doer: d})
		},
		Adapt: func(call, result map[string]json.RawMessage) {
			call["op"] = json.RawMessage(`"list"`)
			if ids := string(call["Exclude"]); ids == "null" {
				delete(call, "Exclude")
			} else {
				call["Exclude"] = json.RawMessage(`"` + strings.Trim(ids, "[]") + `"`)
			}
			delete(result, "problems") // TestEachProblemIsTold
		},
	}
}

func TestClientAlone(t *testing.T) { transcripts().ClientAlone(t) }

func TestHandlerAlone(t *testing.T) { transcripts().HandlerAlone(t) }

func TestCodesSurviveTheWire(t *testing.T) { transcripts().CodesSurvive(t, nil) }

func TestWhatWasProvablyNotSent(t *testing.T) { transcripts().NeverSent(t) }

func TestEachProblemIsTold(t *testing.T) {
	for _, dir := range []string{"testdata/both", "testdata/client"} {
		for _, tr := range wiretest.Load(t, dir) {
			t.Run(tr.Name, func(t *testing.T) {
				var q struct {
					BaxID, TerminalID, Caller, Lang string
					Exclude                         []int32
				}
				var want map[string]any
				tr.Call(t, &q)
				tr.Result(t, &want)
				problems := 0.0
				c := &methods.Client{BaseURL: wiretest.BaseURL, Doer: tr.Server(t), Problem: func(err error) {
					require.Error(t, err)
					problems++
				}}
				_, _ = c.List(t.Context(), methods.Query{BaxID: q.BaxID, TerminalID: q.TerminalID, Exclude: q.Exclude, Caller: q.Caller, Lang: q.Lang})
				if want["problems"] == nil {
					want["problems"] = 0.0
				}
				require.Equal(t, want["problems"], problems)
			})
		}
	}
}

type doer func(*http.Request) (*http.Response, error)

func (f doer) Do(req *http.Request) (*http.Response, error) { return f(req) }

func TestClientWithoutNetwork(t *testing.T) {
	c := &methods.Client{BaseURL: wiretest.BaseURL, Doer: doer(func(*http.Request) (*http.Response, error) { return nil, io.ErrUnexpectedEOF })}
	_, err := c.List(t.Context(), methods.Query{BaxID: "B", TerminalID: "T"})
	require.Equal(t, wire.Unavailable, wire.CodeOf(err))
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
	_, err = (&methods.Client{BaseURL: "http://a b", Doer: http.DefaultClient}).List(t.Context(), methods.Query{BaxID: "B", TerminalID: "T"})
	require.Equal(t, wire.Unavailable, wire.CodeOf(err))
}
