package badinput

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/cross/need"
	"posagent/cross/program"
)

// What a card caller says and nobody may repeat.
const (
	cardPAN    = "4111111111111111"
	cardCode   = "9173"
	cardSecret = "ts-canary-55120"
	hookSecret = "hook-canary-31077"
	badBearer  = "bearer-canary-64002"
	bearerWord = "posagent-demo-bearer" // printed in the README: a test credential
)

// teller is a backend process and the callers that mistreat its payment routes.
type teller struct {
	bin, state, addr string
	cmd              *exec.Cmd
	out              program.Talk
	mu               sync.Mutex
	heard            strings.Builder // every answer
	rows             []row
	slowest          time.Duration
	slow             string // what it was asked
	full             bool
	what             string   // the routes that are being asked
	shape            shape    // of their refusals
	hidden           []string // what an answer told its caller and nothing else may tell
}

// shape reads a refusal: in a word what it says, and whether it is the service's own.
type shape func(answer string) (word string, own bool)

// problem is the error body of payments, tokens and onboarding.
func problem(answer string) (string, bool) {
	word := field(answer, "type")
	return word, word != "" && strings.Contains(answer, "application/problem+json") && strings.Contains(answer, "Cache-Control: no-store")
}

// as says whom the next rows are for.
func (x *teller) as(what string, s shape) { x.what, x.shape = what, s }

// built starts the backend of the program, which ends with the test.
func built(t *testing.T) *teller {
	x := &teller{bin: program.Path(t, "posagent"), state: t.TempDir(), full: os.Getenv("BADINPUT") == "full"}
	x.start(t)
	t.Cleanup(func() { _ = x.cmd.Process.Kill() }) // if it still lives
	return x
}

func (x *teller) start(t *testing.T) {
	x.cmd = exec.Command(x.bin, "backend", "--listen", "127.0.0.1:0", "--state", x.state)
	x.cmd.Stdout, x.cmd.Stderr = &x.out, &x.out
	require.NoError(t, x.cmd.Start())
	const word = "listening on http://"
	require.True(t, until(need.Limit(), func() bool { return strings.Contains(x.out.String(), word) }), "%s", x.out.String())
	_, rest, _ := strings.Cut(x.out.String(), word)
	x.addr = strings.Fields(rest)[0]
}

