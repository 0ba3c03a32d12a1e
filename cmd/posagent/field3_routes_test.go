package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
)

// What of a client's things a request may name. A request below has them in braces.
const (
	aPayment     = "{payment}"
	aToken       = "{tokenization}"
	aTokenValue  = "{token value}"
	aLink        = "{link}"
	aTransaction = "{transaction}"
	aReference   = "{reference}"
	aGivenID     = "{ppref}"
	anOrder      = "{order}"
	aSession     = "{session}"
	aContract    = "{contract}"
	anOperation  = "{hosted operation}"
	aRequest     = "{application}"
	aKey         = "{operation}"
	anIdem       = "{idempotency key}"
	aSale        = "{sale}"
	aSaleKey     = "{sale's idempotency key}"
	anOriginal   = "{original}"
	aReceipt     = "{receipt}"
)

// intrusion is what one client asks about another's things.
type intrusion struct {
	path  string // with a query; what it names is in braces
	body  string // JSON, or a form that is signed
	makes bool   // by a name that callers choose: another spelling is another name, and what it names may be the caller's own
	shows bool   // it shows the caller's own things, and 200 says nothing
}

// portRoutes are the port's routes, as /openapi.json names them, and how one client may reach for another's things there. An empty list says
// that a route names no thing of a client: why stands beside it. A route without a row fails the test.
func portRoutes() map[string][]intrusion {
	const (
		amount  = `"purchaseAmount":{"currencyCode":"EUR","nominalAmount":700,"totalAmount":700,"vatAmount":0}`
		scheme  = `{"merchantId":"demomerchant","method":"SWISH_E_COM","trigger":"2","consumer":{"consumerId":"alpha","name":""},` + amount
		session = `"merchantUrl":"https://shop.example","paymentSession":{"actionType":"PAY","amount":"5000","language":"eng","paymentService":"CARDS",` +
			`"resultUrl":"https://shop.example/result","cancelUrl":"https://shop.example/cancel"`
		byToken = `{"type":"MerchantHostedEcom","amount":100,"currencyCode":"EUR","paymentNumber":"N2","processing":"Sale","paymentMethodDetails":{"type":"PaymentWithToken","tokenSecret":"secret-of-beta","token":"` + aTokenValue + `"}}`
		card    = `{"pan":"4111111111111111","expiryYear":2099,"expiryMonth":12}`
		app     = `{"reference":"alpha"}`
	)
	chosen := func(paths ...string) (all []intrusion) {
		for _, path := range paths {
			all = append(all, intrusion{path: path, makes: true})
		}
		return all
	}
	on := func(path, body string) []intrusion { return []intrusion{{path: path, body: body}} }
	list := func(path string, queries ...string) (all []intrusion) {
		for _, q := range append([]string{""}, queries...) {
			all = append(all, intrusion{path: path + q, shows: true})
		}
		return all
	}
	start := func(path string) []intrusion {
		return []intrusion{
			{path: "/ms/aapay/v2/transaction/payment/" + path, body: scheme + `,"terminalReference":"` + aReference + `"}`, makes: true},
			{path: "/ms/aapay/v2/transaction/payment/" + path, body: scheme + `,"terminalReference":"` + aGivenID + `"}`, makes: true},
			{path: "/ms/aapay/v2/transaction/refund/" + path, body: scheme + `,"terminalReference":"alpha-r1","originalReference":"` + aGivenID + `"}`, makes: true},
			{path: "/ms/aapay/v2/transaction/refund/" + path, body: scheme + `,"terminalReference":"alpha-r2","originalReference":"` + aReference + `"}`, makes: true},
			{path: "/ms/aapay/v2/transaction/reversal/" + path, body: scheme + `,"terminalReference":"alpha-r3","originalReference":"` + aReference + `"}`, makes: true},
			{path: "/ms/aapay/v2/transaction/reversal/" + path, body: scheme + `,"terminalReference":"alpha-r4","originalReference":"` + aGivenID + `"}`, makes: true},
		}
	}
	return map[string][]intrusion{
		"POST /api/v1/payments":                       {{path: "/api/v1/payments", body: byToken}, {path: "/API/V1/Payments/", body: byToken}},
		"GET /api/v1/payments/{paymentId}":            on("/api/v1/payments/"+aPayment, ""),
		"POST /api/v1/payments/{paymentId}/Authorize": on("/api/v1/payments/"+aPayment+"/Authorize", `{"amount":10}`),
		"POST /api/v1/payments/{paymentId}/Cancel":    on("/api/v1/payments/"+aPayment+"/Cancel", `{}`),
		"POST /api/v1/payments/{paymentId}/Capture":   on("/api/v1/payments/"+aPayment+"/Capture", `{"amount":10}`),
		"POST /api/v1/payments/{paymentId}/Refund":    on("/api/v1/payments/"+aPayment+"/Refund", `{"amount":10}`),

		"POST /api/v1/tokens":                         nil, // a card, and no id
		"POST /api/v1/tokens/recurring":               nil, // terms, and no id
		"GET /api/v1/tokens/{tokenizationId}":         on("/api/v1/tokens/"+aToken, ""),
		"POST /api/v1/tokens/{tokenizationId}/Verify": on("/api/v1/tokens/"+aToken+"/Verify", ""),

		"GET /v1.0/SignatureCheck":            nil, // the caller's own secret
		"POST /v1.0/Invoice":                  nil, // a referenceId is no name: several links may have it
		"GET /v1.0/Invoice/{id}":              on("/v1.0/Invoice/"+aLink+"/", "id="+aLink),
		"DELETE /v1.0/Invoice/{id}":           on("/v1.0/Invoice/"+aLink+"/", "id="+aLink),
		"GET /v1.0/Transaction":               on("/v1.0/Transaction/", ""),
		"GET /v1.0/Transaction/{id}":          on("/v1.0/Transaction/"+aTransaction+"/", "id="+aTransaction),
		"DELETE /v1.0/Transaction/{id}":       on("/v1.0/Transaction/"+aTransaction+"/", "id="+aTransaction),
		"POST /v1.0/Transaction/{id}":         on("/v1.0/Transaction/"+aTransaction+"/", "amount=100"),
		"POST /v1.0/Transaction/{id}/charge":  on("/v1.0/Transaction/"+aTransaction+"/charge", "amount=100"),
		"POST /v1.0/Transaction/{id}/capture": on("/v1.0/Transaction/"+aTransaction+"/capture", "id="+aTransaction),
		"POST /v1.0/Transaction/{id}/refund":  on("/v1.0/Transaction/"+aTransaction+"/refund", "amount=100"),
		"GET /ms/aapay/v2/transaction/{id}/status": chosen("/ms/aapay/v2/transaction/"+aReference+"/status", "/ms/aapay/v2/transaction/"+aGivenID+"/status",
			"/ms/aapay/v2/transaction/"+aReference+"/status?method=SWISH_E_COM"),
		"POST /ms/aapay/v2/transaction/{type}/initialize":                start("initialize"),
		"POST /ms/aapay/v2/transaction/{type}/initializeWithIdempotency": start("initializeWithIdempotency"),
		"GET /ms/naa/terminal/method/list/{baxId}/{terminalId}":          nil, // what the terminal may be paid with

		"POST /api/v1/api/orders/build": {
			{path: "/api/v1/api/orders/build", body: `{"order":{"orderId":"` + anOrder + `","amount":"5000","currency":"EUR"},` + session + `}}`, makes: true},
			{path: "/api/v1/orders/build", body: `{"order":{"orderId":"alpha-c1","amount":"5000","currency":"EUR"},` + session +
				`,"recurrence":{"action":"SUBSEQUENT_PAYMENT","contractType":"MIT_UNSCHEDULED","contractId":"` + aContract + `"}}}`, makes: true},
			{path: "/api/v1/orders/build", body: `{"order":{"orderId":"alpha-c2","amount":"5000","currency":"EUR"},` + session +
				`,"recurrence":{"action":"CARD_SUBSTITUTION","contractType":"MIT_UNSCHEDULED","contractId":"` + aContract + `"}}}`, makes: true},
			{path: "/api/v1/orders/build", body: `{"order":{"orderId":"alpha-c3","amount":"5000","currency":"EUR"},` + session +
				`,"recurrence":{"action":"CONTRACT_CREATION","contractType":"MIT_UNSCHEDULED","contractId":"` + aContract + `"}}}`, makes: true},
		},
		"POST /api/v1/api/build/finalize_payment":                    on("/api/v1/api/build/finalize_payment", `{"sessionId":"`+aSession+`"}`),
		"POST /api/v1/api/build/confirm_payment":                     on("/api/v1/build/confirm_payment", `{"sessionId":"`+aSession+`","amount":"100"}`),
		"POST /api/v1/api/build/cancel":                              on("/api/v1/api/build/cancel", `{"sessionId":"`+aSession+`"}`),
		"GET /api/v1/api/build/state":                                on("/api/v1/api/build/state?sessionId="+aSession, ""),
		"GET /api/v1/api/build/cardData":                             on("/api/v1/build/cardData?sessionId="+aSession, ""),
		"GET /api/v1/api/payment_methods":                            nil, // the account's ways to pay
		"GET /api/v1/api/orders/{orderId}":                           chosen("/api/v1/api/orders/"+anOrder, "/psp/api/v1/orders/"+anOrder),
		"POST /api/v1/api/operations/{operationId}/captures":         on("/api/v1/api/operations/"+anOperation+"/captures", `{"amount":"100","currency":"EUR"}`),
		"POST /api/v1/api/operations/{operationId}/refunds":          on("/api/v1/api/operations/"+anOperation+"/refunds", `{"amount":"100","currency":"EUR"}`),
		"POST /api/v1/api/operations/{operationId}/cancels":          on("/api/v1/operations/"+anOperation+"/cancels", `{}`),
		"POST /hooks/notifications":                                  nil, // the securityToken is the proof (agent/inbox)
		"POST /hooks/webhooks":                                       nil, // the backend's own word is the proof
		"POST /api/v1/onboarding/applications":                       nil, // an application, and no id
		"GET /api/v1/onboarding/applications/{onboardingId}":         on("/api/v1/onboarding/applications/"+aRequest, ""),
		"PUT /api/v1/onboarding/applications/{onboardingId}":         on("/api/v1/onboarding/applications/"+aRequest, app),
		"POST /api/v1/onboarding/applications/{onboardingId}/submit": on("/api/v1/onboarding/applications/"+aRequest+"/submit", ""),

		"POST /api/v1/disputes":                      on("/api/v1/disputes", `{"providerTransactionID":"`+aPayment+`","providerFraudReasonCode":"F1"}`),
		"POST /api/v1/disputes/list":                 on("/api/v1/disputes/list", `{"disputeCaseNumber":"100001"}`),
		"POST /api/v1/disputes/list-cases-by-queue":  on("/api/v1/disputes/list-cases-by-queue", `{"queueID":1000,"isOpen":"Y"}`),
		"PATCH /api/v1/disputes/{disputeId}":         on("/api/v1/disputes/100001", `{"closeDispute":"Y"}`),
		"GET /api/v1/disputes/document/{documentId}": on("/api/v1/disputes/document/1", ""),
		"GET /api/v1/disputes/key":                   nil, // the public key of the service

		"GET /agent/v1/status":  list("/agent/v1/status"),
		"GET /agent/v1/methods": nil, // what the terminal may be paid with
		"GET /agent/v1/operations": append(list("/agent/v1/operations", "?limit=200", "?open=true", "?state=done", "?kind=payments.create", "?kind=paylinks.create&state=DONE&after=0"),
			intrusion{path: "/agent/v1/operations?key=" + aKey, shows: true}, intrusion{path: "/agent/v1/operations?key=" + aPayment, shows: true},
			intrusion{path: "/agent/v1/operations?key=" + aLink, shows: true}, intrusion{path: "/agent/v1/operations?key=" + anIdem, shows: true},
			intrusion{path: "/agent/v1/operations?key=" + aToken, shows: true}, intrusion{path: "/agent/v1/operations?key=" + aTransaction, shows: true}),
		"GET /agent/v1/operations/{key}": slices.Concat(on("/agent/v1/operations/"+aKey, ""), on("/agent/v1/operations/"+aPayment, ""), on("/agent/v1/operations/"+aToken, ""),
			on("/agent/v1/operations/"+aLink, ""), on("/agent/v1/operations/"+aTransaction, ""), on("/agent/v1/operations/"+anIdem, "")),
		"GET /agent/v1/events": nil, // read to its end, from each cursor (reads)
		"GET /metrics":         on("/metrics", ""),

		"POST /agent/v1/sales": {
			{path: "/agent/v1/sales", body: `{"type":"refund","amount":10,"currency":"EUR","original":"` + anOriginal + `"}`},
			{path: "/agent/v1/sales", body: `{"type":"refund","amount":10,"currency":"EUR","receipt":` + aReceipt + `}`},
			{path: "/agent/v1/sales", body: `{"type":"reversal","receipt":` + aReceipt + `}`},
			{path: "/agent/v1/sales", body: `{"type":"refund","amount":10,"currency":"EUR","original":"L"}`},
		},
		"GET /agent/v1/sales": append(list("/agent/v1/sales", "?limit=200", "?state=ended", "?since=2020-01-01T00:00:00Z", "?cursor=1000000"),
			intrusion{path: "/agent/v1/sales?key=" + aSaleKey}),
		"GET /agent/v1/sales/{id}":          on("/agent/v1/sales/"+aSale, ""),
		"GET /agent/v1/sales/{id}/qr.png":   on("/agent/v1/sales/"+aSale+"/qr.png", ""),
		"GET /agent/v1/sales/{id}/qr.svg":   on("/agent/v1/sales/"+aSale+"/qr.svg", ""),
		"POST /agent/v1/sales/{id}/abort":   on("/agent/v1/sales/"+aSale+"/abort", ""),
		"POST /agent/v1/sales/{id}/refund":  on("/agent/v1/sales/"+aSale+"/refund", `{"amount":10}`),
		"POST /agent/v1/sales/{id}/reverse": on("/agent/v1/sales/"+aSale+"/reverse", `{}`),
		"GET /agent/v1/end-of-day":          nil, // the day is the terminal's, and takes a client that reaches everything (agent/port/salesapi)
		"POST /agent/v1/end-of-day":         nil,

		"GET /":      nil,                                               // a page for people: what its client may see (agent/port, agent/port/pages)
		"GET /livez": nil, "GET /readyz": nil, "GET /openapi.json": nil, // of no client
		"GET /pay/{paymentId}": on("/pay/"+aPayment, ""),            // the page of a stored payment: its local id is the proof
		"POST /token":          nil, "POST /oauth2/v2.0/token": nil, // the caller's own secret
	}
}

