package onboarding

import (
	"context"

	"posagent/schemes/wire"
)

// Service is the onboarding service. key "" means that the caller gave none; with a key, the same call with the same body
// has one effect and one answer, and with another body is wire.KeyReused. Every write ends in one of:
//
//  1. the application as it stands after it;
//  2. wire.Invalid: the request breaks a rule; nothing happened;
//  3. wire.NotFound: no such application;
//  4. wire.Conflict: its status forbids it; Reason says why (errors.go); nothing happened;
//  5. wire.KeyReused, Unauthorized, Forbidden, TooLarge, TooMany: refused, nothing happened;
//  6. wire.Unavailable: provably not sent, or refused before any effect;
//  7. wire.UnknownOutcome, Internal: the effect is not known: Read, or the same call under the same key.
type Service interface {
	// Create makes an application: INITIATED.
	Create(ctx context.Context, key wire.Key, app Application) (State, error)
	// Read reads an application: as it stands, wire.NotFound, or any other error: nothing is known.
	Read(ctx context.Context, id int64) (State, error)
	// Update replaces the fields of an INITIATED application (NotEditable otherwise). Without Notifications the webhooks
	// stay as they are.
	Update(ctx context.Context, key wire.Key, id int64, app Application) (State, error)
	// Submit sends an INITIATED application to be signed (NotSubmittable otherwise).
	Submit(ctx context.Context, key wire.Key, id int64) (State, error)
}
