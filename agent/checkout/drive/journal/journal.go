package journal

import (
	"errors"
	"sync/atomic"
	"time"

	"posagent/agent/checkout"
	"posagent/agent/outbox"
	"posagent/schemes/wire"
	"posagent/store"
)

// Outbox accepts operations in the commits that decide them, and keeps the alerts of sales beside its
// own.
type Outbox interface {
	Accept(tx store.Tx, n outbox.New) error
	Raise(tx store.Tx, a outbox.Alert) error
	WithdrawAlert(tx store.Tx, key wire.Key, keep string) (outbox.Alert, error)
}

// Memory is what is known of a sale in this run only, and counts in a decision.
type Memory interface {
	// Patient says that the register has acknowledged an intermediate status.
	Patient(key wire.Key) bool
	// GivenUp says that the register was told "aborted" while the journal could not be written.
	GivenUp(key wire.Key) bool
	// Listening says that a register waits for the outcome, on a connection that is not known to be
	// broken: an approval leaves as it is stored.
	Listening(key wire.Key) bool
}

// Options make a Journal. DB is required; what accepts operations or decides by memory needs the
// Outbox and the Memory too.
type Options struct {
	DB         store.DB
	Outbox     Outbox
	Memory     Memory
	Now        func() time.Time     // wall clock, for people; default time.Now
	Boot       func() time.Duration // decides everything; default the process's monotonic clock
	BootID     string
	MerchantID string
	Currency   string        // of the totals, ISO 4217 alpha
	Poll       time.Duration // never faster; 0 = 2 s
	LastSale   int64         // the highest id that was given before, by the journal's end; 0 = as the table says
	// Record runs in the commit in which a sale has come to another phase or outcome. An error
	// undoes the commit. Nil = nothing. A sale that has just begun was the zero Row; why is ""
	// then, else the event.
	Record func(tx store.Tx, why checkout.Name, was, now *Row) error
}

// Journal reads and writes sales. Its methods are safe for concurrent use.
type Journal struct {
	db  store.DB
	opt Options
	seq atomic.Uint64 // order of the commits
}

// New makes a Journal.
func New(o Options) *Journal {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Boot == nil {
		born := time.Now()
		o.Boot = func() time.Duration { return time.Since(born) }
	}
	return &Journal{db: o.DB, opt: o}
}

// Step is a sale after a commit, and what is to be done then.
type Step struct {
	Row     *Row
	Effects []checkout.Effect
	Seq     uint64 // order of the commits
}

// Step makes the step of a row that was written in the caller's commit.
func (j *Journal) Step(r *Row, effects []checkout.Effect) Step { return Step{r, effects, j.seq.Add(1)} }

// IsPermanent says that a retry cannot succeed: the sale is unknown or quarantined, or the store is closed.
func IsPermanent(err error) bool {
	return errors.Is(err, ErrUnknown) || errors.Is(err, ErrQuarantined) || errors.Is(err, store.ErrClosed)
}
