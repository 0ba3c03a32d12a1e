package drive_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"reflect"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent/catalog"
	"posagent/agent/checkout"
	"posagent/agent/checkout/drive"
	"posagent/agent/checkout/drive/drivetest"
	"posagent/agent/checkout/drive/journal"
	"posagent/agent/checkout/drive/perform"
	"posagent/agent/gateway"
	"posagent/agent/outbox"
	"posagent/device/display"
	"posagent/ecr"
	"posagent/schemes/aapay"
	"posagent/schemes/methods"
	"posagent/schemes/wire"
	"posagent/store"
	"posagent/store/storetest"
)

// txn is one transaction of the fake service.
type txn struct {
	typ     aapay.Type
	req     aapay.Request
	key     wire.Key
	id      int64
	state   aapay.State
	account aapay.AccountState
	born    time.Time
	code    string
	naa     *aapay.NAA2ECR // what it says to the register
	reads   int
}

// world is a scheme service with a script. It keeps the truth: what moved, and what was sent.
type world struct {
	mu      sync.Mutex
	byRef   map[string]*txn
	byKey   map[wire.Key]*txn
	order   []*txn // of creation
	dead    map[string]bool
	moved   map[string]int64 // by the payment's terminalReference, hundredths to the merchant
	inits   []call
	reads   []call
	offline bool // no connection
	mute    bool // requests leave and are lost

	onInit   func(n int, typ aapay.Type, req aapay.Request) (*aapay.Reply, error, bool) // true = handled
	after    func(n int, typ aapay.Type) error                                          // an error loses the answer of what was done
	onStatus func(x *txn) error
	onRead   func() error                                        // of any transaction, known or not; with w.mu held
	onReply  func(x *txn, r *aapay.Reply)                        // what arrives in the place of an answer
	answer   func(x *txn, st *aapay.Status)                      // what arrives in the place of a status
	tells    bool                                                // a status carries a receipt, as the sandbox has it
	plain    bool                                                // no idempotent route
	missing  wire.Code                                           // what its absence means, read by itself; "" = nothing
	noRoute  func(n int, typ aapay.Type, req aapay.Request) bool // something answers in its place; with w.mu held
	code     string
	keyed    int    // calls of the idempotent route
	other    *world // the site that answers in its place, with data of its own
	twice    bool   // each request arrives twice
}

type call struct {
	at    time.Time
	typ   aapay.Type
	key   wire.Key
	req   aapay.Request
	plain bool
}

func newWorld() *world {
	return &world{byRef: map[string]*txn{}, byKey: map[wire.Key]*txn{}, dead: map[string]bool{}, moved: map[string]int64{}, code: "https://wallet.example/1"}
}

var errGone = &wire.Error{Code: wire.Unavailable, Op: "test", Msg: "no network", Unsent: true}

var errLost = &wire.Error{Code: wire.UnknownOutcome, Op: "test", Msg: "no reply"}

func (w *world) Initialize(_ context.Context, typ aapay.Type, req aapay.Request) (aapay.Reply, error) {
	return w.initialize(call{at: time.Now(), typ: typ, req: req, plain: true})
}

// site is where the service's name leads to now.
func (w *world) site() *world {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.other != nil {
		return w.other
	}
	return w
}

func (w *world) InitializeWithIdempotency(_ context.Context, key wire.Key, typ aapay.Type, req aapay.Request) (aapay.Reply, error) {
	w = w.site()
	w.mu.Lock()
	w.keyed++
	missing := w.plain || w.noRoute != nil && w.noRoute(w.keyed, typ, req)
	w.mu.Unlock()
	if missing {
		return aapay.Reply{}, &wire.Error{Code: cmp.Or(w.missing, wire.UnknownOutcome), Op: "test", Msg: "reply 404", Err: aapay.ErrNoRoute}
	}
	if w.twice {
		_, _ = w.initialize(call{at: time.Now(), typ: typ, key: key, req: req})
	}
	return w.initialize(call{at: time.Now(), typ: typ, key: key, req: req})
}

