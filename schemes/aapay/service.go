package aapay

import (
	"context"

	"posagent/schemes/wire"
)

// Service is the alternative-scheme transaction service (S1 4.3).
type Service interface {
	// Initialize starts a transaction on the plain route. Never send it twice.
	//  1. Reply with HTTPStatus 202: live; 201: created but rejected, final;
	//  2. wire.Invalid, Unauthorized, Forbidden, Conflict: refused, no effect;
	//  3. wire.Unavailable: provably not sent;
	//  4. wire.UnknownOutcome, TooMany, Internal: the effect is not known.
	Initialize(ctx context.Context, typ Type, req Request) (Reply, error)
	// InitializeWithIdempotency is the same under a Key: safe to send again under the same Key and body;
	// wire.KeyReused when the body differs from the first.
	InitializeWithIdempotency(ctx context.Context, key wire.Key, typ Type, req Request) (Reply, error)
	// Status reads a transaction by transactionId, ppref or terminalReference; method is optional.
	//  1. the status;
	//  2. wire.NotFound: the service says it does not know it (no proof that it never will);
	//  3. any other error: nothing is known.
	Status(ctx context.Context, id string, method string) (Status, error)
}
