package aapay

import (
	"errors"
	"fmt"

	"posagent/schemes/aapay"
	"posagent/schemes/backend/books"
	"posagent/schemes/backend/books/journal"
	"posagent/schemes/backend/scenario"
	"posagent/schemes/methods"
	"posagent/schemes/wire"
	"posagent/store"
)

// prepareUndo finds the original of a reversal or refund and lays out what will happen. row becomes the original's.
func (w *Wallets) prepareUndo(tx store.Tx, a asked, t *txn, row *scenario.Row) (verdict, error) {
	d := a.provider.Definition
	kind, ways, want := books.Refund, []string{byID, byPPRef}, methods.Refund
	if t.Type == aapay.Reversal {
		kind, ways, want = books.Reverse, []string{byTerminal, byPPRef}, methods.Reversal
	}
	if !methods.Supports(d, want) {
		return reject(extUnsupported, fmt.Sprintf("the method does no %s", t.Type)), nil
	}
	timing := w.timing(a.provider)
	t.Script = scenario.UndoScript("", true, 0, 0)
	orig, err := findFor(tx, t.Merchant, t.OriginalRef, ways...)
	switch {
	case wire.CodeOf(err) == wire.Conflict:
		return reject(extOriginal, "originalReference names two transactions: give the ppref"), nil
	case err != nil:
		return verdict{}, err
	}
	if orig == nil {
		if t.Type == aapay.Refund && a.by != "" { // nothing is numbered for who counts through others' transactions
			return verdict{}, wire.Errorf(wire.NotFound, opInit, "originalReference: the merchant has no such transaction")
		}
		if t.Type == aapay.Refund {
			return reject(extOriginal, "the original transaction is not known"), nil
		}
		// A terminal's reference that never arrived may read like the id of a payment: that payment is not the one meant.
		other, err := find(tx, t.OriginalRef, byID)
		if err != nil {
			return verdict{}, err
		}
		if other != nil {
			return reject(extOriginal, "originalReference is the id of a transaction: a reversal names the terminalReference or the ppref"), nil
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
