package hostedtest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/schemes/hosted"
	"posagent/schemes/wire"
)

// Correlation is a good Correlation-Id that is no UUID of RFC 4122, as real clients make them.
const Correlation = "0123abcd-4567-89ef-0123-456789abcdef"

// raw sends one request as it stands; path is what follows the base address.
func (f Fixture) raw(t *testing.T, method, path, body string, header ...string) (*http.Response, string) {
	t.Helper()
	typ := ""
	if method == http.MethodPost {
		typ = "application/json"
	}
	return f.Wire.Raw(t, method, path, typ, body, append([]string{hosted.CorrelationHeader, Correlation}, header...)...)
}

// Refusal checks an error in the shape of S2 7.
func Refusal(t *testing.T, resp *http.Response, body string, status int, code string) {
	t.Helper()
	require.Equal(t, status, resp.StatusCode, body)
	require.Equal(t, hosted.ContentType, resp.Header.Get("Content-Type"))
	var list struct {
		Errors []struct{ Code, Description string }
	}
	require.NoError(t, json.Unmarshal([]byte(body), &list), body)
	require.NotEmpty(t, list.Errors, body)
	require.Equal(t, code, list.Errors[0].Code, body)
	require.NotEmpty(t, list.Errors[0].Description)
}

func success(t *testing.T, resp *http.Response, body string) (m map[string]any) {
	t.Helper()
	require.Equal(t, http.StatusOK, resp.StatusCode, body)
	require.Equal(t, hosted.ContentType, resp.Header.Get("Content-Type"))
	require.Equal(t, "no-store", resp.Header.Get("Cache-Control"))
	require.NoError(t, json.Unmarshal([]byte(body), &m), body)
	return m
}

// shop is a body as a shop's extension for a web shop sends it: numbers as amounts, no customer, fields nobody specified.
func shop() (id, body string) {
	id = Good().Order.OrderID
	return id, fmt.Sprintf(`{"merchantUrl":"https:\/\/shop.example","order":{"orderId":%q,"invoiceId":"Order-1","amount":5000,"currency":"EUR",
		"description":"WC Order ","customField":"Woocommerce 9 - nexixpay 8","customerId":0,"plan":{"planType":"X","installmentQty":2}},
		"paymentSession":{"actionType":"PAY","amount":5000,"recurrence":{"action":"NO_RECURRING"},"exemptions":"NO_PREFERENCE","language":"ITA",
		"resultUrl":"https://shop.example/r?a=1","cancelUrl":"https://shop.example/c","notificationUrl":"","paymentService":"CARDS"},"version":3}`, id)
}

func (f Fixture) wire(t *testing.T) {
	t.Run("every prefix", func(t *testing.T) {
		for _, p := range []string{"/api/v1", "/api/v1/api", "/psp/api/v1", "/api/phoenix-0.0/psp/api/v1"} {
			f.wholeWay(t, p)
		}
	})
	t.Run("no route", func(t *testing.T) {
		for _, path := range []string{"/api/v1/api/orders", "/api/v1/build/nothing", "/api/v1/operations/1/voids", "/api/v1/api/build/state/more"} {
			resp, body := f.raw(t, http.MethodPost, path, "{}")
			Refusal(t, resp, body, http.StatusNotFound, "NO_ROUTE")
		}
		resp, body := f.raw(t, http.MethodGet, "/api/v1/orders/build", "")
		Refusal(t, resp, body, http.StatusMethodNotAllowed, "NO_ROUTE")
		require.Equal(t, http.MethodPost, resp.Header.Get("Allow"))
	})
	t.Run("headers", f.headers)
	t.Run("bodies", f.bodies)
}

