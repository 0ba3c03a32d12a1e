// Package cards is the bank behind the payment and tokenization services: it implements payments.Service and, by
// Tokens, tokens.Service (S0 1 to 4) over a store, and the page a customer pays at.
//
// It owns the tables cards_payment, cards_op, cards_card (the vault) and cards_token. It guarantees: what was answered is
// durable; money moves only as the books decide, in the commit that changes the state; one effect per Idempotency-Key,
// however many ask at once; the events of S0 6.4 are queued in the commit of what they tell about; only the test cards of
// scenario.Cards are taken; a card number is kept as a keyed hash, masked, and sealed, once per number; a token is kept
// sealed and found by its keyed hash; of a tokenSecret nothing but a keyed hash is kept; a validationCode is never kept,
// not even in the hash that guards a Key.
//
// Time (reservations, pages, refunds under way) is evaluated at every touch of a payment, in the order things were due,
// and by Run for those nobody touches.
//
// It must not import another room of the backend besides books, deliver, once, pages, scenario and sweep.
//
// The page talks to the bank by four calls (pay.go); each takes a function that spends the form's token inside the commit:
//
//	look(ctx, id) (view, error)                          what to show; wire.NotFound
//	pay(ctx, id, given, spend) (step, error)             the customer pressed pay
//	answer(ctx, id, passed, spend) (step, error)         the customer answered the 3-D Secure challenge
//	leave(ctx, id, spend) (step, error)                  the customer gives up
//
// A step says what comes next: nextDone (redirect to step.Return where it is not empty), nextChallenge, nextPay (refused:
// step.Reason is a word of payments' catalogue; the form may be filled in again), nextClosed (over: expired, cancelled).
// Paying what is paid changes nothing and says nextDone.
//
// Decisions:
//
// 2026-11-21: authorize on a hosted payment that was never paid at its page counts as pre-authenticated and is approved in
// the sandbox (S0 2.2), as by a test card; so is a payment whose means are known and whose processing was None or Verify. While a
// challenge is open it is refused (AuthenticationFailed).
//
// 2026-11-21: processing absent means None, except for a recurring or merchant-initiated payment with a token, which is
// the charge of S0 6 and means Sale: nobody would be there to continue it.
//
// 2026-11-21: a refused Moto payment or payment with a token stays in the books as terminated, without money, and its
// events are sent; the answer is the refusal. A hosted payment may be tried again at its page.
//
// 2026-11-21: payPageUrl is always a text, because clients in the field read one. Where nobody has to pay at a page (Moto,
// tokens, SEPA) it shows how the payment stands, and pressing pay does nothing.
//
// 2026-11-21: reservations last seven days and pages a day. What a reservation still held then goes back. Refunds begin
// at once (the merchant's money is gone from that moment) and end two seconds later.
//
// 2026-11-21: an invoice payment is one the customer chose as such at the page, which offers it where there is a basket and a
// customer; its captures need a basket. SEPA by body is approved at once (A2A), Sofort and PayPal are chosen at the page.
//
// 2026-11-21: a method is refused when an entry of paymentMethodActionInfoList rejects it, or entries allow and none of
// them it. The fee is that of the first entry that allows it. A card's origin is that of the table of test cards.
//
// 2026-11-21: what the customer pays extra is said before the button: as one fee, as a fee per brand, or as a range where cards
// of a brand differ, taken from the table of test cards; the fee of the card itself stands on the challenge and at the end.
//
// 2026-11-21: a form that was sent before is no mistake of the customer's (a double click, or the browser's back button and a
// page it kept): nothing happens, and the answer is what the first one came to. A form that is too old or not ours is refused.
//
// 2026-11-21: a Multipage with one way to pay asks for none, and after a refused card shows the card form again. Custom shows
// the merchant's template by its name, without what was ordered: the sandbox has no templates.
//
// 2026-11-21: Delegated, and LowValue up to 30.00, spare the cardholder the challenge; Force3ds brings it about with any card.
// Mail orders and payments with a token have none.
//
// 2026-11-21: the tokenSecret is compared when the tokenization was given one. CardOnFile tokens serve every use, Subscription
// tokens recurring ones only. The token of a first payment, for which nobody named a type, serves every use; a stored card is
// good for CardOnFile, and for no Subscription. A recurring payment outside the terms is ExpiredSubscription (too late, too
// early) or InvalidSubscription (other type, currency, more than its amount, or a token without terms).
//
// 2026-11-21: a basket of a capture or refund that names no amount must be what is left (AmountDiffersFromOrderItems).
//
// 2026-11-21: authorizedAmount is what is reserved and what was captured of it: 0 after a cancellation. refundedAmount
// counts refunds under way.
package cards
