package perform

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"time"

	"posagent/agent/checkout/drive/journal"
	"posagent/schemes/aapay"
	"posagent/schemes/wire"
	"posagent/store"
)

// Route is the scheme service at one address. It is the one place that says whether the idempotent
// route is missing there: only an address at which it never worked has none (MONEY B.8). Its error
// then is wire.UnknownOutcome and aapay.ErrNoRoute. Where the route has worked, whatever answers 404,
// 405 or 501 in its place is a proxy or a deployment, and no error is aapay.ErrNoRoute. Where the plain
// route is missing as well, Neither says so.
type Route struct {
	aapay.Service
	db      store.DB
	address string
	now     func() time.Time
	log     *slog.Logger
	worked  atomic.Bool // and the journal has it
	neither atomic.Bool // the last call found the plain route missing, too; for people alone
}

var _ aapay.Service = (*Route)(nil)

// NewRoute makes the service at an address; it asks nothing. now and log may be nil.
func NewRoute(svc aapay.Service, db store.DB, address string, now func() time.Time, log *slog.Logger) *Route {
	if now == nil {
		now = time.Now
	}
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &Route{Service: svc, db: db, address: address, now: now, log: log}
}

// InitializeWithIdempotency implements aapay.Service.
func (r *Route) InitializeWithIdempotency(ctx context.Context, key wire.Key, typ aapay.Type, req aapay.Request) (aapay.Reply, error) {
	reply, err := r.Service.InitializeWithIdempotency(ctx, key, typ, req)
	if err == nil {
		r.neither.Store(false)
		r.note(ctx)
		return reply, nil
	}
	var e *wire.Error
	if !errors.Is(err, aapay.ErrNoRoute) || !errors.As(err, &e) {
		return reply, err
	}
	judged := *e
	if r.everWorked(ctx) {
		judged.Err, judged.Msg = nil, "something answers in the place of a route that has worked: "+e.Msg
	} else {
		judged.Code = wire.UnknownOutcome
	}
	return reply, &judged
}

// Initialize implements aapay.Service. It is called where the idempotent route is missing.
func (r *Route) Initialize(ctx context.Context, typ aapay.Type, req aapay.Request) (aapay.Reply, error) {
	reply, err := r.Service.Initialize(ctx, typ, req)
	if !wire.NeverSent(err) {
		r.neither.Store(errors.Is(err, aapay.ErrNoRoute) && !r.everWorked(ctx))
	}
	return reply, err
}

// Neither says that the service has neither route, as far as the last call has shown: no sale can be
// made there until a person has mended the address or the service.
func (r *Route) Neither() bool { return r.neither.Load() }

// note journals that the route works, once. A journal that cannot be written costs no reply: the next
// one is noted.
func (r *Route) note(ctx context.Context) {
	if r.worked.Load() {
		return
	}
	err := r.db.Write(context.WithoutCancel(ctx), func(tx store.Tx) error { return journal.NoteRoute(tx, r.address, r.now()) })
	if err != nil {
		r.log.Error("route not noted", "error", err)
		return
	}
	r.worked.Store(true)
}

// everWorked reads the journal; one that cannot be read proves no missing route.
func (r *Route) everWorked(ctx context.Context) bool {
	if r.worked.Load() {
		return true
	}
	worked := true
	err := r.db.Read(context.WithoutCancel(ctx), func(rd store.Reader) (err error) {
		worked, err = journal.RouteWorked(rd, r.address)
		return err
	})
	return err != nil || worked
}
