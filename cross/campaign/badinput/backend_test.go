package badinput

import (
	"bytes"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"posagent/cross/need"
)

// spot is where in a sale's life the backend is asked.
type spot string

const (
	onList       spot = "method list"
	onInitialize spot = "initialize"
	onStatus     spot = "status"
	onReversal   spot = "reversal"
	onUndoStatus spot = "status of the reversal"
)

// methodList is the honest one. The stale age of meanDelay 1 is 3 s; the time-outs are milliseconds by configuration.
const methodList = `[{"priority":1,"paymentProviderId":1,"name":"SWISH_E_COM","label":"Swish","meanDelay":1,"trigger":["QR"],"defaultTrigger":"QR",
 "transactionTypes":["PAYMENT","REFUND","REVERSAL"],"staleTimeOut":300,"finalizeTimeOut":300,"delayedAmount":0}]`

// deed is one transaction as the backend knows it.
type deed struct {
	id         int64
	typ        string
	ref, orig  string
	amount     int64
	keys       map[string]bool
	bodies     map[string]bool
	sends      int
	paid       time.Time // when the wallet pays; zero = never
	declined   bool
	reversed   bool // before or after it was paid
	committed  bool // was paid before the reversal
	compounded int  // other transactions under the same reference
}

// backend is a backend that can turn hostile. What it did is true; what it says may not be.
type backend struct {
	name, auth string
	ln         net.Listener
	srv        *http.Server
	tls        *tlsFront // nil = http

	mu     sync.Mutex
	delay  time.Duration // until the wallet pays; < 0 never
	deeds  map[string]*deed
	byID   map[int64]*deed
	graves map[string]bool // references reversed before they came
	nextID int64
	hook   hook
	spots  map[spot]bool // nil = all
	hits   int           // exchanges the hook has seen
	seen   map[spot]int
	wrong  []string // what no backend should see
}

// exchange is one request with the honest answer to it.
type exchange struct {
	b      *backend
	w      http.ResponseWriter
	r      *http.Request
	spot   spot
	n      int // how many the hook has seen, this one included
	deed   *deed
	status int
	good   []byte
}

// hook answers in the backend's place; false leaves it to the honest answer.
type hook func(x *exchange) bool

// with gives the honest answer with other members on top.
func (x *exchange) with(members string) []byte {
	var m map[string]json.RawMessage
	var more map[string]json.RawMessage
	if json.Unmarshal(x.good, &m) != nil || json.Unmarshal([]byte(members), &more) != nil {
		panic("not objects: " + string(x.good) + members)
	}
	for k, v := range more {
		m[k] = v
	}
	data, _ := json.Marshal(m)
	return data
}

func (x *exchange) reply(status int, body string) bool {
	x.w.Header().Set("Content-Type", "application/json")
	x.w.WriteHeader(status)
	_, _ = io.WriteString(x.w, body)
	return true
}

func (x *exchange) honest() bool { return x.reply(x.status, string(x.good)) }

// raw takes the connection over and says what it wants.
func (x *exchange) raw(text string, wait <-chan struct{}) bool {
	conn, _, err := http.NewResponseController(x.w).Hijack()
	if err != nil {
		return false
	}
	_ = conn.SetDeadline(need.Deadline())
	_, _ = io.WriteString(conn, text)
	if wait != nil {
		<-wait
	}
	conn.Close()
	return true
}

func newBackend(name, auth string, front *tlsFront) (*backend, error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	b := &backend{name: name, auth: auth, ln: ln, tls: front, delay: 40 * time.Millisecond, nextID: 700_000,
		deeds: map[string]*deed{}, byID: map[int64]*deed{}, graves: map[string]bool{}, seen: map[spot]int{}}
	b.srv = &http.Server{Handler: b, ErrorLog: log.New(io.Discard, "", 0)}
	if front != nil {
		front.inner = ln
		ln = front
	}
	go b.srv.Serve(ln)
	return b, nil
}

func (b *backend) url() string {
	if b.tls != nil {
		return "https://" + b.ln.Addr().String()
	}
	return "http://" + b.ln.Addr().String()
}