// say sends raw text and gives back what came, headers and all.
func (x *teller) say(text string) string {
	conn, err := net.Dial("tcp", x.addr)
	if err != nil {
		return err.Error()
	}
	defer conn.Close()
	began := time.Now()
	_ = conn.SetDeadline(need.Deadline())
	go func() { _, _ = io.WriteString(conn, strings.ReplaceAll(text, "HOST", x.addr)) }() // an answer may come before all is said
	var back bytes.Buffer
	if resp, err := http.ReadResponse(bufio.NewReader(io.TeeReader(conn, &back)), nil); err == nil {
		_, _ = io.Copy(io.Discard, resp.Body)
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if took := time.Since(began); took > x.slowest {
		x.slowest, x.slow = took, fmt.Sprintf("%.60q", text)
	}
	x.heard.Write(back.Bytes())
	return back.String()
}

// call is one well-framed request.
func (x *teller) call(method, path, body string, headers ...string) string {
	h := append([]string{"Host: HOST", "Content-Length: " + fmt.Sprint(len(body))}, headers...)
	has := func(name string) bool {
		for _, s := range headers {
			if strings.HasPrefix(s, name+":") {
				return true
			}
		}
		return false
	}
	if !has("Authorization") {
		h = append(h, "Authorization: Bearer "+bearerWord)
	}
	if !has("Content-Type") && (method == "POST" || method == "PUT") {
		h = append(h, "Content-Type: application/json")
	}
	keep := h[:0]
	for _, s := range h {
		if !strings.HasSuffix(s, ":-") { // "Name:-" leaves the header out
			keep = append(keep, s)
		}
	}
	return x.say(request(method+" "+path+" HTTP/1.1", keep...) + body)
}

func (x *teller) pay(body string, headers ...string) string {
	return x.call("POST", "/api/v1/payments", body, headers...)
}

// field reads one text of an answer's body.
func field(answer, name string) string {
	_, body, _ := strings.Cut(answer, "\r\n\r\n")
	var m map[string]any
	if json.Unmarshal([]byte(body), &m) != nil {
		return ""
	}
	s, _ := m[name].(string)
	return s
}

func status(answer string) string {
	first, _, _ := strings.Cut(answer, "\r\n")
	return strings.TrimPrefix(first, "HTTP/1.1 ")
}

// books is what the backend's money looks like, without the process's help.
func (x *teller) books(t *testing.T) string {
	out, err := exec.Command(x.bin, "backend", "books", "--state", x.state, "--json").Output()
	require.NoError(t, err)
	return string(out)
}

// row judges one answer: its status is one of want (a space-separated list), and a refusal is in the service's shape.
func (x *teller) row(number, input, answer, want string) {
	got, ok := status(answer), false
	for _, w := range strings.Fields(want) {
		ok = ok || strings.HasPrefix(got, w) || w == "closed" && got == ""
	}
	outcome := got
	switch word, own := x.shape(answer); {
	case got == "":
		outcome = "closed"
	case got[0] >= '4':
		outcome += " " + word
		ok = ok && (own || number[0] == 'A') // what is wrong in B and C meets the service
	}
	if strings.Contains(answer, "Access-Control-Allow") {
		ok = false
	}
	x.rows = append(x.rows, row{number, x.what + ": " + input, outcome, ok, 0})
}

// prints stand for the write-ahead log of the database: every commit changes it, a checkpoint does not. They are taken when
// nothing moves.
func (x *teller) prints(t *testing.T) string { return prints(t, x.state) }

func prints(t testing.TB, dir string) string {
	read := func() string {
		sum, files := sha256.New(), 0
		require.NoError(t, filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, ".db-wal") {
				return err
			}
			data, err := os.ReadFile(path)
			files += len(data)
			sum.Write(data)
			return err
		}))
		require.NotZero(t, files, "there is a log")
		return hex.EncodeToString(sum.Sum(nil))
	}
	last := read()
	require.True(t, until(need.Limit(), func() bool {
		wait(60 * time.Millisecond)
		now := read()
		still := now == last
		last = now
		return still
	}), "the database comes to rest")
	return last
}

// unmoved plays rows that may not commit a byte to the database. The store folds its log now and then: what happens once in three
// times was that.
func (x *teller) unmoved(t *testing.T, rows func()) {
	for range 3 {
		before := x.prints(t)
		rows()
		if x.prints(t) == before {
			return
		}
	}
	t.Errorf("%s: something was written, each time", x.what)
}

const (
	goodHosted = `{"type":"NetsHostedEcom","amount":1250,"currencyCode":"EUR"}`
	goodMoto   = `{"type":"Moto","amount":1250,"currencyCode":"EUR","processing":"Authorize","cardDetails":{"pan":"` + cardPAN + `","expiryYear":2099,"expiryMonth":12,"validationCode":"` + cardCode + `"},` +
		`"notifications":{"webHooks":[{"eventName":"payment.refund.failed","url":"https://hooks.invalid/","authorization":"` + hookSecret + `"}]}}`
)

// in puts more members into a good body.
func in(members string) string {
	return `{"cardDetails":null,"paymentMethodDetails":null,` + members + `,` + goodHosted[1:]
}

