// Package tokens is the contract with the tokenization service (S0 2.1, 2.5, 4.2): store card details or the terms of
// a recurring payment, verify them, and read the token that later payments name.
//
// Guarantees:
//   - A card number, its validation code, a tokenSecret and a token are types that print, log and marshal as nothing;
//     wire.Encode is the only way they leave, onto the wire.
//   - No error names the content of a field. Card numbers in free texts are masked as they are read.
//   - Every reply that is not exactly what S0 4.2 promises is an error; a write whose effect is not known is
//     UnknownOutcome (or Internal where the service itself says that it failed), never a success and never a refusal.
//
// It imports schemes/wire with its check and rest, and the standard library, and must not import another service, the store or
// the agent.
//
// Decisions:
//
// 2026-11-21: S0 says that every field is optional, so none is demanded. cardDetails, where it is sent, needs pan,
// expiryYear and expiryMonth.
//
// 2026-11-21: POST /recurring carries no card. Until the customer gave one, the token of such a tokenization is refused
// as CardMissing; in the sandbox Verify lets a simulated customer give it.
//
// 2026-11-21: recurringType is Subscription when it is absent. recurringFrequency counts the days that must lie
// between two payments, 0 to 9999, 0 = no limit; recurringExpiryDate is the last day a payment may be made, absent = none;
// amount is the most that one payment may take, absent or 0 = no limit, and needs currencyCode. The backend enforces them.
//
// 2026-11-21: S0 4.2 lists only 400 and 500 for these routes. A refused card is therefore 400 with a reason, not 422;
// 404 stands for a tokenization that does not exist, and what HTTP and the Idempotency-Key bring along
// (401, 403, 404, 405, 413, 422, 429, 503, 504) is a problem body too. Only 500 has the token error body.
//
// 2026-11-21: the Key travels as Idempotency-Key, 1 to 64 visible ASCII characters, honoured when given on every POST.
//
// 2026-11-21: paths are matched without regard to case, with and without a slash at the end. A tokenization's id keeps
// its case. The body of Verify is not read beyond being JSON where there is one.
package tokens
