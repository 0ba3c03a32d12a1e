package hosted_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/schemes/hosted"
	"posagent/schemes/hosted/hostedtest"
	"posagent/schemes/wire"
	"posagent/schemes/wire/rest"
	"posagent/schemes/wire/wiretest"
)

// correlated checks the Correlation-Id of a request, fresh for each, and sends the transcripts' own.
type correlated struct {
	t    *testing.T
	next wire.Doer
	seen map[string]bool
}

func (c correlated) Do(req *http.Request) (*http.Response, error) {
	id := req.Header.Get(hosted.CorrelationHeader)
	require.Regexp(c.t, regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$`), id)
	require.NotContains(c.t, c.seen, id, "a new one for every call")
	c.seen[id] = true
	req.Header.Set(hosted.CorrelationHeader, hostedtest.Correlation)
	return c.next.Do(req)
}

func transcripts(t *testing.T) wiretest.Service {
	seen := map[string]bool{}
	return wiretest.Service{
		API: hosted.API(), Reasons: hosted.Reasons(), Secrets: []string{"demo-api-key", "4111111111111111"},
		Client: func(base string, d wire.Doer) []rest.Bound {
			c := &hosted.Client{BaseURL: base, APIKey: "demo-api-key", Doer: correlated{t, d, seen}}
			return append(hosted.SessionsTable().Bind(c.Sessions()), hosted.OrdersTable().Bind(c.Orders())...)
		},
		Adapt: func(call, _ map[string]json.RawMessage) {
			switch id, amount := call["id"], call["amount"]; string(call["op"]) {
			case `"state"`, `"card"`:
				call["sessionId"] = id
				delete(call, "id")
			case `"finalize"`, `"cancel"`:
				body := map[string]json.RawMessage{"sessionId": id}
				if amount != nil {
					body["amount"] = amount
					call["op"] = json.RawMessage(`"confirm_payment"`)
				}
				call["body"], _ = json.Marshal(body) // what was read can be written
				delete(call, "id")
				delete(call, "amount")
			}
		},
		Survives: func(p wire.Problem) string {
			switch {
			case p.Code == wire.Invalid && p.Reason == "":
				return hosted.BadParameter // what is not said is a parameter
			case p.Code == wire.KeyReused:
				return ""
			}
			return p.Reason
		},
	}
}

func TestClientAlone(t *testing.T) { transcripts(t).ClientAlone(t) }

func TestHandlerAlone(t *testing.T) { transcripts(t).HandlerAlone(t) }

func TestCodesAndReasonsSurviveTheWire(t *testing.T) { transcripts(t).CodesSurvive(t, nil) }

func TestWhatWasProvablyNotSent(t *testing.T) { transcripts(t).NeverSent(t) }

// The operations on an order want a key of their caller, whatever the service behind the Handler asks for (S2).
func TestHandlerWantsTheKeyOfAnOperation(t *testing.T) {
	h := hosted.Handler(nil, nil, hosted.HandlerOptions{})
	for _, op := range []string{"captures", "refunds", "cancels"} {
		r := httptest.NewRequest(http.MethodPost, hosted.Prefix+"/operations/1234/"+op, strings.NewReader(`{"amount":"1","currency":"EUR"}`))
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set(hosted.CorrelationHeader, hostedtest.Correlation)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		require.Equal(t, http.StatusBadRequest, w.Code, "%s: %s", op, w.Body)
		require.Contains(t, w.Body.String(), hosted.BadKey, op)
	}
}
