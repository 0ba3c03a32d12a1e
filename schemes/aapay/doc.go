// Package aapay is the contract with the service for transactions of alternative schemes (S1 2.4,
// 3.2, 4.3): initialize a payment, refund or reversal, and read its status.
//
// It guarantees:
//   - A reply that is not exactly what S1 4.3 promises is an error. An initialize whose effect is
//     not known is UnknownOutcome, never a success and never a refusal.
//   - Unavailable on an initialize means that nothing was sent, or that the service's own body said
//     that it refused before any effect.
//   - A Reply with 201 or 202 is returned unchanged, contradictions included. The checkout judges
//     it.
//   - Amounts are hundredths of the denomination in this package only; schemes/money converts them.
//
// It must not import another service, the store or the agent.
package aapay
