package paymentstest

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/schemes/payments"
	"posagent/schemes/wire"
	"posagent/schemes/wire/wiretest"
)

// raw sends one request as it stands; path is what follows /api/v1.
func (f Fixture) raw(t *testing.T, method, path, body string, header ...string) (*http.Response, string) {
	t.Helper()
	typ := ""
	if method == http.MethodPost {
		typ = "application/json"
	}
	return f.Wire.Raw(t, method, "/api/v1"+path, typ, body, header...)
}

// problem checks a refusal in the service's own shape (S0 7).
func problem(t *testing.T, resp *http.Response, body string, status int, names string) {
	t.Helper()
	wiretest.Problem(t, resp, body, status, names)
	tellsNothing(t, body)
}

func (f Fixture) body(t *testing.T, req payments.CreateRequest) string {
	t.Helper()
	data, err := wire.Encode(req)
	require.NoError(t, err)
	return string(data)
}

// success checks an answer's status, type and body.
func success(t *testing.T, resp *http.Response, body string, status int) map[string]any {
	t.Helper()
	require.Equal(t, status, resp.StatusCode, body)
	require.Equal(t, wire.JSONType, resp.Header.Get("Content-Type"))
	require.Equal(t, "no-store", resp.Header.Get("Cache-Control"))
	var m map[string]any
	require.NoError(t, json.Unmarshal([]byte(body), &m))
	return m
}

func (f Fixture) wire(t *testing.T) {
	t.Run("paths", f.paths)
	t.Run("bodies", f.bodies)
	t.Run("headers", f.headers)
	t.Run("variants", f.variants)
	t.Run("secrets", func(t *testing.T) {
		for _, c := range Broken() {
			req := f.good(c.Type)
			if c.Break(&req); req.Type == "" || len(req.Description) > 1000 {
				continue
			}
			resp, body := f.raw(t, http.MethodPost, "/payments", f.body(t, req))
			problem(t, resp, body, http.StatusBadRequest, c.Names)
		}
		resp, body := f.raw(t, http.MethodPost, "/payments", `{"`+visa+`":1,"`+visa+`":2}`)
		problem(t, resp, body, http.StatusBadRequest, "duplicate")
		resp, body = f.raw(t, http.MethodGet, "/payments/"+visa, "")
		problem(t, resp, body, http.StatusNotFound, "")
	})
}

// paths are written in any case, with and without a slash at their end.
func (f Fixture) paths(t *testing.T) {
	for _, root := range []string{"/payments", "/payments/", "/Payments", "/Payments/", "/PAYMENTS/"} {
		resp, body := f.raw(t, http.MethodPost, root, f.body(t, f.Hosted("")))
		m := success(t, resp, body, http.StatusCreated)
		id, ok := m["paymentId"].(string)
		require.True(t, ok)
		require.IsType(t, "", m["payPageUrl"])
		at := strings.TrimSuffix(root, "/") + "/" + id
		for _, op := range []struct{ path, body string }{
			{"/Authorize", `{"amount":5000,"description":"d","terminalId":"T1"}`},
			{"/capture/", `{"amount":5000,"description":null,"basket":[{"quantity":1,"unitPrice":5000}]}`},
			{"/REFUND", `{"amount":1000,"description":"d","basket":[]}`},
		} {
			resp, body := f.raw(t, http.MethodPost, at+op.path, op.body)
			m := success(t, resp, body, http.StatusOK)
			require.Equal(t, id, m["paymentId"])
			require.NotEmpty(t, m["transactionRef"])
		}
		for _, slash := range []string{"", "/"} {
			resp, body := f.raw(t, http.MethodGet, at+slash, "")
			isPayment(t, success(t, resp, body, http.StatusOK))
		}
	}
	t.Run("cancel does not read an amount", func(t *testing.T) {
		for _, a := range []string{"1", `"x"`, "null", "-1"} {
			id := f.reserved(t)
			resp, body := f.raw(t, http.MethodPost, "/Payments/"+id+"/Cancel", `{"amount":`+a+`,"description":"d"}`)
			require.Equal(t, id, success(t, resp, body, http.StatusOK)["paymentId"])
			f.sums(t, id, 0, 0, 0)
		}
	})
	t.Run("no such route", func(t *testing.T) {
		for _, path := range []string{"/payments/1/2/3", "/payments/1/settle", "/payments//"} {
			resp, body := f.raw(t, http.MethodPost, path, "{}")
			if resp.StatusCode/100 == 3 {
				continue // a router that mends paths
			}
			problem(t, resp, body, http.StatusNotFound, "route")
		}
	})
	t.Run("methods", func(t *testing.T) {
		id := f.reserved(t)
		for _, c := range []struct{ method, path, allow string }{
			{http.MethodGet, "/payments", "POST"}, {http.MethodDelete, "/payments/" + id, "GET"}, {http.MethodPost, "/payments/" + id, "GET"},
			{http.MethodGet, "/payments/" + id + "/Cancel", "POST"}, {http.MethodPut, "/payments/" + id + "/Capture", "POST"},
		} {
			resp, body := f.raw(t, c.method, c.path, "")
			problem(t, resp, body, http.StatusMethodNotAllowed, c.allow)
			require.Equal(t, c.allow, resp.Header.Get("Allow"))
		}
		f.sums(t, id, amount, 0, 0)
	})
}

