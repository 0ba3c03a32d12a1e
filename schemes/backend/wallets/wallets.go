package wallets

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"posagent/schemes/aapay"
	"posagent/schemes/backend/books"
	"posagent/schemes/backend/books/journal"
	"posagent/schemes/backend/room"
	"posagent/schemes/backend/scenario"
	"posagent/schemes/methods"
	"posagent/schemes/money"
	"posagent/schemes/wire"
	"posagent/store"
)

// Options are what Wallets needs.
type Options struct {
	room.Options
	Seed  Seed
	Unit  string         // of the definitions' time-outs: "m" (default), "s", "ms"
	Delay *time.Duration // until a wallet pays; nil = the method's mean delay, negative = never by itself
}

// Wallets are the simulated providers: the transaction and definition services over one store.
type Wallets struct {
	*room.Room
	seed  Seed
	unit  string
	delay *time.Duration
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
	r, err := room.NewPaged("wallets", opt.Options)
	if err != nil {
		return nil, err
	}
	w := &Wallets{Room: r, seed: opt.Seed, unit: opt.Unit, delay: opt.Delay}
	w.Sweeps(w.sweep)
	return w, nil
}

// List implements methods.Service.
func (w *Wallets) List(_ context.Context, q methods.Query) ([]methods.Definition, error) {
	return w.seed.list(q)
}

// sweep advances everything that is due and gives the next due moment, 0 = none.
func (w *Wallets) sweep(ctx context.Context) (next int64, err error) {
	return room.Sweep(ctx, w.Room, room.Due[int64]{
		What: "transactions", Name: func(id int64) string { return strconv.FormatInt(id, 10) },
		List: `SELECT id FROM wallets_txn WHERE next_ms IS NOT NULL AND next_ms <= ? ORDER BY next_ms, id`,
		Next: `SELECT COALESCE(MIN(next_ms), 0) FROM wallets_txn WHERE next_ms IS NOT NULL`,
		Advance: func(tx store.Tx, id, now int64) error {
			t, err := one(tx, byID, id)
			if err != nil || t == nil {
				return err
			}
			return w.advance(tx, t, now)
		},
	})
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
	w.Log.Debug("transaction moved", "id", t.ID, "type", string(t.Type), "state", string(t.State), "account", string(t.Account))
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
		return w.Public + "/wallet/" + t.PPRef, nil
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
