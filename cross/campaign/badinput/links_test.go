package badinput

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// linkError is the error body of payment links (S1 7): exactly this content type.
func linkError(answer string) (string, bool) {
	word := field(answer, "reason")
	return word, word != "" && field(answer, "status") == "error" && strings.HasPrefix(field(answer, "message"), "An error occurred: ") &&
		strings.Contains(answer, "Content-Type: application/json\r\n") && strings.Contains(answer, "Cache-Control: no-store")
}

// page is a refusal for people.
func page(answer string) (string, bool) {
	_, rest, _ := strings.Cut(answer, `class="result"`)
	_, rest, _ = strings.Cut(rest, ">")
	word, _, _ := strings.Cut(rest, "<")
	return fmt.Sprintf("%.40s", word), strings.Contains(answer, "Content-Type: text/html; charset=utf-8") && strings.Contains(answer, "Content-Security-Policy: default-src 'none'") &&
		strings.Contains(answer, "Cache-Control: no-store") && strings.Contains(answer, "X-Frame-Options: DENY")
}

// mac is the proof over a text.
func mac(secret, text string) []byte {
	m := hmac.New(sha256.New, []byte(secret))
	m.Write([]byte(text))
	return m.Sum(nil)
}

// signed is a form with its proof behind it. What cannot be read is signed as it stands.
func signed(form string) string {
	var pairs []string
	for _, p := range strings.Split(form, "&") {
		name, value, _ := strings.Cut(p, "=")
		n, err := url.QueryUnescape(name)
		v, bad := url.QueryUnescape(value)
		if err != nil || bad != nil {
			pairs = append(pairs, p)
		} else if p != "" {
			pairs = append(pairs, query(n, v))
		}
	}
	proof := query("ApiSignature", base64.StdEncoding.EncodeToString(mac(linkSecret, strings.Join(pairs, "&"))))
	if form == "" {
		return proof
	}
	return form + "&" + proof
}

const (
	linksAt  = "/v1.0/Invoice/?instance=demo"
	txnsAt   = "/v1.0/Transaction/"
	linkForm = "title=Sale&description=a+b&referenceId=ref-1&purpose=p&amount=1250&currency=EUR"
)

// link asks with a form as its body; the caller has signed it.
func (x *teller) link(method, path, form string, headers ...string) string {
	headers = append(headers, "Authorization:-")
	if !strings.Contains(strings.Join(headers, "\n"), "Content-Type:") {
		headers = append(headers, urlencoded)
	}
	return x.call(method, path, form, headers...)
}

// data reads one member of an answer's first record.
func data(answer, name string) string {
	_, body, _ := strings.Cut(answer, "\r\n\r\n")
	var v struct{ Data []map[string]any }
	dec := json.NewDecoder(strings.NewReader(body))
	dec.UseNumber()
	if dec.Decode(&v) != nil || len(v.Data) == 0 || v.Data[0][name] == nil {
		return ""
	}
	return fmt.Sprint(v.Data[0][name])
}