// isPayment checks that everything a reader of a payment dereferences is there.
func isPayment(t *testing.T, m map[string]any) {
	t.Helper()
	for _, key := range []string{"currencyCode", "paymentNumber", "summary", "paymentDetails", "customer", "authorizations", "refunds", "captures"} {
		require.Contains(t, m, key)
	}
	for _, key := range []string{"paymentAmount", "authorizedAmount", "capturedAmount", "refundedAmount", "fee"} {
		require.IsType(t, 0.0, m["summary"].(map[string]any)[key], key)
	}
	customer, ok := m["customer"].(map[string]any)
	require.True(t, ok)
	for _, key := range []string{"type", "firstName", "lastName", "companyName", "customerNumber", "email", "phone"} {
		require.Contains(t, customer, key)
	}
	address, ok := customer["address"].(map[string]any)
	require.True(t, ok)
	for _, key := range []string{"address1", "address2", "city", "postalCode", "countryCode"} {
		require.Contains(t, address, key)
	}
	for _, key := range []string{"authorizations", "refunds", "captures"} {
		list, ok := m[key].([]any)
		require.True(t, ok, key)
		require.Len(t, list, 1, key)
		for _, field := range []string{"amount", "dateTime", "description"} {
			require.Contains(t, list[0], field)
		}
	}
}

