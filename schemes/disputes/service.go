package disputes

import (
	"context"

	"posagent/schemes/wire"
)

// Service is the dispute service (S1 4.2). key "" means that the caller gave none; with a key, the same call with the same
// body has one effect and one answer, and with another body is wire.KeyReused. Every call ends in one of:
//
//  1. its reply; ResponseCode is Done, or Partial where a document was not taken;
//  2. an error with a Reason of S1 7 (errors.go): refused, nothing happened. SystemError says nothing about the effect;
//  3. wire.Invalid, NotFound, Conflict (Update: WrongStatus), KeyReused, Unauthorized, Forbidden, TooLarge, TooMany: refused,
//     nothing happened;
//  4. wire.Unavailable: provably not sent, or refused before any effect;
//  5. wire.UnknownOutcome: the effect of a write is not known: List tells.
type Service interface {
	// Create disputes a transaction. ErrorCode ManyMatches warns that the latest of several was taken.
	Create(ctx context.Context, key wire.Key, req CreateRequest) (CreateReply, error)
	// List finds cases, the oldest first; none is an empty list.
	List(ctx context.Context, req ListRequest) (ListReply, error)
	// Queue lists the cases of one queue, the oldest first.
	Queue(ctx context.Context, req QueueRequest) (QueueReply, error)
	// Update moves a case, and adds notes, documents and other information to it.
	Update(ctx context.Context, key wire.Key, caseNumber string, req UpdateRequest) (UpdateReply, error)
	// Document fetches a document; wire.TooLarge above limit bytes (0 = no limit).
	Document(ctx context.Context, documentID string, limit int64) (File, error)
}

// Keys tells what card numbers are encrypted with (ours: S1 2.3 says that the operator supplies it).
type Keys interface {
	// PublicKey gives the key; wire.Unavailable if it is not known now.
	PublicKey(ctx context.Context) (PublicKey, error)
}
