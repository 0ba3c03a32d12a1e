package drive

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"posagent/agent/catalog"
	"posagent/agent/checkout"
	"posagent/agent/checkout/drive/journal"
	"posagent/agent/checkout/drive/live"
	"posagent/agent/checkout/drive/perform"
	"posagent/device/display/scene"
	"posagent/ecr"
	"posagent/schemes/aapay"
	"posagent/schemes/methods"
	"posagent/schemes/wire"
	"posagent/store"
)

// Outbox is what a Drive needs of the queue.
type Outbox interface {
	journal.Outbox
	// Withdraw ends an operation that never had a connection; any error says that it may have had
	// one, or that nothing was done.
	Withdraw(ctx context.Context, key wire.Key, result []byte, reason string) error
	Wake()
}

// Question is what has to be asked before a sale can start.
type Question struct {
	Sale       string
	Kind       ecr.Kind
	Offers     []checkout.Pick // one answer names one of them
	Default    int             // of Offers; taken by itself after After without a key, where it asks nothing
	After      time.Duration   // 0 = never
	Amount     int64           // minor units; 0 = to be asked too
	Currency   string
	NeedAmount bool
}

// Answer is what was answered.
type Answer struct {
	Method     string // definition name; "" = the default
	Trigger    methods.Trigger
	ConsumerID string // where the pick is manual
	Answers    map[int32]string
	Amount     int64 // minor units, where it was asked
}

// ErrCancelled is the error of a Prompter where the person has cancelled.
var ErrCancelled = errors.New("cancelled at the terminal")

// Prompter asks at the terminal: keypad or touch page. An error ends the sale.
type Prompter interface {
	// Ready says whether somebody can answer now: a pad is there, and a screen.
	Ready() bool
	Ask(ctx context.Context, q Question) (Answer, error)
}

// Config is the terminal as a sale sees it.
type Config struct {
	TerminalID, MerchantID, MerchantName string
	Currency                             string // ISO 4217 alpha
	Language, Country                    string
	TimeoutUnit                          string        // of the methods' time-outs: m, s, ms
	Poll                                 time.Duration // never faster; 0 = 2 s
	Grace                                time.Duration // for an acknowledgement; 0 = 10 minutes
	Patience                             time.Duration // of a register without intermediate status; 0 = checkout.Patience
	OpenAmount                           bool          // a payment may begin without an amount, which is asked for at the terminal
	Choose                               bool          // the customer chooses among the methods on the screen, where the register named none
	StaleEnds                            bool          // a code that was not scanned in time ends the sale, instead of waiting for the app
	RefundLast                           bool          // a refund without original means the last payment of the till that asks
	Exclude                              []int32       // paymentProviderIds not offered here
	KeepSales                            time.Duration // running time for which a sale that has ended is kept; 0 = for ever
	// Day names the shop's day of a moment: where a sale of the open batch is of another day, the terminal
	// closes the batch itself. Nil = a batch is closed when it is asked for alone.
	Day     func(time.Time) string
	Version string
	Sandbox bool
}

