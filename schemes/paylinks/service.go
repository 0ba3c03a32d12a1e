package paylinks

import (
	"context"

	"posagent/schemes/wire"
)

// Every write takes a Key first; "" means that the caller gave none. With a key, the same call with the same body has one effect
// and one answer, and with another body is wire.KeyReused. (The service this contract is taken from has no such header: there
// a key changes nothing, and two creates make two links.) A write ends in one of:
//
//  1. its result; Operation is set where the call is stored and not yet answered by the backend;
//  2. wire.Invalid: the request breaks a rule; nothing happened;
//  3. wire.NotFound: no such link or transaction;
//  4. wire.Conflict: its status forbids it (reason WrongStatus), or too little is left (TooMuch); nothing happened;
//  5. wire.KeyReused, Unauthorized, Forbidden, TooLarge, TooMany: refused, nothing happened;
//  6. wire.Unavailable: provably not sent, or refused before any effect;
//  7. wire.UnknownOutcome, Internal: the effect is not known.
//
// A read ends in its result, wire.NotFound, or any other error: nothing is known.

// Links is the link half of the service (S1 4.1).
type Links interface {
	// Create makes a link: Hash and Link name its page.
	Create(ctx context.Context, key wire.Key, req CreateRequest) (Created, error)
	// Read reads a link.
	Read(ctx context.Context, id int64) (Link, error)
	// Delete takes back a link that is neither paid nor being paid (wire.Conflict, WrongStatus). It is not found afterwards.
	Delete(ctx context.Context, key wire.Key, id int64) (Deleted, error)
}

// Transactions is the transaction half (S1 4.1).
type Transactions interface {
	// Read reads a transaction.
	Read(ctx context.Context, id int64) (Transaction, error)
	// Charge collects from a pre-authorized or reserved transaction: the amount, or all of it. Status confirmed.
	Charge(ctx context.Context, key wire.Key, id int64, req ChargeRequest) (Done, error)
	// Capture collects all of a pre-authorized or reserved transaction. Status confirmed.
	Capture(ctx context.Context, key wire.Key, id int64) (Done, error)
	// Refund gives back the amount, or all that is left. Status refunded, partially-refunded while something is left.
	Refund(ctx context.Context, key wire.Key, id int64, req RefundRequest) (Done, error)
	// Delete cancels a reserved transaction.
	Delete(ctx context.Context, key wire.Key, id int64) (Deleted, error)
	// List reads the transactions the filter picks.
	List(ctx context.Context, f Filter) ([]Transaction, error)
}
