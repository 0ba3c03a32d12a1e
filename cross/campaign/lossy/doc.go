// Package lossy is the campaign on the link between local clients and the backend, in virtual
// time. Clients write each kind that the operation table stores, through the terminal's front and
// its outbox to a whole backend.
//
// The link loses three of ten answers after their effect, delays one of ten past the timeout,
// delivers one of twenty requests twice, and is down half of the time. The clients lose answers
// too, and ask again under their Idempotency-Key. Customers pay links as soon as they get them,
// and what they paid is charged, captured, refunded and cancelled.
//
// The real payment-link service knows no keys. So the link removes the key of each call on a
// transaction or a link, and of half of the calls that make a link. No customer learns of a link
// that was made twice. If a call without a key is refused after a lost answer, and a reading shows
// no effect, it ends with that refusal; the books must agree.
//
// It guarantees, when the queue is empty:
//   - Each acknowledged write has exactly one effect in the books, with its amount, or none and a
//     refusal. Its client knows of each effect. Nothing is in doubt.
//   - One Idempotency-Key has one answer, and a link has the id that its client was told.
//   - The terminal's report and the books agree to the last minor unit. The test adds the books up
//     itself.
//
// It must not be imported.
package lossy
