// Package hosted is the contract with the hosted build service (S2): an order and a payment session whose fields the
// platform shows in its own page, what is done with the payment afterwards, and the notification that the merchant gets.
//
// Guarantees:
//   - A Sessions or Orders behind Handler sees only calls that keep every stateless rule; amounts are whole numbers in the
//     smallest unit, as texts, whatever form they came in.
//   - Every reply that is not exactly a success is an error; a write whose effect is not known is UnknownOutcome, never a
//     success and never a refusal.
//   - The securityToken is written by EncodeBuilt, EncodeState and EncodeNotice and shown by nothing else: not by fmt, slog,
//     encoding/json or any error here.
//   - No card number and no validation code is a field of any type here: they go from a hosted field to the service alone.
//
// It imports schemes/money, schemes/wire and the standard library, and must not import another service, the store or the
// agent.
//
// Decisions:
//
// 2026-11-22: "the service" of S2 2.1 is merchantUrl, as real clients call it. Its origin is where hosted fields may stand and
// whom they tell. Real clients also send order.invoiceId, paymentSession.paymentService and version.
//
// 2026-11-22: every route is found below /api/v1 with and without the further segment /api that S2 4 shows, and below
// /psp/api/v1 and /api/phoenix-0.0/psp/api/v1, which real clients have in their source.
//
// 2026-11-22: an amount, customerId, version or contractFrequency may be sent as a number; it is a text inside and on the way
// out. An amount has digits only and does not begin with 0 unless it is "0", as a number or as a text.
//
// 2026-11-22: wanted are merchantUrl, orderId, both amounts, currency and actionType. An amount of 0 is for VERIFY only. The
// other fields may be absent, null or empty; language is eng then, and captureType the terminal's default, IMPLICIT (EXPLICIT
// for PREAUTH).
//
// 2026-11-22: orderId has 1 to 27 of A-Z a-z 0-9 # * + - . : ; = ? [ ] _ { | }, as the real service wants it. Dates begin
// with YYYY-MM-DD; a time may follow.
//
// 2026-11-22: Correlation-Id is wanted on every call and checked for the shape 8-4-4-4-12 hex only: real clients send random
// digits. Idempotency-Key is wanted for captures, refunds and cancels (PS0025), and honoured elsewhere.
//
// 2026-11-22: the real service's catalogue of errors is used where it has a word (errors.go); session states that forbid a
// call have words of ours. Refusals by state are 400 as the others, since S2 7 has only 400, 401 and 500 with a body; what
// both lack (404, 413, 422, 429, 503, 504) has its usual status and the same body.
//
// 2026-11-22: build/confirm_payment is finalize_payment with another amount. fieldSet of a foreign reply may be a bare list of
// fields.
//
// 2026-11-22: customerInfo passes through as it came: fifty fields that only the service itself reads would cost a terminal's
// binary tens of kilobytes. Order.Customer is the service's check of them.
//
// 2026-11-22: a language is an ISO 639-2 code in any case of letters, a country an ISO 3166-1 alpha-3 code in capitals. Another
// is refused (PS0026).
//
// 2026-11-22: a cancelled session answers state CANCELED, a word of ours: S2 3 has none, and a shop takes PAYMENT_COMPLETE without
// an operation for a success. Finalize and cancel always answer warnings, [] where there are none.
//
// 2026-11-22: additionalData passes through with keys nobody here knows.
package hosted
