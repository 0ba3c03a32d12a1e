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
package aapay
