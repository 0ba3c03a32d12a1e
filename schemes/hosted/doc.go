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
package hosted
