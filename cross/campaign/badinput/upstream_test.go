package badinput

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"

	"posagent/cross/need"
	"posagent/ecr/till/zvt"
)

var noOptions = zvt.PayOptions{}

func hijack(x *exchange) (net.Conn, *bufio.ReadWriter, error) {
	return http.NewResponseController(x.w).Hijack()
}

// seenAll lists how often every spot was asked.
func (b *backend) seenAll() (all []spot) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for s, n := range b.seen {
		for range n {
			all = append(all, s)
		}
	}
	return all
}

// briefly lets a hook have its way a few times in the short run, always in the full one.
func (k *kit) briefly(times int, h hook) hook {
	if k.full {
		return h
	}
	return func(x *exchange) bool { return x.n <= times && h(x) }
}

// sale asks for a sale while the backend is hostile at the given spots.
func (k *kit) sale(h hook, at ...spot) string {
	times := 4
	if len(at) > 0 && at[0] == onInitialize {
		times = 1
	}
	k.be.turn(k.briefly(times, h), at...)
	res := k.rig.pay(noOptions)
	hits := k.be.hit()
	k.be.turn(nil)
	if hits == 0 {
		k.bad("the backend was never asked for %v", at)
	}
	return fmt.Sprintf("%s, asked %d times", definite(res, nil), hits)
}

// undo lets a sale be aborted by the register while the backend is hostile to its undo.
func (k *kit) undo(h hook, at ...spot) string {
	k.be.pays(-1)
	k.be.turn(k.briefly(1, h), at...)
	defer k.be.turn(nil)
	ctx, r, end, ok := k.connect(answerIn(), zvt.Options{})
	if !ok {
		return "no line"
	}
	defer end()
	before, amount := k.be.count(onStatus), k.amount()
	done := make(chan string, 1)
	go func() {
		res, err := r.Pay(ctx, amount, "EUR", noOptions)
		k.note(amount, res, err)
		word := definite(res, err)
		if err != nil || res.Approved || !res.Aborted {
			k.bad("aborted sale: %s", word)
		}
		done <- word
	}()
	until(need.Limit(), func() bool { return k.be.count(onStatus) > before })
	if res, err := r.Abort(ctx); err != nil || res.Refused {
		k.bad("abort: %s", definite(res, err))
	}
	word := <-done
	if !until(need.Limit(), func() bool { return k.be.hit() > 0 }) {
		k.bad("the backend was never asked for %v", at)
	}
	if k.full {
		until(5*time.Second, func() bool { return k.be.hit() > 2 })
	}
	return fmt.Sprintf("%s; its undo asked %d times", word, k.be.hit())
}

// list starts a terminal on a hostile method list, and shows the list to one that has a good one.
func (k *kit) list(h hook) string {
	k.be.turn(h, onList)
	if err := k.start(); err != nil {
		k.bad("%v", err)
		return "did not start"
	}
	first := k.rig.pay(noOptions)
	k.be.turn(nil)
	k.normal(k.rig.pay)
	k.be.turn(h, onList)
	k.diagnose()
	hits := k.be.hit()
	k.be.pays(20 * time.Millisecond)
	second := k.rig.pay(noOptions)
	k.be.turn(nil)
	if hits == 0 {
		k.bad("the list was never asked for")
	}
	return fmt.Sprintf("first list: %s; after a good one: %s", definite(first, nil), definite(second, nil))
}

// at is the scene of one hostile reply at one spot.
func at(number, input string, s spot, rare bool, h func(k *kit) hook) scene {
	sc := scene{name: number + " " + input + " on " + string(s), rare: rare, cold: s == onList}
	sc.play = func(k *kit) {
		k.row(number, string(s)+": "+input, func() string {
			switch s {
			case onList:
				return k.list(h(k))
			case onReversal, onUndoStatus:
				return k.undo(h(k), s)
			}
			return k.sale(h(k), s)
		})
	}
	return sc
}

// same is a hook that needs no kit.
func same(h hook) func(*kit) hook { return func(*kit) hook { return h } }