func (f Fixture) bodies(t *testing.T) {
	good := f.body(t, f.Moto("", f.Approved))
	replace := func(old, new string) string {
		require.Contains(t, good, old)
		return strings.Replace(good, old, new, 1)
	}
	for _, c := range append(wiretest.WrongBodies(good, "amount", `1`), []wiretest.WrongBody{
		{"no body", "", "empty"},
		{"text", `"x"`, "string"},
		{"nothing in it", "{}", "currencyCode"},
		{"comment", "/**/" + good, ""},
		{"folded twin", replace(`"amount":`, `"proceſſing":1,"amount":`), "case"},
		{"twin in the card", replace(`"pan":`, `"Pan":"1","pan":`), "cardDetails.Pan"},
		{"twin of the older secret", replace(`"amount":`, `"paymentMethodDetails":{"type":"PaymentWithToken","Secret":"ts-91bc"},"amount":`), "Secret"},
		{"two secrets", replace(`"amount":`, `"paymentMethodDetails":{"type":"PaymentWithToken","secret":"ts-91bc","tokenSecret":"x"},"amount":`), "secret"},
		{"null amount", replace(`"amount":10000`, `"amount":null`), "amount"},
		{"amount as text", replace(`"amount":10000`, `"amount":"10000"`), "amount"},
		{"decimal", replace(`"amount":10000`, `"amount":10000.0`), "amount"},
		{"exponent", replace(`"amount":10000`, `"amount":1e4`), "amount"},
		{"leading zero", replace(`"amount":10000`, `"amount":010000`), ""},
		{"int32 + 1", replace(`"amount":10000`, `"amount":2147483648`), "amount"},
		{"int64 + 1", replace(`"amount":10000`, `"amount":9223372036854775808`), "amount"},
		{"pan as a number", replace(`"pan":"`+f.Approved+`"`, `"pan":`+f.Approved), "cardDetails.pan"},
		{"no pan", replace(`"pan":"`+f.Approved+`",`, ""), "cardDetails.pan"},
		{"null pan", replace(`"pan":"`+f.Approved+`"`, `"pan":null`), "cardDetails.pan"},
		{"null month", replace(`"expiryMonth":12`, `"expiryMonth":null`), "cardDetails.expiryMonth"},
		{"code as a number", replace(`"validationCode":"123"`, `"validationCode":123`), "cardDetails.validationCode"},
		{"vat that is no number", replace(`"amount":`, `"basket":[{"quantity":1,"unitPrice":10000,"vatPercentage":NaN}],"amount":`), ""},
		{"vat as text", replace(`"amount":`, `"basket":[{"quantity":1,"unitPrice":10000,"vatPercentage":"25"}],"amount":`), "vatPercentage"},
		{"null quantity", replace(`"amount":`, `"basket":[{"quantity":null,"unitPrice":10000}],"amount":`), "basket[0].quantity"},
		{"null item", replace(`"amount":`, `"basket":[null],"amount":`), "basket[0]"},
		{"hook without an address", replace(`"amount":`, `"notifications":{"webHooks":[{"eventName":"payment.created"}]},"amount":`), "webHooks[0].url"},
		{"lone surrogate", replace(`"amount":`, `"description":"\ud800","amount":`), "surrogate"},
		{"not utf-8", replace(`"amount":`, "\"description\":\"\xff\",\"amount\":"), "UTF-8"},
	}...) {
		t.Run(c.Name, func(t *testing.T) {
			resp, body := f.raw(t, http.MethodPost, "/payments", c.Body)
			problem(t, resp, body, http.StatusBadRequest, c.Names)
		})
	}
	resp, body := f.raw(t, http.MethodPost, "/payments", strings.Repeat(`{"a":`, 10_001))
	problem(t, resp, body, http.StatusRequestEntityTooLarge, "nested")
	resp, body = f.raw(t, http.MethodPost, "/payments", `{"x":"`+strings.Repeat("x", wire.MaxRequest)+`"}`)
	problem(t, resp, body, http.StatusRequestEntityTooLarge, "bytes")

	id := f.reserved(t)
	for _, op := range operations() {
		for _, text := range []string{"null", "[]", "{}{}", `{"description":1}`, `{"description":"a","description":"b"}`, `{"Description":"a"}`} {
			resp, body := f.raw(t, http.MethodPost, "/payments/"+id+"/"+op.name, text)
			problem(t, resp, body, http.StatusBadRequest, "")
		}
	}
	f.sums(t, id, amount, 0, 0)
}

func (f Fixture) headers(t *testing.T) {
	for _, c := range wiretest.WrongHeaders() {
		t.Run(c.Name, func(t *testing.T) {
			resp, body := f.raw(t, http.MethodPost, "/payments", f.body(t, f.Hosted("")), c.Header, c.Value)
			problem(t, resp, body, http.StatusBadRequest, "")
		})
	}
	for name, h := range map[string][2]string{
		"charset": {"Content-Type", "application/json; charset=UTF-8"}, "key of 64": {wire.KeyHeader, string(wire.NewKey() + wire.NewKey())[:64]},
	} {
		t.Run(name, func(t *testing.T) {
			resp, body := f.raw(t, http.MethodPost, "/payments", f.body(t, f.Hosted("")), h[:]...)
			success(t, resp, body, http.StatusCreated)
		})
	}
}

