package salesapi

import (
	"context"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"posagent/agent/checkout/drive/journal"
	"posagent/agent/view"
	"posagent/device/qr"
	"posagent/ecr"
	"posagent/ecr/receipt"
	"posagent/schemes/wire"
	"posagent/store"
)

// Desk is what a Till asks of the checkout.
type Desk interface {
	ecr.Desk
	ecr.Finder
	ecr.Closer
	// Receipt returns the outcome of a sale that has ended, where nothing that its register does can
	// change that.
	Receipt(ctx context.Context, key wire.Key) (ecr.Outcome, error)
}

// Options make a Till. Desk, House, DB, Code, Now and Boot are required.
type Options struct {
	Desk  Desk
	House *view.Daemon
	DB    store.DB
	// Code returns the code of a sale, checked: it fails where the code may not be shown.
	Code func(*journal.Row) (*qr.Code, error)
	// Print returns the bytes that print a receipt; nil = receipts are text alone.
	Print        func([]receipt.Line) ([]byte, error)
	MerchantName string
	Language     string
	Now          func() time.Time     // wall clock, for people
	Boot         func() time.Duration // the checkout's clock
	Log          *slog.Logger
}

// Till takes sales over HTTP. Its methods are safe for concurrent use.
type Till struct {
	o      Options
	reject wire.Catalogue
	done   chan struct{}
	close  func()

	mu      sync.Mutex
	runs    map[string]*run // by the sale's id
	takings ecr.Takings
}

// New makes a Till; it starts nothing.
func New(o Options) *Till {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	o.Log = o.Log.With("sys", "till")
	t := &Till{o: o, reject: catalogue(), done: make(chan struct{}), runs: map[string]*run{}}
	t.close = sync.OnceFunc(func() { close(t.done) })
	return t
}

// Close ends what waits for an outcome. The sales go on.
func (t *Till) Close() { t.close() }

// ServeHTTP serves the routes of Groups. The caller has proven the client (wire.CallerOf).
func (t *Till) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var err error
	if err = wire.Allow(r.Context(), "sales", wire.MaySales); err == nil {
		switch r.Pattern {
		case postSale:
			err = t.begin(w, r)
		case postBack, postUndo:
			err = t.takeBack(w, r, r.Pattern == postBack)
		case postAbort:
			err = t.abort(w, r)
		case getSales:
			err = t.list(w, r)
		case getSale:
			err = t.show(w, r)
		case postDay, getDay:
			err = t.day(w, r)
		case getPNG, getSVG:
			err = t.picture(w, r, r.Pattern == getPNG)
		default:
			wire.WriteProblemNoRoute(w, r, http.MethodGet)
		}
	}
	if err != nil {
		wire.WriteProblem(w, r, t.o.Log, refused("sales", err), t.reject)
	}
}

// line is the register line of the client that asks.
func line(ctx context.Context) string { return view.LineOf(wire.CallerOf(ctx).Name) }

// written is a context for what must not end with its request.
func written(ctx context.Context) context.Context { return context.WithoutCancel(ctx) }
