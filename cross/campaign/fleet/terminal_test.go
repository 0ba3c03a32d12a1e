package fleet

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"posagent/agent/catalog"
	"posagent/agent/checkout/drive"
	"posagent/agent/checkout/drive/journal"
	"posagent/agent/gateway"
	"posagent/agent/outbox"
	"posagent/agent/upstream"
	"posagent/schemes/aapay"
	"posagent/schemes/backend"
	"posagent/schemes/methods"
	"posagent/schemes/paylinks"
	"posagent/schemes/payments"
	"posagent/schemes/tokens"
	"posagent/schemes/wire"
	"posagent/store"
	"posagent/store/sqlite"
	"posagent/store/storetest"
)

// terminal is one box: its journal stays, its process comes and goes.
type terminal struct {
	n    int
	path string
	via  *balancer
	born time.Time // of its boot
	boot int

	mu    sync.Mutex
	now   *life
	fresh chan struct{} // closed when another life begins
}

// life is one process of a terminal, made of the product's rooms.
type life struct {
	db     store.Journal
	net    *network
	front  *gateway.Front
	box    *outbox.Outbox
	drive  *drive.Drive
	client []*upstream.Client
	over   context.CancelFunc
	gone   chan struct{} // closed when it is being ended
	wg     sync.WaitGroup
}

// network is the way out of one process, which is cut off when the process is killed.
type network struct {
	via *balancer

	mu    sync.Mutex
	cut   bool
	conns map[net.Conn]bool
}