// linkRows are B and C of the payment-link routes.
func (x *teller) linkRows(t *testing.T) {
	x.as("links", linkError)
	with := func(old, now string) string { return strings.Replace(linkForm, old, now, 1) }
	type formRow struct{ number, input, form, want string }
	list := []formRow{{"B23", "empty", "", "400"}, {"B31", "no amount", with("&amount=1250", ""), "400"}, {"B31", "amount empty", with("1250", ""), "400"}}
	add := func(number, old, want string, values ...string) {
		for _, v := range values {
			list = append(list, formRow{number, fmt.Sprintf("%.44s", v), with(old, v), want})
		}
	}
	add("B34", "1250", "400", "05000", "5,000", "+5000", "%2B5000", "%D9%A5%D9%A0%D9%A0%D9%A0", "0x10", "1e3", "1.0", "1250.00", "-0", "NaN", "Infinity")
	add("B33", "1250", "400", "-1", "0", "2147483648", "9223372036854775808", "1"+strings.Repeat("0", 400))
	add("B43", "EUR", "400", "eur", "XXX", "EUR%00", "%E2%82%AC", "DEM", "", "EURO")
	add("B43", "amount=1250&currency=EUR", "400", "amount=1250&currency=JPY", "amount=1&currency=JPY") // hundredths of what has none
	add("B44", "title=Sale", "400", "title="+strings.Repeat("1", 10_240), "title=a%0D%0Alevel%3Derror", "title=a%00b", "title=%1B%5D8%3B%3Bhttp", "title[0]=a", "title[999999999]=a")
	add("B45", "a+b", "400", "a%00b", "a%1Bb", strings.Repeat("d", 4097))
	add("B42", "title", "400", "preAuthorization=1&reservation=1&title", "preAuthorization=2&title", "subscriptionState=1&title", "hideFields=yes&title")
	add("B47", "title", "400", "vatRate=NaN&title", "vatRate=-1&title", "vatRate=101&title", "vatRate=1e2&title", "vatRate=7.123456789&title", "vatRate=7%2C7&title")
	add("B48", "title", "400", "psp["+cardPAN+"]=x&title", "psp=0&title=&psp[0]=", "psp[0]=-1&title", "psp[0]=2147483648&title")
	add("B49", "title", "400", "expirationDate=2026-02-30&title", "expirationDate=0000-00-00&title", "expirationDate=2026-2-1&title", "expirationDate=2026-11-21T00:00:00&title",
		"subscriptionState=1&subscriptionInterval=P0M&title", "subscriptionState=1&subscriptionInterval=PT5M&title", "subscriptionState=1&subscriptionInterval=P1000Y&title", "subscriptionState=1&subscriptionInterval=P-1M&title")
	add("B50", "title", "400", "a=1&a[b]=2&title", "a[b]=1&a=2&title", "a[b=1&title", "a]b=1&title", "[a]=1&title", "a[b]c=1&title", "%=1&title", "a=%u0041&title", "a=%FF&title", "amount=1250&title", "fields=x&title", "attachments=x&title")
	add("B50", "title", "413", "a"+strings.Repeat("[b]", 1000)+"=1&title", strings.Repeat("a", 257)+"=1&title", strings.Repeat("a=1&", 1001)+"title")
	add("B50", "title", "400 413", "a"+strings.Repeat("[]", 9)+"=1&title")
	add("B38", "a+b", "413", strings.Repeat("d", 256<<10))
	for _, u := range badPages {
		add("B52", "title", "400", "successRedirectUrl="+url.QueryEscape(u)+"&title", "failedRedirectUrl="+url.QueryEscape(u)+"&title")
	}
	good := signed(linkForm)
	x.unmoved(t, func() {
		browsers(x, "POST", linksAt, good, "403 405 404")
		for _, c := range list {
			x.row(c.number, c.input, x.link("POST", linksAt, signed(c.form)), c.want)
		}
		for _, typ := range []string{" text/plain", " application/x-www-form-urlencoded; charset=utf-16", " multipart/form-data", " multipart/form-data; boundary=x", " application/xml", " ;"} {
			x.row("B40", "Content-Type:"+typ, x.call("POST", linksAt, good, "Content-Type:"+typ, "Authorization:-"), "400 403")
		}
		for _, enc := range []string{"gzip", "br", "deflate", "gzip, gzip"} {
			x.row("B41", "Content-Encoding: "+enc, x.link("POST", linksAt, good, "Content-Encoding: "+enc), "400")
		}
		// The same as JSON: it is read before it is known who asks, so that it is signed does not matter.
		for _, b := range unreadable(`{"title":"Sale","amount":1250}`)[1:] {
			x.row(b.number, "JSON, "+b.input, x.call("POST", linksAt, b.body, "Authorization:-"), "400 403 413")
		}
		x.multipart()
		x.proofs(good)
	})
	x.linkMeaning(t)
}

