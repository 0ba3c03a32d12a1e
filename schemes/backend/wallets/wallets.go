package wallets

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
	"time"

	"posagent/schemes/aapay"
	"posagent/schemes/backend/books"
	"posagent/schemes/backend/books/journal"
	"posagent/schemes/backend/pages/form"
	"posagent/schemes/backend/scenario"
	"posagent/schemes/backend/sweep"
	"posagent/schemes/methods"
	"posagent/schemes/money"
	"posagent/schemes/wire"
	"posagent/store"
)

// Options are what Wallets needs.
type Options struct {
	DB        store.DB
	Seed      Seed
	Unit      string         // of the definitions' time-outs: "m" (default), "s", "ms"
	Delay     *time.Duration // until a wallet pays; nil = the method's mean delay, negative = never by itself
	PublicURL string         // where a browser reaches the backend, without a slash at the end
	Now       func() time.Time
	Log       *slog.Logger
}

// Wallets are the simulated providers: the transaction and definition services over one store.
type Wallets struct {
	db     store.DB
	seed   Seed
	unit   string
	delay  *time.Duration
	public string
	now    func() time.Time
	log    *slog.Logger
	forms  *form.Guard
	loop   *sweep.Loop
}

var (
	_ aapay.Service   = (*Wallets)(nil)
	_ methods.Service = (*Wallets)(nil)
)

// New makes Wallets; it starts nothing.
func New(opt Options) (*Wallets, error) {
	if opt.DB == nil || len(opt.Seed.Methods) == 0 {
		return nil, errors.New("wallets: a store and a seed with methods are needed")
	}
	u, err := url.Parse(opt.PublicURL)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, fmt.Errorf("wallets: public URL %q: want http://HOST or https://HOST", opt.PublicURL)
	}
	w := &Wallets{
		db: opt.DB, seed: opt.Seed, unit: opt.Unit, delay: opt.Delay, public: strings.TrimRight(opt.PublicURL, "/"),
		now: opt.Now, log: opt.Log,
	}
	if w.now == nil {
		w.now = time.Now
	}
	if w.log == nil {
		w.log = slog.New(slog.DiscardHandler)
	}
	w.log = w.log.With("sys", "wallets")
	w.loop = sweep.New(w.now, w.log, w.sweep)
	w.forms = form.New(w.db, w.public, w.now)
	return w, nil
}

// List implements methods.Service.
func (w *Wallets) List(_ context.Context, q methods.Query) ([]methods.Definition, error) {
	return w.seed.list(q)
}

// Run brings transactions forward in time until ctx ends: what is due happens even without a caller.
func (w *Wallets) Run(ctx context.Context) error { return w.loop.Run(ctx) }

// sweep advances everything that is due and gives the next due moment, 0 = none.
func (w *Wallets) sweep(ctx context.Context) (next int64, err error) {
	now := w.now().UnixMilli()
	var ids []int64
	var errs []error
	err = w.db.Read(ctx, func(r store.Reader) (err error) {
		ids, err = store.Column[int64](r, `SELECT id FROM wallets_txn WHERE next_ms IS NOT NULL AND next_ms <= ? ORDER BY next_ms, id`, now)
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("find due transactions: %w", err)
	}
	for _, id := range ids {
		err := w.db.Write(ctx, func(tx store.Tx) error {
			t, err := one(tx, byID, id)
			if err != nil || t == nil {
				return err
			}
			return w.advance(tx, t, now)
		})
		if err != nil { // one that cannot move must not hold the others up
			errs = append(errs, fmt.Errorf("advance %d: %w", id, err))
		}
	}
	if errs != nil {
		return 0, errors.Join(errs...)
	}
	err = w.db.Read(ctx, func(r store.Reader) error {
		return r.QueryRow(`SELECT COALESCE(MIN(next_ms), 0) FROM wallets_txn WHERE next_ms IS NOT NULL`).Scan(&next)
	})
	return next, err
}

// advance lets everything happen to t that is due by now, money included, and stores it.
func (w *Wallets) advance(tx store.Tx, t *txn, now int64) error {
	changed := false
	for {
		c, ok := due(t.life)
		if !ok || c.At > now {
			break
		}
		changed = true
		if err := w.apply(tx, t, c); err != nil {
			return err
		}
	}
	if !changed {
		return nil
	}
	w.log.Debug("transaction moved", "id", t.ID, "type", string(t.Type), "state", string(t.State), "account", string(t.Account))
	return save(tx, t)
}

// event translates a wallet's move for the books; false: it moves nothing.
func event(m scenario.Move) (books.Event, bool) {
	switch m {
	case scenario.Reserve:
		return books.Event{Kind: books.Reserve}, true
	case scenario.Commit:
		return books.Event{Kind: books.Commit}, true
	case scenario.Release:
		return books.Event{Kind: books.Release}, true
	}
	return books.Event{}, false
}

func (w *Wallets) apply(tx store.Tx, t *txn, c change) error {
	if c.Step.Move == scenario.Undo {
		return w.performUndo(tx, t, c)
	}
	after := take(t.life, c)
	if ev, ok := event(c.Step.Move); ok {
		_, err := journal.Post(tx, t.ref(c.At), ev)
		switch {
		case err == nil:
		case refused(err): // the books know better: the step does not happen
			t.Pos = after.Pos
			if !c.Script {
				t.life = after
			}
			return nil
		default:
			return err
		}
	}
	t.life = after
	if t.Type == aapay.Payment && bad(t.State) && t.Account != aapay.Commit {
		return w.closeBooks(tx, t, c.At)
	}
	return nil
}

// bad says that the words close a payment for good; TIMEDOUT does not, a commit may still come.
func bad(s aapay.State) bool {
	return s == aapay.Rejected || s == aapay.Cancelled || s == aapay.Failed
}

func (w *Wallets) closeBooks(tx store.Tx, t *txn, at int64) error {
	_, err := journal.Post(tx, t.ref(at), books.Event{Kind: books.Close})
	return err
}

// ref names t in the books as its own payment.
func (t *txn) ref(at int64) journal.Ref {
	return journal.Ref{Service: Service, Payment: t.key(), Txn: t.key(), AtMS: at}
}

// refused says that the books said no, as opposed to a store that failed.
func refused(err error) bool {
	for _, no := range []error{books.ErrClosed, books.ErrCommitted, books.ErrReserved, books.ErrNothing, books.ErrRefunded,
		books.ErrReversed, books.ErrRest, books.ErrAmount} {
		if errors.Is(err, no) {
			return true
		}
	}
	return false
}

// payload makes what the wallet scans; "" for a transaction that starts without a code.
func (w *Wallets) payload(t *txn) (string, error) {
	if !t.QR {
		return "", nil
	}
	p, ok := w.seed.find(t.Method)
	if !ok || !methods.EMVQR(p.Definition) {
		return w.public + "/wallet/" + t.PPRef, nil
	}
	cur, ok := money.Lookup(t.Currency)
	if !ok {
		return "", wire.Errorf(wire.Invalid, "aapay.initialize", "unknown currency")
	}
	code, err := emv(emvCode{
		Provider: "com.example." + strings.ToLower(t.Method), Merchant: w.seed.MerchantName, City: w.seed.MerchantCity,
		Country: w.seed.Country, Currency: cur, Amount: t.Minor, Reference: t.PPRef,
	})
	if err != nil {
		return "", wire.Errorf(wire.Invalid, "aapay.initialize", "amount cannot be shown in an EMV code")
	}
	return code, nil
}
