// Package onboarding is the onboarding desk of the embedded backend. It implements
// onboarding.Service over a store, and the sandbox's substitute for signer and review.
//
// It owns the tables merchants_application and merchants_move. It guarantees:
//   - What was answered is durable. An Idempotency-Key has one effect, however many calls use it at
//     once.
//   - An application moves only as onboarding.Next says. One commit has the new status, the row of
//     merchants_move and the event (S0 6.5).
//
// It must not import another room of the backend besides deliver, room and scenario.
package onboarding
