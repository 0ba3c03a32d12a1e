package books

import (
	"errors"
	"fmt"

	"posagent/schemes/money"
)

// Account is one side of a posting.
type Account string

// The accounts of a payment.
const (
	Consumer  Account = "consumer"
	Reserved  Account = "reserved"
	Merchant  Account = "merchant"
	Returning Account = "returning" // a refund under way: no longer the merchant's, not yet the consumer's
	Fees      Account = "fees"      // what the consumer pays besides the amount
)

// Posting is one line of an entry, in minor units; positive amounts arrive in the account.
type Posting struct {
	Account Account     `json:"account"`
	Amount  money.Minor `json:"amount"`
}

// Kind names what happened.
type Kind string

// The kinds of event.
const (
	Reserve Kind = "reserve" // hold the consumer's money
	Commit  Kind = "commit"  // the money becomes the merchant's
	Release Kind = "release" // give a reservation back; nothing when nothing is held
	Close   Kind = "close"   // give a reservation back and take no money any more
	Reverse Kind = "reverse" // give everything back and take no money any more
	Refund  Kind = "refund"  // give a part back

	Authorize   Kind = "authorize"    // hold a part of the amount, and the fee
	Capture     Kind = "capture"      // a part of what is held becomes the merchant's; the first one takes the fee
	BeginRefund Kind = "begin-refund" // a part is on its way back
	EndRefund   Kind = "end-refund"   // it has arrived
	FailRefund  Kind = "fail-refund"  // it has come back to the merchant
)

// Event is one thing that happens to a payment. Amount is used by those that move a part; the others move the whole.
type Event struct {
	Kind   Kind
	Amount money.Minor
}

// Ledger is where the money of one payment stands. The zero value is not usable; see Open.
type Ledger struct {
	Amount    money.Minor // what the payment is about
	Reserved  money.Minor // held now
	Committed money.Minor // ever moved to the merchant, at most Amount
	Returned  money.Minor // ever moved back from the merchant
	Returning money.Minor // on its way back
	Fee       money.Minor // held and taken on top of the amount
	Charged   money.Minor // of the fee, 0 or Fee; never given back once taken
	Reversed  bool        // by a full reversal
	Closed    bool        // takes no money any more
}

// Why an event was refused. Decide with errors.Is.
var (
	ErrAmount    = errors.New("books: amount must be greater than zero")
	ErrClosed    = errors.New("books: payment is closed")
	ErrCommitted = errors.New("books: payment is already committed")
	ErrReserved  = errors.New("books: payment is already reserved")
	ErrNothing   = errors.New("books: nothing was committed")
	ErrRefunded  = errors.New("books: payment was already refunded")
	ErrReversed  = errors.New("books: payment was already reversed")
	ErrRest      = errors.New("books: more than the rest of the payment")
	ErrHeld      = errors.New("books: nothing is reserved")
	ErrKind      = errors.New("books: unknown event")
)

// Open begins the ledger of a payment over amount, with a fee on top of it (0 = none).
func Open(amount, fee money.Minor) (Ledger, error) {
	if sum, err := money.Add(amount, fee); amount <= 0 || fee < 0 || err != nil || sum < 0 {
		return Ledger{}, ErrAmount
	}
	return Ledger{Amount: amount, Fee: fee}, nil
}

// Net is what the merchant has of the payment now: 0 after a full undo.
func (l Ledger) Net() money.Minor { return l.Committed - l.Returned - l.Returning }

// held is what of the consumer's money is reserved: the fee goes with the amount until it is taken.
func (l Ledger) held() money.Minor {
	if l.Reserved == 0 {
		return 0
	}
	return l.Reserved + l.Fee - l.Charged
}

// Rest is what may still be refunded.
func (l Ledger) Rest() money.Minor {
	if l.Reversed {
		return 0
	}
	return l.Net()
}

// Apply gives the ledger after e and the postings of e, which sum to zero. A refused event changes nothing.
// An event that moves no money (Close of an unpaid payment, Reverse of one that was never paid) has no postings.
func Apply(l Ledger, e Event) (Ledger, []Posting, error) {
	switch e.Kind {
	case Reserve:
		return reserve(l)
	case Commit:
		return commit(l)
	case Release:
		next, posts := release(l)
		return next, posts, nil
	case Close:
		if l.Committed != l.Returned {
			return l, nil, ErrCommitted
		}
		next, posts := release(l)
		next.Closed = true
		return next, posts, nil
	case Reverse:
		return reverse(l)
	case Refund:
		return refund(l, e.Amount)
	case Authorize:
		return authorize(l, e.Amount)
	case Capture:
		return capture(l, e.Amount)
	case BeginRefund:
		next, _, err := refund(l, e.Amount)
		if err != nil {
			return l, nil, err
		}
		next.Returned, next.Returning = l.Returned, l.Returning+e.Amount
		return next, move(Merchant, Returning, e.Amount), nil
	case EndRefund, FailRefund:
		return settle(l, e)
	}
	return l, nil, fmt.Errorf("%w: %q", ErrKind, e.Kind)
}