// body answers the honest status with another text.
func body(text string) hook { return func(x *exchange) bool { return x.reply(x.status, text) } }

// header adds a header to the honest answer.
func header(name, value string) hook {
	return func(x *exchange) bool { x.w.Header().Set(name, value); return x.honest() }
}

// redirect sends to a decoy, where nobody may come.
func redirect(status int) func(*kit) hook {
	return func(k *kit) hook {
		d := newDecoy(k.t)
		k.after = append(k.after, func() {
			if v := d.visits(); len(v) > 0 {
				k.bad("followed to the decoy: %v", v)
			}
		})
		return func(x *exchange) bool {
			x.w.Header().Set("Location", d.url()+x.r.URL.Path)
			return x.reply(status, string(x.good))
		}
	}
}

// replies are hostile to any request. The number of the spot that the short run plays is its index modulo five.
var replies = []struct {
	number, input string
	hook          func(*kit) hook
}{
	{"D69", "200 with a captive portal's page", same(func(x *exchange) bool {
		x.w.Header().Set("Content-Type", "text/html")
		x.w.WriteHeader(http.StatusOK)
		fmt.Fprint(x.w, "<html><body>Welcome to Free WiFi <script>location='http://portal.example'</script></body></html>")
		return true
	})},
	{"D69", "captive portal's page that calls itself JSON", same(func(x *exchange) bool { return x.reply(200, "<html>log in</html>") })},
	{"D70", "empty body", same(body(""))},
	{"D70", "204 without a body", same(func(x *exchange) bool { x.w.WriteHeader(http.StatusNoContent); return true })},
	{"D70", "truncated JSON", same(func(x *exchange) bool { return x.reply(x.status, string(x.good[:len(x.good)*2/3])) })},
	{"D70", "body shorter than its Content-Length", same(func(x *exchange) bool {
		x.w.Header().Set("Content-Length", fmt.Sprint(len(x.good)+100))
		return x.honest()
	})},
	{"D70", "wrong types throughout", same(body(`{"valid":"yes","response":[],"state":7,"accountState":{},"transactionId":"x","name":1,"paymentProviderId":"1"}`))},
	{"D70", "another JSON value: null", same(body("null"))},
	{"D70", "duplicate keys, the last one good", same(func(x *exchange) bool {
		return x.reply(x.status, strings.Replace(string(x.good), "{", `{"valid":false,"state":"FAILED","name":"OTHER",`, 1))
	})},
	{"D70", "objects nested 20,000 deep", same(body(strings.Repeat(`{"a":`, 20_000) + "1" + strings.Repeat("}", 20_000)))},
	{"D70", "invalid UTF-8 and lone surrogates", same(func(x *exchange) bool {
		return x.reply(x.status, strings.Replace(string(x.good), "{", "{\"x\":\"\xff\xfe\\ud800\",", 1))
	})},
	{"D70", "no reply at all", same(func(x *exchange) bool {
		select {
		case <-x.r.Context().Done():
		case <-time.After(8 * time.Second):
		}
		panic(http.ErrAbortHandler)
	})},
	{"D70", "connection closed instead of a reply", same(func(*exchange) bool { panic(http.ErrAbortHandler) })},
	{"D70", "reply of one byte every 300 ms", same(func(x *exchange) bool {
		x.w.Header().Set("Content-Type", "application/json")
		x.w.Header().Set("Content-Length", fmt.Sprint(len(x.good)))
		x.w.WriteHeader(x.status)
		c := http.NewResponseController(x.w)
		for _, b := range x.good {
			if _, err := x.w.Write([]byte{b}); err != nil || c.Flush() != nil {
				return true
			}
			select {
			case <-x.r.Context().Done():
				return true
			case <-time.After(300 * time.Millisecond):
			}
		}
		return true
	})},
	{"D70", "endless body", same(func(x *exchange) bool {
		x.w.Header().Set("Content-Type", "application/json")
		x.w.WriteHeader(x.status)
		chunk := bytes.Repeat([]byte(" "), 64<<10)
		for range 1000 {
			if _, err := x.w.Write(chunk); err != nil {
				break
			}
		}
		return true
	})},
	{"D70", "gzip bomb, never asked for", same(func(x *exchange) bool {
		var z bytes.Buffer
		w := gzip.NewWriter(&z)
		w.Write(bytes.Repeat([]byte(" "), 16<<20))
		w.Write(x.good)
		w.Close()
		x.w.Header().Set("Content-Encoding", "gzip")
		return x.reply(x.status, z.String())
	})},
	{"D70", "500 with an HTML page", same(func(x *exchange) bool {
		x.w.Header().Set("Content-Type", "text/html")
		x.w.WriteHeader(http.StatusInternalServerError)
		fmt.Fprint(x.w, "<h1>Internal Server Error</h1>")
		return true
	})},
	{"D70", "503 with Retry-After of 68 years", same(func(x *exchange) bool {
		x.w.Header().Set("Retry-After", "2147483647")
		return x.reply(http.StatusServiceUnavailable, `{"valid":false}`)
	})},
	{"D70", "429 with Retry-After -1", same(func(x *exchange) bool {
		x.w.Header().Set("Retry-After", "-1")
		return x.reply(http.StatusTooManyRequests, `{"valid":false}`)
	})},
	{"D70", "404 of a proxy that forwarded nothing", same(func(x *exchange) bool {
		if x.spot == onInitialize {
			x.b.forget(x.deed) // the plain route is next, without a Key
		}
		x.w.Header().Set("Content-Type", "text/html")
		x.w.WriteHeader(http.StatusNotFound)
		fmt.Fprint(x.w, "<h1>nginx</h1>")
		return true
	})},
	{"D70", "401 without a reason", same(func(x *exchange) bool { return x.reply(http.StatusUnauthorized, `{}`) })},
	{"D70", "101 Switching Protocols", same(func(x *exchange) bool {
		return x.raw("HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\nConnection: Upgrade\r\n\r\n\x00\x00\x00\x04\x00", nil)
	})},
	{"D70", "status line 999, folded and empty headers", same(func(x *exchange) bool {
		return x.raw("HTTP/1.1 999 Ok\r\nX: a\r\n b\r\n: empty\r\n\r\n", nil)
	})},
	{"D70", "two different Content-Lengths", same(func(x *exchange) bool {
		return x.raw(fmt.Sprintf("HTTP/1.1 %d OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\nContent-Length: 3\r\n\r\n%s", x.status, len(x.good), x.good), nil)
	})},
	{"D76", "302 to another host over http", redirect(http.StatusFound)},
	{"D76", "307 to another host over http", redirect(http.StatusTemporaryRedirect)},
	{"D77", "300 Set-Cookie headers", same(func(x *exchange) bool {
		for i := range 300 {
			x.w.Header().Add("Set-Cookie", fmt.Sprintf("c%d=%s; Path=/", i, cookieCanary))
		}
		return x.honest()
	})},
	{"D77", "a header of 1 MB", same(header("X-Big", strings.Repeat("A", 1<<20)))},
	{"D77", "10,000 interim replies before the reply", same(func(x *exchange) bool {
		var s strings.Builder
		for range 10_000 {
			s.WriteString("HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n")
		}
		fmt.Fprintf(&s, "HTTP/1.1 %d OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", x.status, len(x.good), x.good)
		return x.raw(s.String(), nil)
	})},
	{"D78", "Date: 1970", same(header("Date", "Thu, 01 Jan 1970 00:00:00 GMT"))},
	{"D78", "Date: 2099", same(header("Date", "Thu, 31 Dec 2099 23:59:59 GMT"))},
	{"D78", "Date that is none", same(header("Date", "yesterday; drop table"))},
}

var spots = []spot{onInitialize, onStatus, onReversal, onUndoStatus, onList}

func upstreamScenes() []scene {
	all := append(tlsScenes(), meaningScenes()...) // the slow ones first
	for i, r := range replies {
		for j, s := range spots {
			all = append(all, at(r.number, r.input, s, (i+j)%len(spots) != 0 || i%3 == 2, r.hook))
		}
	}
	return append(all, listScenes()...)
}
