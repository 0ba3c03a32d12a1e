package badinput

import (
	"encoding/base64"
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Words of callers and of the program that stand nowhere.
const (
	linkSecret  = "demo-secret" // of the account demo, printed in the README like the other two: test credentials
	oauthSecret = "demo-client-secret"
	oauthPair   = "grant_type=client_credentials&client_id=demo-client&client_secret=" + oauthSecret
	urlencoded  = "Content-Type: application/x-www-form-urlencoded"
)

// fault is the error body of the services of S1, which the backend's own routes and the terminal's receiver have too.
func fault(answer string) (string, bool) {
	code := within(answer, `"params":{"code":"`)
	return code, code != "" && strings.Contains(answer, `"valid":false`) && strings.Contains(answer, "Content-Type: application/json") &&
		strings.Contains(answer, "Cache-Control: no-store")
}

// oauth is the error body of the token route (RFC 6749 5.2).
func oauth(answer string) (string, bool) {
	word := field(answer, "error")
	return word, word != "" && strings.Contains(answer, "Content-Type: application/json") && strings.Contains(answer, "Cache-Control: no-store")
}

// within is what stands between a text and the next quote.
func within(answer, before string) string {
	_, rest, _ := strings.Cut(answer, before)
	word, _, _ := strings.Cut(rest, `"`)
	return word
}

// variants replace one text of a good body, each by one of several others.
func variants(number, good, old, now string, values ...string) (list []bad) {
	for _, v := range values {
		list = append(list, bad{number, fmt.Sprintf("%.40q", strings.ReplaceAll(now, "?", v)), strings.Replace(good, old, strings.ReplaceAll(now, "?", v), 1)})
	}
	return list
}

// texts are what no single line of a screen or a log may have; JSON escapes, for a place between quotes.
var texts = []string{`x\r\nlevel=error msg=paid`, `\u001b]8;;http://evil`, `a\u0000b`, `a\u2028b`, `\ud800`, "\xff", "\xc0\xaf"}

// pages is where nobody may be sent.
var badPages = []string{"javascript:alert(1)", "data:text/html,x", "/back", "//a", "https://user:pw@shop.example", "file:///etc/passwd", "https://a b/"}

// badHooks is where nothing may be sent to.
var badHooks = []string{"http://169.254.169.254/", "https://10.0.0.1/", "https://[::1]:9/", "https://[fe80::1%25eth0]/", "https://0/", "https://2130706433/", "https://0x7f.1/",
	"https://localhost%00.example", "https://localhost/", "file:///etc/passwd", "gopher://a", "https://user:pw@host.example/", "//a", "", "http://shop.example/"}

const tokenBody = `{"tokenSecret":"` + cardSecret + `","returnUrl":"https://shop.example/","description":"one","cardDetails":{"pan":"` + cardPAN +
	`","expiryYear":2099,"expiryMonth":12,"validationCode":"` + cardCode + `"}}`

const recurringBody = `{"recurringType":"CardOnFile","tokenSecret":"` + cardSecret + `","orderNumber":"o-1","amount":1250,"currencyCode":"EUR","recurringExpiryDate":"2099-01-31","recurringFrequency":30}`

// tokenRows are B and C of the token routes.
func (x *teller) tokenRows(t *testing.T) {
	const at = "/api/v1/tokens"
	x.as("tokens", problem)
	browsers(x, "POST", at, tokenBody, "403")
	list := unreadable(tokenBody)
	add := func(more []bad) { list = append(list, more...) }
	add(variants("B31", tokenBody, `"`+cardPAN+`"`, "?", "null"))
	add(variants("B31", tokenBody, "2099", "?", "null"))
	add(variants("B32", tokenBody, "2099", "?", "2099.0", "2.099e3", "-0", "02099", "+2099", "0x833", "NaN"))
	add(variants("B33", tokenBody, "12,", "?,", "-1", "0", "13", "2147483648", "9223372036854775808", "1"+strings.Repeat("0", 400)))
	add(variants("B34", tokenBody, `"`+cardPAN+`"`, "?", cardPAN, `["`+cardPAN+`"]`, `{}`))
	add(variants("B34", tokenBody, `"`+cardCode+`"`, "?", cardCode))
	add(variants("B42", tokenBody, `"returnUrl"`, `"payPageConfiguration":{"language":"?"},"returnUrl"`, "en", "XX", "../../etc"))
	add(variants("B46", tokenBody, `"one"`, `"?"`, append([]string{strings.Repeat("1", 10_240)}, texts...)...))
	add(variants("B48", tokenBody, "2099", "?", "1999", "20260", "26"))
	add(variants("B48", tokenBody, cardPAN, "?", "411111111111", cardPAN+"1111", cardPAN[:15]+"2", "４"+cardPAN[1:], "-"+cardPAN))
	add(variants("B48", tokenBody, cardCode, "?", cardCode+"1", "91", "91a3"))
	add(variants("B52", tokenBody, "https://shop.example/", "?", badPages...))
	x.unmoved(t, func() {
		x.send("POST", at, list)
		x.envelopes("POST", at, tokenBody)
		list = unreadable(recurringBody)
		if !x.full {
			list = list[:6]
		}
		add(variants("B32", recurringBody, "1250", "?", "1e3", "1.0", "-0", "01", "NaN"))
		add(variants("B33", recurringBody, "1250", "?", "-1", "2147483648", "9223372036854775808"))
		add(variants("B33", recurringBody, `Frequency":30`, `Frequency":?`, "-1", "10000", "1.5"))
		add(variants("B42", recurringBody, "CardOnFile", "?", "cardonfile", "Subscription2", "$type"))
		add(variants("B43", recurringBody, "EUR", "?", `EUR\u0000`, "eur", "€", "DEM", "", "EURO"))
		add(variants("B49", recurringBody, "2099-01-31", "?", "2026-02-30", "0000-00-00", "9999-99-99", "2099-1-1", "2099-01-31T00:00:00Z", "1999-01-01"))
		add(variants("B44", recurringBody, "o-1", "?", append([]string{strings.Repeat("1", 10_240)}, texts...)...))
		x.send("POST", at+"/recurring", list)
		x.strangers("POST", at, tokenBody)
		x.keys("POST", at, tokenBody)
		for _, id := range []string{"-1", "9223372036854775808", "1;2", "1%20OR%201=1", "%EF%BC%91", "a%2Fb", "%2e%2e", "%00", "recurring%00", strings.Repeat("a", 1024)} {
			x.row("C65", fmt.Sprintf("verify %.30s", id), x.call("POST", at+"/"+id+"/verify", ""), "404 400")
			x.row("C65", fmt.Sprintf("token of %.30s", id), x.call("GET", at+"/"+id, ""), "404 400")
		}
		x.row("A17", "GET of the list", x.call("GET", at, ""), "405")
		x.row("A17", "DELETE of a token", x.call("DELETE", at+"/x", ""), "405")
	})
	key := "Idempotency-Key: token one"
	x.row("C60", "a key with a blank", x.call("POST", at, tokenBody, key), "400")
	key = "Idempotency-Key: token-one"
	id := field(x.call("POST", at, tokenBody, key), "tokenizationId")
	require.NotEmpty(t, id)
	x.unmoved(t, func() {
		x.row("C59", "the same key with another body", x.call("POST", at, strings.Replace(tokenBody, "2099", "2098", 1), key), "422")
		x.count("C61", "the same request 1,000 times from 50 callers, the first answer", crowd(50, 20, func() bool { return field(x.call("POST", at, tokenBody, key), "tokenizationId") == id }), 1000)
		x.row("C63", "a token where there is no such", x.call("GET", at+"/"+strings.ToUpper(id)+"0", ""), "404")
		// What the token opens is guarded by its secret, and both refusals are one.
		token := field(x.call("GET", at+"/"+id, ""), "token")
		require.NotEmpty(t, token)
		x.hidden = append(x.hidden, token)
		x.as("tokens, paid with", problem)
		for _, pair := range [][2]string{{token, "wrong"}, {token, ""}, {strings.ToLower(token), cardSecret}, {token[1:], cardSecret}} {
			body := fmt.Sprintf(`{"type":"MerchantInitiated","amount":1,"currencyCode":"EUR","paymentMethodDetails":{"type":"MerchantInitiated","token":%q,"tokenSecret":%q}}`, pair[0], pair[1])
			x.row("C54", fmt.Sprintf("token %t, secret %t", pair[0] == token, pair[1] == cardSecret), x.pay(body), "400 422")
		}
		x.as("tokens", problem)
	})
	x.row("B48", "a card number in the descriptions, hidden", x.call("POST", at, strings.Replace(tokenBody, `"one"`, `"`+cardPAN+`","orderDescription":"4111 1111-1111 1111"`, 1)), "201")
}

// browsers send what only a web page sends.
func browsers(x *teller, method, path, good, want string) {
	for _, h := range []struct{ number, header string }{
		{"A6", "Origin: null"}, {"A7", "Origin: http://127.0.0.1:1"}, {"A7", "Origin: http://HOST"}, {"A8", "Referer: http://evil.example/"},
	} {
		x.row(h.number, h.header, x.call(method, path, good, h.header), want)
	}
	x.row("A9", "preflight for the private network", x.call("OPTIONS", path, "", "Origin: http://evil.example", "Access-Control-Request-Private-Network: true"), "403 405")
}

const applicationBody = `{"reference":"r-1","merchant":{"registrationNumber":"5560000001","companyName":"Shop","contactFirstName":"Ada","email":"ada@shop.example",` +
	`"address":{"city":"Town","countryCode":"SE"}},"notifications":{"webHooks":[{"eventName":"onboarding.approved","url":"https://hooks.invalid/","authorization":"` + hookSecret + `","headers":[{"X-A":"b"}]}]}}`

// onboardingRows are B and C of the onboarding routes and of the sandbox's.
func (x *teller) onboardingRows(t *testing.T) {
	const at = "/api/v1/onboarding/applications"
	x.as("onboarding", problem)
	browsers(x, "POST", at, applicationBody, "403")
	id := within(strings.ReplaceAll(x.call("POST", at, strings.Replace(applicationBody, "hooks.invalid/", "hooks.invalid/?", 1)), ",", `"`), `"onboardingId":`)
	require.NotEmpty(t, id)
	this := at + "/" + id
	list := unreadable(applicationBody)
	add := func(more []bad) { list = append(list, more...) }
	add(variants("B31", applicationBody, `"onboarding.approved"`, "?", "null", "{}", "1"))
	add(variants("B34", applicationBody, `"Shop"`, "?", "1", "[]", "{}"))
	add(variants("B34", applicationBody, `{"X-A":"b"}`, "?", `{"X-A":1}`, `"X-A: b"`, `{"X-A":"b\r\nX-B: c"}`, `{"X A":"b"}`, `{"":"b"}`, `{"Host":"evil"}`, `{"Content-Length":"1"}`))
	add(variants("B43", applicationBody, `"SE"`, `"?"`, "se", "SWE", "S", `S\u0000`, "１２"))
	add(variants("B44", applicationBody, `"r-1"`, `"?"`, append([]string{strings.Repeat("1", 10_240)}, texts...)...))
	add(variants("B46", applicationBody, `"Shop"`, `"?"`, append([]string{strings.Repeat("1", 10_240)}, texts...)...))
	add(variants("B46", applicationBody, `"`+hookSecret+`"`, `"`+hookSecret+`?"`, texts[:4]...))
	add(variants("B47", applicationBody, `[{"eventName"`, `[?{"eventName"`, strings.Repeat(`{"eventName":"a","url":"https://hooks.invalid/"},`, 64), strings.Repeat(`1,`, 10_000)))
	add(variants("B44", applicationBody, `ada@shop.example`, `?`, "ada", "@shop.example", "ada@", "a b@c", "<a@b>", `a@b\r\nBcc: c@d`))
	add(variants("B52", applicationBody, "https://hooks.invalid/", "?", badHooks...))
	x.unmoved(t, func() {
		x.send("POST", at, list)
		x.envelopes("POST", at, applicationBody)
		if !x.full {
			list = list[len(list)-10:]
		}
		x.send("PUT", this, list)
		x.strangers("POST", at, applicationBody)
		x.strangers("POST", this+"/approve", "")
		x.keys("POST", at, applicationBody)
		x.keys("POST", this+"/submit", "")
		for _, n := range []string{"0", "-1", "9223372036854775808", "01", "+1", "1;2", "1%20OR%201=1", "%EF%BC%91", "1%2F2", "1.0", "%00", id + "9"} {
			x.row("C65", "application "+n, x.call("GET", at+"/"+n, ""), "404 400")
			x.row("C65", "submit of "+n, x.call("POST", at+"/"+n+"/submit", ""), "404 400")
			x.row("C65", "update of "+n, x.call("PUT", at+"/"+n, applicationBody), "404 400")
		}
		x.send("POST", this+"/submit", unreadable(`{"reason":"failed"}`)[1:])
		for _, act := range []string{"sign", "approve", "reject", "fail"} {
			x.row("C62", act+" before the submit", x.call("POST", this+"/"+act, ""), "422")
		}
		x.row("C62", "an act nobody has", x.call("POST", this+"/abandon", ""), "404")
		x.row("C62", "initiate", x.call("POST", this+"/initiate", ""), "404")
		x.row("A17", "GET of an act", x.call("GET", this+"/approve", ""), "405")
		x.row("A17", "DELETE of an application", x.call("DELETE", this, ""), "405")
	})
	const key = "Idempotency-Key: application-one"
	first := within(strings.ReplaceAll(x.call("POST", at, applicationBody, key), ",", `"`), `"onboardingId":`)
	x.unmoved(t, func() {
		x.row("C59", "the same key with another body", x.call("POST", at, strings.Replace(applicationBody, "r-1", "r-2", 1), key), "422")
		same := crowd(50, 20, func() bool {
			return strings.Contains(x.call("POST", at, applicationBody, key), `"onboardingId":`+first+",")
		})
		x.count("C61", "the same request 1,000 times from 50 callers, the first answer", same, 1000)
	})
	won := crowd(100, 1, func() bool { return strings.HasPrefix(status(x.call("POST", this+"/submit", "")), "200") })
	x.count("C62", "100 submits at once, that succeed", won, 1)
	x.unmoved(t, func() {
		x.row("C62", "update after the submit", x.call("PUT", this, applicationBody), "422")
		x.row("C62", "approve before the signature", x.call("POST", this+"/approve", ""), "422")
		x.row("C62", "reject before the signature", x.call("POST", this+"/reject", ""), "422")
		for _, r := range []string{"bogus", "Failed", "failed ", `failed\u0000`} {
			x.row("B42", "fail with reason "+r, x.call("POST", this+"/fail", `{"reason":"`+r+`"}`), "400")
		}
		x.send("POST", this+"/fail", unreadable(`{"reason":"failed"}`)[1:])
	})
	x.row("C62", "the signature", x.call("POST", this+"/sign", ""), "200")
	x.row("C62", "the approval", x.call("POST", this+"/approve", ""), "200")
	x.unmoved(t, func() {
		for _, act := range []string{"submit", "sign", "fail", "approve", "reject"} {
			x.row("C62", act+" after the approval", x.call("POST", this+"/"+act, ""), "422")
		}
	})
	x.row("B48", "a card number in the company's name, hidden", x.call("POST", at, strings.Replace(applicationBody, `"Shop"`, `"Shop `+cardPAN+`"`, 1)), "201")
}

// grantRows are B and C of POST /token.
func (x *teller) grantRows(t *testing.T) {
	x.as("token grant", oauth)
	basic := func(pair string) string {
		return "Authorization: Basic " + base64.StdEncoding.EncodeToString([]byte(pair))
	}
	const form, none = urlencoded, "Authorization:-"
	over := strings.Repeat("x", 16<<10)
	x.unmoved(t, func() {
		for _, at := range []string{"/token", "/oauth2/v2.0/token"} {
			for _, c := range []struct {
				number, input, body, want string
				headers                   []string
			}{
				{"A6", "Origin: null", oauthPair, "403", []string{form, none, "Origin: null"}},
				{"A8", "Referer only", oauthPair, "403", []string{form, none, "Referer: http://evil.example/"}},
				{"B23", "empty", "", "400", []string{form, none}},
				{"B40", "no content type", oauthPair, "400", []string{"Content-Type:-", none}},
				{"B40", "JSON", `{"grant_type":"client_credentials","client_id":"demo-client","client_secret":"` + oauthSecret + `"}`, "400", []string{none}},
				{"B40", "text/plain", oauthPair, "400", []string{"Content-Type: text/plain", none}},
				{"B40", "multipart without an end", "--b\r\nContent-Disposition: form-data; name=\"grant_type\"\r\n\r\nclient_credentials", "400", []string{"Content-Type: multipart/form-data; boundary=b", none}},
				{"B41", "Content-Encoding: gzip", oauthPair, "400", []string{form, none, "Content-Encoding: gzip"}},
				{"B38", "16 KiB + 1", oauthPair + "&x=" + over, "400 413", []string{form, none}},
				{"B50", "a broken escape", oauthPair + "&x=%zz", "400", []string{form, none}},
				{"B50", "the grant twice", oauthPair + "&grant_type=client_credentials", "400", []string{form, none}},
				{"B50", "the secret twice", oauthPair + "&client_secret=x", "400", []string{form, none}},
				{"B50", "credentials in the query", "grant_type=client_credentials", "401", []string{form, none}},
				{"B42", "another grant", strings.Replace(oauthPair, "client_credentials", "password", 1), "400", []string{form, none}},
				{"B42", "the grant in capitals", strings.Replace(oauthPair, "client_credentials", "CLIENT_CREDENTIALS", 1), "400", []string{form, none}},
				{"C53", "no credentials", "grant_type=client_credentials", "401", []string{form, none}},
				{"C53", "empty secret", "grant_type=client_credentials&client_id=demo-client&client_secret=", "401", []string{form, none}},
				{"C53", "wrong secret", strings.Replace(oauthPair, oauthSecret, badBearer, 1), "401", []string{form, none}},
				{"C53", "Bearer in place of Basic", "grant_type=client_credentials", "401", []string{form}},
				{"C53", "Basic without a colon", "grant_type=client_credentials", "401", []string{form, basic("demo-client")}},
				{"C53", "Basic that is no Base64", "grant_type=client_credentials", "401", []string{form, "Authorization: Basic %%%"}},
				{"C53", "another client's secret", "grant_type=client_credentials", "401", []string{form, basic("demo-consumer:" + oauthSecret)}},
				{"C53", "a colon moved", "grant_type=client_credentials", "401", []string{form, basic("demo:client-" + oauthSecret)}},
				{"C53", "Basic beside credentials in the body", oauthPair, "400 401", []string{form, basic("demo-client:" + badBearer)}},
				{"C54", "the secret in capitals", strings.Replace(oauthPair, oauthSecret, strings.ToUpper(oauthSecret), 1), "401", []string{form, none}},
			} {
				path := at
				if strings.Contains(c.input, "query") {
					path += "?" + oauthPair
				}
				x.row(c.number, c.input, x.call("POST", path, c.body, c.headers...), c.want)
			}
		}
		x.row("A17", "GET /token", x.call("GET", "/token?"+oauthPair, ""), "405")
		x.row("A15", "Basic of 1 MB", x.call("POST", "/token", oauthPair, form, "Authorization: Basic "+strings.Repeat("Q", 1<<20)), "431 closed")
	})
	good := field(x.call("POST", "/token", oauthPair, form, none), "access_token")
	require.NotEmpty(t, good)
	x.hidden = append(x.hidden, good)
	expires, mac, _ := strings.Cut(good, ".")
	x.as("granted token", problem)
	ask := func(token string) string {
		return x.call("GET", "/api/v1/payments/none", "", "Authorization: Bearer "+token)
	}
	x.row("C53", "as it was granted", ask(good), "404")
	for input, token := range map[string]string{"a longer life": "9" + expires + "." + mac, "longer": good + "00", "shorter": good[:len(good)-2], "without its time": "." + mac, "without proof": expires + ".",
		"a negative time": "-" + expires + "." + mac, "1970": "0." + mac, "seconds": expires[:10] + "." + mac, "another time beside it": expires + "." + expires + "." + mac, "the proof in Base64": expires + "." + base64.StdEncoding.EncodeToString([]byte(mac))} {
		x.row("C55", input, ask(token), "401")
	}
}

// hookRows are B and C of the administration of webhooks.
func (x *teller) hookRows(t *testing.T) {
	const at = "/backend/v1/hooks"
	x.as("hooks", fault)
	x.unmoved(t, func() {
		browsers(x, "GET", at, "", "403")
		browsers(x, "POST", at+"/replay", `{"id":"x"}`, "403")
		for _, path := range []string{"", "/dead"} {
			x.row("A17", "POST of the list"+path, x.call("POST", at+path, "{}"), "405")
			x.row("A17", "DELETE of the list"+path, x.call("DELETE", at+path, ""), "405")
		}
		x.row("A17", "GET of the replay", x.call("GET", at+"/replay", ""), "405")
		for _, path := range []string{"/", "/none", "/replay/x", "/dead/../replay"} {
			x.row("A16", "path "+path, x.call("POST", at+path, `{"id":"x"}`), "404 405 30")
		}
		list := unreadable(`{"id":"x"}`)
		add := func(more []bad) { list = append(list, more...) }
		add([]bad{{"B23", "neither id nor since", "{}"}, {"B42", "both", `{"id":"x","since":"2026-11-21T00:00:00Z"}`}})
		add(variants("B34", `{"id":"x"}`, `"x"`, "?", "1", "null", "[]"))
		add(variants("B49", `{"id":"x"}`, `"id":"x"`, `"since":"?"`, "2026-02-30T00:00:00Z", "0000-00-00", "2026-11-21", "2026-11-21T24:00:00Z", "2026-11-21T00:00:00+25:00", "now", "99999-01-01T00:00:00Z"))
		x.send("POST", at+"/replay", list)
		x.envelopes("POST", at+"/replay", `{"id":"x"}`)
		x.send("POST", at+"/resume", variants("B52", `{"url":"?"}`, "?", "?", badHooks...))
		x.send("POST", at+"/resume", []bad{{"B31", "no url", "{}"}, {"B31", "url null", `{"url":null}`}})
		for _, id := range []string{"-1", "9223372036854775808", "' OR 1=1 --", "%", "１", strings.Repeat("a", 10_000)} {
			x.row("C63", fmt.Sprintf("replay of %.20s", id), x.call("POST", at+"/replay", fmt.Sprintf(`{"id":%q}`, id)), "404 400")
		}
		x.strangers("GET", at, "")
		x.strangers("POST", at+"/replay", `{"since":"2000-01-01T00:00:00Z"}`)
	})
}

var anyToken = regexp.MustCompile(`action="([^"]*)"[^>]*><input type="hidden" name="token" value="([^"]*)"`)

// forms finds the forms of a page: the token of each by its address without the language.
func forms(page string) map[string]string {
	out := map[string]string{}
	for _, m := range anyToken.FindAllStringSubmatch(page, -1) {
		at, _, _ := strings.Cut(m[1], "?")
		out[at] = m[2]
	}
	return out
}

// TestBadInputOfServices sends B and C to what else the real binary's backend serves, and prints the table.
func TestBadInputOfServices(t *testing.T) {
	t.Parallel()
	x := built(t)
	began := time.Now()
	empty := x.books(t)
	x.tokenRows(t)
	x.onboardingRows(t)
	x.grantRows(t)
	x.hookRows(t)
	require.Equal(t, empty, x.books(t), "no bad input moved anything")
	x.linkRows(t)
	x.pageRows(t)
	x.checkoutRows(t)
	x.judge(t, "tokens, onboarding, payment links, pages and administration", x.slowest, began, append(x.hidden, linkSecret, oauthSecret)...)
}

// query writes one pair of a form.
func query(name, value string) string { return url.QueryEscape(name) + "=" + url.QueryEscape(value) }
