package paylinks_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/schemes/paylinks"
	"posagent/schemes/wire"
	"posagent/schemes/wire/bracket"
)

// made keeps the last create request.
type made struct {
	failing
	last *paylinks.CreateRequest
}

func (m made) Create(_ context.Context, _ wire.Key, req paylinks.CreateRequest) (paylinks.Created, error) {
	*m.last = req
	return paylinks.Created{}, nil
}

// TestField2_S7TheOfficialClientsFullLink: payrexx-php sends a subscription beside preAuthorization, and addresses with the spaces of a
// shop's name. The kind: each pair of the three ways to take the money, and each redirect address, with spaces where an address may have
// them and where not.
func TestField2_S7TheOfficialClientsFullLink(t *testing.T) {
	good := []string{"title", "t", "description", "d", "referenceId", "r", "purpose", "p", "amount", "1250", "currency", "EUR", "subscriptionInterval", "P1M"}
	for _, row := range []struct {
		more []string
		code int
		url  string
	}{
		{[]string{"subscriptionState", "1", "preAuthorization", "1"}, 200, ""},
		{[]string{"subscriptionState", "1", "reservation", "1"}, 400, ""},
		{[]string{"preAuthorization", "1", "reservation", "1"}, 400, ""},
		{[]string{"successRedirectUrl", "https://shop.example/my shop/thank you"}, 200, "https://shop.example/my%20shop/thank%20you"},
		{[]string{"failedRedirectUrl", " https://shop.example/x?shop=my shop "}, 200, "https://shop.example/x?shop=my%20shop"},
		{[]string{"successRedirectUrl", "https://my shop.example/"}, 400, ""},
		{[]string{"successRedirectUrl", "javascript: alert(1)"}, 400, ""},
	} {
		f := pairs(append(good[:len(good):len(good)], row.more...)...)
		var got paylinks.CreateRequest
		req := httptest.NewRequest(http.MethodPost, "/v1.0/Invoice/?instance=demo", strings.NewReader(append(f, bracket.Pair{Name: "ApiSignature", Value: paylinks.Sign("demo-secret", f)}).Encode()))
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		rec := httptest.NewRecorder()
		paylinks.Handler(made{last: &got}, failingTxns{}, paylinks.HandlerOptions{Secret: demo}).ServeHTTP(rec, req)
		require.Equal(t, row.code == 400, rec.Code == 400, "%v: %d %s", row.more, rec.Code, rec.Body)
		require.Equal(t, row.url, got.SuccessRedirectURL+got.FailedRedirectURL, row.more)
	}
}