func reserve(l Ledger) (Ledger, []Posting, error) { return authorize(l, l.Amount) }

func authorize(l Ledger, amount money.Minor) (Ledger, []Posting, error) {
	switch {
	case l.Closed:
		return l, nil, ErrClosed
	case l.Committed != 0:
		return l, nil, ErrCommitted
	case l.Reserved != 0:
		return l, nil, ErrReserved
	case amount <= 0:
		return l, nil, ErrAmount
	case amount > l.Amount:
		return l, nil, ErrRest
	}
	l.Reserved = amount
	return l, move(Consumer, Reserved, l.held()), nil
}

func capture(l Ledger, amount money.Minor) (Ledger, []Posting, error) {
	switch {
	case l.Closed:
		return l, nil, ErrClosed
	case amount <= 0:
		return l, nil, ErrAmount
	case l.Reserved == 0:
		return l, nil, ErrHeld
	case amount > l.Reserved:
		return l, nil, ErrRest
	}
	posts := move(Reserved, Merchant, amount)
	if fee := l.Fee - l.Charged; fee != 0 {
		posts = append(posts, move(Reserved, Fees, fee)...)
		l.Charged = l.Fee
	}
	l.Reserved -= amount
	l.Committed += amount
	return l, posts, nil
}

// settle ends a refund that was under way.
func settle(l Ledger, e Event) (Ledger, []Posting, error) {
	switch {
	case e.Amount <= 0:
		return l, nil, ErrAmount
	case e.Amount > l.Returning:
		return l, nil, ErrRest
	}
	l.Returning -= e.Amount
	if e.Kind == FailRefund {
		return l, move(Returning, Merchant, e.Amount), nil
	}
	l.Returned += e.Amount
	return l, move(Returning, Consumer, e.Amount), nil
}

func commit(l Ledger) (Ledger, []Posting, error) {
	switch {
	case l.Closed:
		return l, nil, ErrClosed
	case l.Committed != 0:
		return l, nil, ErrCommitted
	case l.Reserved != 0:
		if l.Reserved != l.Amount {
			return l, nil, ErrRest
		}
		return capture(l, l.Amount)
	}
	l.Committed, l.Charged = l.Amount, l.Fee
	posts := move(Consumer, Merchant, l.Amount)
	if l.Fee != 0 {
		posts = append(posts, move(Consumer, Fees, l.Fee)...)
	}
	return l, posts, nil
}

func release(l Ledger) (Ledger, []Posting) {
	if l.Reserved == 0 {
		return l, nil
	}
	posts := move(Reserved, Consumer, l.held())
	l.Reserved = 0
	return l, posts
}

func reverse(l Ledger) (Ledger, []Posting, error) {
	switch {
	case l.Reversed:
		return l, nil, ErrReversed
	case l.Returned != 0 || l.Returning != 0:
		return l, nil, ErrRefunded
	}
	next, posts := release(l)
	next.Closed, next.Reversed = true, true
	if l.Committed != 0 {
		next.Returned = l.Committed
		posts = append(posts, move(Merchant, Consumer, l.Committed)...)
	}
	return next, posts, nil
}

func refund(l Ledger, amount money.Minor) (Ledger, []Posting, error) {
	switch {
	case amount <= 0:
		return l, nil, ErrAmount
	case l.Reversed:
		return l, nil, ErrReversed
	case l.Committed == 0:
		return l, nil, ErrNothing
	case amount > l.Rest():
		return l, nil, ErrRest
	}
	l.Returned += amount
	return l, move(Merchant, Consumer, amount), nil
}

func move(from, to Account, amount money.Minor) []Posting {
	return []Posting{{Account: from, Amount: -amount}, {Account: to, Amount: amount}}
}

// Sum adds postings up; a sound set of entries sums to zero.
func Sum(posts []Posting) money.Minor {
	var sum money.Minor
	for _, p := range posts {
		sum += p.Amount
	}
	return sum
}

// NetOf is what the merchant has by these postings: the net of a payment when they are the postings of the
// payment and of everything that refers to it.
func NetOf(posts []Posting) money.Minor {
	var net money.Minor
	for _, p := range posts {
		if p.Account == Merchant {
			net += p.Amount
		}
	}
	return net
}
