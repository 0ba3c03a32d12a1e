package paylink_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent/catalog"
	"posagent/agent/checkout"
	"posagent/agent/checkout/drive"
	"posagent/agent/checkout/drive/drivetest"
	"posagent/agent/checkout/drive/journal"
	"posagent/agent/gateway"
	"posagent/agent/outbox"
	"posagent/agent/paylink"
	"posagent/device/display"
	"posagent/ecr"
	"posagent/schemes/aapay"
	"posagent/schemes/methods"
	"posagent/schemes/money"
	"posagent/schemes/wire"
	"posagent/store"
	"posagent/store/sqlite"
	"posagent/store/storetest"
)

// noScheme is the backend's scheme service: nothing of a link may ever reach it.
type noScheme struct{ t *testing.T }

func (n noScheme) Initialize(_ context.Context, typ aapay.Type, _ aapay.Request) (aapay.Reply, error) {
	n.t.Errorf("%s sent to the scheme service", typ)
	return aapay.Reply{}, errGone
}

func (n noScheme) InitializeWithIdempotency(ctx context.Context, _ wire.Key, typ aapay.Type, req aapay.Request) (aapay.Reply, error) {
	return n.Initialize(ctx, typ, req)
}

func (n noScheme) Status(context.Context, string, string) (aapay.Status, error) {
	n.t.Error("status asked at the scheme service")
	return aapay.Status{}, errGone
}

// screen keeps what was shown last.
type screen struct {
	mu   sync.Mutex
	last display.View
	seen func() // a code is up
}

func (s *screen) Show(v display.View) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last = v
	if v.Code != nil && s.seen != nil {
		s.seen()
	}
	return nil
}

func (s *screen) code() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.last.Code != nil
}

// guard is a store whose power can fail.
type guard struct {
	store.DB
	mu   sync.Mutex
	left int // writes; <0 = no end
}

func (g *guard) Write(ctx context.Context, fn func(store.Tx) error) error {
	g.mu.Lock()
	dead := g.left == 0
	if g.left > 0 {
		g.left--
	}
	g.mu.Unlock()
	if dead {
		return fmt.Errorf("%w: power failed", store.ErrClosed)
	}
	return g.DB.Write(ctx, fn)
}

// cut lets n more writes through.
func (g *guard) cut(n int) {
	g.mu.Lock()
	g.left = n
	g.mu.Unlock()
}

// rig is a terminal that takes payment links, in a bubble.
type rig struct {
	*drivetest.Terminal
	t      *testing.T
	bank   *bank
	screen *screen
	def    methods.Definition
	path   string
	guard  *guard
	svc    *paylink.Service
	none   bool // no account is configured

	rest   aapay.Service        // nil = noScheme
	list   []methods.Definition // the backend's
	only   bool                 // links are no method
	secret []byte               // the callers'
	past   func() (time.Time, bool)
}

// terminal runs a test with a terminal in a bubble of virtual time.
func terminal(t *testing.T, test func(r *rig)) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "agent.db")
	synctest.Test(t, func(t *testing.T) {
		r := &rig{
			t: t, bank: newBank(), screen: &screen{}, path: path,
			def: paylink.Definition("Payment link", 100, 45*time.Second),
		}
		drivetest.Run(t, r.parts, func(x *drivetest.Terminal) {
			r.Terminal = x
			test(r)
		})
	})
}

func steps() []store.Step {
	return slices.Concat(outbox.Schema(), journal.Schema(), paylink.Schema())
}

var blank = storetest.Blank(steps)