func (w *world) initialize(c call) (aapay.Reply, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.inits = append(w.inits, c)
	if w.offline {
		return aapay.Reply{}, errGone
	}
	if w.mute {
		return aapay.Reply{}, errLost
	}
	n := 0
	for _, i := range w.inits {
		if i.typ == c.typ {
			n++
		}
	}
	if w.onInit != nil {
		if reply, err, handled := w.onInit(n, c.typ, c.req); handled {
			if err != nil {
				return aapay.Reply{}, err
			}
			return *reply, nil
		}
	}
	x := w.byKey[c.key]
	if c.key != "" && x != nil && !reflect.DeepEqual(x.req, c.req) {
		return aapay.Reply{}, &wire.Error{Code: wire.KeyReused, Op: "test"}
	}
	if c.key == "" || x == nil {
		if w.dead[c.req.TerminalReference] {
			return aapay.Reply{HTTPStatus: 201, Response: &aapay.Response{ResponseCode: aapay.CodeReject}}, nil
		}
		x = &txn{typ: c.typ, req: c.req, key: c.key, id: int64(len(w.order) + 1), state: aapay.Initialized, born: time.Now(), code: w.code}
		w.order = append(w.order, x)
		w.byRef[c.req.TerminalReference] = x
		if c.key != "" {
			w.byKey[c.key] = x
		}
		w.effect(x)
	}
	if w.after != nil {
		if err := w.after(n, c.typ); err != nil {
			return aapay.Reply{}, err
		}
	}
	reply := aapay.Reply{HTTPStatus: 202, Valid: true, Response: &aapay.Response{NAA2ECR: x.naa}}
	if w.onReply != nil {
		w.onReply(x, &reply)
	}
	return reply, nil
}

// effect does what a reversal or refund does.
func (w *world) effect(x *txn) {
	switch x.typ {
	case aapay.Reversal:
		orig := w.byRef[x.req.OriginalReference]
		if orig == nil {
			w.dead[x.req.OriginalReference] = true
			x.state = "REVERSED"
			return
		}
		if orig.account == aapay.Commit {
			w.moved[orig.req.TerminalReference] = 0
			x.state, x.account = aapay.Finalized, aapay.Commit
			return
		}
		orig.state, x.state = aapay.Cancelled, "REVERSED"
	case aapay.Refund:
		id, _ := strconv.ParseInt(x.req.OriginalReference, 10, 64)
		orig := w.order[id-1]
		w.moved[orig.req.TerminalReference] -= x.req.PurchaseAmount.TotalAmount
		x.state, x.account = aapay.Finalized, aapay.Commit
	}
}

// pay is the customer paying a payment.
func (w *world) pay(x *txn) {
	if x.account == aapay.Commit || x.state == aapay.Cancelled {
		return
	}
	x.state, x.account = aapay.Finalized, aapay.Commit
	w.moved[x.req.TerminalReference] += x.req.PurchaseAmount.TotalAmount
}

func (w *world) Status(_ context.Context, id, _ string) (aapay.Status, error) {
	w = w.site()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.reads = append(w.reads, call{at: time.Now()})
	if w.onRead != nil {
		if err := w.onRead(); err != nil {
			return aapay.Status{}, err
		}
	}
	if w.offline || w.mute {
		return aapay.Status{}, errGone
	}
	x := w.byRef[id]
	if n, err := strconv.ParseInt(id, 10, 64); x == nil && err == nil && n > 0 && n <= int64(len(w.order)) {
		x = w.order[n-1]
	}
	for _, other := range w.order {
		if other.naa != nil && other.naa.PPRef == id {
			x = other
		}
	}
	if x == nil {
		return aapay.Status{}, &wire.Error{Code: wire.NotFound, Op: "test"}
	}
	x.reads++
	if w.onStatus != nil && x.typ == aapay.Payment {
		if err := w.onStatus(x); err != nil {
			return aapay.Status{}, err
		}
	}
	st := w.statusOf(x)
	if w.answer != nil {
		w.answer(x, &st)
	}
	return st, nil
}

