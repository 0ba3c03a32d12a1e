package outbox

import (
	"bytes"
	"context"
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

	// Record runs in every commit that changes an operation's state, once for each change; was is
	// "" on Accept. An error undoes the commit. Nil = nothing.
	Record func(tx store.Tx, was State, op Op) error
	// Audit runs in the commit of a verb that changes no state (SendNow, SendAll). Nil = nothing.
	Audit func(tx store.Tx, deed, subject, detail string, amount int64, currency string) error
	// Probe asks cheaply whether a service can be reached; nil = an operation is the probe.
	Probe func(ctx context.Context, service string) error
	// Parallel is how many aggregates are sent at a time, beside one for urgent kinds; default 4.
	Parallel int
	// SendTimeout bounds one attempt; default 40 s.
	SendTimeout time.Duration
	// IdempotencyTTL is how long the backend remembers a Key; default 24 h.
	IdempotencyTTL time.Duration
	// Retention is how much running time a final operation is kept; default 90 days.
	Retention time.Duration
	// Watch is told of an operation after each commit in which an attempt or its end changed it;
	// nil = no watcher. It must not block.
	Watch func(op Op)
	// LastID is the highest number that was given before, by the journal's end; 0 = as the table
	// says.
	LastID int64
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
	audit   func(tx store.Tx, deed, subject, detail string, amount int64, currency string) error
	probe   func(context.Context, string) error
	par     int
	timeout time.Duration
	ttl     time.Duration
	keep    time.Duration // what is final
	clock   *clock
	watch   func(Op)
	wake    chan struct{}
	lastID  int64 // of an earlier run: no operation gets this number or a lower one

	mu       sync.Mutex
	running  bool
	busy     map[int64]string // operation in flight -> its service
	panics   map[int64]int
	services map[string]*service
	names    []string // service names in order
}

// NewOutbox makes an outbox; it starts nothing (New is the operation to accept). It panics on two
// kinds of one name or a kind without Send.
func NewOutbox(opts Options) *Outbox {
	o := &Outbox{
		db: opts.DB, kinds: map[string]*Kind{}, now: opts.Now, jitter: opts.Jitter, log: opts.Log, probe: opts.Probe,
		par: opts.Parallel, timeout: opts.SendTimeout, ttl: opts.IdempotencyTTL, keep: opts.Retention, watch: opts.Watch, lastID: opts.LastID,
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
	o.record, o.audit = opts.Record, opts.Audit
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

// sumEvery is how many operations are accepted until they are added to the sums: the report counts
// the rest one by one.
const sumEvery = 128

// ErrKind is the answer to an operation of a kind that has no sender.
var ErrKind = errors.New("no sender for this kind of operation")

// Accept stores an operation in the caller's transaction. A second Accept of the same operation is
// nil and changes nothing; the same Key with another kind, aggregate, payload or amount is
// wire.KeyReused. Call Wake after the commit.
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
	to, _, err := next(position{}, event{verb: accept})
	if err != nil {
		return err
	}
	r := row{
		key: string(n.Key), kind: n.Kind, aggregate: n.Aggregate, state: to.State, resume: to.Resume, note: n.Note,
		amount: n.AmountMin, currency: n.Currency, owner: n.Owner, createdMS: o.now().UnixMilli(), acceptedRun: o.clock.run(), sentAge: -1,
	}
	if err := o.Seal(&n); err != nil {
		return err
	}
	r.digest, r.payload, r.dataKey = n.digest, n.sealed, n.dataKey
	if err := o.number(tx, &r); err != nil {
		return fmt.Errorf("accept %s: %w", n.Key, err)
	}
	fresh, err := o.insert(tx, &r)
	switch {
	case err != nil:
		return fmt.Errorf("accept %s: %w", n.Key, err)
	case !fresh:
		return o.same(tx, &n)
	}
	return o.changed(tx, &r)
}

// Seal does the part of Accept that needs no Write, so that callers who wait for one do it side by
// side. Accept does it where it was not.
func (o *Outbox) Seal(n *New) (err error) {
	if n.digest != nil {
		return nil
	}
	n.digest = o.db.MAC("outbox_payload", string(n.Key), n.Kind, blob(n.Payload))
	if len(n.Payload) == 0 {
		return nil
	}
	if n.sealed, n.dataKey, err = o.db.SealOwn(nil, cell(string(n.Key), "payload"), n.Payload); err != nil {
		return fmt.Errorf("accept %s: %w", n.Key, err)
	}
	return nil
}

// number gives an operation its id. None is given twice, also not that of an operation that was
// purged: it is the order. There is no gap: a row that is missing was removed.
func (o *Outbox) number(tx store.Tx, r *row) error {
	if err := tx.QueryRow(`SELECT MAX(COALESCE((SELECT MAX(id) FROM outbox_ops), 0), (SELECT purged_id FROM outbox_clock), ?) + 1`, o.lastID).Scan(&r.id); err != nil {
		return err
	}
	if r.id%sumEvery != 0 {
		return nil
	}
	for _, q := range []string{
		`INSERT INTO outbox_sums SELECT kind, currency, state, COUNT(*), SUM(amount) FROM outbox_ops
			WHERE id > (SELECT summed_id FROM outbox_clock) GROUP BY kind, currency, state
			ON CONFLICT (kind, currency, state) DO UPDATE SET count = count + excluded.count, sum = sum + excluded.sum`,
		`UPDATE outbox_clock SET summed_id = (SELECT COALESCE(MAX(id), summed_id) FROM outbox_ops)`,
	} {
		if _, err := tx.Exec(q); err != nil {
			return err
		}
	}
	return nil
}

// same tells whether the operation that has the Key is this one.
func (o *Outbox) same(tx store.Tx, n *New) error {
	old, err := byKey(tx, n.Key)
	if err != nil {
		return fmt.Errorf("accept %s: %w", n.Key, err)
	}
	same := bytes.Equal(old.digest, n.digest) && old.aggregate == n.Aggregate && old.amount == n.AmountMin && old.currency == n.Currency ||
		// accepted before the digest was made ahead
		bytes.Equal(old.digest, o.db.MAC("outbox_accepted", string(n.Key), n.Kind, n.Aggregate, blob(n.Payload), n.AmountMin, n.Currency))
	if !same {
		return wire.Errorf(wire.KeyReused, "outbox.accept", "%s already names another operation", n.Key)
	}
	return nil
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