func (r *rig) parts() drivetest.Parts {
	r.t.Helper()
	blank(r.t, r.path)
	db, err := sqlite.Open(r.t.Context(), sqlite.Options{ // the power that fails here is guard's
		Path: r.path, Steps: steps(), Wrapper: storetest.Wrapper{}, Ballast: -1, Synchronous: "OFF",
	})
	require.NoError(r.t, err)
	r.guard = &guard{DB: db, left: -1}
	r.svc = paylink.New(paylink.Options{DB: r.guard, Links: linkHalf{r.bank}, Transactions: txnHalf{r.bank}, Instance: "demo", Now: drivetest.Now, Trusted: r.past, Reused: journal.ReusedKey})
	route := paylink.Router{Links: r.svc, Rest: noScheme{r.t}, Sold: func(ctx context.Context) (yes bool, err error) {
		err = db.Read(ctx, func(rd store.Reader) error { yes, err = paylink.Sold(rd); return err })
		return yes, err
	}}
	if r.rest != nil {
		route.Rest = r.rest
	}
	if r.none {
		route.Links = nil
	}
	own := &r.def
	if r.only {
		own = nil
	}
	return drivetest.Parts{
		DB: db, Outbox: outbox.Options{DB: r.guard},
		Undos: func(settled func(store.Tx, outbox.Op, gateway.UndoResult) error, after func(outbox.Op)) []outbox.Kind {
			return gateway.Undos(route.Rest, route.Own(), settled, after)
		},
		Drive: drive.Options{
			DB: r.guard, Aapay: route, Screen: r.screen, Now: drivetest.Now,
			Config:  drive.Config{TerminalID: "T1", MerchantID: "M1", Currency: "EUR", TimeoutUnit: "m"},
			Methods: func() ([]methods.Definition, catalog.State) { return paylink.Offer(r.list, own), catalog.Fresh }, CallerSecret: r.secret,
		},
	}
}

// approved makes one acknowledged payment.
func (r *rig) approved(amount money.Minor) ecr.Outcome {
	r.t.Helper()
	s := r.Sale(amount)
	pass(5 * time.Second)
	r.pay()
	return r.Approved(s, ecr.Told)
}

// pay lets the customer pay the newest link.
func (r *rig) pay() {
	r.t.Helper()
	r.bank.lock(func() { require.True(r.t, r.bank.pay(r.bank.links[len(r.bank.links)-1])) })
}

func (r *rig) row(id string) *journal.Row {
	r.t.Helper()
	var row *journal.Row
	require.NoError(r.t, r.DB.Read(context.Background(), func(rd store.Reader) (err error) {
		row, _, err = journal.Show(rd, id)
		return err
	}))
	return row
}

func (r *rig) phase(id string) checkout.Phase { return r.row(id).State.Phase }

// ops lists the outbox.
func (r *rig) ops() (list []outbox.Op) {
	r.t.Helper()
	require.NoError(r.t, r.DB.Read(context.Background(), func(rd store.Reader) (err error) {
		list, err = r.Box.List(rd, outbox.Filter{})
		return err
	}))
	return list
}

// settle lets everything owed come to its end, and checks that it does.
func (r *rig) settle() {
	r.t.Helper()
	busy := false
	for range 60 {
		pass(time.Minute)
		require.NoError(r.t, r.DB.Read(context.Background(), func(rd store.Reader) error {
			return rd.QueryRow(`SELECT EXISTS (SELECT 1 FROM checkout_sales WHERE active = 1)`).Scan(&busy)
		}))
		if !busy {
			return
		}
	}
	r.t.Errorf("something is still open: %v", r.ops())
}

// pass lets virtual time go by.
func pass(d time.Duration) {
	rest(d)
	synctest.Wait()
}

// rest is for those who must not wait for the others.
func rest(d time.Duration) { time.Sleep(d) }

// last asks for the outcome again, as a register does after a broken cable; false when there is no sale.
func (r *rig) last() (ecr.Sale, ecr.Outcome, bool) {
	r.t.Helper()
	s, err := r.Last(context.Background(), "serial")
	if errors.Is(err, ecr.ErrNone) {
		return s, ecr.Outcome{}, false
	}
	require.NoError(r.t, err)
	return s, <-s.Outcome, true
}
