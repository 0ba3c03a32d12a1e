package outbox

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"posagent/schemes/wire"
	"posagent/store"
)

// Options make an Outbox. Only DB is required.
type Options struct {
	DB     store.DB
	Kinds  []Kind
	Now    func() time.Time                  // wall clock; default time.Now
	Boot   func() time.Duration              // clock that never jumps and counts suspend; default the process's monotonic clock
	Jitter func(time.Duration) time.Duration // spreads a back-off; default 50..100 %
	Log    *slog.Logger

	// Record runs in every commit that changes an operation's state, once for each change; was is "" on Accept. An error
	// undoes the commit. Nil = nothing.
	Record func(tx store.Tx, was State, op Op) error
	// Probe asks cheaply whether a service can be reached; nil = an operation is the probe.
	Probe func(ctx context.Context, service string) error
	// Parallel is how many aggregates are sent at a time, beside one for urgent kinds; default 4.
	Parallel int
	// SendTimeout bounds one attempt; default 40 s.
	SendTimeout time.Duration
	// IdempotencyTTL is how long the backend remembers a Key; default 24 h (MONEY C.3).
	IdempotencyTTL time.Duration
	// Retention is how much running time a final operation is kept; default 90 days.
	Retention time.Duration
	// Watch is told of an operation after each commit in which an attempt or its end changed it; nil = nobody. It must not block.
	Watch func(op Op)
}

// Outbox is the queue. Its methods are safe for concurrent use.
type Outbox struct {
	db      store.DB
	kinds   map[string]*Kind
	order   []string // kind names, in the order given
	now     func() time.Time
	jitter  func(time.Duration) time.Duration
	log     *slog.Logger
	record  func(store.Tx, State, Op) error
	probe   func(context.Context, string) error
	par     int
	timeout time.Duration
	ttl     time.Duration
	keep    time.Duration // what is final
	clock   *clock
	watch   func(Op)
	wake    chan struct{}

	mu       sync.Mutex
	running  bool
	busy     map[int64]string // operation in flight -> its service
	panics   map[int64]int
	services map[string]*service
	names    []string // service names in order
}

// NewOutbox makes an outbox; it starts nothing (New is the operation to accept). It panics on two kinds of one
// name or a kind without Send.
func NewOutbox(opts Options) *Outbox {
	o := &Outbox{
		db: opts.DB, kinds: map[string]*Kind{}, now: opts.Now, jitter: opts.Jitter, log: opts.Log, probe: opts.Probe,
		par: opts.Parallel, timeout: opts.SendTimeout, ttl: opts.IdempotencyTTL, keep: opts.Retention, watch: opts.Watch,
		wake: make(chan struct{}, 1), busy: map[int64]string{}, panics: map[int64]int{}, services: map[string]*service{},
	}
	if o.now == nil {
		o.now = time.Now
	}
	if opts.Boot == nil {
		born := time.Now()
		opts.Boot = func() time.Duration { return time.Since(born) }
	}
	if o.jitter == nil {
		o.jitter = func(d time.Duration) time.Duration { return d/2 + rand.N(d/2+1) }
	}
	if o.watch == nil {
		o.watch = func(Op) {}
	}
	if o.log == nil {
		o.log = slog.New(slog.DiscardHandler)
	}
	o.log = o.log.With("sys", "outbox")
	if o.par <= 0 {
		o.par = 4
	}
	if o.timeout <= 0 {
		o.timeout = 40 * time.Second
	}
	if o.ttl <= 0 {
		o.ttl = 24 * time.Hour
	}
	if o.keep <= 0 {
		o.keep = 90 * 24 * time.Hour
	}
	o.clock = &clock{boot: opts.Boot, now: o.now}
	o.record = opts.Record
	for _, k := range opts.Kinds {
		if k.Send == nil || k.Name == "" || o.kinds[k.Name] != nil {
			panic("outbox: kind " + k.Name + ": no name, no Send, or given twice")
		}
		if k.Service == "" {
			k.Service = k.Name
		}
		kind := k
		o.kinds[k.Name] = &kind
		o.order = append(o.order, k.Name)
		if o.services[k.Service] == nil {
			o.services[k.Service] = &service{name: k.Service}
			o.names = append(o.names, k.Service)
		}
		s := o.services[k.Service]
		s.kinds = append(s.kinds, k.Name)
	}
	return o
}

