// Package tokens is the contract with the tokenization service (S0 2.1, 2.5, 4.2): store card
// details or the terms of a recurring payment, verify them, and read the token that later payments
// name.
//
// It guarantees:
//   - Card number, validation code, tokenSecret and token are types that are masked in print, log
//     and JSON. wire.Encode alone writes them onto the wire.
//   - No error names the content of a field. Card numbers in free texts are masked as they are
//     read.
//   - A reply that is not exactly what S0 4.2 promises is an error. A write whose effect is not
//     known is UnknownOutcome, or Internal if the service itself says that it failed. It is never a
//     success and never a refusal.
//
// It must not import another service, the store or the agent.
package tokens
