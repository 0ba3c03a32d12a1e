package perform

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"posagent/agent/checkout/drive/journal"
	"posagent/agent/checkout/drive/live"
	"posagent/device/display"
	"posagent/device/display/scene"
	"posagent/schemes/aapay"
	"posagent/schemes/wire"
	"posagent/store"
)

// Outbox is what a Performer needs of the queue.
type Outbox interface {
	// Withdraw ends an operation that never had a connection; any error says that it may have had
	// one, or that nothing was done.
	Withdraw(ctx context.Context, key wire.Key, result []byte, reason string) error
	Wake()
}

// Screen is the customer's screen.
type Screen interface {
	Show(v display.View) error
}

// Config is the terminal as the effects see it.
type Config struct {
	TerminalID, MerchantName, Language string
	Poll                               time.Duration // never faster; 0 = 2 s
	Grace                              time.Duration // for an acknowledgement
	Patience                           time.Duration // of a register without intermediate status
	Sandbox                            bool
}

// Options make a Performer. Screen may be nil, all others are required.
type Options struct {
	DB      store.DB
	Journal *journal.Journal
	Sales   *live.Sales
	Aapay   aapay.Service
	Outbox  Outbox
	Screen  Screen // nil = none
	Config  Config
	Now     func() time.Time     // wall clock, for people
	Boot    func() time.Duration // decides everything
	BootID  string
	Trusted func() (time.Time, bool) // the true time, false while it is not known
	Log     *slog.Logger
}

const (
	statusTimeout  = 10 * time.Second
	initTimeout    = 15 * time.Second
	withdrawAfter  = 30 * time.Second // of a refund or reversal that never had a connection
	answerLead     = 4 * time.Second  // an answer leaves so long before the register's patience ends
	holdMax        = 5 * time.Minute
	resultOnScreen = 10 * time.Second
)

// StoreRetry is the pause after an error of the store.
const StoreRetry = time.Second

// Performer performs effects. Its methods are safe for concurrent use.
type Performer struct {
	db      store.DB
	j       *journal.Journal
	sales   *live.Sales
	svc     aapay.Service
	box     Outbox
	screen  Screen
	cfg     Config
	now     func() time.Time
	boot    func() time.Duration
	bootID  string
	trusted func() (time.Time, bool)
	log     *slog.Logger
	offline atomic.Bool
	unread  atomic.Pointer[unread] // the last answers about sales could not be read; nil = they could

	screenMu turn // held while a picture is drawn
	onScreen wire.Key
	rests    scene.Kind // where no sale is on it
	endShown bool       // it says how that sale ended: any other may take its place
	pictured atomic.Pointer[pictured]

	mu     sync.Mutex
	jobs   []func(context.Context)
	wake   chan struct{}
	onUndo map[string]func()        // by line
	until  map[string]time.Duration // by method: when its service may be asked for a new sale again, by the boot clock
}

// New makes a Performer; it starts nothing.
func New(o Options) *Performer {
	return &Performer{
		db: o.DB, j: o.Journal, sales: o.Sales, svc: o.Aapay, box: o.Outbox, screen: o.Screen, cfg: o.Config, now: o.Now, boot: o.Boot, bootID: o.BootID, trusted: o.Trusted, log: o.Log,
		wake: make(chan struct{}, 1), onUndo: map[string]func(){}, screenMu: make(turn, 1), until: map[string]time.Duration{}, rests: scene.Idle,
	}
}

// Run runs the jobs until ctx ends, and waits for them.
func (p *Performer) Run(ctx context.Context) {
	var running sync.WaitGroup
	defer running.Wait()
	for {
		p.mu.Lock()
		jobs := p.jobs
		p.jobs = nil
		p.mu.Unlock()
		for _, job := range jobs {
			running.Go(func() { job(ctx) })
		}
		select {
		case <-ctx.Done():
			return
		case <-p.wake:
		}
	}
}

// Later hands a job to Run.
func (p *Performer) Later(job func(context.Context)) {
	p.mu.Lock()
	p.jobs = append(p.jobs, job)
	p.mu.Unlock()
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

// Offline says that the backend did not answer last time.
func (p *Performer) Offline() bool { return p.offline.Load() }

// SetOffline notes whether the backend answers.
func (p *Performer) SetOffline(yes bool) { p.offline.Store(yes) }

// Pause waits; false when ctx or stop ended first. stop may be nil.
func Pause(ctx context.Context, wait time.Duration, stop <-chan struct{}) bool {
	if wait <= 0 {
		select {
		case <-stop:
			return false
		default:
			return ctx.Err() == nil
		}
	}
	t := time.NewTimer(wait)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-stop:
	case <-ctx.Done():
	}
	return false
}
