package badinput

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const (
	buildAt   = "/api/v1/api/orders/build"
	stateAt   = "/api/v1/api/build/state?sessionId="
	orderBody = `{"merchantUrl":"https://shop.example","order":{"orderId":"o-1","amount":"1250","currency":"EUR","description":"one","customerInfo":{"cardHolderName":"Ada"}},` +
		`"paymentSession":{"actionType":"PAY","amount":"1250","resultUrl":"https://shop.example/done","notificationUrl":"https://hooks.invalid/","paymentService":"CARDS"}}`
)

// framed is what a hosted field is told.
func framed(answer string) (string, bool) {
	return field(answer, "errorCode"), field(answer, "event") == "BUILD_ERROR" && field(answer, "errorCode") != "" && strings.Contains(answer, "Content-Type: application/json")
}

// merchant asks as one.
func (x *teller) merchant(method, path, body string, headers ...string) string {
	has := strings.Join(headers, "\n")
	if !strings.Contains(has, "X-API-KEY:") {
		headers = append(headers, apiKey)
	}
	if !strings.Contains(has, "Correlation-Id:") {
		headers = append(headers, correlated)
	}
	return x.call(method, path, body, append(headers, "Authorization:-")...)
}

// buildRows are B and C of the hosted build routes.
func (x *teller) buildRows(t *testing.T) {
	head := []string{apiKey, correlated, "Authorization:-"}
	x.as("hosted build", errorList)
	for _, h := range [][2]string{{"A6", "Origin: null"}, {"A6", "Origin: https://shop.example"}, {"A7", "Origin: http://HOST"}, {"A8", "Referer: https://shop.example/"}} {
		x.row(h[0], h[1], x.merchant("POST", buildAt, orderBody, h[1]), "403")
	}
	x.row("A9", "preflight for the private network", x.merchant("OPTIONS", buildAt, "", "Origin: http://evil.example", "Access-Control-Request-Private-Network: true"), "403 405")
	list := unreadable(orderBody)
	add := func(more []bad) { list = append(list, more...) }
	for _, of := range []string{`"amount":"1250","currency"`, `"amount":"1250","resultUrl"`} {
		rest := strings.TrimPrefix(of, `"amount":"1250"`)
		add(variants("B34", orderBody, of, `"amount":?`+rest, `"05000"`, `"5,000"`, `" 5000"`, `"٥٠٠٠"`, `"+5000"`, `"12.50"`, `"1e3"`, `"-1"`, `""`, `"NaN"`, "null", "true", "[]", "{}"))
		add(variants("B32", orderBody, of, `"amount":?`+rest, "1e3", "12.5", "-0", "01", "+1", "0x10", "NaN"))
		add(variants("B33", orderBody, of, `"amount":?`+rest, `"2147483648"`, `"9223372036854775808"`, "-1", `"1`+strings.Repeat("0", 400)+`"`))
	}
	add(variants("B33", orderBody, `"amount":"1250","resultUrl"`, `"amount":?,"resultUrl"`, `"0"`, `"1251"`))
	add(variants("B42", orderBody, `"PAY"`, "?", `"pay"`, `"REFUND"`, `""`, "null", "1"))
	add(variants("B42", orderBody, `"resultUrl"`, `?,"resultUrl"`, `"captureType":"implicit"`, `"exemptions":"NONE"`, `"recurrence":{"action":"SUBSEQUENT_PAYMENT"}`, `"recurrence":{"action":"x","contractId":"c"}`,
		`"recurrence":{"action":"SUBSEQUENT_PAYMENT","contractId":"none"}`, `"recurrence":{"action":"CONTRACT_CREATION","contractId":"c","contractType":"MIT_SCHEDULED"}`,
		`"recurrence":{"action":"CONTRACT_CREATION","contractId":"c","contractType":"MIT_SCHEDULED","contractFrequency":"0"}`))
	add(variants("B43", orderBody, `"EUR"`, `"?"`, "eur", "XXX", `EUR\u0000`, "€", "DEM", "", "EURO"))
	add(variants("B44", orderBody, `"one"`, `"?"`, `<script>alert(1)</script>`, `<SCRIPT src=//evil>`, `javascript:alert(1)`, `\u003cscript\u003e`, strings.Repeat("d", 256)))
	add(variants("B44", orderBody, `"o-1"`, `"?"`, "", "o/1", "o 1", "../../etc", "o\\u00001", "'; DROP TABLE ops;--", strings.Repeat("o", 28), "😀"))
	add(variants("B46", orderBody, `"one"`, `"?"`, texts...))
	add(variants("B46", orderBody, `{"cardHolderName":"Ada"}`, "?", "[1]", `"x"`, "1", `{"cardHolderName":1}`, `{"cardHolderName":"a\r\nb"}`, `{"cardHolderName":"a","cardHolderName":"b"}`, `{"billingAddress":[]}`))
	add(variants("B47", orderBody, `"customerInfo"`, `"installments":?,"customerInfo"`, `[{"date":"2026-02-30","amount":"1"}]`, `[{"date":"2099-01-01","amount":"x"}]`, `[{"date":"2099-01-01","amount":"1251"}]`, `[{"amount":"1"}]`,
		`[`+strings.TrimSuffix(strings.Repeat(`{"date":"2099-01-01","amount":"0"},`, 1001), ",")+`]`))
	add(variants("B49", orderBody, `"resultUrl"`, `"recurrence":{"action":"CONTRACT_CREATION","contractId":"c","contractType":"CIT","contractExpiryDate":"?"},"resultUrl"`, "2026-02-30", "0000-00-00", "1.1.2099", "2099-1-1", "2099-01-01x"))
	add(variants("B52", orderBody, `"https://shop.example"`, `"?"`, append([]string{"", "shop.example"}, badPages...)...))
	add(variants("B52", orderBody, "https://shop.example/done", "?", badPages...))
	for _, u := range badHooks {
		if u != "" { // no notifications are wanted then
			add(variants("B52", orderBody, "https://hooks.invalid/", "?", u))
		}
	}
	x.unmoved(t, func() {
		x.send("POST", buildAt, list, head...)
		x.envelopes("POST", buildAt, orderBody, head...)
		x.keys("POST", buildAt, orderBody, head...)
		for input, v := range map[string]string{"none": "X-API-KEY:-", "empty": "X-API-KEY: ", "wrong": "X-API-KEY: " + badBearer, "in capitals": "X-API-KEY: DEMO-API-KEY", "shortened": "X-API-KEY: demo-api",
			"longer": apiKey + "0", "with a Bearer": "X-API-KEY: Bearer " + apiKeyWord, "8 KB": "X-API-KEY: " + strings.Repeat("k", 8<<10)} {
			x.row("C53", "X-API-KEY: "+input, x.merchant("POST", buildAt, orderBody, v), "401")
			x.row("C53", "X-API-KEY of a state: "+input, x.merchant("GET", stateAt+"none", "", v), "401")
		}
		x.row("C53", "X-API-KEY twice", x.merchant("POST", buildAt, orderBody, apiKey, apiKey), "401")
		x.row("C53", "the key as a bearer", x.call("POST", buildAt, orderBody, correlated, "Authorization: Bearer "+apiKeyWord), "401")
		x.row("C53", "the bearer of the other services", x.call("POST", buildAt, orderBody, correlated), "401")
		x.row("A15", "X-API-KEY of 1 MB", x.merchant("POST", buildAt, orderBody, "X-API-KEY: "+strings.Repeat("k", 1<<20)), "431 closed")
		for input, v := range map[string]string{"none": "Correlation-Id:-", "empty": "Correlation-Id: ", "a word": "Correlation-Id: one", "braces": "Correlation-Id: {0a1b2c3d-0000-4000-8000-00000000001}",
			"no hexadecimal": "Correlation-Id: 0a1b2c3g-0000-4000-8000-000000000001", "without dashes": "Correlation-Id: 0a1b2c3d000040008000000000000001", "one digit more": correlated + "0",
			"full width": "Correlation-Id: ０a1b2c3d-0000-4000-8000-0000000001", "a URN": "Correlation-Id: urn:uuid:0a1b2c3d-0000-4000-8000-000000000001"} {
			x.row("C53", "Correlation-Id: "+input, x.merchant("POST", buildAt, orderBody, v), "400")
			x.row("C53", "Correlation-Id of a state: "+input, x.merchant("GET", stateAt+"none", "", v), "400")
		}
		x.row("C53", "Correlation-Id twice", x.merchant("POST", buildAt, orderBody, correlated, correlated), "400")
		for _, id := range []string{"-1", "1;2", "1%20OR%201=1", "%EF%BC%91", "a%2Fb", "..%2F..", "%00", "%ff", "", strings.Repeat("a", 1024)} {
			short := fmt.Sprintf("%.20s", id)
			x.row("C65", "session "+short, x.merchant("GET", stateAt+id, ""), "404 400")
			x.row("C65", "card of session "+short, x.merchant("GET", "/api/v1/api/build/cardData?sessionId="+id, ""), "404 400")
			if id != "" {
				x.row("C65", "order "+short, x.merchant("GET", "/api/v1/api/orders/"+id, ""), "404 400")
				x.row("C65", "refund of "+short, x.merchant("POST", "/api/v1/api/operations/"+id+"/refunds", `{"amount":"1"}`, "Idempotency-Key: r"), "404 400")
			}
		}
		for _, verb := range []string{"finalize_payment", "confirm_payment", "cancel"} {
			at := "/api/v1/api/build/" + verb
			x.send("POST", at, unreadable(`{"sessionId":"none"}`), head...)
			x.send("POST", at, []bad{{"B31", "no session", "{}"}, {"B31", "session null", `{"sessionId":null}`}, {"B34", "a number", `{"sessionId":1}`}, {"B46", "NUL", `{"sessionId":"a\u0000"}`}}, head...)
			x.row("C63", verb+" of a session there is none of", x.merchant("POST", at, `{"sessionId":"none"}`), "404")
			x.row("A17", "GET of "+verb, x.merchant("GET", at+"?sessionId=none", ""), "405")
		}
		x.row("C60", "a refund without a key", x.merchant("POST", "/api/v1/api/operations/none/refunds", `{"amount":"1"}`), "400")
		x.row("A17", "GET of build", x.merchant("GET", buildAt+"/", ""), "405 404")
		x.row("A17", "POST of the state", x.merchant("POST", stateAt+"none", "{}"), "405")
		for _, path := range []string{"/api/v1/api/build/none", "/api/v1/api/build/state/x", "/api/v1/api/operations/a/voids", "/api/v1/api/operations", "/api/v1/build/%2e%2e/state"} {
			x.row("A16", "path "+path, x.merchant("POST", path, "{}"), "404 405 30")
		}
	})
}