// wholeWay goes the way of a shop below one prefix.
func (f Fixture) wholeWay(t *testing.T, prefix string) {
	id, text := shop()
	resp, body := f.raw(t, http.MethodPost, prefix+"/orders/build", text)
	m := success(t, resp, body)
	session, ok := m["sessionId"].(string)
	require.True(t, ok)
	require.IsType(t, "", m["securityToken"])
	fields, ok := m["fields"].([]any)
	require.True(t, ok)
	for _, field := range fields {
		for _, name := range []string{"type", "class", "id", "src"} {
			require.IsType(t, "", field.(map[string]any)[name])
		}
	}
	f.Fill(t, session, f.Approved)
	resp, body = f.raw(t, http.MethodGet, prefix+"/build/state?sessionId="+session, "")
	require.Equal(t, hosted.Ready, success(t, resp, body)["state"])
	resp, body = f.raw(t, http.MethodGet, prefix+"/build/cardData?sessionId="+session, "")
	require.Equal(t, f.Approved[:6], success(t, resp, body)["bin"])
	resp, body = f.raw(t, http.MethodPost, prefix+"/build/finalize_payment", `{"sessionId":"`+session+`"}`)
	op, ok := success(t, resp, body)["operation"].(map[string]any)
	require.True(t, ok, body)
	strict(t, op)
	resp, body = f.raw(t, http.MethodPost, prefix+"/operations/"+op["operationId"].(string)+"/refunds", `{"amount":100,"currency":"EUR"}`, "Idempotency-Key", Correlation)
	require.IsType(t, "", success(t, resp, body)["operationId"])
	resp, body = f.raw(t, http.MethodGet, prefix+"/orders/"+id, "")
	m = success(t, resp, body)
	status, ok := m["orderStatus"].(map[string]any)
	require.True(t, ok)
	require.Equal(t, "5000", status["authorizedAmount"])
	require.Equal(t, "5000", status["capturedAmount"])
	order, ok := status["order"].(map[string]any)
	require.True(t, ok)
	require.Equal(t, "5000", order["amount"], "a text, however it came")
	require.Equal(t, "EUR", order["currency"])
	list, ok := m["operations"].([]any)
	require.True(t, ok)
	require.Len(t, list, 2)
	for _, o := range list {
		strict(t, o.(map[string]any))
	}
	require.IsType(t, []any{}, m["links"])
	resp, body = f.raw(t, http.MethodGet, prefix+"/payment_methods", "")
	require.NotEmpty(t, success(t, resp, body)["paymentMethods"])
}

// strict checks an operation as the strictest of real clients do.
func strict(t *testing.T, op map[string]any) {
	t.Helper()
	for _, name := range []string{"orderId", "operationId", "channel", "operationType", "operationResult", "operationTime", "paymentMethod", "paymentCircuit",
		"paymentInstrumentInfo", "paymentEndToEndId", "cancelledOperationId", "operationAmount", "operationCurrency", "paymentLinkId"} {
		require.IsType(t, "", op[name], name)
	}
	require.IsType(t, []any{}, op["warnings"])
	require.IsType(t, map[string]any{}, op["additionalData"])
}

func (f Fixture) headers(t *testing.T) {
	_, text := shop()
	for _, id := range []string{"", "x", strings.ReplaceAll(Correlation, "-", ""), strings.ToUpper(Correlation[:35]) + "g", Correlation + "0"} {
		resp, body := f.raw(t, http.MethodPost, "/api/v1/api/orders/build", text, hosted.CorrelationHeader, id)
		Refusal(t, resp, body, http.StatusBadRequest, hosted.BadParameter)
	}
	op := f.done(t, explicit(), f.Approved)
	for _, key := range []string{"", strings.Repeat("k", 65)} {
		resp, body := f.raw(t, http.MethodPost, "/api/v1/api/operations/"+op.OperationID+"/captures", `{}`, wire.KeyHeader, key)
		Refusal(t, resp, body, http.StatusBadRequest, hosted.BadKey)
	}
	f.sums(t, op.OrderID, "5000", "0", hosted.Authorization)
	resp, body := f.raw(t, http.MethodPost, "/api/v1/api/operations/"+op.OperationID+"/captures", `[]`, wire.KeyHeader, "k-"+op.OperationID)
	success(t, resp, body)
	resp, body = f.raw(t, http.MethodPost, "/api/v1/api/operations/"+op.OperationID+"/captures", `{"amount":"1"}`, wire.KeyHeader, "k-"+op.OperationID)
	Refusal(t, resp, body, http.StatusUnprocessableEntity, hosted.BadKey)
	f.sums(t, op.OrderID, "5000", "5000", hosted.Authorization, hosted.Capture)
	resp, body = f.raw(t, http.MethodPost, "/api/v1/api/orders/build", text, "Content-Type", "text/plain")
	Refusal(t, resp, body, http.StatusBadRequest, hosted.BadParameter)
}

