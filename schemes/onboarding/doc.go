// Package onboarding is the contract with the onboarding service (S0 3, 6.5): a merchant's
// application is created, edited, submitted, signed and reviewed.
//
// It guarantees:
//   - Next is the whole of S0 3: a pure table of states and triggers, each move with its event.
//   - The value of a webhook's Authorization is a type that is masked in print, log and JSON.
//     wire.Encode alone writes it onto the wire, and no reply carries it back.
//   - A reply that is not exactly what the contract promises is an error. A write whose effect is
//     not known is UnknownOutcome, never a success and never a refusal.
//
// It must not import another service, the store or the agent.
package onboarding
