package badinput

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"

	"posagent/cross/need"
)

// probe is one raw request to the local port.
type probe struct {
	number, input string
	text          string   // PORT stands for the port's number, HOST for its address
	want          []string // beginnings of the first line that may come back; "" = closed or silent
}

func request(line string, headers ...string) string {
	return line + "\r\n" + strings.Join(append(headers, "Connection: close"), "\r\n") + "\r\n\r\n"
}

var (
	refusedWords = []string{"HTTP/1.1 4"}
	refusedOrCut = []string{"HTTP/1.1 4", "HTTP/1.0 4", "HTTP/1.1 501", "HTTP/1.1 505", ""}
	unauthorized = []string{"HTTP/1.1 401"}
	served       = []string{"HTTP/1.1 200"}
	servedOrCut  = []string{"HTTP/1.1 200", "HTTP/1.1 4", "HTTP/1.1 3", ""}
)

const get = "GET /livez HTTP/1.1"

func probes() []probe {
	list := []probe{
		{"A1", "no Host", request(get), refusedWords},
		{"A2", "two Host headers", request(get, "Host: HOST", "Host: HOST"), refusedWords},
		{"A3", "Host: evil.example:PORT", request(get, "Host: evil.example:PORT"), refusedWords},
		{"A4", "Host: 127.0.0.1.evil.example", request(get, "Host: 127.0.0.1.evil.example:PORT"), refusedWords},
	}
	for _, h := range []string{"localhost.:PORT", "127.1:PORT", "0x7f000001:PORT", "0.0.0.0:PORT", "[::ffff:127.0.0.1]:PORT", "127.0.0.1:1", "127.0.0.1", "HOST@evil.example", "HOST#", "HOST,HOST"} {
		list = append(list, probe{"A5", "Host: " + h, request(get, "Host: "+h), refusedWords})
	}
	list = append(list, probe{"A5", "Host: LocalHost:PORT, the port's own name", request(get, "Host: LocalHost:PORT"), served})
	for _, o := range []string{"Origin: null", "Origin: http://127.0.0.1:PORT", "Origin: http://evil.example", "Origin:"} {
		list = append(list, probe{"A6", o, request(get, "Host: HOST", o), refusedWords})
	}
	return append(list, []probe{
		{"A7", "Origin of another port of this machine", request(get, "Host: HOST", "Origin: http://127.0.0.1:1"), refusedWords},
		{"A8", "Referer only", request(get, "Host: HOST", "Referer: http://evil.example/"), refusedWords},
		{"A8", "Sec-Fetch-Site only", request(get, "Host: HOST", "Sec-Fetch-Site: cross-site"), refusedWords},
		{"A9", "preflight for the private network", request("OPTIONS /livez HTTP/1.1", "Host: HOST", "Origin: http://evil.example",
			"Access-Control-Request-Method: POST", "Access-Control-Request-Private-Network: true"), refusedWords},
		{"A10", "form POST whose text is JSON", "POST /livez HTTP/1.1\r\nHost: HOST\r\nContent-Type: text/plain\r\nContent-Length: 12\r\nConnection: close\r\n\r\n{\"amount\":1}", refusedWords},
		{"A11", "Content-Length: -1", request(get, "Host: HOST", "Content-Length: -1"), refusedWords},
		{"A11", "Content-Length: +5", request(get, "Host: HOST", "Content-Length: +5") + "12345", refusedWords},
		{"A11", "Content-Length: 5,5", request(get, "Host: HOST", "Content-Length: 5,5") + "12345", refusedWords},
		{"A11", "two different Content-Lengths", request(get, "Host: HOST", "Content-Length: 5", "Content-Length: 6") + "123456", refusedWords},
		{"A12", "Content-Length beside Transfer-Encoding", request("POST /livez HTTP/1.1", "Host: HOST", "Content-Length: 5", "Transfer-Encoding: chunked") + "0\r\n\r\n", refusedWords},
		{"A13", "Transfer-Encoding: xchunked", request(get, "Host: HOST", "Transfer-Encoding: xchunked"), refusedOrCut},
		{"A13", "Transfer-Encoding: chunked, identity", request(get, "Host: HOST", "Transfer-Encoding: chunked, identity"), refusedOrCut},
		{"A14", "chunk size of 16 F", request("POST /livez HTTP/1.1", "Host: HOST", "Transfer-Encoding: chunked") + "FFFFFFFFFFFFFFFF\r\n", refusedWords},
		{"A14", "chunk extension of 1 MB", request("POST /livez HTTP/1.1", "Host: HOST", "Transfer-Encoding: chunked") + "1;" + strings.Repeat("e", 1<<20) + "\r\nx\r\n0\r\n\r\n", refusedOrCut},
		{"A15", "header of 1 MB", request(get, "Host: HOST", "X-Big: "+strings.Repeat("A", 1<<20)), refusedOrCut},
		{"A15", "10,000 headers", request(get, "Host: HOST", strings.TrimSuffix(strings.Repeat("X-Many: 1\r\n", 10_000), "\r\n")), refusedOrCut},
		{"A15", "header name with a space", request(get, "Host: HOST", "Bad Name: 1"), refusedWords},
		{"A15", "header name with NUL", request(get, "Host: HOST", "Bad\x00Name: 1"), refusedWords},
		{"A15", "header value with a bare CR", request(get, "Host: HOST", "X: a\rLocation: b"), refusedOrCut},
		{"A16", "URI of 64 KB", request("GET /"+strings.Repeat("a", 64<<10)+" HTTP/1.1", "Host: HOST"), refusedOrCut},
		{"A16", "//livez", request("GET //livez HTTP/1.1", "Host: HOST"), []string{"HTTP/1.1 3", "HTTP/1.1 4"}},
		{"A16", "/./livez", request("GET /./livez HTTP/1.1", "Host: HOST"), []string{"HTTP/1.1 3", "HTTP/1.1 4"}},
		{"A16", "/%2e%2e/%2e%2e/etc/passwd", request("GET /%2e%2e/%2e%2e/etc/passwd HTTP/1.1", "Host: HOST"), []string{"HTTP/1.1 3", "HTTP/1.1 4"}},
		{"A16", "/%00", request("GET /%00 HTTP/1.1", "Host: HOST"), refusedWords},
		{"A16", "/%zz", request("GET /%zz HTTP/1.1", "Host: HOST"), refusedWords},
		{"A16", "path that is no UTF-8", request("GET /\xff\xfe HTTP/1.1", "Host: HOST"), refusedWords},
		{"C53", "a payment without a token", "POST /api/v1/Payments/ HTTP/1.1\r\nHost: HOST\r\nContent-Type: application/json\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}", unauthorized},
		{"C53", "the backend's own key as a token", request("GET /agent/v1/status HTTP/1.1", "Host: HOST", "Authorization: Bearer "+keyCanary), unauthorized},
		{"C53", "two Authorization headers", request("GET /agent/v1/sales HTTP/1.1", "Host: HOST", "Authorization: Bearer a", "Authorization: Bearer b"), unauthorized},
		{"C53", "Bearer and nothing", request("GET /metrics HTTP/1.1", "Host: HOST", "Authorization: Bearer "), unauthorized},
		{"C53", "a token of 8 KB", request("GET /api/v1/tokens/1 HTTP/1.1", "Host: HOST", "Authorization: Bearer "+strings.Repeat("t", 8<<10)), unauthorized},
		{"C53", "a signature with no secret behind it", request("GET /v1.0/SignatureCheck/?instance=demo&ApiSignature=x HTTP/1.1", "Host: HOST"), []string{"HTTP/1.1 403"}},
		{"C53", "a token asked for with a wrong secret", "POST /token HTTP/1.1\r\nHost: HOST\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 47\r\nConnection: close\r\n\r\ngrant_type=client_credentials&client_secret=wow", unauthorized},
		{"A8", "a web page that asks for the sales", request("GET /agent/v1/sales HTTP/1.1", "Host: HOST", "Referer: http://evil.example/"), []string{"HTTP/1.1 403"}},
		{"A6", "a web page that pays", "POST /api/v1/payments HTTP/1.1\r\nHost: HOST\r\nOrigin: null\r\nContent-Type: text/plain\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}", []string{"HTTP/1.1 403"}},
		{"A8", "a link of a web page to the terminal's page", request("GET / HTTP/1.1", "Host: HOST", "Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate", "Sec-Fetch-Dest: document"), []string{"HTTP/1.1 403"}},
		{"A8", "the terminal's page in a frame", request("GET / HTTP/1.1", "Host: HOST", "Sec-Fetch-Site: same-origin", "Sec-Fetch-Mode: navigate", "Sec-Fetch-Dest: iframe"), []string{"HTTP/1.1 403"}},
		{"A10", "the page's form from a browser that does not say where it comes from", "POST / HTTP/1.1\r\nHost: HOST\r\nOrigin: null\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 7\r\nConnection: close\r\n\r\ntoken=a", []string{"HTTP/1.1 403"}},
		{"A10", "the page's form from a program", "POST / HTTP/1.1\r\nHost: HOST\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 7\r\nConnection: close\r\n\r\ntoken=a", []string{"HTTP/1.1 405"}},
		{"C53", "the page's form with a wrong token", "POST / HTTP/1.1\r\nHost: HOST\r\nOrigin: null\r\nSec-Fetch-Site: same-origin\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 7\r\nConnection: close\r\n\r\ntoken=a", []string{"HTTP/1.1 403"}},
		{"C53", "a PIN where none was set", "POST / HTTP/1.1\r\nHost: HOST\r\nOrigin: null\r\nSec-Fetch-Site: same-origin\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 10\r\nConnection: close\r\n\r\npin=000000", []string{"HTTP/1.1 403"}},
		{"C53", "a deed of the page without a login", "POST /person/AAAAAAAAAAAAAAAAAAAAAAAAAA/ HTTP/1.1\r\nHost: HOST\r\nOrigin: null\r\nSec-Fetch-Site: same-origin\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 43\r\nConnection: close\r\n\r\ndo=send-all&form=AAAAAAAAAAAAAAAAAAAAAAAAAA", []string{"HTTP/1.1 403"}},
		{"A10", "a deed of the page by a program", "POST /person/AAAAAAAAAAAAAAAAAAAAAAAAAA/ HTTP/1.1\r\nHost: HOST\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 43\r\nConnection: close\r\n\r\ndo=send-all&form=AAAAAAAAAAAAAAAAAAAAAAAAAA", []string{"HTTP/1.1 405"}},
		{"A16", "/agent/v1/../v1/status, mended by nobody", request("GET /agent/v1/../v1/status HTTP/1.1", "Host: HOST"), []string{"HTTP/1.1 3", "HTTP/1.1 4"}},
		{"A16", "/agent/v1, /debug/pprof and other doors: /debug/pprof/", request("GET /debug/pprof/ HTTP/1.1", "Host: HOST"), refusedWords},
		{"A17", "absolute URI of another host", request("GET http://evil.example/livez HTTP/1.1", "Host: HOST"), refusedWords},
		{"A17", "CONNECT", request("CONNECT evil.example:443 HTTP/1.1", "Host: HOST"), refusedWords},
		{"A17", "TRACE", request("TRACE /livez HTTP/1.1", "Host: HOST", "Cookie: a"), refusedWords},
		{"A17", "DELETE", request("DELETE /livez HTTP/1.1", "Host: HOST"), refusedWords},
		{"A17", "PRI * HTTP/2.0", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", refusedOrCut},
		{"A17", "method of 1 KB", request(strings.Repeat("M", 1024)+" /livez HTTP/1.1", "Host: HOST"), refusedOrCut},
		{"A17", "HTTP/9.9", request("GET /livez HTTP/9.9", "Host: HOST"), refusedOrCut},
		{"A18", "a TLS ClientHello", "\x16\x03\x01\x00\xa5\x01\x00\x00\xa1\x03\x03" + strings.Repeat("r", 160), refusedOrCut},
		{"A18", "an SSH banner", "SSH-2.0-OpenSSH_9.9\r\n\r\n", refusedOrCut},
		{"A18", "an SMTP greeting", "EHLO evil.example\r\n\r\n", refusedOrCut},
		{"A18", "a register's sale", string(saleOf(100)) + "\r\n\r\n", refusedOrCut},
		{"A22", "X-Forwarded-Host and X-Original-URL", request(get, "Host: HOST", "X-Forwarded-For: 127.0.0.1", "X-Forwarded-Host: evil", "X-Original-URL: /x"), served},
		{"A22", "X-HTTP-Method-Override on a POST", request("POST /livez HTTP/1.1", "Host: HOST", "X-HTTP-Method-Override: GET", "Content-Length: 0"), refusedWords},
		{"A22", "the honest question", request(get, "Host: HOST"), served},
		{"A22", "Upgrade to h2c", request(get, "Host: HOST", "Upgrade: h2c", "HTTP2-Settings: AAMAAABkAAQAAP__", "Connection: Upgrade, HTTP2-Settings"), servedOrCut},
	}...)
}

// ask sends raw text to the port and gives back the first line of the answer.
func (k *kit) ask(text string, within time.Duration) (first, all string) {
	conn, err := net.Dial("tcp", k.port)
	if err != nil {
		k.bad("local port: %v", err)
		return "", ""
	}
	defer conn.Close()
	_, p, _ := net.SplitHostPort(k.port)
	text = strings.ReplaceAll(strings.ReplaceAll(text, "PORT", p), "HOST", k.port)
	_ = conn.SetWriteDeadline(time.Now().Add(within))
	_, _ = io.WriteString(conn, text)
	back, _ := read(conn, within)
	first, _, _ = strings.Cut(string(back), "\r\n")
	return first, string(back)
}

// pipelined sends n requests on one connection, and counts what is answered.
func (k *kit) pipelined(n int) (answered int) {
	conn, err := net.Dial("tcp", k.port)
	if err != nil {
		k.bad("local port: %v", err)
		return 0
	}
	defer conn.Close()
	_ = conn.SetDeadline(need.Deadline())
	go func() {
		_, _ = io.WriteString(conn, strings.Repeat("GET /livez HTTP/1.1\r\nHost: "+k.port+"\r\n\r\n", n))
	}()
	for back := bufio.NewReader(conn); answered < n; answered++ {
		resp, err := http.ReadResponse(back, nil)
		if err != nil || resp.StatusCode != http.StatusOK {
			break
		}
		if _, err := io.Copy(io.Discard, resp.Body); err != nil {
			break
		}
	}
	return answered
}

func (k *kit) healthy() bool {
	c := http.Client{Timeout: need.Limit()}
	for _, path := range []string{"/livez", "/readyz"} {
		r, err := c.Get("http://" + k.port + path)
		if err != nil {
			return false
		}
		r.Body.Close()
		if r.StatusCode != http.StatusOK {
			return false
		}
	}
	return true
}

func portScenes() []scene {
	return []scene{{name: "A local port", play: func(k *kit) {
		for _, p := range probes() {
			k.row(p.number, "port: "+p.input, func() string {
				began := time.Now()
				within := answerIn()
				if slices.Contains(p.want, "") { // it may go unanswered
					within = 400 * time.Millisecond
				}
				first, all := k.ask(p.text, within)
				took := time.Since(began)
				fits := false
				for _, w := range p.want {
					fits = fits || w == "" && first == "" || w != "" && strings.HasPrefix(first, w)
				}
				if !fits {
					k.bad("%s: %q", p.input, first)
				}
				if strings.Contains(all, "Access-Control-Allow") || strings.Contains(all, "Location: http") {
					k.bad("%s: lets a page in: %q", p.input, all)
				}
				if first == "" {
					first = "closed"
				}
				return fmt.Sprintf("%s in %d ms", first, took.Milliseconds())
			})
		}
		flood(k)
		k.row("A22", "port: healthy after all of it", func() string {
			if !k.healthy() {
				k.bad("the port is not healthy")
				return "not healthy"
			}
			return "/livez and /readyz are 200"
		})
	}}}
}

// flood are the lines of A that are about time and number.
func flood(k *kit) {
	k.row("A19", "port: 60 connections, one header byte each 50 ms (cut after 5 s in the full run)", func() string {
		var open []net.Conn
		for range 60 {
			if c, err := net.Dial("tcp", k.port); err == nil {
				open = append(open, c)
				_, _ = io.WriteString(c, "GET /livez HTTP/1.1\r\nHo")
			}
		}
		rounds := 5
		if k.full {
			rounds = 130
		}
		for range rounds {
			for _, c := range open {
				_, _ = c.Write([]byte("s"))
			}
			wait(50 * time.Millisecond)
		}
		ok, cut := k.healthy(), 0
		for _, c := range open {
			_ = c.SetReadDeadline(time.Now().Add(20 * time.Millisecond))
			if _, err := io.ReadAll(c); err == nil || !strings.Contains(err.Error(), "timeout") {
				cut++
			}
			c.Close()
		}
		if !ok || k.full && cut != len(open) {
			k.bad("slow-loris: healthy %t, %d of %d cut", ok, cut, len(open))
		}
		return fmt.Sprintf("others are served, %d of %d cut", cut, len(open))
	})
	k.row("A20", "port: 130 connections announce a body and send none, without a token and with a name", func() string {
		for i := range 130 {
			c, err := net.Dial("tcp", k.port)
			if err != nil {
				return err.Error()
			}
			defer c.Close()
			path := []string{"/api/v1/payments", "/v1.0/Invoice/?instance=demo", "/token", "/hooks/webhooks", "/none"}[i%5]
			_, _ = io.WriteString(c, "POST "+path+" HTTP/1.1\r\nHost: "+k.port+"\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 100\r\n\r\n")
		}
		began := time.Now()
		if ok := k.healthy(); !ok || time.Since(began) > need.Limit()/60 {
			k.bad("others wait: healthy %t after %v", ok, time.Since(began))
		}
		return fmt.Sprintf("others are served in %d ms", time.Since(began).Milliseconds())
	})
	k.row("A20", "port: body of 1 GB announced, one byte sent; reply never read; half closed", func() string {
		first, _ := k.ask("POST /livez HTTP/1.1\r\nHost: HOST\r\nContent-Length: 1073741824\r\n\r\nx", 300*time.Millisecond)
		conn, err := net.Dial("tcp", k.port)
		if err != nil {
			return err.Error()
		}
		defer conn.Close()
		_ = conn.SetWriteDeadline(time.Now().Add(500 * time.Millisecond))
		_, _ = io.WriteString(conn, strings.Repeat("GET /livez HTTP/1.1\r\nHost: "+k.port+"\r\n\r\n", 1000))
		_ = conn.(*net.TCPConn).CloseWrite()
		if !k.healthy() {
			k.bad("others are not served")
		}
		return first + "; others are served"
	})
	k.row("A21", "port: Expect: 100-continue and then nothing; 1,000 pipelined requests", func() string {
		first, _ := k.ask("POST /livez HTTP/1.1\r\nHost: HOST\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n", 300*time.Millisecond)
		n := k.pipelined(1000)
		if n != 1000 || !k.healthy() {
			k.bad("%d of 1000 answered", n)
		}
		return fmt.Sprintf("%s; %d of 1000 answered", first, n)
	})
}