// multipart are forms with files that are wrong.
func (x *teller) multipart() {
	part := func(head, body string) string { return "--b\r\n" + head + "\r\n\r\n" + body + "\r\n" }
	file := part("Content-Disposition: form-data; name=\"attachments[0]\"; filename=\"a\"", "x")
	fields := ""
	for _, p := range strings.Split(signed(linkForm), "&") {
		name, value, _ := strings.Cut(p, "=")
		v, _ := url.QueryUnescape(value)
		fields += part("Content-Disposition: form-data; name=\""+name+"\"", v)
	}
	const end = "--b--\r\n"
	for _, c := range []struct{ number, input, body, want string }{
		{"B23", "nothing", "", "400 403"}, {"B35", "no end", fields + file, "400"}, {"B35", "cut in a file", fields + file[:len(file)-4], "400"},
		{"B50", "a part without a name", fields + part("Content-Disposition: form-data", "x") + end, "400"},
		{"B50", "an encoded part", fields + part("Content-Disposition: form-data; name=\"x\"\r\nContent-Transfer-Encoding: base64", "eA==") + end, "400"},
		{"B50", "amount twice", fields + part("Content-Disposition: form-data; name=\"amount\"", "1") + end, "400 403"},
		{"B45", "NUL in a file's name", fields + part("Content-Disposition: form-data; name=\"attachments[0]\"; filename=\"a\x00\"", "x") + end, "400"},
		{"B44", "a file's name of 300", fields + part("Content-Disposition: form-data; name=\"attachments[0]\"; filename=\""+strings.Repeat("a", 300)+"\"", "x") + end, "400"},
		{"B37", "eleven files", fields + strings.Repeat(file, 11) + end, "413"},
		{"B38", "a text of 256 KiB", fields + part("Content-Disposition: form-data; name=\"x\"", strings.Repeat("x", 256<<10)) + end, "413"},
		{"B38", "a file of 16 MiB + 1", fields + part("Content-Disposition: form-data; name=\"attachments[0]\"; filename=\"a\"", strings.Repeat("x", 16<<20+1)) + end, "413 closed"},
		{"C58", "files without a proof", part("Content-Disposition: form-data; name=\"title\"", "x") + file + end, "403"},
	} {
		if strings.Contains(c.input, "MiB") && !x.full {
			continue
		}
		x.row(c.number, "multipart, "+c.input, x.call("POST", linksAt, c.body, "Content-Type: multipart/form-data; boundary=b", "Authorization:-"), c.want)
	}
}

