package badinput

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// errorList is the error body of hosted build (S2 7).
func errorList(answer string) (string, bool) {
	code := within(answer, `{"errors":[{"code":"`)
	return code, code != "" && strings.Contains(answer, `"description":"`) && strings.Contains(answer, "Content-Type: application/json") && strings.Contains(answer, "Cache-Control: no-store")
}

const (
	apiKeyWord = "demo-api-key" // printed in the README: a test credential
	apiKey     = "X-API-KEY: " + apiKeyWord
	correlated = "Correlation-Id: 0123abcd-4567-89ef-0123-456789abcdef"
	buildBody  = `{"merchantUrl":"https://shop.example","order":{"orderId":"o-1","amount":"1250","currency":"EUR","description":"one"},` +
		`"paymentSession":{"actionType":"PAY","amount":1250,"resultUrl":"https://shop.example/","notificationUrl":"https://hooks.invalid/","paymentService":"CARDS"}}`
)

// hostedRows are A to C of hosted build and of its fields.
func (x *teller) hostedRows(t *testing.T) {
	const at = "/api/v1/api/orders/build"
	x.as("hosted build", errorList)
	list := unreadable(buildBody)
	add := func(more []bad) { list = append(list, more...) }
	add(variants("B31", buildBody, `"1250"`, "?", "null"))
	add(variants("B32", buildBody, `"1250"`, "?", "1e3", "1250.0", "-0", "01250", "+1250", "0x10", "NaN", "Infinity"))
	add(variants("B33", buildBody, `"1250"`, "?", "-1", "2147483648", "9223372036854775808", "1"+strings.Repeat("0", 400), "1249"))
	add(variants("B34", buildBody, `"1250"`, "?", `"05000"`, `"5,000"`, `" 5000"`, `"٥٠٠٠"`, `["1250"]`, `{}`, "true"))
	add(variants("B42", buildBody, `"PAY"`, `"?"`, "pay", "SALE", "PAY ", ""))
	add(variants("B42", buildBody, `"CARDS"`, `"?"`, "BARTER", "../../etc"))
	add(variants("B43", buildBody, "EUR", "?", `EUR\u0000`, "eur", "XXX", "€", "DEM", ""))
	add(variants("B44", buildBody, "o-1", "?", append([]string{"'; DROP TABLE ops;--", "../../", "%s%n", "${jndi:ldap://x}", strings.Repeat("1", 28)}, texts...)...))
	add(variants("B46", buildBody, `"one"`, `"?"`, append([]string{strings.Repeat("1", 10_240), "<script>alert(1)</script>"}, texts...)...))
	add(variants("B49", buildBody, `"PAY"`, `"PAY","recurrence":{"contractExpiryDate":"?"}`, "2026-02-30", "0000-00-00", "24:00:00"))
	add(variants("B49", buildBody, `"description"`, `"customerInfo":{"cardHolderAcctInfo":{"chAccDate":"?"}},"description"`, "2026-02-30", "soon"))
	add(variants("B52", buildBody, "https://shop.example/", "?", badPages...))
	add(variants("B52", buildBody, `Url":"https://shop.example"`, `Url":"?"`, "shop.example", "javascript:alert(1)", "https://user:pw@shop.example", ""))
	for _, u := range badHooks {
		if u != "" { // none is none
			add(variants("B52", buildBody, "https://hooks.invalid/", "?", u))
		}
	}
	x.unmoved(t, func() {
		browsers(x, "POST", at, buildBody, "403")
		x.send("POST", at, list, apiKey, correlated)
		for _, h := range []string{"Content-Type: text/plain", "Content-Type:-", "Content-Encoding: gzip"} {
			x.row("B40", h, x.call("POST", at, buildBody, apiKey, correlated, h), "400")
		}
		x.keys("POST", at, buildBody, apiKey, correlated)
		for _, id := range []string{"", " ", "x", "0123abcd456789ef0123456789abcdef", strings.Repeat("0", 10_000), "0123abcd-4567-89ef-0123-456789abcdeg"} {
			x.row("B40", fmt.Sprintf("Correlation-Id of %d characters", len(id)), x.call("POST", at, buildBody, apiKey, "Correlation-Id: "+id), "400")
		}
		for input, key := range map[string]string{"none": "-", "empty": " ", "wrong": " " + badBearer, "capitals": " " + strings.ToUpper(apiKeyWord), "shortened": " " + apiKeyWord[:5], "4 KB": " " + strings.Repeat("k", 5<<10)} {
			x.row("C53", "key: "+input, x.call("POST", at, buildBody, "X-API-KEY:"+key, correlated), "401")
		}
		x.row("C53", "two keys", x.call("POST", at, buildBody, apiKey, apiKey, correlated), "401")
		for _, id := range []string{"-1", "1;2", "1%20OR%201=1", "%EF%BC%91", "a%2Fb", "%2e%2e", "%00", strings.Repeat("a", 1024)} {
			for _, verb := range []string{"captures", "refunds", "cancels"} {
				x.row("C65", fmt.Sprintf("%s of %.30s", verb, id), x.call("POST", "/api/v1/api/operations/"+id+"/"+verb, "{}", apiKey, correlated, "Idempotency-Key: k"), "400 404")
			}
			x.row("C65", fmt.Sprintf("order %.30s", id), x.call("GET", "/api/v1/api/orders/"+id, "", apiKey, correlated), "400 404")
			x.row("C65", fmt.Sprintf("session %.30s", id), x.call("GET", "/api/v1/api/build/state?sessionId="+id, "", apiKey, correlated), "400 404")
		}
		x.row("A17", "GET of a build", x.call("GET", at, "", apiKey, correlated), "405")
		x.row("A17", "DELETE of an order", x.call("DELETE", "/api/v1/api/orders/o-1", "", apiKey, correlated), "405")
	})
	built := x.call("POST", at, buildBody, apiKey, correlated)
	session, token := field(built, "sessionId"), field(built, "securityToken")
	require.NotEmpty(t, token, built)
	x.hidden = append(x.hidden, token)
	x.row("C62", "finalize before anything is filled in", x.call("POST", "/api/v1/api/build/finalize_payment", `{"sessionId":"`+session+`"}`, apiKey, correlated), "400")
	x.row("B48", "a card number in the description, hidden", x.call("POST", at, strings.Replace(buildBody, `"one"`, `"`+cardPAN+`"`, 1), apiKey, correlated), "200")
	field := "/fields/" + session + "/CARD_NUMBER"
	x.as("hosted field", func(answer string) (string, bool) { return within(answer, `"errorCode":"`), true })
	for _, origin := range []string{"-", " null", " https://shop.example", " http://HOST.evil.example"} {
		x.row("A7", "a number from Origin:"+origin, x.call("POST", field, "token=x&value="+cardPAN, urlencoded, "Origin:"+origin), "403")
	}
	x.row("C59", "a number without a token", x.call("POST", field, "value="+cardPAN, urlencoded, "Origin: http://HOST"), "403")
	x.row("C65", "a field of no session", x.call("GET", "/fields/none/CARD_NUMBER", ""), "404")
	x.row("C65", "a field that is none", x.call("GET", "/fields/"+session+"/PIN", ""), "404")
	x.row("A17", "a number in the query", x.call("PUT", field, ""), "405")
	won := crowd(50, 20, func() bool {
		return strings.Contains(x.call("POST", at, buildBody, apiKey, correlated, "Idempotency-Key: build-one"), `"sessionId"`)
	})
	x.as("hosted build", errorList)
	x.count("C61", "the same build 1,000 times from 50 callers, answered", won, 1000)
}

// TestBadInputOfHostedBuild sends A to C to hosted build and its fields, and prints the table.
func TestBadInputOfHostedBuild(t *testing.T) {
	t.Parallel()
	x := built(t)
	began, empty := time.Now(), x.books(t)
	x.hostedRows(t)
	require.Equal(t, empty, x.books(t), "no bad input moved anything")
	x.judge(t, "hosted build", x.slowest, began, append(x.hidden, apiKeyWord)...)
}