// turn makes the backend hostile at the given spots, nil = honest again.
func (b *backend) turn(h hook, spots ...spot) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.hook, b.hits, b.spots = h, 0, map[spot]bool{}
	for _, s := range spots {
		b.spots[s] = true
	}
}

func (b *backend) pays(after time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.delay = after
}

func (b *backend) count(s spot) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.seen[s]
}

func (b *backend) hit() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.hits
}

// decline makes a transaction one that never moves money.
func (b *backend) decline(d *deed) {
	b.mu.Lock()
	defer b.mu.Unlock()
	d.declined, d.paid = true, time.Time{}
}

// forget takes back that a transaction came.
func (b *backend) forget(d *deed) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.deeds, d.ref)
	delete(b.byID, d.id)
}

func (b *backend) complain(format string, args ...any) {
	b.wrong = append(b.wrong, fmt.Sprintf(format, args...))
}

// ServeHTTP implements http.Handler.
func (b *backend) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(io.LimitReader(r.Body, 1<<20))
	x := &exchange{b: b, w: w, r: r, status: http.StatusOK}
	if r.Method == http.MethodHead && r.URL.Path == "/" && r.Header.Get("Authorization") == "" {
		return // is anybody there? asked without credentials
	}
	b.mu.Lock()
	if r.Header.Get("Authorization") != b.auth {
		b.complain("%s %s without our credentials", r.Method, r.URL.Path)
	}
	if r.Header.Get("Cookie") != "" {
		b.complain("our cookie came back")
	}
	b.judge(x, body)
	b.seen[x.spot]++
	h := b.hook
	if h != nil && (len(b.spots) == 0 || b.spots[x.spot]) {
		b.hits++
		x.n = b.hits
	} else {
		h = nil
	}
	b.mu.Unlock()
	if h == nil || !h(x) {
		x.honest()
	}
}

// judge does what the request wants and makes the honest answer, with b.mu held.
func (b *backend) judge(x *exchange, body []byte) {
	path := x.r.URL.Path
	if strings.HasPrefix(path, "/ms/naa/terminal/method/list/") {
		x.spot, x.good = onList, []byte(methodList)
		return
	}
	parts := strings.Split(strings.TrimPrefix(path, "/ms/aapay/v2/transaction/"), "/")
	if len(parts) != 2 || !strings.HasPrefix(path, "/ms/aapay/v2/transaction/") {
		if !strings.HasSuffix(path, "/posagent-is-this-the-service") { // what the outbox asks before it stores anything for a service
			b.complain("asked for %s", path)
		}
		x.spot, x.status, x.good = "elsewhere", http.StatusNotFound, []byte(`{"valid":false,"error":{"message":"no such route"}}`)
		return
	}
	if parts[1] == "status" {
		b.status(x, parts[0])
		return
	}
	var req struct {
		TerminalReference, OriginalReference string
		PurchaseAmount                       struct{ TotalAmount int64 }
	}
	if json.Unmarshal(body, &req) != nil || req.TerminalReference == "" {
		b.complain("initialize without a reference: %.100s", body)
	}
	x.spot = onInitialize
	if parts[0] != "payment" {
		x.spot = onReversal
	}
	d := b.deeds[req.TerminalReference]
	if d == nil {
		b.nextID++
		d = &deed{id: b.nextID, typ: parts[0], ref: req.TerminalReference, orig: req.OriginalReference, amount: req.PurchaseAmount.TotalAmount,
			keys: map[string]bool{}, bodies: map[string]bool{}}
		b.deeds[d.ref], b.byID[d.id] = d, d
		switch {
		case b.graves[d.ref]:
			d.declined = true
		case d.typ == "payment" && b.delay >= 0:
			d.paid = time.Now().Add(b.delay)
		case d.typ == "reversal":
			b.reverse(d)
		case d.typ == "refund":
			b.refund(d)
		}
	} else if !d.keys[x.r.Header.Get("Idempotency-Key")] {
		d.compounded++
	}
	d.sends++
	d.keys[x.r.Header.Get("Idempotency-Key")] = true
	d.bodies[string(bytes.TrimSpace(body))] = true
	x.deed, x.status = d, http.StatusAccepted
	code := 0
	if d.declined {
		x.status, code = http.StatusCreated, -1
	}
	x.good = fmt.Appendf(nil, `{"valid":%t,"error":null,"response":{"responseCode":%d,"extendedResponseCode":0,"naa2Ecr":{"ppref":"P%d","payerId":%q}}}`,
		code == 0, code, d.id, payerCanary)
}