// statusOf is the truth about a transaction, with w.mu held.
func (w *world) statusOf(x *txn) aapay.Status {
	st := aapay.Status{Valid: true, TransactionID: x.id, State: x.state, AccountState: x.account, NAA2ECR: x.naa,
		TimeStamp: x.born.UTC().Format(time.RFC3339)}
	if p := x.req.PurchaseAmount; p != nil {
		st.Receipt = &aapay.Receipt{Amount: p.TotalAmount, Currency: p.CurrencyCode}
	}
	if x.typ == aapay.Payment && x.req.Trigger == aapay.TriggerQR {
		st.QRCodePayload = x.code
	}
	if w.tells {
		st.Receipt = &aapay.Receipt{Amount: x.req.PurchaseAmount.TotalAmount, Currency: x.req.PurchaseAmount.CurrencyCode, Reference: x.req.TerminalReference}
	}
	return st
}

func (w *world) lock(f func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	f()
}

// sent counts the initializes of a type.
func (w *world) sent(typ aapay.Type) (out []call) {
	w.lock(func() {
		for _, c := range w.inits {
			if c.typ == typ {
				out = append(out, c)
			}
		}
	})
	return out
}

// net is what the merchant has, over all payments.
func (w *world) net() (sum int64) {
	w.lock(func() {
		for _, m := range w.moved {
			sum += m
		}
	})
	return sum
}

// approveAfter pays a payment at its nth status read.
func approveAfter(w *world, n int) func(*txn) error {
	return func(x *txn) error {
		if x.reads == n {
			w.pay(x)
		}
		return nil
	}
}

// say gives a payment these words from its nth read on.
func say(n int, state aapay.State, account aapay.AccountState) func(*txn) error {
	return func(x *txn) error {
		if x.reads >= n && x.state != aapay.Cancelled {
			x.state, x.account = state, account
		}
		return nil
	}
}

// shot is one view and when it came.
type shot struct {
	at   time.Time
	view display.View
}

type screen struct {
	mu    sync.Mutex
	shots []shot
	slow  time.Duration // to draw
	err   error         // of a code
}

func (s *screen) Show(v display.View) error {
	time.Sleep(s.slow)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.shots = append(s.shots, shot{time.Now(), v})
	if v.Code != nil {
		return s.err
	}
	return nil
}

func (s *screen) code() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.shots) > 0 && s.shots[len(s.shots)-1].view.Code != nil
}

// first is the first view that had a code.
func (s *screen) first() (v display.View) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, x := range s.shots {
		if x.view.Code != nil {
			return x.view
		}
	}
	return v
}

// last is what stands on the screen.
func (s *screen) last() display.View {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.shots[len(s.shots)-1].view
}

// times is when a code came up and when it went.
func (s *screen) times() (up, down time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, x := range s.shots {
		switch {
		case up.IsZero() && x.view.Code != nil:
			up = x.at
		case !up.IsZero() && down.IsZero() && x.view.Code == nil:
			down = x.at
		}
	}
	return up, down
}

// goneAfter is an attempt that ends without a connection after a while.
func (w *world) goneAfter(d time.Duration) func(int, aapay.Type, aapay.Request) (*aapay.Reply, error, bool) {
	return func(int, aapay.Type, aapay.Request) (*aapay.Reply, error, bool) {
		w.mu.Unlock()
		defer w.mu.Lock()
		<-time.After(d)
		return nil, errGone, true
	}
}

// guard is a store that can be cut off, and that can say that the disk is full.
type guard struct {
	store.DB
	mu     sync.Mutex
	left   int // writes until the power fails; <0 = never
	full   bool
	writes int
	failed int    // writes that run and then do not commit
	before func() // once, ahead of the next write
	onRead func() // after the read that follows skip others
	skip   int
	held   chan struct{} // reads wait until it is closed, those of unheld excepted
	until  int           // writes after which it is closed
}

type unheldKey struct{}

// unheld is a context whose reads are not held.
func unheld(ctx context.Context) context.Context { return context.WithValue(ctx, unheldKey{}, true) }

