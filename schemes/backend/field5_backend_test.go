package backend_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/schemes/hosted"
	"posagent/schemes/paylinks"
	"posagent/schemes/wire"
)

// A refund of 1.00 whose amount stands in the address (a shop that hands its parameters to the wrong argument of its HTTP library), or
// is written "Amount", gave the whole payment back: no reader finds it, and absent means all (MONEY A.7). The kind: every field whose
// absence means all, the last or a default, in the address of each service's writes; and by links, whose bodies are forms, also in other
// letters and with blanks, as a form and as JSON. JSON of the other services refuses other letters since it is decoded strictly. An
// address that repeats what the body says, and one with other parameters, is taken as before.
func TestField5_AValueThatNobodyReadsIsNotAbsent(t *testing.T) {
	_, srv := serve(t, t.TempDir(), 0)
	const form = "application/x-www-form-urlencoded"
	send := func(path, kind, body string) (int, string) {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, srv.URL+path, strings.NewReader(body))
		require.NoError(t, err)
		req.Header.Set("Content-Type", kind)
		req.Header.Set(paylinks.APIKeyHeader, "demo-secret")
		if strings.Contains(path, "/operations/") || strings.Contains(path, "/build/") {
			req.Header.Set(hosted.KeyHeader, "demo-api-key")
			req.Header.Set("Correlation-Id", "c0a80101-0000-4000-8000-000000000001")
			req.Header.Set(wire.KeyHeader, string(wire.NewKey()))
		}
		if strings.HasPrefix(path, "/api/v1/") && req.Header.Get(wire.KeyHeader) == "" {
			req.Header.Del(paylinks.APIKeyHeader)
			req.Header.Set("Authorization", demoBearer)
		}
		resp, err := http.DefaultClient.Do(req)
		require.NoError(t, err)
		defer resp.Body.Close()
		text, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		return resp.StatusCode, string(text)
	}
	const (
		create  = "amount=1000&currency=EUR&title=C&purpose=C&description=T&referenceId=o1&sku=c&psp=1"
		refund  = "/v1.0/Transaction/1/refund?instance=demo"
		charge  = "/v1.0/Transaction/1/?instance=demo"
		invoice = "/v1.0/Invoice/?instance=demo"
	)
	for _, row := range []struct{ path, body, field, good string }{
		{"/api/v1/payments/P1/Authorize?", "{}", "amount", "5"},
		{"/api/v1/payments/P1/Capture?", "{}", "amount", "5"},
		{"/api/v1/payments/P1/Refund?", "{}", "amount", "5"},
		{"/api/v1/tokens/recurring?", `{"currencyCode":"EUR"}`, "amount", "5"},
		{"/api/v1/operations/O1/captures?", "{}", "amount", "5"},
		{"/api/v1/operations/O1/refunds?", "{}", "amount", "5"},
		{"/api/v1/operations/O1/refunds?", `{"amount":"5"}`, "currency", "EUR"},
		{"/api/v1/build/confirm_payment?", `{"sessionId":"S1"}`, "amount", "5"},
		{refund + "&", "", "amount", "5"},
		{charge + "&", "purpose=p", "amount", "5"},
		{invoice + "&", create, "reservation", "1"},
		{invoice + "&", create, "preAuthorization", "1"},
		{invoice + "&", create, "subscriptionState", "1"},
		{invoice + "&", create, "expirationDate", "2099-01-01"},
	} {
		kind := wire.JSONType
		if strings.HasPrefix(row.path, "/v1.0/") {
			kind = form
		}
		for _, name := range []string{row.field, strings.ToUpper(row.field), row.field + "%20"} {
			status, answer := send(row.path+name+"="+row.good, kind, row.body)
			require.Equal(t, http.StatusBadRequest, status, "%s%s: %s", row.path, name, answer)
			require.Contains(t, answer, row.field, "%s%s", row.path, name)
		}
		status, answer := send(row.path+"shop="+row.good, kind, row.body)
		require.NotEqual(t, http.StatusBadRequest, status, "%s with another parameter: %s", row.path, answer)
	}
	for _, row := range []struct{ path, kind, body, field string }{
		{refund, form, "Amount=5", "amount"},
		{refund, form, "AMOUNT=5", "amount"},
		{refund, form, "amount%20=5", "amount"},
		{refund, wire.JSONType, `{"Amount":5}`, "amount"},
		{charge, form, "Amount=5", "amount"},
		{charge, wire.JSONType, `{" amount":5}`, "amount"},
		{invoice, form, create + "&Reservation=1", "reservation"},
		{invoice, form, create + "&preauthorization=1", "preAuthorization"},
		{invoice, form, create + "&expirationdate=2099-01-01", "expirationDate"},
		{invoice, form, create + "&SubscriptionState=1", "subscriptionState"},
	} {
		status, answer := send(row.path, row.kind, row.body)
		require.Equal(t, http.StatusBadRequest, status, "%s: %s: %s", row.path, row.body, answer)
		require.Contains(t, answer, row.field, row.body)
	}
	status, answer := send(refund+"&amount=5", form, "amount=5")
	require.NotEqual(t, http.StatusBadRequest, status, "what the body says, too: %s", answer)
}

// A capture of 5.00 of a link's reservation of 10.00 collected 10.00, since that call has no amount and did not look for one. The kind:
// the calls of each service that take a thing whole. Hosted build refuses another amount than the operation's, the terminal's own
// reversal likewise; a Cancel of S0 2.2 is sent with an amount by its official client, and has none. Links: capture and cancel, here.
func TestField5_AnAmountOfWhatIsTakenWholeIsRefused(t *testing.T) {
	_, srv := serve(t, t.TempDir(), 0)
	for _, row := range []struct{ method, path, body string }{
		{http.MethodPost, "/v1.0/Transaction/1/capture?instance=demo", "amount=500"}, {http.MethodPost, "/v1.0/Transaction/1/capture?instance=demo", "Amount=500"},
		{http.MethodPost, "/v1.0/Transaction/1/capture?instance=demo&amount=500", ""}, {http.MethodDelete, "/v1.0/Transaction/1/?instance=demo", "amount=500"},
		{http.MethodDelete, "/v1.0/Transaction/1/?instance=demo&amount=500", ""},
	} {
		for _, with := range []bool{true, false} {
			if !with {
				row.path, row.body = strings.TrimSuffix(row.path, "&amount=500"), "id=1"
			}
			req, err := http.NewRequestWithContext(t.Context(), row.method, srv.URL+row.path, strings.NewReader(row.body))
			require.NoError(t, err)
			req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			req.Header.Set(paylinks.APIKeyHeader, "demo-secret")
			resp, err := http.DefaultClient.Do(req)
			require.NoError(t, err)
			text, err := io.ReadAll(resp.Body)
			require.NoError(t, err)
			require.NoError(t, resp.Body.Close())
			require.Equal(t, with, resp.StatusCode == http.StatusBadRequest && strings.Contains(string(text), "amount"), "%s %s %s: %s", row.method, row.path, row.body, text)
		}
	}
}