// framing is A: what never reaches a service.
func (x *teller) framing() {
	const p = "POST /api/v1/payments HTTP/1.1"
	auth, typ := "Authorization: Bearer "+bearerWord, "Content-Type: application/json"
	body := func(n int) string { return "Content-Length: " + fmt.Sprint(n) }
	for _, c := range []struct{ number, input, text, want string }{
		{"A1", "no Host", request(p, auth, typ, body(len(goodHosted))) + goodHosted, "400"},
		{"A2", "two Host headers", request(p, "Host: HOST", "Host: HOST", auth, typ, body(len(goodHosted))) + goodHosted, "400"},
		{"A6", "Origin: null", request(p, "Host: HOST", "Origin: null", auth, typ, body(len(goodHosted))) + goodHosted, "403"},
		{"A7", "Origin of another port", request(p, "Host: HOST", "Origin: http://127.0.0.1:1", auth, typ, body(len(goodHosted))) + goodHosted, "403"},
		{"A8", "Referer only", request(p, "Host: HOST", "Referer: http://evil.example/", auth, typ, body(len(goodHosted))) + goodHosted, "403"},
		{"A9", "preflight for the private network", request("OPTIONS /api/v1/payments HTTP/1.1", "Host: HOST", "Origin: http://evil.example", "Access-Control-Request-Private-Network: true"), "403 405"},
		{"A11", "Content-Length: -1", request(p, "Host: HOST", auth, typ, "Content-Length: -1"), "400"},
		{"A11", "Content-Length: +5", request(p, "Host: HOST", auth, typ, "Content-Length: +5") + "{}   ", "400"},
		{"A11", "Content-Length: 5,5", request(p, "Host: HOST", auth, typ, "Content-Length: 5,5") + "{}   ", "400"},
		{"A11", "two different Content-Lengths", request(p, "Host: HOST", auth, typ, body(5), body(6)) + goodHosted, "400"},
		{"A12", "Content-Length beside Transfer-Encoding", request(p, "Host: HOST", auth, typ, body(5), "Transfer-Encoding: chunked") + "0\r\n\r\n", "400"},
		{"A13", "Transfer-Encoding: xchunked", request(p, "Host: HOST", auth, typ, "Transfer-Encoding: xchunked") + goodHosted, "400 501"},
		{"A14", "chunk size of 16 F", request(p, "Host: HOST", auth, typ, "Transfer-Encoding: chunked") + "FFFFFFFFFFFFFFFF\r\n" + strings.Repeat("x", 300<<10), "413 closed"},
		{"A14", "chunk extension of 1 MB", request(p, "Host: HOST", auth, typ, "Transfer-Encoding: chunked") + "1;" + strings.Repeat("e", 1<<20) + "\r\nx\r\n0\r\n\r\n", "400 closed"},
		{"A15", "header of 1 MB", request(p, "Host: HOST", auth, typ, "X: "+strings.Repeat("A", 1<<20)), "431 closed"},
		{"A15", "header name with NUL", request(p, "Host: HOST", auth, typ, "X\x00: 1"), "400"},
		{"A16", "path of 64 KB", request("GET /api/v1/payments/"+strings.Repeat("a", 64<<10)+" HTTP/1.1", "Host: HOST", auth), "4 closed"},
		{"A16", "//", request("POST //api/v1/payments HTTP/1.1", "Host: HOST", auth, typ, body(len(goodHosted))) + goodHosted, "30 404"},
		{"A16", "/./", request("POST /api/v1/./payments HTTP/1.1", "Host: HOST", auth, typ, body(len(goodHosted))) + goodHosted, "30 404"},
		{"A16", "/%2e%2e/", request("GET /api/v1/payments/%2e%2e/%2e%2e HTTP/1.1", "Host: HOST", auth), "30 404 405"},
		{"A16", "/%00", request("GET /api/v1/payments/%00 HTTP/1.1", "Host: HOST", auth), "400"},
		{"A16", "/%zz", request("GET /api/v1/payments/%zz HTTP/1.1", "Host: HOST", auth), "400"},
		{"A16", "path that is no UTF-8", request("GET /api/v1/payments/%ff%fe HTTP/1.1", "Host: HOST", auth), "400"},
		{"A17", "CONNECT", request("CONNECT evil.example:443 HTTP/1.1", "Host: HOST", auth), "4"},
		{"A17", "TRACE", request("TRACE /api/v1/payments HTTP/1.1", "Host: HOST", auth), "405"},
		{"A17", "GET where only POST is", request("GET /api/v1/payments/x/Capture HTTP/1.1", "Host: HOST", auth), "405"},
		{"A17", "method of 1 KB", request(strings.Repeat("M", 1024)+" /api/v1/payments HTTP/1.1", "Host: HOST", auth), "405"},
		{"A18", "a TLS ClientHello", "\x16\x03\x01\x00\xa5\x01\x00\x00\xa1\x03\x03" + strings.Repeat("r", 160) + "\r\n\r\n", "400 closed"},
		{"A22", "X-HTTP-Method-Override on a GET", request("GET /api/v1/payments HTTP/1.1", "Host: HOST", auth, "X-HTTP-Method-Override: POST"), "405"},
	} {
		x.row(c.number, c.input, x.say(c.text), c.want)
	}
}

