package links

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
	"time"

	"posagent/schemes/backend/pages/form"
	"posagent/schemes/backend/sweep"
	"posagent/schemes/wire"
	"posagent/store"
)

// Options are what Links needs.
type Options struct {
	DB        store.DB
	Merchant  string                                    // name on the page
	Delay     *time.Duration                            // until a customer at a counter pays; nil = 10 s, negative = never by himself
	PublicURL string                                    // where a browser reaches the backend, without a slash at the end
	Deliver   Emitter                                   // nil = no webhooks
	SignKey   wire.Secret                               // signs webhooks
	Instance  string                                    // account name said in webhooks
	QR        func(text string) (png []byte, err error) // draws a link's code; nil = there are none
	Now       func() time.Time
	Log       *slog.Logger
}

// Links are the payment links: the link service, the transaction service (Transactions) and the link page (Pages) over
// one store.
type Links struct {
	db       store.DB
	merchant string
	instance string
	delay    time.Duration
	public   string
	deliver  Emitter
	qr       func(string) ([]byte, error)
	key      wire.Secret
	now      func() time.Time
	log      *slog.Logger
	forms    *form.Guard
	loop     *sweep.Loop
}

// usualDelay is how long a customer needs where nothing else is said.
const usualDelay = 10 * time.Second

// New makes Links; it starts nothing.
func New(opt Options) (*Links, error) {
	u, err := url.Parse(opt.PublicURL)
	if opt.DB == nil || err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, fmt.Errorf("links: a store and a public URL are needed, %q is none", opt.PublicURL)
	}
	s := &Links{
		db: opt.DB, merchant: opt.Merchant, instance: opt.Instance, delay: usualDelay, public: strings.TrimRight(opt.PublicURL, "/"),
		deliver: opt.Deliver, qr: opt.QR, key: opt.SignKey, now: opt.Now, log: opt.Log,
	}
	if opt.Delay != nil {
		s.delay = *opt.Delay
	}
	if s.now == nil {
		s.now = time.Now
	}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	s.log = s.log.With("sys", "links")
	s.loop = sweep.New(s.now, s.log, s.sweep)
	s.forms = form.New(s.db, s.public, s.now)
	return s, nil
}

// pause is how long a provider thinks that thinks.
func (s *Links) pause() time.Duration { return max(s.delay, time.Second) }

// Run lets time pass for the links until ctx ends: customers at a counter pay, providers decide, subscriptions are charged.
func (s *Links) Run(ctx context.Context) error { return s.loop.Run(ctx) }

// sweep advances every link that is due and gives the next due moment, 0 = none.
func (s *Links) sweep(ctx context.Context) (next int64, err error) {
	now := s.now().UnixMilli()
	var ids []int64
	err = s.db.Read(ctx, func(r store.Reader) (err error) {
		ids, err = store.Column[int64](r, `SELECT id FROM links_link WHERE next_ms <= ? UNION SELECT link FROM links_txn WHERE next_ms <= ?`, now, now)
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("find due links: %w", err)
	}
	var errs []error
	for _, id := range ids {
		err := s.db.Write(ctx, func(tx store.Tx) error {
			l, err := linkWhere(tx, byID, id)
			if err != nil || l == nil {
				return err
			}
			return s.advance(tx, l, now)
		})
		if err != nil { // one that cannot move must not hold the others up
			errs = append(errs, fmt.Errorf("advance link %d: %w", id, err))
		}
	}
	if errs != nil {
		return 0, errors.Join(errs...)
	}
	err = s.db.Read(ctx, func(r store.Reader) error {
		return r.QueryRow(`SELECT COALESCE(MIN(next_ms), 0) FROM (SELECT next_ms FROM links_link WHERE next_ms IS NOT NULL
			UNION ALL SELECT next_ms FROM links_txn WHERE next_ms IS NOT NULL)`).Scan(&next)
	})
	return next, err
}

// The ways to find a link.
const (
	byID   = `id = ?`
	byHash = `hash = ?`
	// byReference finds the newest link of a reference that is not deleted, else the newest.
	byReference = `reference = ? ORDER BY deleted_ms IS NOT NULL, id DESC LIMIT 1`
)