// otherSpellings are the ways to write an id that a reader might take for the same: case, blanks, zeros, signs, our prefix, ends.
func otherSpellings(id string) []string {
	list := []string{strings.ToUpper(id), strings.ToLower(id), id + " ", " " + id, id + "\t", "L" + id, strings.TrimPrefix(id, "L"), id + "/", id + "/.", id + "%", id + "\x00", id + "*", id + ".0"}
	if strings.Trim(id, "0123456789") == "" {
		list = append(list, "0"+id, "00000"+id, "+"+id, id+"e0", "-"+id)
	}
	slices.Sort(list)
	return slices.DeleteFunc(slices.Compact(list), func(s string) bool { return s == id || s == "" })
}

// inPath writes an id into a path: as it is, and with every byte escaped.
func inPath(id string) []string {
	all := ""
	for _, b := range []byte(id) {
		all += fmt.Sprintf("%%%02x", b)
	}
	return []string{url.PathEscape(id), all}
}

// inJSON writes an id into a JSON text: as it is, and with its first letter escaped.
func inJSON(id string) []string {
	plain, _ := json.Marshal(id) // a text marshals
	text := string(plain[1 : len(plain)-1])
	return []string{text, fmt.Sprintf(`\u%04x`, id[0]) + strings.TrimPrefix(text, id[:1])}
}

// signedBy signs a form for the payment links: what goes with it into the query, and into the body.
func signedBy(c *client, form string) (instance, signed string) {
	mac := hmac.New(sha256.New, []byte(c.token))
	mac.Write([]byte(form))
	if form != "" {
		form += "&"
	}
	return "instance=" + c.name, form + "ApiSignature=" + url.QueryEscape(base64.StdEncoding.EncodeToString(mac.Sum(nil)))
}
