package paylink

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"posagent/schemes/aapay"
	"posagent/schemes/paylinks"
	"posagent/schemes/wire"
	"posagent/store"
)

const op = "paylink"

// Links is what a Service needs of the link service.
type Links interface {
	Create(ctx context.Context, key wire.Key, req paylinks.CreateRequest) (paylinks.Created, error)
	Read(ctx context.Context, id int64) (paylinks.Link, error)
	Delete(ctx context.Context, key wire.Key, id int64) (paylinks.Deleted, error)
}

// Transactions is what it needs of the transaction service.
type Transactions interface {
	Read(ctx context.Context, id int64) (paylinks.Transaction, error)
	Refund(ctx context.Context, key wire.Key, id int64, req paylinks.RefundRequest) (paylinks.Done, error)
	Delete(ctx context.Context, key wire.Key, id int64) (paylinks.Deleted, error)
	List(ctx context.Context, f paylinks.Filter) ([]paylinks.Transaction, error)
}

// Options make a Service. DB, Links, Transactions and Instance are required.
type Options struct {
	DB           store.DB
	Links        Links
	Transactions Transactions
	Instance     string        // the account
	Title        string        // of the links' pages: the merchant's name
	Settle       time.Duration // how long a silence has to last before it proves anything; 0 = 30 s
	Now          func() time.Time
	Log          *slog.Logger

	// Trusted is the time as a service of the backend has told it, false while none has; nil = none has.
	Trusted func() (time.Time, bool)
	// Reused says whether a journal before this one may have used a Key; nil = none has.
	Reused func(r store.Reader, key wire.Key) (bool, error)
}

// Service speaks payment links as a scheme. Its methods are safe for concurrent use.
type Service struct {
	o    Options
	log  *slog.Logger
	mu   sync.Mutex
	busy map[string]bool      // undos whose step is being taken, by reference
	mark map[string]time.Time // since when nothing has moved, likewise
	past past
}

var _ aapay.Service = (*Service)(nil)

// New makes a Service; it starts nothing.
func New(o Options) *Service {
	if o.Settle == 0 {
		o.Settle = 30 * time.Second
	}
	if o.Title == "" {
		o.Title = "Payment"
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Trusted == nil {
		o.Trusted = func() (time.Time, bool) { return time.Time{}, false }
	}
	if o.Reused == nil {
		o.Reused = func(store.Reader, wire.Key) (bool, error) { return false, nil }
	}
	return &Service{o: o, log: o.Log.With("sys", "paylink"), busy: map[string]bool{}, mark: map[string]time.Time{}, past: past{uses: map[string]use{}}}
}

// refusal says that the service itself said no, so that nothing was done.
func refusal(err error) bool {
	switch wire.CodeOf(err) {
	case wire.Invalid, wire.Conflict, wire.TooLarge:
		return true
	}
	return false
}

// unavailable gives an error the one meaning it has for a caller: nothing is known, and asking again is safe. Refused credentials, a
// pause asked for and what concerns one transaction alone keep theirs.
func unavailable(err error) error {
	if err == nil {
		return nil
	}
	e := *wire.AsError(op, err)
	switch e.Code {
	case wire.Unauthorized, wire.Forbidden, wire.TooMany, wire.KeyReused, wire.Internal:
		return &e
	}
	return &wire.Error{Code: wire.Unavailable, Op: op, RetryAfter: e.RetryAfter, Err: err}
}