// Options make a Drive. DB, Aapay, Methods, Outbox and Config are required.
type Options struct {
	DB       store.DB
	Aapay    aapay.Service
	Methods  func() ([]methods.Definition, catalog.State)
	Refresh  func(ctx context.Context) error // contacts the backend, for diagnosis; nil = nothing to contact
	Outbox   Outbox
	Screen   perform.Screen // nil = none
	Prompter Prompter       // nil = methods that ask are not offered
	// AtTerminal returns a context in which what is written is the deed of the person at the
	// terminal. Nil = the context itself.
	AtTerminal func(context.Context) context.Context
	Config     Config
	Now        func() time.Time     // wall clock, for people; default time.Now
	Boot       func() time.Duration // decides everything; default the process's monotonic clock
	BootID     string
	Trusted    func() (time.Time, bool) // outbox.Options.Trusted
	LastSale   int64                    // the highest id that was given before, by the journal's end; 0 = as the table says
	// CallerSecret makes the keys of requests that have an id of their own. It outlives the journal;
	// nil = one made of the journal's key.
	CallerSecret []byte
	Log          *slog.Logger
	// Record runs in the commit in which a sale has come to another phase or outcome. An error
	// undoes the commit. Nil = nothing. A sale that has just begun was the zero Row; why is ""
	// then, else the event.
	Record func(tx store.Tx, why checkout.Name, was, now *journal.Row) error
	// Audit runs in the commit of a deed that is no change of one sale. Nil = nothing.
	Audit func(tx store.Tx, deed, subject, detail string, amount int64, currency string) error
	// Closed runs in the commit that closes a batch. Nil = nothing.
	Closed func(tx store.Tx, batch int) error
	// Barred says whether a sale may begin now. It is asked at each: what forbids sales takes effect at once (MONEY E.4), and sales
	// that are open go on. Nil = nothing does.
	Barred func() Bar
}

// Bar is what forbids sales.
type Bar int

const (
	NoBar       Bar = iota
	Unconfirmed     // by the operator: another box may still have this journal
	Replaced        // the box is not the terminal any more
)

const (
	defaultGrace   = 10 * time.Minute
	holdBegin      = 3 * time.Second // what a request waits for the journal before its register is told to wait
	closeBound     = 60 * time.Second
	maxResumes     = 20
	standsAfter    = time.Minute // a start that lasted this long was not brought down by a sale
	refreshTimeout = 10 * time.Second
	askAgainPause  = 2 * time.Second
	chooseWithin   = 15 * time.Second // without a key the default method is taken
	purgeEvery     = time.Hour
	purgePause     = 100 * time.Millisecond // between two batches: sales want to write too
)

// Drive is the terminal's desk. Its methods are safe for concurrent use.
type Drive struct {
	db         store.DB
	j          *journal.Journal
	sales      *live.Sales
	p          *perform.Performer
	methods    func() ([]methods.Definition, catalog.State)
	refresh    func(context.Context) error
	box        Outbox
	prompter   Prompter
	atTerminal func(context.Context) context.Context
	cfg        Config
	now        func() time.Time
	boot       func() time.Duration
	bootID     string
	secret     []byte
	log        *slog.Logger
	audit      func(tx store.Tx, deed, subject, detail string, amount int64, currency string) error
	closed     func(tx store.Tx, batch int) error
	barred     func() Bar

	ready   atomic.Bool
	resumed chan struct{} // closed with the first ready
	asking  atomic.Bool   // whether the backend answers again
	desk    sync.Mutex    // one Begin, or the closing of a batch, at a time
	resting bool          // no sale begins any more; under desk

	mu      sync.Mutex
	stash   map[wire.Key]journal.Step // effects of a settled operation, until its commit is durable
	closing *closing                  // the end of day that runs; nil = none does
}

var (
	_ ecr.Desk     = (*Drive)(nil)
	_ ecr.Till     = (*Drive)(nil)
	_ ecr.Memory   = (*Drive)(nil)
	_ ecr.Undoer   = (*Drive)(nil)
	_ ecr.Waiter   = (*Drive)(nil)
	_ ecr.Listener = (*Drive)(nil)
	_ ecr.Finder   = (*Drive)(nil)
)

