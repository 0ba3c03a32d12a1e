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
//
// Decisions:
//
// 2026-11-21: ids are 32 lower hex digits, timestamps carry four digits of a second's fraction and an offset.
//
// 2026-11-21: the merchant number travels as merchantId; as merchantNumber on reservation.created.v2 and
// charge.created.v2; under both names on payment.created and refund.initiated.v2, whose receivers read either. Parse takes
// whichever is there.
//
// 2026-11-21: beyond the specification's fields, because receivers demand them: reconciliationReference on
// charge.failed, refund.failed and refund.initiated.v2; orderItems, executed and paymentActionId on refund.initiated.v2;
// orderItems (perhaps empty) on reservation.failed; email and country of the consumer and acsUrl of threeDSecure on
// reservation.created; every field of the consumer on checkout.completed, empty where nobody said it; all three texts of an
// error. A card's expiry month and year are texts.
//
// 2026-11-21: onboarding.abandoned carries the status ABANDONED.
//
// 2026-11-21: no signature of a delivery is specified; the registered Authorization value is sent back.
package webhooks
