// Package webhooks is the contract of the events that the payment and onboarding services send to a merchant's own
// endpoint (S0 6): the envelope, twelve payment events, six onboarding events, and the rule that only status 200
// acknowledges one.
//
// Guarantees:
//   - Marshal writes exactly the fields of S0 6 and those that receivers in the field read without asking; every object
//     that such a receiver spreads as named arguments (order item, amount, error, threeDSecure) has exactly its keys,
//     always all of them. Marshal refuses an event that lacks a required value.
//   - Parse reads an event strictly as JSON and tolerantly as an event: onboarding events under deviating names are
//     known by their status, events nobody knows are handed on as they came, unknown keys are ignored.
//   - Client sends one event once. Anything but 200 is an error, and then the effect is not known: send it again.
//
// Sending on a schedule, storing and repeating belong to the sender's and the receiver's own rooms.
//
// It imports schemes/wire and the standard library, and must not import another service, the store or the agent.
package webhooks
