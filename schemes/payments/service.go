package payments

import (
	"context"

	"posagent/schemes/wire"
)

// Service is the payment service (S0 4.1). key "" means that the caller gave none; with a key, the same call with the same
// body has one effect and one answer, and with another body is wire.KeyReused. Every write ends in one of:
//
//  1. its result; Operation is set where the call is stored and not yet answered by the backend;
//  2. wire.Invalid: the request breaks a rule (Reason may say which); nothing happened;
//  3. wire.NotFound: no such payment;
//  4. wire.Conflict: the state of the payment, or its card, forbids it; Reason says why (errors.go); nothing happened,
//     beside what the reason itself names (a declined card is recorded);
//  5. wire.KeyReused, Unauthorized, Forbidden, TooLarge, TooMany: refused, nothing happened;
//  6. wire.Unavailable: provably not sent, or refused before any effect;
//  7. wire.UnknownOutcome, Internal: the effect is not known: Read, or the same call under the same key.
type Service interface {
	// Create makes a payment. PayPageURL may be nil where no page is needed (Moto, a payment with a token); there, Processing
	// happens at once, and a refused card is a Conflict. Elsewhere it happens when the customer pays at the page.
	Create(ctx context.Context, key wire.Key, req CreateRequest) (Created, error)
	// Authorize reserves money on a created payment (S0 3), whether its page was visited or not: once (AlreadyReserved), and at
	// most the payment's amount (OverCharge).
	Authorize(ctx context.Context, key wire.Key, paymentID string, req AuthorizeRequest) (Done, error)
	// Cancel gives a reservation up, while no money of it was captured (AlreadyCharged after that).
	Cancel(ctx context.Context, key wire.Key, paymentID string, req CancelRequest) (Done, error)
	// Capture collects reserved money, all of it or a part, as often as something is left (OverCharge).
	Capture(ctx context.Context, key wire.Key, paymentID string, req CaptureRequest) (Done, error)
	// Refund gives captured money back, all of it or a part (InvalidRefundAmount).
	Refund(ctx context.Context, key wire.Key, paymentID string, req RefundRequest) (Done, error)
	// Read reads a payment: the payment, wire.NotFound, or any other error: nothing is known.
	Read(ctx context.Context, paymentID string) (Payment, error)
}
