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
package cards
