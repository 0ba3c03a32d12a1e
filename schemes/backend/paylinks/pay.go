package paylinks

import (
	"fmt"
	"time"

	"posagent/schemes/backend/books"
	"posagent/schemes/backend/scenario"
	"posagent/schemes/wire"
	"posagent/store"
)

// attempt is a customer's wish to pay.
type attempt struct {
	Lang, Brand, Card string
	Contact           []byte // JSON, nil = none
	Bank              scenario.Do
	Verdict           event // what the customer or the card's bank says, "" = the link's own row does
	Shown             int64 // the payment that the bank's question was about
	Pass              bool  // the answer to it
}

// askFor is how long the bank waits for the cardholder's answer.
const askFor = 10 * time.Minute

// lateBy is how long the provider of a late row thinks: longer than any sale lives.
const lateBy = 3 * time.Minute

// fate says what becomes of an attempt and how long the provider thinks about it.
func (s *Links) fate(l *link, o *options, a attempt) (event, time.Duration) {
	good := evApprove
	switch {
	case o.PreAuthorization:
		good = evAuthorize
	case o.Reservation:
		good = evReserve
	}
	switch a.Verdict {
	case "":
	case evLapse, evLapseBad:
		return a.Verdict, askFor
	default:
		return a.Verdict, 0
	}
	row := scenario.Pick(l.Hundredths, "")
	if row.On != scenario.Wallet {
		return good, 0
	}
	switch row.Do {
	case scenario.Decline, scenario.Rollback:
		return evDecline, 0
	case scenario.Cancel:
		return evCancel, 0
	case scenario.Fail:
		return evFail, 0
	case scenario.SlowCommit, scenario.ReserveFinalize:
		return good, 2 * s.pause()
	case scenario.StaleCommit, scenario.LateCommit:
		return good, lateBy
	}
	return good, 0
}

// open says why a link cannot be paid now; nil: it can. The link was advanced to now.
func open(l *link, now int64) error {
	switch {
	case l.Deleted != 0:
		return noLink(l.ID)
	case l.Txn != 0:
		return wire.Errorf(wire.Conflict, opPay, "the link is taken by a payment")
	case l.expired(now):
		return wire.Errorf(wire.Conflict, opPay, "the link has expired")
	}
	return nil
}

// start begins a payment of an open link, and ends it where the provider does not think.
func (s *Links) start(tx store.Tx, l *link, o *options, a attempt, at int64) error {
	if err := open(l, at); err != nil {
		return err
	}
	if a.Verdict == "" {
		var tried int64
		err := tx.QueryRow(`SELECT COUNT(*) FROM links_txn WHERE link = ? AND card = ? AND card != ''`, l.ID, a.Card).Scan(&tried)
		if err != nil {
			return fmt.Errorf("count attempts on %d: %w", l.ID, err)
		}
		a.Verdict = verdict(a.Bank, tried > 0)
	}
	goal, wait := s.fate(l, o, a)
	t := &txn{
		Link: l.ID, Type: kindPayment, Status: Waiting, Hundredths: l.Hundredths, Currency: l.Currency, Reference: l.Reference,
		Purpose: o.Purpose, Lang: a.Lang, Brand: a.Brand, Card: a.Card, Created: at, Goal: goal, Next: at + wait.Milliseconds(),
	}
	if err := s.insertTxn(tx, t, a.Contact); err != nil {
		return err
	}
	l.Txn, l.Next = t.ID, 0
	if wait > 0 {
		if err := s.emit(tx, l, o, t, t); err != nil {
			return err
		}
		return saveLink(tx, l)
	}
	return s.settle(tx, l, o, t, at)
}

// answer takes the cardholder's answer to the bank's question: the payment goes the way of its row, or ends. The payment
// holds the link, so that the link was neither paid nor deleted meanwhile.
func (s *Links) answer(tx store.Tx, l *link, o *options, a attempt, at int64) error {
	t, err := s.holder(tx, l)
	if err != nil {
		return err
	}
	a.Verdict = ""
	if !a.Pass || t.Goal == evLapseBad || l.expired(at) { // the link may have expired while the customer was away
		a.Verdict = evDecline
	}
	goal, wait := s.fate(l, o, a)
	t.Goal, t.Next = goal, at+wait.Milliseconds()
	if wait > 0 {
		return saveTxn(tx, t)
	}
	return s.settle(tx, l, o, t, at)
}

// moves says what an event does to the money of a payment.
var moves = map[event]books.Kind{
	evApprove: books.Commit, evReserve: books.Reserve, evDecline: books.Close, evCancel: books.Close, evFail: books.Close,
	evRemove: books.Close, evLapse: books.Close, evLapseBad: books.Close,
}

// settle lets t's goal happen at the moment given, money included.
func (s *Links) settle(tx store.Tx, l *link, o *options, t *txn, at int64) error {
	to, ok := next(t.Status, t.Goal)
	if !ok {
		return fmt.Errorf("transaction %d: %s in state %s", t.ID, t.Goal, t.Status)
	}
	if kind, ok := moves[t.Goal]; ok {
		if err := post(tx, t, t, at, books.Event{Kind: kind}); err != nil {
			return err
		}
	}
	if to == Confirmed {
		t.Charged = t.Hundredths
	}
	t.Status, t.Goal, t.Next = to, "", 0
	if !to.holds() && l.Txn == t.ID {
		l.Txn = 0
	}
	if to == Confirmed && t.Type == kindPayment && o.Subscription {
		l.Next = o.renewal(t.Created, 1)
	}
	if err := saveTxn(tx, t); err != nil {
		return err
	}
	if err := s.emit(tx, l, o, t, t); err != nil {
		return err
	}
	s.Log.Debug("transaction moved", "id", t.ID, "link", l.ID, "status", string(t.Status))
	return saveLink(tx, l)
}

// catchUp bounds what one commit lets happen to one link.
const catchUp = 100

// advance lets everything happen to a link that is due by now, each thing at its own moment.
func (s *Links) advance(tx store.Tx, l *link, now int64) error {
	for range catchUp {
		t, err := s.holder(tx, l)
		if err != nil {
			return err
		}
		thinking := t != nil && t.Next != 0 && t.Next <= now
		if !thinking && (l.Next == 0 || l.Next > now) {
			return nil
		}
		o, err := s.options(tx, l)
		if err != nil {
			return err
		}
		switch {
		case thinking:
			err = s.settle(tx, l, o, t, t.Next)
		case t == nil:
			err = s.walkUp(tx, l, o)
		default:
			err = s.renew(tx, l, o, t)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// walkUp is the customer at a counter who pays by himself. A link that expired before he came stays unpaid.
func (s *Links) walkUp(tx store.Tx, l *link, o *options) error {
	at := l.Next
	if open(l, at) != nil {
		l.Next = 0
		return saveLink(tx, l)
	}
	return s.start(tx, l, o, attempt{Lang: languages[0], Brand: o.walletBrand()}, at)
}

// renew charges a subscription once more and says when it is due again.
func (s *Links) renew(tx store.Tx, l *link, o *options, first *txn) error {
	at := l.Next
	t := &txn{
		Link: l.ID, Type: kindRenewal, Status: Waiting, Hundredths: l.Hundredths, Currency: l.Currency, Reference: l.Reference,
		Purpose: o.Purpose, Lang: first.Lang, Brand: first.Brand, Card: first.Card, Created: at, Goal: evApprove,
	}
	if err := s.insertTxn(tx, t, nil); err != nil {
		return err
	}
	l.Charges++
	l.Next = o.renewal(first.Created, int(l.Charges)+1)
	return s.settle(tx, l, o, t, at)
}
