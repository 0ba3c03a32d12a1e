package referee

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// wire is a hand-written wire: a clock, a backend that answers what it is told to, and a way that may lose requests and answers.
type wire struct {
	*Referee
	now            time.Time
	status         int
	answer         string
	unsent, unsaid bool
	unheard        bool // by the referee itself
	h              http.Handler
}

func newWire() *wire {
	x := &wire{now: time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)}
	x.Referee = New(Rules{Now: func() time.Time { return x.now }})
	backend := x.Backend(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if x.unheard {
			panic(http.ErrAbortHandler)
		}
		w.WriteHeader(x.status)
		_, _ = io.WriteString(w, x.answer)
	}))
	x.h = x.Terminal(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if x.unsent {
			panic(http.ErrAbortHandler)
		}
		backend.ServeHTTP(w, r)
		if x.unsaid {
			panic(http.ErrAbortHandler)
		}
	}))
	return x
}

// sent lets the terminal send a request, which the backend answers; lost in "way" or "answer" it hears nothing, and lost "behind"
// nobody does.
func (x *wire) sent(method, path, key, body string, status int, answer, lost string) {
	x.status, x.answer, x.unsent, x.unsaid, x.unheard = status, answer, lost == "way", lost == "answer", lost == "behind"
	req := httptest.NewRequest(method, path, strings.NewReader(body))
	if key != "" {
		req.Header.Set("Idempotency-Key", key)
	}
	defer func() { _ = recover() }() // the connection breaks
	x.h.ServeHTTP(httptest.NewRecorder(), req)
}

const (
	at      = "/ms/aapay/v2/transaction/"
	sale    = `{"terminalReference":"r1","purchaseAmount":{"totalAmount":1250}}`
	undo    = `{"terminalReference":"u1","originalReference":"r1"}`
	live    = `{"valid":true,"response":{"responseCode":0,"naa2Ecr":{"ppref":"PP1"}}}`
	pending = `{"transactionId":7,"state":"PENDING"}`
	paid    = `{"transactionId":7,"state":"FINALIZED","accountState":"COMMIT"}`
	booked  = 1250
)

func (x *wire) pay(key, lost string) {
	x.sent("POST", at+"payment/initializeWithIdempotency", key, sale, 202, live, lost)
}
func (x *wire) plain(status int) { x.sent("POST", at+"payment/initialize", "", sale, status, live, "") }
func (x *wire) read(name, answer, lost string) {
	x.sent("GET", at+name+"/status", "", "", 200, answer, lost)
}
func (x *wire) unproven(name string) {
	x.sent("GET", at+name+"/status", "", "", 401, `{}`, "")
}
func (x *wire) reverse(lost string) {
	x.sent("POST", at+"reversal/initializeWithIdempotency", "k2", undo, 202, `{"valid":true}`, lost)
}
func (x *wire) passes(d time.Duration) { x.now = x.now.Add(d) }

func entry(ref, kind string, amount int64) Entry {
	return Entry{Service: "aapay", ID: "id-" + ref, Reference: ref, Type: kind, Amount: amount, Moved: true}
}

