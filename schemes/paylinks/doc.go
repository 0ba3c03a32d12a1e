// Package paylinks is the contract with the payment-link service (S1 2.1, 2.2, 3.1, 4.1, 5, 6, 7): payment links, and the
// transactions their customers make.
//
// Guarantees:
//   - A request is served only when its ApiSignature is right for the parameters that it carries (signature.go), or its X-API-KEY
//     is; a missing signature is refused on every route. The comparison takes the same time wherever two signatures differ.
//   - A create, charge, capture, refund or delete whose effect is not known is UnknownOutcome, never a success and never a
//     refusal.
//   - No error text repeats what was sent; secret and signature are in no text at all.
//   - An attachment never stands in memory as a whole.
//
// It imports schemes/money, schemes/wire, schemes/wire/bracket and the standard library, and must not import another service,
// the store or the agent.
package paylinks
