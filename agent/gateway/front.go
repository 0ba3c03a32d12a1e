package gateway

import (
	"context"
	"log/slog"
	"slices"
	"time"

	"posagent/agent/outbox"
	"posagent/schemes/wire"
	"posagent/store"
)

// NewFront makes a front; it starts nothing.
func NewFront(o Options) *Front {
	if o.Within <= 0 {
		o.Within = 3 * time.Second
	}
	if o.Patience <= 0 {
		o.Patience = 30 * time.Second
	}
	if o.Limits.Count <= 0 {
		o.Limits.Count = 500
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if len(o.CallerSecret) == 0 && o.DB != nil {
		o.CallerSecret = o.DB.MAC(keyTable, "caller secret")
	}
	o.Log = o.Log.With("sys", "offline")
	f := &Front{o: o, rows: map[string]*bound{}, waits: map[wire.Key][]chan struct{}{}, live: map[wire.Key][]byte{}, proven: map[string]bool{}, barred: func() string { return "" }}
	stored := map[string]bool{Payments: o.Payments != nil, Tokens: o.Tokens != nil, Paylinks: o.Links != nil && o.Transactions != nil}
	for _, row := range Table() {
		if row.adapt != nil && stored[row.Service] {
			f.bind(row)
		}
	}
	return f
}

// bind makes a row's kind.
func (f *Front) bind(row Row) {
	b := &bound{row, row.adapt(f), row.Replay}
	if slices.Contains(f.o.Keyless, row.Service) {
		b.class = row.Keyless
	}
	f.rows[row.Kind] = b
	f.kinds = append(f.kinds, outbox.Kind{
		Name: row.Kind, Service: row.Service, MaxAge: f.o.MaxAge, Breaks: row.Breaks, Asks: true, Reads: b.class == outbox.Compare,
		Replay:  outbox.SameKey, // the class is judged in send, where the body is known
		Send:    func(ctx context.Context, op outbox.Op) outbox.Verdict { return f.send(ctx, b, op) },
		Settled: func(tx store.Tx, op outbox.Op) error { return f.settle(tx, b, op) },
		Purged:  f.purged,
	})
}

// Kinds are the outbox's kinds of the services that are stored.
func (f *Front) Kinds() []outbox.Kind { return f.kinds }

// Attach joins the outbox that has the Kinds. Before it nothing can be written.
func (f *Front) Attach(box *outbox.Outbox) { f.box = box }

// Bar makes each write ask why nothing new is taken, "" = it is. Call it before Run.
func (f *Front) Bar(why func() string) { f.barred = why }
