// Package webhooks is the contract of the events that the payment and onboarding services send to
// a merchant's endpoint (S0 6): the envelope, twelve payment events and six onboarding events.
// Only status 200 acknowledges an event.
//
// It guarantees:
//   - Marshal writes exactly the fields of S0 6 and those that real receivers read without a check.
//     A receiver may spread an object (order item, amount, error, threeDSecure) as named arguments,
//     so such an object always has exactly its keys. Marshal refuses an event without a required
//     value.
//   - Parse is strict about JSON and tolerant about events. It knows an onboarding event with
//     another name by its status, returns unknown events unchanged and ignores unknown keys.
//   - Client sends one event once. Any status but 200 is an error; the effect is then not known,
//     and the caller sends again.
//
// Retries and storage are elsewhere: schemes/backend/webhooks sends events (deliver/schedule.go has
// the intervals), agent/inbox receives them. It must not import another service, the store or the
// agent.
package webhooks