// bad is a body that is refused.
type bad struct{ number, input, body string }

// unreadable is B as far as it is the same for every JSON body: good is an object whose first member comes back twice, and
// in other letters.
func unreadable(good string) []bad {
	name, _, _ := strings.Cut(good[2:], `"`)
	return []bad{
		{"B23", "empty", ""}, {"B24", "null", "null"}, {"B25", "[]", "[]"}, {"B25", "a text", `"x"`}, {"B25", "1", "1"},
		{"B26", "byte order mark", "\xef\xbb\xbf" + good}, {"B26", "UTF-16", "\xff\xfe{\x00}\x00"}, {"B26", "UTF-7", "+AHs-+AH0-"},
		{"B27", "0xFF in a name", "{\"\xff\":1," + good[1:]},
		{"B28", "the first member twice", strings.TrimSuffix(good, "}") + `,"` + name + `":null}`}, {"B28", "a card number as a key, twice", `{"` + cardPAN + `":1,"` + cardPAN + `":2}`},
		{"B29", "the first member in capitals too", strings.TrimSuffix(good, "}") + `,"` + strings.ToUpper(name) + `":null}`},
		{"B35", "trailing bytes", good + "x"}, {"B35", "two documents", good + good}, {"B35", "cut in the middle", good[:len(good)-1]},
		{"B36", "depth 10,001 of objects", strings.Repeat(`{"a":`, 10_001)}, {"B36", "depth 10,001 of arrays", `{"a":` + strings.Repeat("[", 10_001)},
		{"B38", "256 KiB + 1", `{"x":"` + strings.Repeat("x", 256<<10) + `"}`},
		{"B39", "comment", "/* */" + good}, {"B39", "trailing comma", strings.TrimSuffix(good, "}") + ",}"}, {"B39", "single quotes", strings.ReplaceAll(good, `"`, "'")},
	}
}

// send makes a row of every body.
func (x *teller) send(method, path string, list []bad, headers ...string) {
	for _, c := range list {
		want := "400"
		if c.number == "B36" || c.number == "B38" {
			want = "413"
		}
		x.row(c.number, c.input, x.call(method, path, c.body, headers...), want)
	}
}

// envelopes sends a good body in a wrong envelope.
func (x *teller) envelopes(method, path, good string, headers ...string) {
	for _, typ := range []string{"-", " text/plain", " application/x-www-form-urlencoded", " application/json;charset=utf-16", " multipart/form-data; boundary=x"} {
		x.row("B40", "Content-Type:"+typ, x.call(method, path, good, append(headers, "Content-Type:"+typ)...), "400")
	}
	for _, enc := range []string{"gzip", "br", "deflate", "gzip, gzip"} {
		x.row("B41", "Content-Encoding: "+enc, x.call(method, path, good, append(headers, "Content-Encoding: "+enc)...), "400")
	}
}