// Dial connects a process that lives.
func (n *network) Dial(ctx context.Context, _, _ string) (net.Conn, error) {
	c, err := n.via.Dial(ctx)
	if err != nil {
		return nil, err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.cut {
		return nil, errors.Join(net.ErrClosed, c.Close())
	}
	one := &conn{c, n}
	n.conns[one] = true
	return one, nil
}

// conn forgets itself once it is closed.
type conn struct {
	net.Conn
	of *network
}

// Close implements net.Conn.
func (c *conn) Close() error {
	c.of.mu.Lock()
	delete(c.of.conns, c)
	c.of.mu.Unlock()
	return c.Conn.Close()
}

// close cuts off all connections: no answer reaches the process any more, and nothing leaves it.
func (n *network) close() {
	n.mu.Lock()
	n.cut = true
	var list []net.Conn
	for c := range n.conns {
		list = append(list, c)
	}
	n.mu.Unlock()
	for _, c := range list {
		_ = c.Close()
	}
}

func newTerminal(n int, dir string, via *balancer) *terminal {
	return &terminal{n: n, path: filepath.Join(dir, fmt.Sprintf("t%04d", n), "agent.db"), via: via, born: time.Now().Add(-time.Hour), fresh: make(chan struct{})}
}

// openJournal opens the journal of a terminal.
func openJournal(ctx context.Context, path string) (store.Journal, error) {
	return sqlite.Open(ctx, sqlite.Options{
		Path: path, Wrapper: storetest.Wrapper{}, Synchronous: "OFF", Ballast: -1, Readers: 1,
		Steps: slices.Concat(catalog.Schema(), outbox.Schema(), journal.Schema(), gateway.Schema()),
	})
}

// empty makes a journal without a sale, which each terminal gets a copy of: a schema takes longer than a copy.
func empty(ctx context.Context, path string) ([]byte, error) {
	db, err := openJournal(ctx, path)
	if err != nil {
		return nil, err
	}
	if err := db.Close(); err != nil {
		return nil, err
	}
	return os.ReadFile(path)
}

// start begins a life on the journal.
func (x *terminal) start(ctx context.Context) error {
	// What a power cut leaves is the business of other campaigns: here the process is lost, not the disk.
	db, err := openJournal(ctx, x.path)
	if err != nil {
		return fmt.Errorf("terminal %d: %w", x.n, err)
	}
	l := &life{db: db, net: &network{via: x.via, conns: map[net.Conn]bool{}}, gone: make(chan struct{})}
	who, boot := backend.DemoCredentials(), x.born
	clock := func() time.Duration { return time.Since(boot) }
	client, err1 := upstream.New(upstream.Config{Base: outside, Dial: l.net.Dial, Auth: upstream.Auth{ConsumerKey: wire.Secret(who.ConsumerKey), ConsumerSecret: who.ConsumerSecret}})
	plain, err2 := upstream.New(upstream.Config{Base: outside, Dial: l.net.Dial}) // its requests are signed
	if err := errors.Join(err1, err2); err != nil {
		return errors.Join(err, db.Close())
	}
	l.client = []*upstream.Client{client, plain}
	secret := fmt.Appendf(nil, "of terminal %d", x.n) // the copies of a journal have one in common
	links := &paylinks.Client{BaseURL: outside, Instance: who.Instance, Secret: who.Secret, Doer: plain.Once()}
	l.front = gateway.NewFront(gateway.Options{
		DB: db, Payments: &payments.Client{BaseURL: outside, Doer: client.Once()}, Tokens: &tokens.Client{BaseURL: outside, Doer: client.Once()},
		Links: links.Links(), Transactions: links.Transactions(), Limits: gateway.Limits{Count: 1 << 20}, CallerSecret: secret,
	})
	schemes := &aapay.Client{BaseURL: outside, Doer: client.Unanswered()}
	list := catalog.New(catalog.Options{
		DB: db, Service: &methods.Client{BaseURL: outside, Doer: client}, Query: methods.Query{BaxID: "1000001", TerminalID: fmt.Sprint(29000000 + x.n), Caller: "posagent"}, Refresh: 2 * time.Minute,
	})
	settled := func(tx store.Tx, op outbox.Op, res gateway.UndoResult) error { return l.drive.UndoSettled(tx, op, res) }
	l.box = outbox.NewOutbox(outbox.Options{
		DB: db, Boot: clock, Watch: l.front.Watch, Probe: func(ctx context.Context, _ string) error { return client.Probe(ctx) },
		Kinds: append(gateway.Undos(schemes, nil, settled, func(op outbox.Op) { l.drive.UndoAfter(op) }), l.front.Kinds()...),
	})
	l.front.Attach(l.box)
	l.drive = drive.New(drive.Options{
		DB: db, Aapay: schemes, Outbox: l.box, CallerSecret: secret, Refresh: list.RefreshNow, Boot: clock, BootID: fmt.Sprint("boot-", x.boot), Log: slog.New(slog.DiscardHandler),
		Methods: func() ([]methods.Definition, catalog.State) {
			defs, _, state := list.Current()
			return defs, state
		},
		Config: drive.Config{
			TerminalID: fmt.Sprint(29000000 + x.n), MerchantID: "merchant", MerchantName: "Fleet", Currency: "EUR", TimeoutUnit: "s", Patience: 25 * time.Second, Grace: 10 * time.Second,
		},
	})
	if err := list.Load(ctx); err != nil {
		return errors.Join(fmt.Errorf("terminal %d: %w", x.n, err), db.Close())
	}
	running, cancel := context.WithCancel(context.WithoutCancel(ctx))
	l.over = cancel
	for _, run := range []func(context.Context) error{list.Run, l.front.Run, l.box.Run, l.drive.Run} {
		l.wg.Go(func() { _ = run(running) }) // with its journal closed under it, it fails as it may
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.now = l
	close(x.fresh)
	x.fresh = make(chan struct{})
	return nil
}

// alive waits for a life that is not being ended.
func (x *terminal) alive(ctx context.Context) (*life, error) {
	for {
		x.mu.Lock()
		l, fresh := x.now, x.fresh
		x.mu.Unlock()
		if l != nil {
			return l, nil
		}
		select {
		case <-fresh:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// drop ends the process as a kill between two commits does: nothing it hears, sends or writes afterwards has an effect.
func (x *terminal) drop() error {
	x.mu.Lock()
	l := x.now
	x.now = nil
	x.mu.Unlock()
	if l == nil {
		return nil
	}
	close(l.gone)
	l.net.close()
	err := l.db.Close()
	l.over()
	l.wg.Wait()
	for _, c := range l.client {
		c.CloseIdle()
	}
	if err != nil {
		return fmt.Errorf("terminal %d: %w", x.n, err)
	}
	return nil
}

// restart kills the process and starts it again; reboot also makes it another boot of the box.
func (x *terminal) restart(ctx context.Context, reboot bool) error {
	if err := x.drop(); err != nil {
		return err
	}
	if reboot {
		x.boot++
		x.born = time.Now().Add(-time.Second)
	}
	return x.start(ctx)
}

// open is how many sales and operations of the journal are not at their end, and what the first of them wait for.
func (x *terminal) open(ctx context.Context) (n int, what string, err error) {
	l, err := x.alive(ctx)
	if err != nil {
		return 0, "", err
	}
	err = l.db.Read(ctx, func(r store.Reader) error {
		what = ""
		sales, err := journal.Unsettled(r)
		if err != nil {
			return err
		}
		ops, err := outbox.Unfinished(r)
		if err != nil {
			return err
		}
		n = sales + ops
		list, err := l.box.List(r, outbox.Filter{Open: true, Limit: 3})
		for _, op := range list {
			what += fmt.Sprintf("; %s %s, %d attempts: %s", op.State, op.Kind, op.Attempts, op.Reason)
		}
		if sales > 0 {
			rows, err := journal.Sales(r, 1000)
			if err != nil {
				return err
			}
			for _, s := range rows {
				if s.State.Phase != "DONE" {
					what += fmt.Sprintf("; sale %d %s %s", s.Amount, s.State.Phase, s.State.Result)
				}
			}
		}
		return err
	})
	return n, what, err
}

// record is one line of what tills were told, written at that moment.
type record struct {
	AtMS   int64  `json:"at_ms"`
	Till   int    `json:"till"`
	What   string `json:"what"` // sale or write
	Ref    string `json:"ref"`  // the till's own name of it
	Kind   string `json:"kind,omitempty"`
	About  string `json:"about,omitempty"` // a capture's payment
	Amount int64  `json:"amount,omitempty"`
	Said   string `json:"said"` // begun; of a sale: approved, declined, aborted, refused, given back, not heard; of a write: done, stored, refused, and what it came to in the end
}

// What a till writes down.
const (
	begun     = "begun"
	approved  = "approved"
	declined  = "declined"
	aborted   = "aborted"
	refused   = "refused"    // nothing was accepted
	givenBack = "given back" // the till refused the approval: no goods were handed out
	notHeard  = "not heard"  // the till died before it heard the outcome, and never asks again
	done      = "done"
	stored    = "stored" // and sent later
)

// told is the file of it, which outlives every process of the product.
type told struct {
	mu   sync.Mutex
	file *os.File
	n    int
	more chan struct{} // closed with the next line
}

func newTold(path string) (*told, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_APPEND|os.O_WRONLY, 0o600)
	return &told{file: f, more: make(chan struct{})}, err
}

// write appends a line.
func (t *told) write(r record) error {
	r.AtMS = time.Now().UnixMilli()
	line, err := json.Marshal(r)
	if err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if _, err := t.file.Write(append(line, '\n')); err != nil {
		return err
	}
	t.n++
	close(t.more)
	t.more = make(chan struct{})
	return nil
}

// grows returns once so many more lines were written. It fails where that takes too long.
func (t *told) grows(ctx context.Context, lines int) error {
	t.mu.Lock()
	want := t.n + lines
	t.mu.Unlock()
	late := time.After(within())
	for {
		t.mu.Lock()
		n, more := t.n, t.more
		t.mu.Unlock()
		if n >= want {
			return nil
		}
		select {
		case <-more:
		case <-late:
			return fmt.Errorf("the tills were told nothing: %d of %d lines in %v", lines-want+n, lines, within())
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// chance is true in n of a hundred cases.
func chance(rng *rand.Rand, n int) bool { return rng.IntN(100) < n }