// proofs are C: who may.
func (x *teller) proofs(good string) {
	raw := mac(linkSecret, linkForm)
	proof := base64.StdEncoding.EncodeToString(raw)
	by := func(s string) string { return linkForm + "&" + query("ApiSignature", s) }
	empty := query("ApiSignature", base64.StdEncoding.EncodeToString(mac(linkSecret, "")))
	last := byte('A')
	if proof[0] == 'A' {
		last = 'B'
	}
	for _, c := range []struct{ number, input, path, form, want string }{
		{"C53", "no proof", linksAt, linkForm, "403"}, {"C53", "an empty one", linksAt, by(""), "403"},
		{"C53", "no account", "/v1.0/Invoice/", good, "422"}, {"C53", "an empty one", "/v1.0/Invoice/?instance=", good, "422"},
		{"C53", "another account", "/v1.0/Invoice/?instance=other", good, "403"}, {"C54", "the account in capitals", "/v1.0/Invoice/?instance=DEMO", good, "403"},
		{"C53", "two accounts", linksAt + "&instance=demo", good, "422"}, {"C53", "another account in the body", linksAt, good + "&instance=other", "400"},
		{"C56", "over another order", linksAt, by(base64.StdEncoding.EncodeToString(mac(linkSecret, "description=a+b&title=Sale"+strings.TrimPrefix(linkForm, "title=Sale&description=a+b")))), "403"},
		{"C56", "over %20 for a blank", linksAt, by(base64.StdEncoding.EncodeToString(mac(linkSecret, strings.ReplaceAll(linkForm, "+", "%20")))), "403"},
		{"C56", "one pair more than was signed", linksAt, good + "&sku=x", "403"}, {"C56", "one pair less", linksAt, strings.Replace(good, "&purpose=p", "", 1), "403"},
		{"C56", "another amount", linksAt, strings.Replace(good, "1250", "1", 1), "403"}, {"C56", "an amount in the address", linksAt + "&amount=1", good, "403 400"},
		{"C57", "the empty text's, on a create", linksAt, linkForm + "&" + empty, "403"},
		{"C57", "the empty text's, on a refund with an amount", txnsAt + "500001/refund/?instance=demo", "amount=1&" + empty, "403"},
		{"C57", "the empty text's, on a refund of all, which has no payload", txnsAt + "500001/refund/?instance=demo", empty, "404"},
		{"C57", "the empty text's, on a charge with a purpose", txnsAt + "500001/?instance=demo", "purpose=x&" + empty, "403"},
		{"C58", "cut", linksAt, by(proof[:len(proof)-4]), "403"}, {"C58", "without its =", linksAt, by(strings.TrimRight(proof, "=")), "403"}, {"C58", "longer", linksAt, by(proof + "AAAA"), "403"},
		{"C58", "hex", linksAt, by(hex.EncodeToString(raw)), "403"}, {"C58", "lower case", linksAt, by(strings.ToLower(proof)), "403"},
		{"C58", "another first letter", linksAt, by(string(last) + proof[1:]), "403"}, {"C58", "64 KB", linksAt, by(strings.Repeat("A", 64<<10)), "403"},
		{"C58", "with a line end", linksAt, by(proof + "\r\n"), "403"}, {"C58", "of another secret", linksAt, by(base64.StdEncoding.EncodeToString(mac(badBearer, linkForm))), "403"},
		{"C58", "of no secret", linksAt, by(base64.StdEncoding.EncodeToString(mac("", linkForm))), "403"},
		{"C58", "URL alphabet", linksAt, by("-_" + strings.NewReplacer("+", "-", "/", "_").Replace(proof)[2:]), "403"},
		{"B50", "twice, the same", linksAt, by(proof) + "&" + query("ApiSignature", proof), "403"}, {"B50", "in address and body", linksAt + "&" + query("ApiSignature", proof), good, "403"},
		{"B50", "as a list", linksAt, linkForm + "&" + query("ApiSignature[0]", proof), "403"}, {"B50", "in lower case", linksAt, linkForm + "&" + query("apisignature", proof), "403"},
		{"B50", "a broken address", linksAt + "&a=%FF", good, "400"}, {"B50", "1,001 pairs in the address", linksAt + strings.Repeat("&a=1", 1001), good, "413"},
	} {
		x.row(c.number, "proof: "+c.input, x.link("POST", c.path, c.form), c.want)
	}
	bare := "&" + empty
	for _, c := range []struct{ method, path string }{
		{"GET", txnsAt + "?instance=demo&offset=0" + bare}, {"GET", txnsAt + "?instance=demo&limit=1000000000" + bare}, {"GET", txnsAt + "500001/?instance=demo&id=500002" + bare},
		{"DELETE", "/v1.0/Invoice/100001/?instance=demo&x=1" + bare},
	} {
		x.row("C57", "proof: the empty text's, beside more: "+c.method, x.link(c.method, c.path, ""), "403")
	}
	for _, key := range []string{badBearer, linkSecret[:4], strings.ToUpper(linkSecret), " ", linkSecret + "x"} {
		x.row("C53", fmt.Sprintf("X-API-KEY of %d", len(key)), x.link("POST", linksAt, linkForm, "X-API-KEY: "+key), "403")
	}
	x.row("C53", "X-API-KEY twice", x.link("POST", linksAt, linkForm, "X-API-KEY: "+linkSecret, "X-API-KEY: "+linkSecret), "403")
	x.row("C53", "a wrong X-API-KEY beside a good proof", x.link("POST", linksAt, good, "X-API-KEY: x"), "403")
	x.row("C53", "X-API-KEY for another account", x.link("POST", "/v1.0/Invoice/?instance=other", linkForm, "X-API-KEY: "+linkSecret), "403")
	x.row("C53", "a bearer in place of a proof", x.call("POST", linksAt, linkForm, urlencoded), "403")
	x.keys("POST", linksAt, good, urlencoded, "Authorization:-")
}

