// Package paylinks is the contract with the payment-link service (S1 2.1, 2.2, 3.1, 4.1, 5, 6, 7):
// payment links, and the transactions that their customers make.
//
// It guarantees:
//   - A request is served only if its ApiSignature is right for its parameters (signature.go), or
//     its X-API-KEY is right. A missing signature is refused on each route. The comparison takes
//     the same time wherever two signatures differ.
//   - A create, charge, capture, refund or delete whose effect is not known is UnknownOutcome,
//     never a success and never a refusal.
//   - The table is api.go. The service's own envelope, forms and errors are shape.go, form.go and
//     errors.go; handler.go proves who calls, client.go signs.
//   - No error text repeats what was sent. Secret and signature are in no text.
//   - An attachment is never in memory as a whole.
//
// It must not import another service, the store or the agent.
package paylinks
