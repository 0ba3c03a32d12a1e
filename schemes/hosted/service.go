package hosted

import (
	"context"

	"posagent/schemes/wire"
)

// Sessions are the payment sessions (S2 4). key "" means that the caller gave none; with a key, the same call with the same
// body has one effect and one answer, and with another body is wire.KeyReused. Every call ends in one of:
//
//  1. its result;
//  2. wire.Invalid with a reason (errors.go): the request breaks a rule; nothing happened;
//  3. wire.NotFound: no such session;
//  4. wire.Conflict with a reason: the state of the session or order forbids it; nothing happened;
//  5. wire.KeyReused, Unauthorized, Forbidden, TooLarge, TooMany: refused, nothing happened;
//  6. wire.Unavailable: provably not sent, or refused before any effect;
//  7. wire.UnknownOutcome, Internal: of a write, the effect is not known: State tells.
type Sessions interface {
	// Build makes an order and a session of five minutes. An order may have several sessions, and is paid once at most.
	Build(ctx context.Context, key wire.Key, req BuildRequest) (Built, error)
	// Finalize pays, as soon as the session is READY_FOR_PAYMENT (SessionNotReady before); amount "" is the session's, another
	// one at most the order's. A refused payment is a result: PAYMENT_COMPLETE with its operation. Once it is under way the same
	// answer, as it stands, is given again.
	Finalize(ctx context.Context, key wire.Key, sessionID string, amount Text) (SessionState, error)
	// Cancel ends a session that is not complete; every further call on it is SessionCanceled.
	Cancel(ctx context.Context, key wire.Key, sessionID string) (SessionState, error)
	// State reads a session.
	State(ctx context.Context, sessionID string) (SessionState, error)
	// Card reads what may be known of the card that was filled in; SessionNotReady where none was.
	Card(ctx context.Context, sessionID string) (CardData, error)
}

// Orders are what is done with orders later. Outcomes are those of Sessions; captures, refunds and cancels want a key.
type Orders interface {
	// Methods lists the ways to pay.
	Methods(ctx context.Context) (MethodList, error)
	// Order reads an order with its operations.
	Order(ctx context.Context, orderID string) (Report, error)
	// Capture collects of an authorization, all of it or a part.
	Capture(ctx context.Context, key wire.Key, operationID string, req PostRequest) (Posted, error)
	// Refund gives captured money back, all of it or a part. The operation is the authorization's or a capture's.
	Refund(ctx context.Context, key wire.Key, operationID string, req PostRequest) (Posted, error)
	// Cancel undoes an operation: an authorization (VOID), a capture or a refund (CANCEL).
	Cancel(ctx context.Context, key wire.Key, operationID string, req PostRequest) (Posted, error)
}