// linkMeaning is C after a link is made.
func (x *teller) linkMeaning(t *testing.T) {
	const key = "Idempotency-Key: link-one"
	made := x.link("POST", linksAt, signed(linkForm), key)
	id, hash := data(made, "id"), data(made, "hash")
	require.NotEmpty(t, hash, made)
	x.unmoved(t, func() {
		x.row("C59", "the same key with another body", x.link("POST", linksAt, signed(strings.Replace(linkForm, "1250", "1251", 1)), key), "422")
		same := crowd(50, 20, func() bool { return data(x.link("POST", linksAt, signed(linkForm), key), "id") == id })
		x.count("C61", "the same request 1,000 times from 50 callers, the first answer", same, 1000)
		for _, n := range []string{"-1", "2147483648", "9223372036854775808", "01", "1;2", "1%20OR%201=1", "%EF%BC%91", "1%2F2", "..%2F..", "%00"} {
			x.row("C65", "link "+n, x.link("GET", "/v1.0/Invoice/"+n+"/?instance=demo&"+signed(""), ""), "404 400 30")
		}
		x.row("C63", "a link there is none of", x.link("GET", "/v1.0/Invoice/99/?instance=demo&"+signed(""), ""), "404")
		x.row("C63", "delete of one there is none of", x.link("DELETE", "/v1.0/Invoice/99/?instance=demo", signed("id=99")), "404")
		x.row("C63", "refund of one there is none of", x.link("POST", txnsAt+"99/refund/?instance=demo", signed("id=99")), "404")
		x.row("C64", "another id in the body than in the path", x.link("DELETE", "/v1.0/Invoice/"+id+"/?instance=demo", signed("id=99")), "400")
		for _, q := range []string{"offset=-1", "limit=-1", "limit=10000000000", "offset=1e3", "filterDatetimeUtcGreaterThan=2026-11-21T00:00:00", "filterDatetimeUtcLessThan=2026-02-30+00:00:00", "offset[0]=1"} {
			x.row("C66", "list, "+q, x.link("GET", txnsAt+"?instance=demo&"+signed(q), ""), "400")
		}
		x.row("C66", "list, limit=1000000000", x.link("GET", txnsAt+"?instance=demo&"+signed("limit=1000000000"), ""), "200")
		x.row("A17", "PUT of a link", x.link("PUT", "/v1.0/Invoice/"+id+"/?instance=demo", signed("")), "405")
		x.row("A16", "another version", x.link("POST", "/v9.9/Invoice/?instance=demo", signed(linkForm)), "404")
	})
	x.row("B50", "psp[999999999], one entry", x.link("POST", linksAt, signed(linkForm+"&psp[999999999]=1")), "200")
	x.row("B48", "a card number in the purpose, hidden", x.link("POST", linksAt, signed(strings.NewReplacer("purpose=p", "purpose="+cardPAN, "a+b", "4111+1111-1111+1111").Replace(linkForm))), "200")

	paid := x.call("POST", "/pay/"+hash+"/pay", "")
	require.Contains(t, paid, `"state":"p`, paid) // paid, or processing
	var txn string
	require.True(t, until(answerIn(), func() bool {
		read := x.link("GET", "/v1.0/Invoice/"+id+"/?instance=demo&"+signed(""), "")
		_, rest, _ := strings.Cut(read, `"transactions":[{"id":`)
		txn, _, _ = strings.Cut(rest, ",")
		return data(read, "status") == "confirmed" && txn != ""
	}))
	op := func(verb, form string) string {
		return x.link("POST", txnsAt+txn+"/"+verb+"?instance=demo", signed(form))
	}
	x.unmoved(t, func() {
		x.row("C62", "delete of a link that is paid", x.link("DELETE", "/v1.0/Invoice/"+id+"/?instance=demo", signed("id="+id)), "404")
		x.row("C62", "capture of what is confirmed", op("capture/", "x=1"), "404")
		x.row("C62", "charge of what is confirmed", op("", "x=1"), "404")
		x.row("C62", "refund above the payment", op("refund/", "amount=1251"), "409")
		x.row("C62", "refund of the largest amount", op("refund/", "amount=2147483647"), "409")
		for _, a := range []string{"0", "-1", "1.5", "1e2", "2147483648", "%D9%A1", "1&amount=2", "x"} {
			x.row("B33", "refund of "+a, op("refund/", "amount="+a), "400")
		}
	})
	done := crowd(100, 1, func() bool { return strings.HasPrefix(status(op("refund/", "amount=250")), "200") })
	x.count("C62", "100 refunds of a fifth at once, that succeed", done, 5)
	x.row("C63", "refund of what is given back", op("refund/", "amount=1"), "404 409")
	require.Contains(t, x.books(t), `"service": "paylinks"`)
}

