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

// Null, an empty text, zero and a value of another type are never "absent" where absent means all, the last or a default
// (MONEY A.7). The members are every field of a request whose absence means that: amounts of captures, refunds and
// reservations (all that is left), of finalize (the session's), the limit and the terms of a recurring token (none), the fee
// of a method (none), what a disputed purchase and a list of cases are searched by (any), currencies (the thing's own),
// flags that decide how money moves. Nothing of these names a payment that exists: what is judged is the request alone.
func TestField2_R1b_NoValueIsNotAbsent(t *testing.T) {
	_, srv := serve(t, t.TempDir(), 0)
	send := func(path, kind, body string) (int, string) {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, srv.URL+path, strings.NewReader(body))
		require.NoError(t, err)
		req.Header.Set("Content-Type", kind)
		switch {
		case strings.HasPrefix(path, "/v1.0/"):
			req.Header.Set(paylinks.APIKeyHeader, "demo-secret")
		case strings.Contains(path, "/operations/"), strings.Contains(path, "/build/"):
			req.Header.Set(hosted.KeyHeader, "demo-api-key")
			req.Header.Set("Correlation-Id", "c0a80101-0000-4000-8000-000000000001")
			req.Header.Set(wire.KeyHeader, string(wire.NewKey()))
		default:
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
		page     = `{"type":"ProviderHostedEcom","amount":1000,"currencyCode":"EUR","payPageConfiguration":{"paymentMethodActionInfoList":[{"action":"Allow",VALUE}]}}`
		token    = `{"type":"Moto","amount":1000,"currencyCode":"EUR","paymentMethodDetails":{"type":"PaymentWithToken","token":"t",VALUE}}`
		dispute  = `{"providerDisputeReasonCode":"D001","acqReferenceData":"74000010000000000000001",VALUE}`
		purchase = `{"providerDisputeReasonCode":"D001","cardNumber":"AA==","transactionDate":"2026-11-28","transactionAmount":5,VALUE}`
		list     = `{"disputeCaseNumber":"500001",VALUE}`
	)
	for _, row := range []struct{ path, body, field, good string }{
		{"/api/v1/payments/P1/Authorize", `{VALUE}`, "amount", "5"},
		{"/api/v1/payments/P1/Capture", `{VALUE}`, "amount", "5"},
		{"/api/v1/payments/P1/Refund", `{VALUE}`, "amount", "5"},
		{"/api/v1/payments", page, "fee", "5"},
		{"/api/v1/payments", token, "isRecurring", "true"},
		{"/api/v1/tokens/recurring", `{"currencyCode":"EUR",VALUE}`, "amount", "5"},
		{"/api/v1/tokens/recurring", `{"amount":5,VALUE}`, "currencyCode", `"EUR"`},
		{"/api/v1/tokens/recurring", `{VALUE}`, "recurringFrequency", "30"},
		{"/api/v1/tokens/recurring", `{VALUE}`, "recurringExpiryDate", `"2030-01-01"`},
		{"/api/v1/tokens/recurring", `{VALUE}`, "recurringType", `"CardOnFile"`},
		{"/api/v1/operations/O1/captures", `{VALUE}`, "amount", `"5"`},
		{"/api/v1/operations/O1/refunds", `{VALUE}`, "amount", `"5"`},
		{"/api/v1/operations/O1/refunds", `{"amount":"5",VALUE}`, "currency", `"EUR"`},
		{"/api/v1/build/confirm_payment", `{"sessionId":"S1",VALUE}`, "amount", `"5"`},
		{"/api/v1/disputes", purchase, "acqReferenceData", `"74000010000000000000001"`},
		{"/api/v1/disputes", dispute, "providerTransactionID", `"P1"`},
		{"/api/v1/disputes", dispute, "netsTransactionID", `"P1"`},
		{"/api/v1/disputes", dispute, "cardSchemeTransactionID", `"P1"`},
		{"/api/v1/disputes", dispute, "transactionAmount", "5"},
		{"/api/v1/disputes", dispute, "transactionCurrency", `"EUR"`},
		{"/api/v1/disputes", dispute, "transactionDate", `"2026-11-28"`},
		{"/api/v1/disputes", dispute, "disputeAmount", "5"},
		{"/api/v1/disputes", dispute, "disputeCurrency", `"EUR"`},
		{"/api/v1/disputes", dispute, "claimValidationRequired", `"Y"`},
		{"/api/v1/disputes/list", list, "cardId", `"c"`},
		{"/api/v1/disputes/list", list, "disputeCaseStatus", `"1000"`},
		{"/api/v1/disputes/list", list, "disputeCreatedDate", `"2026-11-28"`},
		{"/api/v1/disputes/list", list, "disputeModifiedDate", `"2026-11-28"`},
		{"/api/v1/disputes/list", list, "disputeGroupNumber", `"1"`},
		{"/api/v1/disputes/list-cases-by-queue", `{"queueID":1000,VALUE}`, "isOpen", `"Y"`},
	} {
		for _, value := range []string{"null", `""`, "0", "{}"} {
			texts := strings.HasPrefix(row.good, `"`) && !strings.Contains(row.path, "/operations/") && !strings.Contains(row.path, "/build/")
			if value == "0" && (texts || row.field == "fee") {
				continue // another type, which {} stands for; a fee of 0 is a fee
			}
			status, answer := send(row.path, wire.JSONType, strings.ReplaceAll(row.body, "VALUE", `"`+row.field+`":`+value))
			if strings.Contains(answer, `"responseCode":"99"`) { // a refusal for which the service has a code of its own (S1 7)
				status = http.StatusBadRequest
			}
			require.Equal(t, http.StatusBadRequest, status, "%s %s: %s: %s", row.path, row.field, value, answer)
			require.Contains(t, answer, row.field, "%s: %s", row.path, value)
		}
		status, answer := send(row.path, wire.JSONType, strings.ReplaceAll(row.body, "VALUE", `"`+row.field+`":`+row.good))
		require.NotEqual(t, http.StatusBadRequest, status, "%s %s: a value is good: %s", row.path, row.field, answer)
	}
	const invoice = "/v1.0/Invoice/?instance=demo"
	const create = "amount=1000&currency=EUR&title=C&purpose=C&description=T&referenceId=o1&sku=c&psp=1&"
	for _, row := range []struct{ path, body, field, good string }{
		{"/v1.0/Transaction/1/refund?instance=demo", "", "amount", "5"},
		{"/v1.0/Transaction/1/?instance=demo", "", "amount", "5"},
		{invoice, create, "reservation", "0"},
		{invoice, create, "preAuthorization", "0"},
		{invoice, create, "subscriptionState", "0"},
		{invoice, create, "expirationDate", "2099-01-01"},
	} {
		for _, value := range []string{"", "x"} {
			status, answer := send(row.path, "application/x-www-form-urlencoded", row.body+row.field+"="+value)
			require.Equal(t, http.StatusBadRequest, status, "%s %s=%s: %s", row.path, row.field, value, answer)
			require.Contains(t, answer, row.field)
		}
		status, answer := send(row.path, "application/x-www-form-urlencoded", row.body+row.field+"="+row.good)
		require.NotEqual(t, http.StatusBadRequest, status, "%s %s: a value is good: %s", row.path, row.field, answer)
	}
	for _, path := range []string{"/v1.0/Transaction/1/refund?instance=demo", "/v1.0/Transaction/1/?instance=demo"} {
		for _, value := range []string{"null", `""`, "0", "{}", "[ ]", `"x"`, `{"x":5}`, "[5]", "false"} {
			status, answer := send(path, "application/json", `{"amount":`+value+`}`)
			require.Equal(t, http.StatusBadRequest, status, "%s as JSON: %s: %s", path, value, answer)
		}
		status, answer := send(path, "application/json", `{"amount":5}`)
		require.NotEqual(t, http.StatusBadRequest, status, "%s", answer)
	}
	for _, zero := range []string{"refund", ""} {
		status, _ := send("/v1.0/Transaction/1/"+zero+"?instance=demo", "application/x-www-form-urlencoded", "amount=0")
		require.Equal(t, http.StatusBadRequest, status)
	}
}