func (b *backend) reverse(d *deed) {
	o := b.deeds[d.orig]
	if o == nil {
		b.graves[d.orig] = true
		return
	}
	o.committed = o.committed || moved(o)
	o.reversed = true
}

func (b *backend) refund(d *deed) {
	id, _ := strconv.ParseInt(d.orig, 10, 64)
	if o := b.byID[id]; o != nil && moved(o) {
		o.committed, o.reversed = true, true
		return
	}
	d.declined = true
}

// moved says that the money of a payment moved and stayed so.
func moved(d *deed) bool {
	return d.typ == "payment" && !d.declined && !d.reversed && !d.paid.IsZero() && !time.Now().Before(d.paid)
}

func (b *backend) status(x *exchange, id string) {
	x.spot = onStatus
	d := b.deeds[id]
	if n, err := strconv.ParseInt(strings.TrimPrefix(id, "P"), 10, 64); err == nil && d == nil {
		d = b.byID[n]
	}
	if d == nil {
		x.status, x.good = http.StatusNotFound, []byte(`{"valid":false,"error":{"componsiteFault":{"faults":[{"explanationText":"unknown"}]}}}`)
		return
	}
	x.deed = d
	state, account := "INITIALIZED", ""
	switch {
	case d.typ != "payment":
		x.spot = onUndoStatus
		if state, account = "FINALIZED", "COMMIT"; d.declined {
			state, account = "REJECTED", ""
		}
	case d.declined:
		state = "REJECTED"
	case d.reversed && !d.committed:
		state = "CANCELLED"
	case d.reversed, moved(d):
		state, account = "FINALIZED", "COMMIT"
	}
	x.good = fmt.Appendf(nil, `{"valid":true,"error":null,"response":{"responseCode":0,"extendedResponseCode":0},"transactionId":%d,"timeStamp":%q,
 "state":%q,"accountState":%q,"qrCodePayload":"https://wallet.example/%s","payerId":%q,"qrTrigger":"1","naa2Ecr":{"ppref":"P%d","payerId":%q},
 "receipt":{"merchantName":"Shop","amount":%d,"currency":"EUR","reference":%q,"payerId":%q}}`,
		d.id, time.Now().UTC().Format(time.RFC3339), state, account, d.ref, payerCanary, d.id, payerCanary, d.amount, d.ref, payerCanary)
}

func (b *backend) close() {
	_ = b.srv.Close()
	_ = b.ln.Close()
}

// decoy is an address nobody may come to.
type decoy struct {
	ln   net.Listener
	mu   sync.Mutex
	hits []string
}

func newDecoy(t testing.TB) *decoy {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	d := &decoy{ln: ln}
	srv := &http.Server{ErrorLog: log.New(io.Discard, "", 0), Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.hits = append(d.hits, r.Method+" "+r.URL.String())
	})}
	go srv.Serve(ln)
	t.Cleanup(func() { srv.Close() })
	return d
}

func (d *decoy) url() string { return "http://" + d.ln.Addr().String() }

func (d *decoy) visits() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.hits
}

// tlsFront is a listener whose side of TLS can be changed at any moment.
type tlsFront struct {
	inner net.Listener
	mu    sync.Mutex
	wrap  func(net.Conn) net.Conn
	open  []net.Conn
}

func (f *tlsFront) Accept() (net.Conn, error) {
	c, err := f.inner.Accept()
	if err != nil {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.open = append(f.open, c)
	return f.wrap(c), nil
}

func (f *tlsFront) Close() error   { return f.inner.Close() }
func (f *tlsFront) Addr() net.Addr { return f.inner.Addr() }

// change cuts every connection and wraps the next ones otherwise.
func (f *tlsFront) change(wrap func(net.Conn) net.Conn) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.wrap = wrap
	for _, c := range f.open {
		c.Close()
	}
	f.open = nil
}

func serving(cfg *tls.Config) func(net.Conn) net.Conn {
	return func(c net.Conn) net.Conn { return tls.Server(c, cfg) }
}
