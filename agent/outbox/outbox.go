package outbox

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"posagent/store"
)

// Options make an Outbox. Only DB is required.
type Options struct {
	DB     store.DB
	Kinds  []Kind
	Now    func() time.Time     // wall clock; default time.Now
	Boot   func() time.Duration // clock that never jumps and counts suspend; default the process's monotonic clock
	BootID string               // of Boot: another one says that it began anew; "" = it is not known
	// Trusted is the time as an authenticated reply has told it, false while none has since the start.
	// Until then what was sent before another boot is read and not sent again. Nil = the wall clock is
	// right.
	Trusted func() (time.Time, bool)
	Jitter  func(time.Duration) time.Duration // spreads a back-off; default 50..100 %
	Log     *slog.Logger

	// Record runs in every commit that changes an operation's state, once for each change; was is
	// "" on Accept. An error undoes the commit. Nil = nothing.
	Record func(tx store.Tx, was State, op Op) error
	// Audit runs in the commit of a verb that changes no state (SendNow, SendAll, Acknowledge). Nil =
	// nothing.
	Audit func(tx store.Tx, deed, subject, detail string, amount int64, currency string) error
	// Alerted runs in the commit that raises an alert or ends it; how is one of AlertRaised,
	// AlertAcknowledged, AlertWithdrawn. Nil = nothing.
	Alerted func(tx store.Tx, a Alert, how string) error
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
	alerted func(tx store.Tx, a Alert, how string) error
	probe   func(context.Context, string) error
	par     int
	timeout time.Duration
	ttl     time.Duration
	keep    time.Duration // what is final
	clock   *clock
	watch   func(Op)
	wake    chan struct{}
	turn    chan struct{} // taken by Run once a turn
	lastID  int64         // of an earlier run: no operation gets this number or a lower one

	mu       sync.Mutex
	running  bool
	busy     map[int64]flight // by operation
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
		wake: make(chan struct{}, 1), turn: make(chan struct{}), busy: map[int64]flight{}, panics: map[int64]int{}, services: map[string]*service{},
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
	o.clock = &clock{boot: opts.Boot, bootID: opts.BootID, now: o.now, trusted: opts.Trusted}
	o.record, o.audit, o.alerted = opts.Record, opts.Audit, opts.Alerted
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

// Wake tells Run that there is something new. It never blocks.
func (o *Outbox) Wake() {
	select {
	case o.wake <- struct{}{}:
	default:
	}
}

// Turn returns nil once Run has ended a turn. It fails when ctx ends before.
func (o *Outbox) Turn(ctx context.Context) error {
	select {
	case o.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Accepted is Wake for what was accepted for a service. It is left out where Run waits for the service's probe: its time is set, or its
// end wakes Run.
func (o *Outbox) Accepted(name string) {
	run := o.clock.run()
	o.mu.Lock()
	s := o.services[name]
	waits := s != nil && s.down && (s.probing || s.next > run)
	o.mu.Unlock()
	if !waits {
		o.Wake()
	}
}

// Online tells Run that the network came back: services that did not answer are probed at once.
func (o *Outbox) Online() {
	o.mu.Lock()
	for _, s := range o.services {
		s.ask()
	}
	o.mu.Unlock()
	o.Wake()
}