func (f Fixture) bodies(t *testing.T) {
	_, text := shop()
	build := func(from, to string) (*http.Response, string) {
		require.Contains(t, text, from)
		return f.raw(t, http.MethodPost, "/api/v1/api/orders/build", strings.Replace(text, from, to, 1))
	}
	for _, c := range []struct{ from, to, code string }{
		{`{"merchantUrl"`, `["merchantUrl"`, hosted.BadJSON},
		{`"version":3}`, `"version":3}{}`, hosted.BadJSON},
		{`"currency":"EUR"`, `"currency":"EUR","currency":"SEK"`, hosted.BadParameter},
		{`"currency":"EUR"`, `"Currency":"EUR"`, hosted.BadParameter},
		{`"currency":"EUR"`, `"currency":null`, hosted.BadParameter},
		{`"amount":5000,"currency"`, `"amount":5000.0,"currency"`, hosted.AmountNotNumeric},
		{`"amount":5000,"currency"`, `"amount":5e3,"currency"`, hosted.AmountNotNumeric},
		{`"amount":5000,"currency"`, `"amount":null,"currency"`, hosted.BadParameter},
		{`"amount":5000,"currency"`, `"amount":-5000,"currency"`, hosted.AmountNotNumeric},
		{`"amount":5000,"currency"`, `"amount":"0x10","currency"`, hosted.AmountNotNumeric},
		{`"amount":5000,"currency"`, `"amount":10000000000,"currency"`, hosted.AmountNotNumeric},
		{`"amount":5000,"currency"`, `"currency"`, hosted.BadParameter},
		{`"merchantUrl":"https:\/\/shop.example",`, ``, hosted.BadMerchantURL},
	} {
		resp, body := build(c.from, c.to)
		Refusal(t, resp, body, http.StatusBadRequest, c.code)
	}
	resp, body := build(`"WC Order "`, `"paid with 4111 1111 1111 1111"`)
	m := success(t, resp, body)
	require.NotEmpty(t, m["sessionId"])
	resp, body = f.raw(t, http.MethodPost, "/api/v1/api/orders/build", `{"a":"`+strings.Repeat("x", wire.MaxRequest)+`"}`)
	Refusal(t, resp, body, http.StatusRequestEntityTooLarge, "TOO_LARGE")
	for _, s := range []string{`{}`, `{"sessionId":null}`, `{"sessionId":""}`, `{"sessionId":7}`} {
		for _, path := range []string{"finalize_payment", "cancel"} {
			resp, body := f.raw(t, http.MethodPost, "/api/v1/api/build/"+path, s)
			Refusal(t, resp, body, http.StatusBadRequest, hosted.BadParameter)
		}
	}
	resp, body = f.raw(t, http.MethodGet, "/api/v1/api/build/state", "")
	Refusal(t, resp, body, http.StatusBadRequest, hosted.BadParameter)
	resp, body = f.raw(t, http.MethodGet, "/api/v1/api/build/state?sessionId=nothing", "")
	Refusal(t, resp, body, http.StatusNotFound, "NOT_FOUND")
}
