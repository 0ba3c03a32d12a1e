package payments_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/schemes/payments"
	"posagent/schemes/wire"
	"posagent/schemes/wire/check"
	"posagent/schemes/wire/rest"
	"posagent/schemes/wire/wiretest"
)

func TestHandlerKnowsItsPaths(t *testing.T) {
	for path, want := range map[string]bool{"/api/v1/Payments/": true, "/api/v1/payments/P1/Capture": true, "/api/v1/tokens": false, "/api/v1/paymentsx": false} {
		require.Equal(t, want, payments.API().Is(httptest.NewRequest(http.MethodGet, path, nil)), path)
	}
}

const visa = "4111111111111111"

// around is a Handler without a service: each good request comes to answer.
func around(operator string, answer func(a *rest.Asked) (any, error)) http.Handler {
	return payments.Handler(nil, payments.HandlerOptions{
		Operator: operator, Around: func(_ context.Context, a *rest.Asked) (any, error) { return answer(a) },
	})
}

// TestOddIDs: ids travel whole, whatever they are made of.
func TestOddIDs(t *testing.T) {
	for _, id := range []string{"a/b", "%2f", "ä ö", "a?b#c", "１", "1;2", "CAPTURE", "a+b"} {
		h := around("", func(a *rest.Asked) (any, error) {
			require.Equal(t, "payments.cancel", a.Op)
			require.Equal(t, wire.Key("k"), a.Key)
			return payments.Done{PaymentID: id, TransactionRef: "T1"}, nil
		})
		c := &payments.Client{BaseURL: "http://gateway.example/", Doer: wiretest.Direct(h)}
		d, err := c.Cancel(t.Context(), "k", id, payments.CancelRequest{}) // an answer about another id is none
		require.NoError(t, err, id)
		require.Equal(t, id, d.PaymentID)
	}
}

// decode reads a create as the Handler does.
func decode(data []byte, operator string) (payments.CreateRequest, error) {
	req, err := wire.Parse[payments.CreateRequest]("op", data)
	if err == nil {
		err = req.Normal(operator, nil)
	}
	return req, err
}

// valid applies the rules of a request.
func valid(req check.Checked) error { return check.Request("op", req) }

func good() *payments.CreateRequest {
	return &payments.CreateRequest{Type: payments.ProviderHosted, Amount: 100, CurrencyCode: "EUR"}
}

// sent is the type that a Client of an operator sends for a request.
func sent(t *testing.T, operator string, req payments.CreateRequest) (typ string) {
	t.Helper()
	c := &payments.Client{BaseURL: wiretest.BaseURL, Operator: operator, Doer: doer(func(r *http.Request) (*http.Response, error) {
		got, err := wire.ReadBody(r, 0)
		require.NoError(t, err)
		body, err := wire.Parse[payments.CreateRequest]("op", got)
		require.NoError(t, err)
		typ = body.Type
		return nil, context.Canceled
	})}
	_, err := c.Create(t.Context(), "", req)
	require.Error(t, err)
	return typ
}

type doer func(*http.Request) (*http.Response, error)

func (f doer) Do(req *http.Request) (*http.Response, error) { return f(req) }