// ErrKind is the answer to an operation of a kind nobody sends.
var ErrKind = errors.New("no sender for this kind of operation")

// Accept stores an operation in the caller's transaction. A second Accept of the same operation is nil and
// changes nothing; the same Key with another kind, aggregate, payload or amount is wire.KeyReused.
// Call Wake after the commit.
func (o *Outbox) Accept(tx store.Tx, n New) error {
	if _, err := wire.ParseKey(string(n.Key)); err != nil {
		return fmt.Errorf("accept %s: %w", n.Kind, err)
	}
	if o.kinds[n.Kind] == nil {
		return fmt.Errorf("accept %q: %w", n.Kind, ErrKind)
	}
	if n.Aggregate == "" {
		return fmt.Errorf("accept %s: no aggregate", n.Kind)
	}
	if err := o.clock.load(tx); err != nil {
		return err
	}
	digest := o.db.MAC("outbox_accepted", string(n.Key), n.Kind, n.Aggregate, blob(n.Payload), n.AmountMin, n.Currency)
	var old []byte
	switch err := tx.QueryRow(`SELECT digest FROM outbox_ops WHERE key = ?`, string(n.Key)).Scan(&old); {
	case err == nil && bytes.Equal(old, digest):
		return nil
	case err == nil:
		return wire.Errorf(wire.KeyReused, "outbox.accept", "%s already names another operation", n.Key)
	case !errors.Is(err, sql.ErrNoRows):
		return fmt.Errorf("accept %s: %w", n.Key, err)
	}
	r := row{
		key: string(n.Key), kind: n.Kind, aggregate: n.Aggregate, state: Pending, resume: Pending, note: n.Note,
		amount: n.AmountMin, currency: n.Currency, digest: digest, createdMS: o.now().UnixMilli(),
		acceptedRun: o.clock.run(), sentAge: -1,
	}
	r.nextRun = r.acceptedRun
	if len(n.Payload) > 0 {
		sealed, err := o.db.Seal(tx, cell(r.key, "payload"), n.Payload)
		if err != nil {
			return fmt.Errorf("accept %s: %w", n.Key, err)
		}
		r.payload = sealed
	}
	// An id is not given twice, also not that of an operation that was purged: it is the order.
	if err := tx.QueryRow(`SELECT MAX(COALESCE((SELECT MAX(id) FROM outbox_ops), 0), (SELECT purged_id FROM outbox_clock)) + 1`).Scan(&r.id); err != nil {
		return fmt.Errorf("accept %s: %w", n.Key, err)
	}
	r.mac = o.sum(&r)
	_, err := tx.Exec(`INSERT INTO outbox_ops (`+columns+`, open, ready) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?, 1,
		CASE WHEN EXISTS (SELECT 1 FROM outbox_ops WHERE aggregate = ? AND open = 1) THEN 0 ELSE 1 END)`,
		r.id, r.key, r.kind, r.aggregate, string(r.state), string(r.resume), r.note, r.amount, r.currency, r.digest,
		blob(r.payload), nil, nil, "", r.attempts, r.createdMS, r.settledMS, r.acceptedRun, r.nextRun, r.sentAge, r.mac, r.aggregate)
	if err != nil {
		return fmt.Errorf("accept %s: %w", n.Key, err)
	}
	return o.changed(tx, &r)
}

// Wake tells Run that there is something new. It never blocks.
func (o *Outbox) Wake() {
	select {
	case o.wake <- struct{}{}:
	default:
	}
}

// Online tells Run that the network came back: services that did not answer are probed at once.
func (o *Outbox) Online() {
	o.mu.Lock()
	for _, s := range o.services {
		s.next = 0
	}
	o.mu.Unlock()
	o.Wake()
}