// holdReads lets reads wait until so many more writes are done.
func (g *guard) holdReads(writes int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.held, g.until = make(chan struct{}), writes
}

// wrote counts a write for holdReads.
func (g *guard) wrote() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.until--; g.held != nil && g.until == 0 {
		close(g.held)
		g.held = nil
	}
}

var errCut = errors.New("power failed")

func (g *guard) Write(ctx context.Context, fn func(store.Tx) error) error {
	g.mu.Lock()
	if g.left == 0 {
		g.mu.Unlock()
		return fmt.Errorf("%w: %w", store.ErrClosed, errCut)
	}
	if g.left > 0 {
		g.left--
	}
	g.writes++
	fail := g.failed > 0
	if fail {
		g.failed--
	}
	before := g.before
	g.before = nil
	g.mu.Unlock()
	if before != nil {
		before()
	}
	if !fail {
		defer g.wrote()
		return g.DB.Write(ctx, fn)
	}
	return g.DB.Write(ctx, func(tx store.Tx) error {
		if err := fn(tx); err != nil {
			return err
		}
		return store.ErrFull
	})
}

// fail lets the next n writes run and then not commit.
func (g *guard) fail(n int) {
	g.mu.Lock()
	g.failed = n
	g.mu.Unlock()
}

// Read runs onRead after each read, once.
func (g *guard) Read(ctx context.Context, fn func(store.Reader) error) error {
	g.mu.Lock()
	held := g.held
	g.mu.Unlock()
	if held != nil && ctx.Value(unheldKey{}) == nil {
		<-held
	}
	err := g.DB.Read(ctx, fn)
	g.mu.Lock()
	hook := g.onRead
	if g.skip > 0 {
		hook = nil
		g.skip--
	} else {
		g.onRead = nil
	}
	g.mu.Unlock()
	if hook != nil {
		hook()
	}
	return err
}

func (g *guard) Reserved(context.Context) error {
	if g.full {
		return store.ErrFull
	}
	return nil
}

// rig is a terminal in a bubble.
type rig struct {
	*drivetest.Terminal
	t       *testing.T
	world   *world
	screen  *screen
	cfg     drive.Config
	defs    []methods.Definition
	state   catalog.State
	prompt  drive.Prompter
	path    string
	address string // of the service
	guard   *guard
	jumped  atomic.Int64 // of the wall clock: a time.Duration
	untrue  bool         // no service has told the time
	bar     drive.Bar    // what forbids sales

	secret      []byte
	failAtStart int // writes of the next start that do not commit
}

func swish() methods.Definition {
	return methods.Definition{
		Priority: 1, PaymentProviderID: 1, Name: "SWISH_E_COM", Label: "Swish", MeanDelay: 10, Trigger: []methods.Trigger{methods.QR},
		TransactionTypes: []methods.TransactionType{methods.Payment, methods.Refund, methods.Reversal},
		MerchRcptReq:     []methods.ReceiptRule{{FiTxnTypes: methods.Refund, Req: methods.Required}},
	}
}

// terminal runs a test with a terminal in a bubble of virtual time.
func terminal(t *testing.T, test func(r *rig)) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "agent.db")
	synctest.Test(t, func(t *testing.T) {
		r := &rig{
			t: t, world: newWorld(), screen: &screen{}, path: path,
			cfg:  drive.Config{TerminalID: "T1", MerchantID: "M1", Currency: "EUR", TimeoutUnit: "m"},
			defs: []methods.Definition{swish()}, state: catalog.Fresh,
		}
		drivetest.Run(t, r.parts, func(x *drivetest.Terminal) {
			r.Terminal = x
			test(r)
		})
	})
}

func steps() []store.Step { return append(outbox.Schema(), journal.Schema()...) }

var blank = storetest.Blank(steps)