// bodies is B: every one is refused and moves nothing.
func (x *teller) bodies() {
	replace := func(old, now string) string { return strings.Replace(goodHosted, old, now, 1) }
	moto := func(old, now string) string { return strings.Replace(goodMoto, old, now, 1) }
	list := append(unreadable(goodHosted), []bad{
		{"B27", "0xFF", in("\"description\":\"\xff\"")}, {"B27", "lone surrogate", in(`"description":"\ud800"`)}, {"B27", "overlong", in("\"description\":\"\xc0\xaf\"")},
		{"B28", "amount twice", replace(`"amount"`, `"amount":99999,"amount"`)},
		{"B29", "AMOUNT", replace(`"amount"`, `"AMOUNT"`)}, {"B29", "Amount after amount", replace(`1250`, `1250,"Amount":1`)}, {"B29", "long s", in(`"deſcription":"x"`)},
		{"B31", "amount null", replace("1250", "null")},
		{"B33", "2147483648", replace("1250", "2147483648")}, {"B33", "-1", replace("1250", "-1")}, {"B33", "0", replace("1250", "0")},
		{"B33", "9223372036854775808", replace("1250", "9223372036854775808")}, {"B33", "10^400", replace("1250", "1"+strings.Repeat("0", 400))},
		{"B34", `"1250"`, replace("1250", `"1250"`)}, {"B34", "pan as a number", moto(`"`+cardPAN+`"`, cardPAN)}, {"B34", "code as a number", moto(`"`+cardCode+`"`, cardCode)},
		{"B37", "an array of 100,000", in(`"basket":[` + strings.TrimSuffix(strings.Repeat("1,", 100_000), ",") + `]`)},
		{"B42", `type "moto"`, moto("Moto", "moto")}, {"B42", "unknown type", replace("NetsHostedEcom", "Terminal")}, {"B42", "card in a hosted payment", moto("Moto", "NetsHostedEcom")},
		{"B42", "redirect in moto", moto(`"amount"`, `"redirectUrls":{"returnUrl":"https://a.example"},"amount"`)},
		{"B42", "token and IBAN at once", in(`"paymentMethodDetails2":1,"customer":{"type":"Company","firstName":"x"}`)},
		{"B46", "log line in a description", in(`"description":"x\r\nlevel=error msg=paid"`)}, {"B46", "escape sequence", in(`"description":"\u001b]8;;http://evil"`)}, {"B46", "U+2028", in(`"description":"a\u2028b"`)},
		{"B45", "NUL in a text", in(`"checkoutText":"a\u0000b"`)},
		{"B47", "2,000 items", in(`"basket":[` + strings.TrimSuffix(strings.Repeat(`{"quantity":1,"unitPrice":1},`, 2000), ",") + `]`)},
		{"B47", "quantity -1", in(`"basket":[{"quantity":-1,"unitPrice":-1250}]`)}, {"B47", "overflow", in(`"basket":[{"quantity":2147483647,"unitPrice":2147483647,"vatPercentage":25}]`)},
		{"B47", "vat NaN", in(`"basket":[{"quantity":1,"unitPrice":1250,"vatPercentage":NaN}]`)}, {"B47", "vat 1e999999999", in(`"basket":[{"quantity":1,"unitPrice":1250,"vatPercentage":1e999999999}]`)},
		{"B47", "sum is not the amount", in(`"basket":[{"quantity":1,"unitPrice":1249,"vatPercentage":25}]`)},
		{"B48", "month 0", moto(`"expiryMonth":12`, `"expiryMonth":0`)}, {"B48", "month 13", moto(`"expiryMonth":12`, `"expiryMonth":13`)},
		{"B48", "year 1999", moto("2099", "1999")}, {"B48", "year 20260", moto("2099", "20260")}, {"B48", "year 26", moto("2099", "26")},
		{"B48", "12 digits", moto(cardPAN, "411111111111")}, {"B48", "20 digits", moto(cardPAN, "41111111111111111111")}, {"B48", "bad check digit", moto(cardPAN, "4111111111111112")},
		{"B48", "code of 5 digits", moto(cardCode, cardCode+"1")},
	}...)
	for _, n := range []string{"1e3", "1.0", "1.5", "-0", "01", "+1", "0x10", "NaN", "Infinity"} {
		list = append(list, bad{"B32", "amount " + n, replace("1250", n)})
	}
	for _, c := range []string{`EUR\u0000`, "eur", "XXX", "€", "DEM", "XTS", "", "EURO"} {
		list = append(list, bad{"B43", "currency " + c, replace("EUR", c)})
	}
	for _, n := range []string{"'; DROP TABLE ops;--", "../../", "%s%n", "${jndi:ldap://x}", "{{7*7}}", "=cmd|' /C calc'!A0", "😀", "\u202e1", strings.Repeat("1", 10_240)} {
		list = append(list, bad{"B44", "paymentNumber " + n[:min(12, len(n))], in(`"paymentNumber":"` + n + `"`)})
	}
	for _, d := range []string{"2026-02-30", "0000-00-00", "24:00:00", "9999-99-99"} {
		list = append(list, bad{"B49", "date " + d, replace(`"amount"`, `"paymentMethodDetails":{"type":"InitialPaymentMethodTokenizationDetails","expiryDate":"`+d+`"},"amount"`)})
	}
	for _, u := range []string{"http://169.254.169.254/", "https://10.0.0.1/", "https://[::1]:9/", "https://0/", "https://2130706433/", "https://localhost%00.example", "file:///etc/passwd", "gopher://a", "https://user:pw@host.example/", "//a", ""} {
		list = append(list, bad{"B52", "webhook " + u, in(`"notifications":{"webHooks":[{"eventName":"payment.created","url":"` + u + `","authorization":"` + hookSecret + `"}]}`)})
	}
	for _, u := range []string{"javascript:alert(1)", "data:text/html,x", "/back", "https://user:pw@shop.example"} {
		list = append(list, bad{"B52", "returnUrl " + u, in(`"redirectUrls":{"returnUrl":"` + u + `"}`)})
	}
	x.send("POST", "/api/v1/payments", list)
	x.envelopes("POST", "/api/v1/payments", goodHosted)
}

