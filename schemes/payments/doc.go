// Package payments is the contract with the payment service (S0 1 to 4.1, 7): create, authorize, cancel, capture,
// refund and read a payment. What S0 does not show (the create answer, refund, read, webhooks of a payment) is as real
// clients of the service expect it.
//
// Guarantees:
//   - A Service behind Handler sees only bodies that keep every stateless rule, in one form (DecodeCreate).
//   - Every reply that is not exactly a success is an error; a write whose effect is not known is UnknownOutcome,
//     never a success and never a refusal. Unavailable on a write means that nothing was sent, or that the service
//     itself said that it refused before any effect.
//   - Card numbers, validation codes, tokens, IBANs and webhook authorizations are written by EncodeCreate and EncodePayment
//     and shown by nothing else: not by fmt, slog, encoding/json or any error here, not where a foreign reply repeats them.
//   - Sums of baskets are exact or refused; no float ever holds money or a percentage.
//
// It imports schemes/money, schemes/wire and the standard library, and must not import another
// service, the store or the agent.
package payments
