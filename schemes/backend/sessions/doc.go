// Package sessions is the hosted build service of the embedded backend (S2): orders, payment sessions with their hosted fields,
// challenges and alternative methods, what is done with payments afterwards, and the notifications to the merchant.
//
// It owns the tables sessions_order, sessions_session, sessions_operation and sessions_contract. It guarantees:
//   - An order is paid once at most, however many sessions it has and however often one is finalized; whatever the order of
//     calls, its postings are those of books.
//   - Nothing is told and no notification queued before it is durable, and both are in the commit of what they tell about.
//   - A card number and a validation code are read from a hosted field's own request, judged, and forgotten: only the table's
//     name of the card, its first six and last four digits and its expiry stay. They are in no page, reply or message.
//   - A hosted field may stand in a frame of the merchant's origin only, and tells that origin alone; it says what became of
//     the field, never what stands in it.
//   - A session is over after five minutes, or the Life that Options say: nothing is collected, paid or cancelled in it then.
//
// It takes test cards only. It must not import another room of the backend beside the shared ones.
//
// Decisions:
//
// 2026-11-22: the same orderId may be built again while it is not paid, in the same currency: platforms build anew when a
// customer changes the basket. What the last build says of the order counts. A paid order takes no further session. Another
// amount is refused (ORDER_DIFFERS) while a session of the order may still be paid: the platform cancels that one first.
//
// 2026-11-22: the five minutes count from the build. A session that is away (challenge, alternative method) then ends with its
// operation FAILED; one that is complete stays readable. A cancelled one answers nothing but that.
//
// 2026-11-22: a session keeps the end it was built with. A setting shortens the five minutes of later ones, so that a platform's
// developer sees an expired session without waiting; it lengthens none that is there.
//
// 2026-11-22: without paymentService the customer chooses: an action field for the card and one for each alternative method.
// With CARDS, or the name of a card scheme, the card's fields come at once; with an alternative method the build's answer says
// where to go.
//
// 2026-11-22: a session is READY_FOR_PAYMENT when number, expiry, code, holder's name and e-mail are good. Each field judges
// and stores itself when the customer leaves it, so the platform's own button needs no more than finalize_payment.
//
// 2026-11-22: results: the cards that are refused for want of money, for good or as expired are DECLINED; the one named risk is
// DENIED_BY_RISK; a bank that cannot process is FAILED, and so is a payment whose immediate capture is refused: nothing stays
// held. PENDING is an operation whose customer is away, and a refund that will fail; THREEDS_VALIDATED is told when a challenge
// is passed, before what the bank then says. CHALLENGE_REQUESTED asks every cardholder.
//
// 2026-11-22: a refund is REFUNDED at once and in clearing for a minute, in which a cancel brings it back. A cancelled capture
// is given back whole and at once. An authorization can be voided while nothing of it is captured, and is VOIDED by itself
// after seven days.
//
// 2026-11-22: a contract holds a card. CONTRACT_CREATION keeps the card of a payment or verification that succeeds;
// SUBSEQUENT_PAYMENT takes it without fields, by the merchant (BACKOFFICE, never challenged) unless the contract is CIT;
// CARD_SUBSTITUTION puts another card in. A scheduled one is not taken before its days are over, none after its expiry. Type, expiry and days are
// those of its creation.
//
// 2026-11-22: operations are told to the notificationUrl of the session that paid, by the webhooks' schedule, with the
// session's token, which is sealed until the moment of sending.
package sessions