// variants are bodies as real clients write them.
func (f Fixture) variants(t *testing.T) {
	for name, text := range map[string]string{
		"the operator's spelling": `{"type":"NetsHostedEcom","amount":100,"currencyCode":"EUR"}`,
		"as S0 writes it":         `{"type":"ProviderHostedEcom","amount":100,"currencyCode":"EUR"}`,
		"small page type":         `{"type":"MerchantHostedEcom","amount":100,"currencyCode":"EUR","payPageConfiguration":{"pageType":"singlepage","language":"EN","templateName":"t"}}`,
		"nulls": `{"type":"ProviderHostedEcom","scaExemption":null,"redirectUrls":null,"paymentNumber":null,"checkoutText":null,"reconciliationReference":null,
			"amount":100,"currencyCode":"EUR","paymentMethodDetails":null,"processing":null,"customer":null,"basket":null,"payPageConfiguration":null,
			"description":null,"cardDetails":null,"notifications":null}`,
		"a shop's order": `{"type":"NetsHostedEcom","paymentNumber":"10023","amount":1190,"currencyCode":"EUR","processing":"None",
			"redirectUrls":{"returnUrl":"http:\/\/localhost:8000\/back?_sw=1"},"orderDescription":"x",
			"customer":{"type":"Individual","firstName":"Max","lastName":"Müller","customerNumber":"1","email":"max@shop.example","phone":"",
			"address":{"address1":"Straße 1","city":"Köln","postalCode":"50667","countryCode":"DE"}},
			"basket":[{"itemNumber":"a1","title":"Tee","quantity":2,"unitPrice":595,"vatPercentage":19.0,"unitCode":"0"}]}`,
		"every percentage": `{"type":"ProviderHostedEcom","amount":1000,"currencyCode":"SEK","basket":[
			{"quantity":1,"unitPrice":500,"vatPercentage":null},{"quantity":1,"unitPrice":200,"vatPercentage":0},{"quantity":1,"unitPrice":200,"vatPercentage":2.5e1},
			{"quantity":3,"unitPrice":100,"discountPercentage":66.6666666666667,"includesHandling":true,"includesShipping":false}]}`,
		"a discount as a line":   `{"type":"ProviderHostedEcom","amount":900,"currencyCode":"EUR","basket":[{"quantity":1,"unitPrice":1000},{"title":"Voucher","quantity":1,"unitPrice":-100}]}`,
		"discount not applied":   `{"type":"ProviderHostedEcom","amount":1000,"currencyCode":"EUR","basket":[{"quantity":1,"unitPrice":1000,"discountPercentage":10}]}`,
		"a bank page":            `{"type":"NetsHostedEcom","amount":100,"currencyCode":"EUR","paymentMethodDetails":{"type":"Sofort"}}`,
		"a token to be made":     `{"type":"NetsHostedEcom","amount":100,"currencyCode":"EUR","paymentMethodDetails":{"type":"InitialPaymentMethodTokenizationDetails","expiryDate":"2030-01-31","intervalDays":30}}`,
		"all of a page":          `{"type":"NetsHostedEcom","amount":100,"currencyCode":"EUR","scaExemption":"Force3ds","payPageConfiguration":{"pageType":"MULTIPAGE","paymentMethodActionInfoList":[{"paymentMethod":"Visa","name":"Visa","fee":10,"cardType":"All","cardOrigin":"NonEU","cardProductType":"Corporate","bin":411111,"action":"Reject"},{"paymentMethod":"PproSepaDirectDebit","action":"Allow"}]}}`,
		"a card number in words": `{"type":"NetsHostedEcom","amount":100,"currencyCode":"EUR","description":"card 4111 1111 1111 1111"}`,
	} {
		t.Run(name, func(t *testing.T) {
			resp, body := f.raw(t, http.MethodPost, "/Payments/", text)
			success(t, resp, body, http.StatusCreated)
		})
	}
	t.Run("a card number in words stays masked", func(t *testing.T) {
		id := f.reserved(t)
		resp, body := f.raw(t, http.MethodPost, "/payments/"+id+"/Capture", `{"description":"card 4111-1111-1111-1111 of Ann"}`)
		success(t, resp, body, http.StatusOK)
		_, body = f.raw(t, http.MethodGet, "/payments/"+id, "")
		require.Contains(t, body, "card 4111-11**-****-1111 of Ann")
	})
}