// foreignForms are posts to a page's form that are not its own: fields and token would do, foreign is the token of another
// payment and button that of another button.
func (x *teller) foreignForms(at, fields, token, foreign, button string) {
	own, good := "Origin: http://"+x.addr, fields+"&token="+token
	for _, c := range []struct {
		number, input, form string
		headers             []string
	}{
		{"A6", "no Origin", good, nil}, {"A6", "Origin: null", good, []string{"Origin: null"}}, {"A6", "two Origins", good, []string{own, own}},
		{"A7", "Origin of another port", good, []string{"Origin: http://127.0.0.1:1"}}, {"A7", "Origin of https", good, []string{"Origin: https://" + x.addr}},
		{"A7", "Origin with a slash", good, []string{own + "/"}}, {"A7", "Origin that begins alike", good, []string{own + ".evil.example"}}, {"A7", "Origin of another name", good, []string{"Origin: http://localhost:" + x.addr[strings.LastIndexByte(x.addr, ':')+1:]}},
		{"A8", "Referer only", good, []string{"Referer: http://" + x.addr + at}}, {"A8", "Sec-Fetch-Site: cross-site", good, []string{own, "Sec-Fetch-Site: cross-site"}}, {"A8", "Sec-Fetch-Site: same-site", good, []string{own, "Sec-Fetch-Site: same-site"}},
		{"B23", "empty", "", []string{own}}, {"B31", "no token", fields, []string{own}}, {"B31", "token empty", fields + "&token=", []string{own}},
		{"B28", "two tokens", good + "&token=" + token, []string{own}}, {"B50", "broken escapes", good + "&x=%zz", []string{own}},
		{"B40", "JSON", `{"token":"` + token + `"}`, []string{own, "Content-Type: application/json"}}, {"B40", "text/plain", good, []string{own, "Content-Type: text/plain"}},
		{"B38", "64 KiB + 1", good + "&x=" + strings.Repeat("x", 64<<10), []string{own}}, {"B38", "8 MB", good + "&x=" + strings.Repeat("x", 8<<20), []string{own}},
		{"C58", "token cut", good[:len(good)-2], []string{own}}, {"C58", "token longer", good + "00", []string{own}}, {"C58", "token with another life", strings.Replace(good, ".1", ".9", 1), []string{own}},
		{"C63", "token of another payment", fields + "&token=" + foreign, []string{own}}, {"C63", "token of another button", fields + "&token=" + button, []string{own}},
	} {
		want := "403"
		if c.input == "8 MB" {
			want = "403 closed"
		}
		x.row(c.number, c.input, x.link("POST", at, c.form, c.headers...), want)
	}
}