// Each wire is written by hand, with the violations that it has; none = it is a good one.
func TestWires(t *testing.T) {
	for name, c := range map[string]struct {
		wire  func(x *wire)
		books []Entry
		want  []string // the beginning of each
	}{
		"a sale that is polled every two seconds": {func(x *wire) {
			x.pay("k1", "")
			for range 3 {
				x.passes(2 * time.Second)
				x.read("PP1", pending, "")
			}
			x.passes(2 * time.Second)
			x.read("7", paid, "")
		}, []Entry{entry("r1", "payment", booked)}, nil},
		"an initialize that is repeated under its Key": {func(x *wire) {
			x.pay("k1", "way")
			x.pay("k1", "answer")
			x.pay("k1", "")
		}, []Entry{entry("r1", "payment", booked)}, nil},
		"one status try and a reversal after no answer": {func(x *wire) {
			x.pay("k1", "answer")
			x.read("r1", pending, "")
			x.reverse("")
		}, []Entry{entry("r1", "payment", booked), entry("u1", "reversal", booked)}, nil},
		"an abort before the first read": {func(x *wire) {
			x.pay("k1", "")
			x.passes(time.Second)
			x.read("PP1", pending, "")
			x.reverse("answer")
		}, []Entry{entry("r1", "payment", booked), entry("u1", "reversal", booked)}, nil},
		"an abort that finds the sale declined": {func(x *wire) {
			x.pay("k1", "")
			x.passes(time.Second)
			x.read("PP1", `{"state":"REJECTED"}`, "")
		}, []Entry{entry("r1", "payment", booked)}, nil},
		"an abort of a sale that gives the money back by itself": {func(x *wire) {
			x.pay("k1", "")
			x.passes(time.Second)
			x.read("PP1", pending, "")
			x.Heard("PP1", []byte(`{"state":"FINALIZED","accountState":"ROLLBACK"}`))
		}, []Entry{entry("r1", "payment", booked)}, nil},
		"a read without an answer is tried again": {func(x *wire) {
			x.pay("k1", "")
			x.passes(2 * time.Second)
			x.read("PP1", pending, "answer")
			x.read("PP1", pending, "way")
			x.read("PP1", pending, "")
			x.passes(2 * time.Second)
			x.read("PP1", paid, "")
		}, []Entry{entry("r1", "payment", booked)}, nil},
		"reads whose tries together are more than one has": {func(x *wire) {
			x.pay("k1", "")
			x.passes(2 * time.Second)
			for range 4 { // the first: one of its three was sent again by the transport
				x.read("PP1", pending, "answer")
			}
			x.passes(2 * time.Second)
			for range 3 { // the second, whose last try is the seventh in a row
				x.read("PP1", pending, "answer")
				x.passes(200 * time.Millisecond)
			}
			x.read("PP1", pending, "")
			x.passes(1400 * time.Millisecond)
			x.read("PP1", paid, "")
		}, []Entry{entry("r1", "payment", booked)}, nil},
		"a read too early after such tries": {func(x *wire) {
			x.pay("k1", "")
			x.passes(2 * time.Second)
			for range 4 {
				x.read("PP1", pending, "answer")
			}
			x.passes(2 * time.Second)
			for range 3 {
				x.read("PP1", pending, "answer")
				x.passes(200 * time.Millisecond)
			}
			x.read("PP1", pending, "")
			x.passes(1200 * time.Millisecond)
			x.read("PP1", paid, "")
		}, []Entry{entry("r1", "payment", booked)}, []string{"reference r1 was read 200ms too early"}},
		"a plain route, once": {func(x *wire) {
			x.sent("POST", at+"payment/initializeWithIdempotency", "k1", sale, 404, "<html>", "")
			x.plain(202)
		}, []Entry{entry("r1", "payment", booked)}, nil},
		"a restart": {func(x *wire) {
			x.pay("k1", "")
			x.passes(2 * time.Second)
			x.read("PP1", pending, "")
			x.Restarted()
			x.read("PP1", paid, "")
		}, []Entry{entry("r1", "payment", booked)}, nil},
		"a network that held a read back": {func(x *wire) {
			x.pay("k1", "")
			x.Held()
			x.passes(time.Second)
			x.read("PP1", paid, "")
		}, []Entry{entry("r1", "payment", booked)}, nil},
		"a payment and its capture, each once": {func(x *wire) {
			create := func() {
				x.sent("POST", "/api/v1/payments", "c1", `{"amount":900,"processing":"Authorize"}`, 201, `{"paymentId":"P1"}`, "")
			}
			create()
			create()
			x.sent("POST", "/api/v1/payments/p1/Capture", "c2", `{"amount":300}`, 200, `{"paymentId":"P1","transactionRef":"T1"}`, "answer")
			x.sent("POST", "/api/v1/payments", "c3", `{"amount":5}`, 422, `{}`, "")
		}, []Entry{
			{Service: "payments", ID: "P1", Type: "payment", Amount: 900, Moved: true}, {Service: "payments", ID: "A1", Original: "P1", Type: "authorize", Amount: 900},
			{Service: "payments", ID: "T1", Original: "P1", Type: "capture", Amount: 300, Moved: true}, {Service: "payments", ID: "P2", Type: "payment", Amount: 5},
			{Service: "paylinks", ID: "9", Type: "payment", Amount: 1, Moved: true},
		}, nil},

		"two Keys for one reference": {func(x *wire) {
			x.pay("k1", "way")
			x.pay("k2", "")
		}, []Entry{entry("r1", "payment", booked)}, []string{"reference r1 left under two Keys, k1 and k2"}},
		"a Key with two requests": {func(x *wire) {
			x.pay("k1", "way")
			x.sent("POST", at+"payment/initializeWithIdempotency", "k1", strings.Replace(sale, "1250", "1251", 1), 202, live, "")
		}, []Entry{entry("r1", "payment", 1251)}, []string{"Key k1 left with two requests"}},
		"a Key with two answers": {func(x *wire) {
			x.sent("POST", "/api/v1/payments", "c1", `{"amount":900}`, 201, `{"paymentId":"P1"}`, "answer")
			x.sent("POST", "/api/v1/payments", "c1", `{"amount":900}`, 201, `{"paymentId":"P2"}`, "")
		}, []Entry{{Service: "payments", ID: "P1", Type: "payment", Amount: 900}, {Service: "payments", ID: "P2", Type: "payment", Amount: 900}},
			[]string{"Key c1 made p1 and p2"}},
		"a resend on the plain route": {func(x *wire) {
			x.plain(202)
			x.plain(202)
		}, []Entry{entry("r1", "payment", booked)}, []string{"reference r1 left twice on the plain route"}},
		"a first poll that is too early": {func(x *wire) {
			x.pay("k1", "")
			x.passes(1900 * time.Millisecond)
			x.read("PP1", paid, "")
		}, []Entry{entry("r1", "payment", booked)}, []string{"reference r1 was read 100ms too early"}},
		"polls that are too fast": {func(x *wire) {
			x.pay("k1", "")
			for range 2 {
				x.passes(2 * time.Second)
				x.read("PP1", pending, "")
			}
			x.passes(time.Second)
			x.read("7", paid, "") // under another of its names
		}, []Entry{entry("r1", "payment", booked)}, []string{"reference r1 was read 1s too early"}},
		"two early polls before an abort": {func(x *wire) {
			x.pay("k1", "")
			x.passes(time.Second)
			x.read("PP1", pending, "")
			x.passes(time.Second)
			x.read("PP1", pending, "")
			x.reverse("")
		}, []Entry{entry("r1", "payment", booked), entry("u1", "reversal", booked)}, []string{"reference r1 was read 1s too early"}},
		"a read that is tried again with a new token": {func(x *wire) {
			x.pay("k1", "")
			x.passes(2 * time.Second)
			for range 4 {
				x.read("PP1", pending, "answer")
			}
			x.unproven("PP1")
			for range 5 {
				x.read("PP1", paid, "answer")
			}
		}, []Entry{entry("r1", "payment", booked)}, nil},
		"a read that is refused twice, and goes on": {func(x *wire) {
			x.pay("k1", "")
			x.passes(2 * time.Second)
			x.unproven("PP1")
			x.unproven("PP1")
			for range 5 {
				x.read("PP1", pending, "answer")
			}
		}, []Entry{entry("r1", "payment", booked)}, []string{"reference r1 was read 2s too early"}},
		"a read that is tried too often": {func(x *wire) {
			x.pay("k1", "")
			x.passes(2 * time.Second)
			for range 7 {
				x.read("PP1", pending, "answer")
			}
		}, []Entry{entry("r1", "payment", booked)}, []string{"reference r1 was read 2s too early"}},

		"a terminal that dies while the backend answers": {func(x *wire) { x.pay("k1", "behind") }, []Entry{entry("r1", "payment", booked)}, nil},
		"its request that moved nothing":                 {func(x *wire) { x.pay("k1", "behind") }, nil, nil},
		"its request with another amount": {func(x *wire) { x.pay("k1", "behind") }, []Entry{entry("r1", "payment", 1251)},
			[]string{"aapay r1 is 1251 in the books, the wire asked for 1250"}},
		"its request twice": {func(x *wire) { x.pay("k1", "behind") }, []Entry{entry("r1", "payment", booked), entry("r1", "payment", booked)},
			[]string{"aapay r1 stands twice in the books"}},

		"nothing in the books": {func(x *wire) { x.pay("k1", "") }, nil, []string{"aapay r1 (payment) was answered, and is not in the books"}},
		"twice in the books": {func(x *wire) { x.pay("k1", "") }, []Entry{entry("r1", "payment", booked), entry("r1", "payment", booked)},
			[]string{"aapay r1 stands twice in the books"}},
		"another amount in the books": {func(x *wire) { x.pay("k1", "") }, []Entry{entry("r1", "payment", 1251)}, []string{"aapay r1 is 1251 in the books, the wire asked for 1250"}},
		"another kind in the books":   {func(x *wire) { x.pay("k1", "") }, []Entry{entry("r1", "refund", booked)}, []string{`aapay r1 is a refund of "" in the books`}},
		"in the books, and never asked for": {func(x *wire) { x.pay("k1", "way") }, []Entry{entry("r1", "payment", booked)},
			[]string{"aapay r1 (payment of 1250) stands in the books, and no request made it"}},
		"a capture that nothing asked for": {func(x *wire) {
			x.sent("POST", "/api/v1/payments", "c1", `{"amount":900,"processing":"None"}`, 201, `{"paymentId":"P1"}`, "")
		}, []Entry{{Service: "payments", ID: "P1", Type: "payment", Amount: 900}, {Service: "payments", ID: "T1", Original: "P1", Type: "capture", Amount: 900, Moved: true}},
			[]string{"payments t1 (capture of 900) stands in the books"}},
	} {
		t.Run(name, func(t *testing.T) {
			x := newWire()
			c.wire(x)
			got := x.Verdict(c.books)
			require.Len(t, got, len(c.want), "%q", got)
			for i, want := range c.want {
				require.True(t, strings.HasPrefix(got[i], want), "%q", got)
			}
			require.Positive(t, x.Arrivals())
		})
	}
}

// A pace that is not judged is not; what passes through a referee is what was sent and answered.
func TestARefereeChangesNothing(t *testing.T) {
	x := New(Rules{Pace: -1})
	s := httptest.NewServer(x.Terminal(x.Backend(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			panic(err)
		}
		w.Header().Set("X-Said", r.Header.Get("X-Asked"))
		w.WriteHeader(202)
		_, _ = w.Write(append(body, '!'))
	}))))
	defer s.Close()
	for range 3 {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL+at+"payment/initializeWithIdempotency", strings.NewReader(sale))
		require.NoError(t, err)
		req.Header.Set("X-Asked", "yes")
		req.Header.Set("Idempotency-Key", "k1")
		resp, err := http.DefaultClient.Do(req)
		require.NoError(t, err)
		body, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		require.Equal(t, 202, resp.StatusCode)
		require.Equal(t, "yes", resp.Header.Get("X-Said"))
		require.Equal(t, sale+"!", string(body))
		read, err := http.Get(s.URL + at + "r1/status")
		require.NoError(t, err)
		require.NoError(t, read.Body.Close())
	}
	require.Empty(t, x.Verdict([]Entry{entry("r1", "payment", booked)}))
	require.Equal(t, 6, x.Arrivals())
}
