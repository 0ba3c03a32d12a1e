package tokens

import (
	"context"

	"posagent/schemes/wire"
)

// Service is the tokenization service (S0 4.2). key "" means that the caller gave none; with a key, the same call with
// the same body has one effect and one answer, and with another body is wire.KeyReused. Every write ends in one of:
//
//  1. its result; Operation is set where the call is stored and not yet answered by the backend;
//  2. wire.Invalid: the request breaks a rule, or the card is refused (Reason says so, errors.go); no token came of it;
//  3. wire.NotFound (Verify): no such tokenization;
//  4. wire.KeyReused, Unauthorized, Forbidden, TooLarge, TooMany: refused, nothing happened;
//  5. wire.Unavailable: provably not sent, or refused before any effect;
//  6. wire.UnknownOutcome, Internal: the effect is not known. Sending it again is safe: an orphan token moves no money.
type Service interface {
	// Create stores card details.
	Create(ctx context.Context, key wire.Key, req CreateRequest) (Created, error)
	// CreateRecurring stores the terms of a recurring payment.
	CreateRecurring(ctx context.Context, key wire.Key, req RecurringRequest) (Created, error)
	// Verify asks the card's bank whether the card is good: CardNotAccepted or CardExpired where it is not.
	Verify(ctx context.Context, key wire.Key, tokenizationID string) (Created, error)
	// Token reads the token: the token; wire.NotFound: no such tokenization; wire.Invalid with Reason CardMissing,
	// CardNotAccepted or CardExpired: there is none; any other error: nothing is known.
	Token(ctx context.Context, tokenizationID string) (TokenReply, error)
}
