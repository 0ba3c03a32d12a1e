package aapay

import (
	"errors"
	"fmt"

	"posagent/schemes/aapay"
	"posagent/schemes/backend/books"
	"posagent/schemes/backend/books/journal"
	"posagent/schemes/backend/room"
	"posagent/schemes/backend/scenario"
	"posagent/store"
)

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

// performUndo is the moment a reversal or refund happens.
func (w *Wallets) performUndo(tx store.Tx, t *txn, c change) error {
	after := take(t.life, c)
	end := func(state aapay.State, account aapay.AccountState) error {
		t.life = after
		t.State, t.Account = state, account
		return nil
	}
	if t.OriginalID == 0 {
		late, err := findFor(room.For(tx, t.By), t.Merchant, t.OriginalRef, byTerminal)
		if err != nil {
			return err
		}
		if late == nil || late.Type != aapay.Payment {
			if err := bury(tx, t, c.At); err != nil {
				return err
			}
			return end(reversed, "")
		}
		t.OriginalID = late.ID
	}
	orig, err := one(tx, byID, t.OriginalID)
	if err != nil {
		return err
	}
	if orig == nil {
		return fmt.Errorf("original %d of %d is gone", t.OriginalID, t.ID)
	}
	if err := w.advance(tx, orig, c.At); err != nil {
		return err
	}
	ref := journal.Ref{Service: Service, Payment: orig.key(), Txn: t.key(), AtMS: c.At}
	ev := books.Event{Kind: books.Refund, Amount: t.Minor}
	if t.Type == aapay.Reversal {
		ev = books.Event{Kind: books.Reverse}
	}
	posts, err := journal.Post(tx, ref, ev)
	switch {
	case errors.Is(err, books.ErrReversed) && t.Type == aapay.Reversal:
		return end(reversed, "") // it is done already: proof enough, and no money moves for it
	case refused(err):
		return end(aapay.Rejected, "")
	case err != nil:
		return err
	}
	if t.Type == aapay.Reversal {
		held := len(posts) > 0 && books.NetOf(posts) == 0
		if live(orig.State) && orig.Account != aapay.Commit {
			orig.State, orig.Since = aapay.Cancelled, c.At
			if held {
				orig.Account = aapay.Rollback
			}
		}
		orig.Pos = len(orig.Script)
		if err := save(tx, orig); err != nil {
			return err
		}
		if books.NetOf(posts) == 0 {
			return end(reversed, "")
		}
	}
	return end(after.State, after.Account)
}

// bury makes sure that a payment that was reversed before it arrived never begins.
func bury(tx store.Tx, t *txn, at int64) error {
	var n int64
	if err := tx.QueryRow(`SELECT COUNT(*) FROM wallets_tomb WHERE reference = ?`, scoped(t.By, t.OriginalRef)).Scan(&n); err != nil {
		return fmt.Errorf("read tombstone: %w", err)
	}
	if n > 0 {
		return nil
	}
	_, err := tx.Exec(`INSERT INTO wallets_tomb (reference, txn, at_ms) VALUES (?, ?, ?)`, scoped(t.By, t.OriginalRef), t.ID, at)
	if err != nil {
		return fmt.Errorf("set tombstone: %w", err)
	}
	return nil
}