// strangers ask without the right to.
func (x *teller) strangers(method, path, good string) {
	for input, v := range map[string]string{"none": "-", "empty": " ", "Bearer without a token": " Bearer ", "Basic": " Basic cG9zYWdlbnQ6eA==", "no scheme": " " + bearerWord,
		"wrong": " Bearer " + badBearer, "wrong case": " Bearer " + strings.ToUpper(bearerWord), "shortened": " Bearer " + bearerWord[:8], "1 MB": " Bearer " + strings.Repeat("t", 1<<20),
		"4 KB": " Bearer " + strings.Repeat("t", 8<<10)} {
		answer := x.call(method, path, good, "Authorization:"+v)
		if input == "1 MB" {
			x.row("A15", "credential of 1 MB", answer, "431 closed")
			continue
		}
		x.row("C53", "credential: "+input, answer, "401")
	}
}

// keys are those that name nothing.
func (x *teller) keys(method, path, good string, headers ...string) {
	for _, k := range []string{strings.Repeat("k", 10<<10), strings.Repeat("k", 65), "a b", "ü", "\u212a"} {
		x.row("C60", fmt.Sprintf("key of %d bytes", len(k)), x.call(method, path, good, append(headers, "Idempotency-Key: "+k)...), "400")
	}
	x.row("C60", "the same key in two headers", x.call(method, path, good, append(headers, "Idempotency-Key: a", "Idempotency-Key: b")...), "400")
}

// count makes a row of a number.
func (x *teller) count(number, input string, got, want int64) {
	x.rows = append(x.rows, row{number, x.what + ": " + input, fmt.Sprint(got), got == want, 0})
}

// crowd plays one call a thousand times from fifty callers and says how often it came back as f likes it.
func crowd(callers, each int, f func() bool) (good int64) {
	var wg sync.WaitGroup
	var n atomic.Int64
	for range callers {
		wg.Go(func() {
			for range each {
				if f() {
					n.Add(1)
				}
			}
		})
	}
	wg.Wait()
	return n.Load()
}