func (r *rig) parts() drivetest.Parts {
	r.t.Helper()
	blank(r.t, r.path)
	db := storetest.OpenAt(r.t, r.path, steps()...)
	r.guard = &guard{DB: db, left: -1, failed: r.failAtStart}
	r.failAtStart = 0
	route := perform.NewRoute(r.world, r.guard, r.address, drivetest.Now, slog.New(slog.DiscardHandler))
	return drivetest.Parts{
		DB: db, Outbox: outbox.Options{DB: db},
		Undos: func(settled func(store.Tx, outbox.Op, gateway.UndoResult) error, after func(outbox.Op)) []outbox.Kind {
			return []outbox.Kind{gateway.Reversal(route, settled, after), gateway.Refund(route, settled, after)}
		},
		Drive: drive.Options{
			DB: r.guard, Aapay: route, Screen: r.screen, Prompter: r.prompt, Config: r.cfg, CallerSecret: r.secret,
			Now:     func() time.Time { return drivetest.Now().Add(time.Duration(r.jumped.Load())) },
			Trusted: func() (time.Time, bool) { return drivetest.Now(), !r.untrue },
			Methods: func() ([]methods.Definition, catalog.State) { return r.defs, r.state },
			Barred:  func() drive.Bar { return r.bar },
		},
	}
}

// jump moves the wall clock away from the time that passes.
func (r *rig) jump(by time.Duration) { r.jumped.Store(int64(by)) }

// approved makes one acknowledged payment.
func (r *rig) approved(amount int64) ecr.Outcome { return r.paid(amount, ecr.Told) }

// unconfirmed makes one payment whose telling is lost.
func (r *rig) unconfirmed(amount int64) ecr.Outcome { return r.paid(amount, ecr.Lost) }

// paid makes one payment.
func (r *rig) paid(amount int64, d ecr.Delivery) ecr.Outcome {
	r.t.Helper()
	r.world.onStatus = approveAfter(r.world, 1)
	return r.Approved(r.sale(amount), d)
}

// waiting begins a payment whose service goes on saying one word, and lets time pass.
func (r *rig) waiting(word aapay.State, d time.Duration) ecr.Sale {
	r.t.Helper()
	r.world.onStatus = say(1, word, "")
	s := r.sale(500)
	pass(d)
	return s
}

// declined makes one payment that is declined.
func (r *rig) declined() ecr.Sale {
	r.t.Helper()
	r.world.onStatus = say(1, aapay.Rejected, "")
	s := r.sale(500)
	require.Equal(r.t, ecr.Declined, (<-s.Outcome).Result)
	r.Told(s, ecr.Told)
	return s
}

// refundOf asks for a part of a payment, which its transaction names.
func refundOf(o ecr.Outcome, amount int64) ecr.Request {
	return ecr.Request{Kind: ecr.Refund, Amount: minor(amount), Original: "T" + o.TransactionID}
}

func (r *rig) sale(amount int64) ecr.Sale { return r.Sale(minor(amount)) }

func (r *rig) show(id string) (*journal.Row, []string) {
	r.t.Helper()
	var row *journal.Row
	var lines []string
	require.NoError(r.t, r.DB.Read(context.Background(), func(rd store.Reader) error {
		var entries []journal.Entry
		var err error
		row, entries, err = journal.Show(rd, id)
		for _, e := range entries {
			lines = append(lines, e.Text)
		}
		return err
	}))
	return row, lines
}

func (r *rig) phase(id string) checkout.Phase {
	r.t.Helper()
	row, _ := r.show(id)
	return row.State.Phase
}

func (r *rig) last(line string) ecr.Outcome {
	r.t.Helper()
	s, err := r.Last(context.Background(), line)
	require.NoError(r.t, err)
	return <-s.Outcome
}

// refused asserts a refusal.
func refused(t *testing.T, err error, code ecr.Code) {
	t.Helper()
	var no *ecr.Refusal
	require.ErrorAs(t, err, &no)
	require.Equal(t, code, no.Code, no.Text)
}

// pass lets virtual time go by.
func pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// takes lets the service take a while, with w.mu held.
func (w *world) takes(d time.Duration) {
	w.mu.Unlock()
	defer w.mu.Lock()
	<-time.After(d)
}
