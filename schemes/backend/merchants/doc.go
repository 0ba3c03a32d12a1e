// Package merchants is the onboarding desk of the embedded backend: it implements onboarding.Service over a store, and the
// sandbox's stand-in for signer and review.
//
// It owns the tables merchants_application and merchants_move. It guarantees: what was answered is durable; an application
// moves only as onboarding.Next says, one row of merchants_move per move, written with the new status and the
// event (S0 6.5) in one commit; one effect per Idempotency-Key, however many ask at once.
//
// It must not import another room of the backend besides once and deliver.
package merchants
