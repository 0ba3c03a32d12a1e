// Package merchants is the onboarding desk of the embedded backend: it implements onboarding.Service over a store, and the
// sandbox's stand-in for signer and review.
//
// It owns the tables merchants_application and merchants_move. It guarantees: what was answered is durable; an application
// moves only as onboarding.Next says, one row of merchants_move per move, written with the new status and the
// event (S0 6.5) in one commit; one effect per Idempotency-Key, however many ask at once.
//
// It must not import another room of the backend besides once and deliver.
//
// Decisions:
//
// 2026-11-21: the merchantId and merchantNumber of every event are the backend's configured ones: a sandbox has one merchant.
//
// 2026-11-21: the webhooks of an application are those it had when the move happened; an update replaces them, an update
// without notifications keeps them.
//
// 2026-11-21: a webhook that the sender would never call (a private address, a header it sets itself) is refused when it is
// registered: 400, and nothing of the request is stored.
//
// 2026-11-21: ids count up from 100001.
package merchants