// pageRows are the forms of the link pages, as other pages send them.
func (x *teller) pageRows(t *testing.T) {
	make := func(more string) (hash string) {
		hash = data(x.link("POST", linksAt, signed(linkForm+more)), "hash")
		require.NotEmpty(t, hash)
		return hash
	}
	show := func(hash string) map[string]string { return forms(x.call("GET", "/pay/"+hash, "", "Authorization:-")) }
	own := "Origin: http://" + x.addr
	post := func(path, form string, headers ...string) string { return x.link("POST", path, form, headers...) }
	mine, other, cards := make(""), make(""), make("&pm[0]=visa")
	at := "/pay/" + mine + "/pay"
	token, foreign := show(mine)[at], show(other)["/pay/"+other+"/pay"]
	require.NotEmpty(t, token)
	require.NotEmpty(t, foreign)
	x.as("link page", page)
	x.unmoved(t, func() {
		x.foreignForms(at, "by=wallet", token, foreign, show(mine)["/pay/"+mine+"/decline"])
		x.row("B42", "a button the page does not have: wallet", post("/pay/"+cards+"/pay", "by=wallet&token="+show(cards)["/pay/"+cards+"/pay"], own), "403")
		x.row("B42", "no button", post(at, "token="+token, own), "403")
		x.row("B42", "a button nobody has", post(at, "by=gift&token="+token, own), "403")
		x.row("C62", "stop of what is no subscription", post("/pay/"+mine+"/stop", "token="+token, own), "403")
		card := "by=card&number=" + cardPAN + "&expiry=12%2F40&code=" + cardCode + "&token=" + token
		for _, c := range [][3]string{{"B48", cardPAN, "4111111111111112"}, {"B48", cardPAN, "4929000000006"}, {"B48", "12%2F40", "13%2F99"}, {"B48", "12%2F40", "01%2F20"}, {"B48", cardCode, "12"}, {"B46", "by=card", "by=card&x=%0D%0Alevel%3Derror"}} {
			want := "422"
			if c[0] == "B46" {
				want = "403"
				c[1], c[2] = token, token+"%0D%0A"
			}
			x.row(c[0], "card, "+strings.ReplaceAll(c[2], token, "token"), post(at, strings.Replace(card, c[1], c[2], 1), own), want)
		}
		for _, path := range []string{"/pay/none", "/pay/%00", "/pay/%ff", "/pay/1%20OR%201=1", "/pay/" + mine + "/file/0", "/pay/" + mine + "/file/-1", "/pay/none/qr.png"} {
			x.row("C65", "GET "+strings.ReplaceAll(path, mine, "HASH"), x.call("GET", path, "", "Authorization:-"), "404")
		}
		x.row("C67", "lang=../../etc", x.call("GET", "/pay/"+mine+"?lang=..%2F..%2Fetc&lang=%00", "", "Authorization:-"), "200")
		x.as("link page by program", fault)
		for _, c := range []string{" Bearer ", " Bearer " + badBearer, " Basic cG9zYWdlbnQ6eA==", " Bearer " + strings.ToUpper(bearerWord)} {
			x.row("C53", "credential:"+c, x.call("POST", at, "", "Authorization:"+c), "401")
		}
		x.row("A6", "Origin beside a bearer", x.call("POST", at, "", own), "403")
		x.row("C65", "a link there is none of", x.call("POST", "/pay/none/pay", ""), "404")
	})
	x.as("link page", page)
	first := post("/pay/"+mine+"/decline", "token="+show(mine)["/pay/"+mine+"/decline"], own)
	x.row("C59", "the page's own form", first, "303")
	spent := show(mine)["/pay/"+mine+"/decline"]
	if spent == "" {
		t.Error("the page has no form any more")
		return
	}
	acts := func() int64 { return int64(strings.Count(x.books(t), `"service": "paylinks"`)) }
	before := acts()
	crowd(100, 1, func() bool { return post("/pay/"+mine+"/decline", "token="+spent, own) != "" })
	x.count("C59", "one form 100 times at once, acts", acts()-before, 1)
	x.unmoved(t, func() {
		x.row("C59", "a spent token", post("/pay/"+mine+"/decline", "token="+spent, own), "303 403") // 303: the page says what came of it
		dot := strings.LastIndexByte(spent, '.')
		x.row("C59", "a spent token in capitals", post("/pay/"+mine+"/decline", "token="+spent[:dot]+strings.ToUpper(spent[dot:]), own), "303 403")
	})
}