// New makes a Drive; it starts nothing.
func New(o Options) *Drive {
	d := &Drive{
		db: o.DB, sales: live.New(), methods: o.Methods, refresh: o.Refresh, box: o.Outbox, prompter: o.Prompter, atTerminal: o.AtTerminal, cfg: o.Config, now: o.Now, boot: o.Boot,
		bootID: o.BootID, secret: o.CallerSecret, log: o.Log, audit: o.Audit, closed: o.Closed, barred: o.Barred, resumed: make(chan struct{}), stash: map[wire.Key]journal.Step{},
	}
	if d.now == nil {
		d.now = time.Now
	}
	if d.boot == nil {
		born := time.Now()
		d.boot = func() time.Duration { return time.Since(born) }
	}
	if o.Trusted == nil {
		o.Trusted = func() (time.Time, bool) { return d.now(), true }
	}
	if d.barred == nil {
		d.barred = func() Bar { return NoBar }
	}
	if d.log == nil {
		d.log = slog.New(slog.DiscardHandler)
	}
	d.log = d.log.With("sys", "checkout")
	if len(d.secret) == 0 && d.db != nil {
		d.secret = d.db.MAC("checkout", "caller secret")
	}
	if d.cfg.Patience <= 0 {
		d.cfg.Patience = checkout.Patience
	}
	if d.cfg.Grace <= 0 {
		d.cfg.Grace = defaultGrace
	}
	d.j = journal.New(journal.Options{
		DB: d.db, Outbox: d.box, Memory: d.sales, Now: d.now, Boot: d.boot, BootID: d.bootID, MerchantID: d.cfg.MerchantID, Currency: d.cfg.Currency,
		Poll: d.cfg.Poll, LastSale: o.LastSale, Record: o.Record,
	})
	d.p = perform.New(perform.Options{
		DB: d.db, Journal: d.j, Sales: d.sales, Aapay: o.Aapay, Outbox: d.box, Screen: o.Screen, Now: d.now, Boot: d.boot, BootID: d.bootID, Trusted: o.Trusted, Log: d.log,
		Config: perform.Config{
			TerminalID: d.cfg.TerminalID, MerchantName: d.cfg.MerchantName, Language: d.cfg.Language, Poll: d.cfg.Poll, Grace: d.cfg.Grace,
			Patience: d.cfg.Patience, Sandbox: d.cfg.Sandbox,
		},
	})
	return d
}

// Run resumes every open sale, then lets sales begin, and performs their effects until ctx ends. It
// returns nil then, and an error when the journal cannot be read.
func (d *Drive) Run(ctx context.Context) error {
	if err := d.resume(ctx); err != nil {
		return err
	}
	d.ready.Store(true)
	close(d.resumed)
	d.p.Idle()
	d.p.Later(d.stands)
	d.p.Later(d.changed)
	if d.cfg.KeepSales > 0 {
		d.p.Later(d.keepHouse)
	}
	if d.cfg.Day != nil {
		d.p.Later(d.keepDays)
	}
	defer d.ready.Store(false)
	d.p.Run(ctx)
	return nil
}

// Faces takes what the customer's screen shows where no sale is on it: whether one may begin. Until it is called, that is scene.Idle.
func (d *Drive) Faces(kind scene.Kind) { d.p.Faces(kind) }

// Turn returns nil once Run has begun another job. It fails when ctx ends before.
func (d *Drive) Turn(ctx context.Context) error {
	begun := make(chan struct{})
	d.p.Later(func(context.Context) { close(begun) })
	select {
	case <-begun:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// keepHouse purges, once an hour, the sales that are older than Config.KeepSales of running time.
// The sums of their batches stay.
func (d *Drive) keepHouse(ctx context.Context) {
	for {
		wait := purgeEvery
		gone, more, err := d.j.Purge(ctx, d.cfg.KeepSales)
		if err != nil && ctx.Err() == nil {
			d.log.Error("old sales not purged", "err", err)
		}
		d.changed(ctx)
		if gone > 0 {
			d.log.Info("old sales purged", "count", gone)
		}
		if more {
			wait = purgePause
		}
		if !perform.Pause(ctx, wait, nil) {
			return
		}
	}
}

// Resumed says whether every open sale has been taken up again, so that new ones may begin.
func (d *Drive) Resumed() bool { return d.ready.Load() }

// Unreadable is which reply about sales, and which of its fields, could not be read for most of one; "" = none.
func (d *Drive) Unreadable() string { return d.p.Unreadable() }
