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
	Consumer Account = "consumer"
	Reserved Account = "reserved"
	Merchant Account = "merchant"
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
)

// Event is one thing that happens to a payment. Amount is used by Refund only; the others move the whole.
type Event struct {
	Kind   Kind
	Amount money.Minor
}

// Ledger is where the money of one payment stands. The zero value is not usable; see Open.
type Ledger struct {
	Amount    money.Minor // what the payment is about
	Reserved  money.Minor // held now
	Committed money.Minor // ever moved to the merchant, 0 or Amount
	Returned  money.Minor // ever moved back from the merchant
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
	ErrKind      = errors.New("books: unknown event")
)

// Open begins the ledger of a payment over amount.
func Open(amount money.Minor) (Ledger, error) {
	if amount <= 0 {
		return Ledger{}, ErrAmount
	}
	return Ledger{Amount: amount}, nil
}

// Net is what the merchant has of the payment now: 0 after a full undo.
func (l Ledger) Net() money.Minor { return l.Committed - l.Returned }

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
		if l.Net() != 0 {
			return l, nil, ErrCommitted
		}
		next, posts := release(l)
		next.Closed = true
		return next, posts, nil
	case Reverse:
		return reverse(l)
	case Refund:
		return refund(l, e.Amount)
	}
	return l, nil, fmt.Errorf("%w: %q", ErrKind, e.Kind)
}

func reserve(l Ledger) (Ledger, []Posting, error) {
	switch {
	case l.Closed:
		return l, nil, ErrClosed
	case l.Committed != 0:
		return l, nil, ErrCommitted
	case l.Reserved != 0:
		return l, nil, ErrReserved
	}
	l.Reserved = l.Amount
	return l, move(Consumer, Reserved, l.Amount), nil
}

func commit(l Ledger) (Ledger, []Posting, error) {
	switch {
	case l.Closed:
		return l, nil, ErrClosed
	case l.Committed != 0:
		return l, nil, ErrCommitted
	}
	from := Consumer
	if l.Reserved != 0 {
		from, l.Reserved = Reserved, 0
	}
	l.Committed = l.Amount
	return l, move(from, Merchant, l.Amount), nil
}

func release(l Ledger) (Ledger, []Posting) {
	if l.Reserved == 0 {
		return l, nil
	}
	posts := move(Reserved, Consumer, l.Reserved)
	l.Reserved = 0
	return l, posts
}

func reverse(l Ledger) (Ledger, []Posting, error) {
	switch {
	case l.Reversed:
		return l, nil, ErrReversed
	case l.Returned != 0:
		return l, nil, ErrRefunded
	}
	if l.Committed == 0 {
		next, posts := release(l)
		next.Closed, next.Reversed = true, true
		return next, posts, nil
	}
	l.Returned, l.Reversed, l.Closed = l.Committed, true, true
	return l, move(Merchant, Consumer, l.Committed), nil
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