// meaning is C: who may, and in which order.
func (x *teller) meaning(t *testing.T) {
	x.strangers("POST", "/api/v1/payments", goodMoto)
	x.keys("POST", "/api/v1/payments", goodHosted)
	before := x.books(t)
	for _, id := range []string{"-1", "9223372036854775808", "1;2", "1%20OR%201=1", "%EF%BC%91", "a%2Fb", "%2e%2e%2fpayments"} {
		x.row("C65", "payment "+id, x.call("POST", "/api/v1/payments/"+id+"/Capture", "{}"), "404 400")
	}
	require.Equal(t, before, x.books(t), "nothing of A, B and C so far moved anything")

	first := x.pay(goodMoto, "Idempotency-Key: one")
	id := field(first, "paymentId")
	require.NotEmpty(t, id, first)
	x.row("C59", "the same key with another body", x.pay(strings.Replace(goodMoto, "1250", "1251", 1), "Idempotency-Key: one"), "422")
	same := crowd(50, 20, func() bool { return field(x.pay(goodMoto, "Idempotency-Key: one"), "paymentId") == id })
	x.count("C61", "the same request 1,000 times from 50 callers, the first answer", same, 1000)
	at := "/api/v1/payments/" + id
	op := func(name, body string) string { return x.call("POST", at+"/"+name, body) }
	x.row("C62", "capture above the reservation", op("Capture", `{"amount":1251}`), "422")
	x.row("C62", "capture of the largest amount", op("Capture", `{"amount":2147483647}`), "422")
	x.row("C62", "refund before the capture", op("Refund", `{"amount":1}`), "422")
	x.row("C64", "terminalId ../ and NUL", op("Capture", `{"amount":1,"terminalId":"../\u0000"}`), "400")
	x.row("C62", "the capture itself", op("Capture", "{}"), "200")
	x.row("C62", "capture again", op("Capture", "{}"), "422")
	x.row("C62", "cancel after the capture", op("Cancel", "{}"), "422")
	x.row("C62", "authorize again", op("Authorize", "{}"), "422")
	x.row("C62", "refund above the capture", op("Refund", `{"amount":1251}`), "422")
	x.count("C62", "100 refunds of a fifth at once, that succeed", crowd(100, 1, func() bool { return strings.HasPrefix(status(op("Refund", `{"amount":250}`)), "200") }), 5)
	x.row("C63", "refund of what is given back", op("Refund", `{"amount":1}`), "422")
	read := x.call("GET", at, "")
	require.Contains(t, read, `"refundedAmount":1250`)
	require.NotContains(t, read, cardPAN)
}

// TestBadInputOfCards sends A, B and C to the payment routes of the real binary's backend and prints the table.
func TestBadInputOfCards(t *testing.T) {
	t.Parallel()
	x := built(t)
	began := time.Now()
	empty := x.books(t)
	x.as("cards", problem)
	x.unmoved(t, func() {
		x.framing()
		x.bodies()
	})
	alone := x.slowest
	require.Equal(t, empty, x.books(t), "no bad input moved anything")
	x.meaning(t)
	x.judge(t, "the payment routes", alone, began)
}

// judge ends the backend, prints the table, and looks for what must stand nowhere; more of that in hidden, in files and
// output only.
func (x *teller) judge(t *testing.T, to string, alone time.Duration, began time.Time, hidden ...string) {
	took := time.Since(began)
	require.NoError(t, x.cmd.Process.Signal(syscall.SIGTERM))
	require.NoError(t, x.cmd.Wait(), "alive to the end: %s", x.out.String())
	sort.SliceStable(x.rows, func(a, b int) bool { return order(x.rows[a].number) < order(x.rows[b].number) })
	var lines strings.Builder
	failed := 0
	for _, r := range x.rows {
		word := "ok"
		if !r.ok {
			word = "FAILED"
			failed++
		}
		fmt.Fprintf(&lines, "%-4s %-78s %-60s %s\n", r.number, r.input, r.outcome, word)
	}
	t.Logf("bad input to %s, what came back\n%s%d rows, %d failed, slowest answer %v to one caller and %v to a hundred at once (%s), %.1f s",
		to, lines.String(), len(x.rows), failed, alone.Round(time.Millisecond), x.slowest.Round(time.Millisecond), x.slow, took.Seconds())
	require.Zero(t, failed)
	require.Less(t, x.slowest, need.Limit()/20, x.slow)

	answers := x.heard.String()
	places := map[string]string{"output": x.out.String()}
	require.NoError(t, filepath.WalkDir(x.state, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		places[filepath.Base(path)] = string(data)
		return err
	}))
	require.Greater(t, len(places), 2, "the database was read")
	secrets := []string{cardPAN, `"` + cardCode + `"`, cardSecret, hookSecret, badBearer, bearerWord}
	for _, s := range secrets {
		if i := strings.Index(answers, s); i >= 0 {
			t.Errorf("%q stands in an answer: %q", s, answers[max(0, i-400):i+40])
		}
	}
	for where, text := range places {
		for _, s := range append(secrets, hidden...) {
			require.False(t, s == "" || strings.Contains(text, s), "%q stands in %s", s, where)
		}
	}
	for _, word := range []string{"panic", "goroutine ", "DATA RACE", "level=ERROR"} {
		require.NotContains(t, places["output"], word)
	}
}
