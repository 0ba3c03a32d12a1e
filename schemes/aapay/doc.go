// Package aapay is the contract with the alternative-scheme transaction service (S1 2.4, 3.2, 4.3):
// initialize a payment, refund or reversal, and read its status.
//
// Guarantees:
//   - Every reply that is not exactly what S1 4.3 promises is an error; an initialize whose effect is not known
//     is UnknownOutcome, never a success and never a refusal.
//   - Unavailable on an initialize means that nothing was sent, or that the service itself
//     said in its own body that it refused before any effect.
//   - A Reply with 201 or 202 is handed on as it came, contradictions included: judging it belongs to the checkout.
//   - Amounts are hundredths of the denomination here and only here (schemes/money converts).
//
// It imports schemes/money, schemes/wire and the standard library, and must not import another
// service, the store or the agent.
//
// Decisions:
//
// 2026-11-21: the Key travels as Idempotency-Key, 1 to 64 visible ASCII characters. The idempotent route
// demands it; on the plain route it is honoured when given.
//
// 2026-11-21: the same Key with another body is 422 (a foreign 409 is understood too).
//
// 2026-11-21: "purchase" is accepted as "payment" in paths; "payment" is sent.
//
// 2026-11-21: required fields must be present and not null; empty texts are allowed (consumer.name is "" in a
// QR sale, since the terminal does not know who pays). The backend fills in neither loyaltyIds nor, but for one row of the scenario
// table, nextLink: S1 says nothing of when they are there. A refund or reversal needs originalReference. Optional fields may be null, originalReference may not.
//
// 2026-11-21: amounts must be whole minor units of a payable currency, not negative; a payment or refund of zero
// is refused, a reversal of zero is not. A basket's items must add up to its amount.
//
// 2026-11-21: our own Code stands in params.code of the first fault; a service that has none is judged by status.
//
// 2026-11-21: 200 for initialize is not in the contract: the effect is unknown.
//
// 2026-11-21: a status reply is refused as UnknownOutcome when the id asked for is a number and the reply names
// another transactionId (and neither its ppref nor its receipt's reference is the id).
//
// 2026-11-21: the receipt's structure is not specified: any JSON is tolerated there, the fields of Receipt are read
// where they fit.
package aapay