// checkoutRows are the forms of the hosted payment page.
func (x *teller) checkoutRows(t *testing.T) {
	hosted := func() string {
		id := field(x.pay(goodHosted), "paymentId")
		require.NotEmpty(t, id)
		return id
	}
	show := func(id string) map[string]string { return forms(x.call("GET", "/checkout/"+id, "", "Authorization:-")) }
	own := "Origin: http://" + x.addr
	mine, other := hosted(), hosted()
	at := "/checkout/" + mine
	token, foreign, leave := show(mine)[at+"/pay"], show(other)["/checkout/"+other+"/pay"], show(mine)[at+"/leave"]
	require.NotEmpty(t, token)
	require.NotEmpty(t, foreign)
	require.NotEmpty(t, leave)
	card := "by=card&number=" + cardPAN + "&expiry=12%2F40&code=" + cardCode
	x.as("payment page", page)
	x.unmoved(t, func() {
		x.foreignForms(at+"/pay", card, token, foreign, leave)
		for _, c := range [][3]string{
			{"B48", cardPAN, "4111111111111112"}, {"B48", cardPAN, "4929000000006"}, {"B48", cardPAN, ""}, {"B48", cardPAN, "%D9%A4" + cardPAN[1:]}, {"B48", "12%2F40", "13%2F99"}, {"B48", "12%2F40", "00%2F99"},
			{"B48", "12%2F40", "01%2F20"}, {"B48", cardCode, "12"}, {"B48", cardCode, "12345"}, {"B48", cardCode, "9%0073"},
		} {
			x.row(c[0], "card with "+c[2], x.link("POST", at+"/pay", strings.Replace(card, c[1], c[2], 1)+"&token="+token, own), "422")
		}
		x.row("C62", "an answer nobody asked for", x.link("POST", at+"/answer", "pass=yes&token="+token, own), "403")
		x.row("A17", "GET of an act", x.call("GET", at+"/pay", "", "Authorization:-"), "404 405")
		for _, id := range []string{"none", "%00", "%ff", "1%20OR%201=1", "..%2F..%2Ftoken", strings.Repeat("a", 1024)} {
			x.row("C65", fmt.Sprintf("payment %.20s", id), x.call("GET", "/checkout/"+id, "", "Authorization:-"), "404 400")
			x.row("C65", fmt.Sprintf("pay %.20s", id), x.link("POST", "/checkout/"+id+"/pay", card+"&token="+token, own), "404 400 403")
		}
		x.row("C67", "lang=../../etc", x.call("GET", at+"?lang=..%2F..%2Fetc&by=%00&go=javascript:", "", "Authorization:-"), "200")
	})
	before := x.books(t)
	for _, by := range []string{"", "Card", "gift", "../../etc", "%00"} { // spends its form and nothing else: the page says no
		x.row("B42", "pay by "+by, x.link("POST", at+"/pay", "by="+by+"&token="+show(mine)[at+"/pay"], own), "303 4")
	}
	if x.books(t) != before {
		t.Error("a button there is none of pays")
	}
	token, leave = show(mine)[at+"/pay"], show(mine)[at+"/leave"]
	x.row("C59", "the page's own form", x.link("POST", at+"/pay", card+"&token="+token, own), "303")
	paid := x.books(t)
	if paid == before {
		t.Error("the page's own form pays nothing")
	}
	x.unmoved(t, func() {
		crowd(50, 2, func() bool { return x.link("POST", at+"/pay", card+"&token="+token, own) != "" })
		x.row("C59", "a spent token", x.link("POST", at+"/pay", card+"&token="+token, own), "303 403 409")
	})
	x.row("C62", "another button of a page that is paid", x.link("POST", at+"/leave", "token="+leave, own), "4 303")
	if x.books(t) != paid {
		t.Error("a spent form pays")
	}
}
