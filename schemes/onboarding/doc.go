// Package onboarding is the contract with the onboarding service (S0 3, 6.5): a merchant's application is created,
// edited, submitted, signed and reviewed.
//
// Guarantees:
//   - Next is the whole of S0 3: a pure table of states and triggers, each move with its event.
//   - The value of a webhook's Authorization is a type that prints, logs and marshals as nothing; wire.Encode is the only way it
//     leaves, onto the wire, and no reply carries it back.
//   - Every reply that is not exactly what the contract promises is an error; a write whose effect is not known is
//     UnknownOutcome, never a success and never a refusal.
//
// It imports schemes/wire with its check and rest, and the standard library, and must not import another service, the store or the agent.
//
// Decisions (S0 shows neither the routes nor the fields of an application, and not the abandoned event's status):
//
// 2026-11-21: POST /api/v1/onboarding/applications makes an application (201), GET /{id} reads it, PUT /{id} replaces its
// fields while it is INITIATED, POST /{id}/submit submits it (200 each). Paths are matched without regard to case, with and
// without a slash at the end.
//
// 2026-11-21: an application has a reference of the caller's, a merchant with the fields that S0 2.4.2 gives a company,
// and notifications.webHooks as payments have them. No field is required, also not for submitting: what S0 does not show
// cannot be demanded. What is sent is checked.
//
// 2026-11-21: notifications are not read back (they hold secrets); a PUT without notifications keeps them, so that what was
// read can be written again.
//
// 2026-11-21: a reply has onboardingId (integer, as the events have it), status, reason, merchantId (UUID), merchantNumber,
// created and updated (RFC 3339) besides the fields of the application.
//
// 2026-11-21: the status after a rejection, and after giving up a failed signature, is ABANDONED; it is reached from
// SIGNATURE_FAILED and PROCESSING. APPROVED and ABANDONED are final.
//
// 2026-11-21: a webhook may name any event; exactly the named ones are sent, in the spelling of S0 6.5.
//
// 2026-11-21: signer and review are not part of the service. A sandbox offers their moves as POST /{id}/sign, /fail (with
// {"reason":"failed|expired|cancelled"}, absent = failed), /approve and /reject, answering as a read does.
//
// 2026-11-21: the Key travels as Idempotency-Key, 1 to 64 visible ASCII characters, honoured when given on every write.
// Errors are the problem bodies of the payment service; a move that the state forbids is 422.
package onboarding