var dataToken = regexp.MustCompile(`data-token="([^"]*)"`)

// fieldRows are the hosted fields and the page of a challenge, and what a session forbids after them.
func (x *teller) fieldRows(t *testing.T) {
	build := func(order string) (sid string) {
		answer := x.merchant("POST", buildAt, strings.Replace(orderBody, "o-1", order, 1), "Idempotency-Key: "+order)
		sid = field(answer, "sessionId")
		require.NotEmpty(t, sid, answer)
		x.hidden = append(x.hidden, field(answer, "securityToken"))
		return sid
	}
	x.as("hosted build", errorList)
	mine, other := build("o-1"), build("o-2")
	x.unmoved(t, func() {
		x.row("C59", "the same key with another body", x.merchant("POST", buildAt, strings.Replace(orderBody, `"one"`, `"two"`, 1), "Idempotency-Key: o-1"), "422")
		same := crowd(50, 4, func() bool {
			return field(x.merchant("POST", buildAt, orderBody, "Idempotency-Key: o-1"), "sessionId") == mine
		})
		x.count("C61", "the same request 200 times from 50 callers, the first answer", same, 200)
		x.row("C62", "finalize before the card", x.merchant("POST", "/api/v1/api/build/finalize_payment", `{"sessionId":"`+mine+`"}`), "400")
		x.row("C54", "the session in capitals", x.merchant("GET", stateAt+strings.ToUpper(mine), ""), "404")
	})
	show := func(sid, id string) string { return x.call("GET", "/fields/"+sid+"/"+id, "", "Authorization:-") }
	token := func(sid, id string) string {
		m := dataToken.FindStringSubmatch(show(sid, id))
		require.Len(t, m, 2)
		return m[1]
	}
	own := "Origin: http://" + x.addr
	page1 := show(mine, "CARD_NUMBER")
	require.Contains(t, page1, "frame-ancestors https://shop.example")
	require.NotContains(t, page1, "X-Frame-Options")
	at, value := "/fields/"+mine+"/CARD_NUMBER", "value="+cardPAN
	good, foreign, another := token(mine, "CARD_NUMBER"), token(other, "CARD_NUMBER"), token(mine, "SECURITY_CODE")
	x.as("hosted field", framed)
	x.unmoved(t, func() { x.foreignForms(at, value, good, foreign, another) })
	x.as("hosted field", page)
	x.unmoved(t, func() {
		for _, p := range []string{mine + "/none", mine + "/card_number", "none/CARD_NUMBER", mine + "/%00", "%ff/CARD_NUMBER", mine + "/..%2F..", strings.ToUpper(mine) + "/CARD_NUMBER"} {
			x.row("C65", "field "+strings.ReplaceAll(p, mine, "SESSION"), x.call("GET", "/fields/"+p, "", "Authorization:-"), "404 400")
		}
		for _, p := range []string{"none", "%00", strings.Repeat("a", 1024)} {
			x.row("C65", fmt.Sprintf("challenge of %.20s", p), x.call("GET", "/away/"+p, "", "Authorization:-"), "404 400")
		}
		x.row("C62", "an answer nobody asked for", x.link("POST", "/away/"+mine, "say=yes&token="+good, own), "403")
	})
	x.as("hosted field", framed)
	// A field that is not good spends its token and tells why; nothing of it is kept.
	for _, c := range [][3]string{
		{"B48", "CARD_NUMBER", "4111111111111112"}, {"B48", "CARD_NUMBER", "4929000000006"}, {"B48", "CARD_NUMBER", ""}, {"B48", "CARD_NUMBER", "%D9%A4" + cardPAN[1:]}, {"B48", "CARD_NUMBER", cardPAN + "%00"},
		{"B48", "EXPIRATION_DATE", "13%2F99"}, {"B48", "EXPIRATION_DATE", "00%2F99"}, {"B48", "EXPIRATION_DATE", "01%2F20"}, {"B48", "SECURITY_CODE", "12"}, {"B48", "SECURITY_CODE", "12345"}, {"B48", "SECURITY_CODE", "9%0073"},
		{"B46", "CARDHOLDER_NAME", "a%0D%0Alevel%3Derror"}, {"B48", "CARDHOLDER_NAME", cardPAN}, {"B46", "CARDHOLDER_NAME", "%00"}, {"B44", "CARDHOLDER_EMAIL", "a%40b%0D%0ABcc%3Ac%40d.example"}, {"B44", "CARDHOLDER_EMAIL", "ada"},
	} {
		answer := x.link("POST", "/fields/"+mine+"/"+c[1], "value="+c[2]+"&token="+token(mine, c[1]), own)
		word, own := framed(answer)
		x.rows = append(x.rows, row{c[0], fmt.Sprintf("hosted field: %s %.40s", c[1], c[2]), status(answer) + " " + word, own && strings.HasPrefix(status(answer), "200"), 0})
	}
	// One form a hundred times at once: the value is taken by one of them.
	taken := crowd(100, 1, func() bool { return field(x.link("POST", at, value+"&token="+good, own), "event") == "BUILD_SUCCESS" })
	x.count("C59", "one form 100 times at once, acts", taken, 1)
	x.unmoved(t, func() { x.row("C59", "a spent token", x.link("POST", at, value+"&token="+good, own), "403") })
	for id, v := range map[string]string{"EXPIRATION_DATE": "12%2F40", "SECURITY_CODE": cardCode, "CARDHOLDER_NAME": "%3Cscript%3Ealert(1)%3C%2Fscript%3E", "CARDHOLDER_EMAIL": "ada%40shop.example"} {
		require.Contains(t, x.link("POST", "/fields/"+mine+"/"+id, "value="+v+"&token="+token(mine, id), own), "BUILD_SUCCESS", id)
	}
	x.as("hosted build", errorList)
	before := x.books(t)
	finalize := `{"sessionId":"` + mine + `"}`
	crowd(50, 2, func() bool { return x.merchant("POST", "/api/v1/api/build/finalize_payment", finalize) != "" })
	x.count("C62", "100 finalizes at once, payments", int64(strings.Count(x.books(t), `"service": "hosted"`)-strings.Count(before, `"service": "hosted"`)), 1)
	x.row("C62", "cancel of what is paid", x.merchant("POST", "/api/v1/api/build/cancel", finalize), "400")
	paid := x.books(t)
	op := within(x.merchant("GET", stateAt+mine, ""), `"operationId":"`)
	require.NotEmpty(t, op)
	refund := func(key, amount string) string {
		return x.merchant("POST", "/api/v1/api/operations/"+op+"/refunds", `{"amount":"`+amount+`","currency":"EUR"}`, "Idempotency-Key: "+key)
	}
	for _, a := range []string{"0", "-1", "1.5", "05", "2147483648", "1251"} {
		x.row("B33", "refund of "+a, refund("a"+a, a), "400")
	}
	require.Equal(t, paid, x.books(t), "no bad input moved anything")
	n := 0
	done := crowd(1, 100, func() bool { n++; return strings.HasPrefix(status(refund(fmt.Sprint("r", n), "250")), "200") })
	x.count("C62", "100 refunds of a fifth, that succeed", done, 5)
	x.row("C62", "capture of what is given back", x.merchant("POST", "/api/v1/api/operations/"+op+"/captures", `{"amount":"1"}`, "Idempotency-Key: c"), "400")
	x.row("C62", "the fields of a session that is over", x.merchant("POST", "/api/v1/api/build/finalize_payment", `{"sessionId":"`+other+`"}`), "400")
}
