package wallets

import (
	"errors"
	"fmt"

	"posagent/schemes/aapay"
	"posagent/schemes/backend/books"
	"posagent/schemes/backend/books/journal"
	"posagent/schemes/backend/scenario"
	"posagent/schemes/methods"
	"posagent/store"
)

// prepareUndo finds the original of a reversal or refund and lays out what will happen. row becomes the original's.
func (w *Wallets) prepareUndo(tx store.Tx, a asked, t *txn, row *scenario.Row) (verdict, error) {
	d := a.provider.Definition
	kind, ways, want := books.Refund, []string{byID, byPPRef}, methods.Refund
	if t.Type == aapay.Reversal {
		kind, ways, want = books.Reverse, []string{byTerminal, byPPRef, byID}, methods.Reversal
	}
	if !methods.Supports(d, want) {
		return reject(extUnsupported, fmt.Sprintf("the method does no %s", t.Type)), nil
	}
	timing := w.timing(a.provider)
	t.Script = scenario.UndoScript("", true, 0, 0)
	orig, err := find(tx, t.OriginalRef, ways...)
	if err != nil {
		return verdict{}, err
	}
	if orig == nil {
		if t.Type == aapay.Refund {
			return reject(extOriginal, "the original transaction is not known"), nil
		}
		return verdict{}, nil // the tombstone is set when the reversal happens
	}
	switch {
	case orig.Type != aapay.Payment:
		return reject(extOriginal, "the original is not a payment"), nil
	case orig.Merchant != t.Merchant, orig.Method != t.Method, orig.Currency != t.Currency:
		return reject(extMismatch, "merchant, method or currency differ from the original"), nil
	case t.Type == aapay.Reversal && t.Hundredths != 0 && orig.Hundredths != t.Hundredths:
		return reject(extMismatch, "a reversal takes back the whole amount"), nil
	}
	t.OriginalID = orig.ID
	if err := w.advance(tx, orig, a.now); err != nil {
		return verdict{}, err
	}
	ledger, _, err := journal.Load(tx, Service, orig.key())
	if err != nil {
		return verdict{}, err
	}
	_, _, err = books.Apply(ledger, books.Event{Kind: kind, Amount: t.Minor})
	if err != nil && !(kind == books.Reverse && errors.Is(err, books.ErrReversed)) {
		return reject(extBooks, plain(err)), nil
	}
	*row = orig.row()
	if !about(row.On, t.Type) {
		return verdict{}, nil
	}
	t.Scenario = row.Name
	switch row.Do {
	case scenario.FailOnce, scenario.TimeOutOnce, scenario.SlowUndo:
		first, err := once(tx, "undo/"+string(t.Type)+"/"+orig.key(), a.now)
		if err != nil {
			return verdict{}, err
		}
		t.Script = scenario.UndoScript(row.Do, !first, methods.MeanDelay(d), timing.TimeOut)
	}
	return verdict{}, nil
}

// plain says a refusal of the books without the package's name.
func plain(err error) string {
	switch {
	case errors.Is(err, books.ErrRefunded):
		return "the original was already refunded"
	case errors.Is(err, books.ErrReversed):
		return "the original was already reversed"
	case errors.Is(err, books.ErrRest):
		return "more than the rest of the original"
	case errors.Is(err, books.ErrNothing):
		return "the original has not been paid"
	}
	return "the books refuse it"
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
		late, err := find(tx, t.OriginalRef, byTerminal)
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
	if err := tx.QueryRow(`SELECT COUNT(*) FROM wallets_tomb WHERE reference = ?`, t.OriginalRef).Scan(&n); err != nil {
		return fmt.Errorf("read tombstone: %w", err)
	}
	if n > 0 {
		return nil
	}
	_, err := tx.Exec(`INSERT INTO wallets_tomb (reference, txn, at_ms) VALUES (?, ?, ?)`, t.OriginalRef, t.ID, at)
	if err != nil {
		return fmt.Errorf("set tombstone: %w", err)
	}
	return nil
}

// returned says whether a payment's money has all gone back.
func returned(r store.Reader, t *txn) (bool, error) {
	if t.Account != aapay.Commit {
		return false, nil
	}
	ledger, _, err := journal.Load(r, Service, t.key())
	if err != nil {
		return false, err
	}
	return ledger.Committed != 0 && ledger.Net() == 0, nil
}
