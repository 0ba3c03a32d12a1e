// Package payments is the contract with the payment service (S0 1 to 4.1, 7): create, authorize,
// cancel, capture, refund and read a payment. Where S0 shows no body (the answer to create, refund,
// read, a payment's webhooks), it is the body that real clients expect.
//
// It guarantees:
//   - A Service behind Handler gets only bodies that keep each stateless rule, in one form
//     (CreateRequest.Normal).
//   - A reply that is not exactly a success is an error. A write whose effect is not known is
//     UnknownOutcome, never a success and never a refusal. Unavailable on a write means that
//     nothing was sent, or that the service itself said that it refused before any effect.
//   - Card numbers, validation codes, tokens, IBANs and webhook authorizations are written by
//     wire.Encode only. They are masked in fmt, slog, encoding/json and each error here, also where
//     a foreign reply repeats them.
//   - Sums of baskets are exact or refused. No float holds money or a percentage.
//
// api.go is the service as a table. types.go has the bodies of create and read, rules.go what a
// create must keep, operations.go the requests of the operations on a payment with their rules.
//
// It must not import another service, the store or the agent.
package payments
