// Package lossy is the campaign on the link: local clients write every kind the operation table stores for them – payments, tokens,
// the terms of recurring payments and card checks, payment links and what is done to their transactions – through the terminal's
// front and its outbox to a whole backend, in virtual time, over a link that loses three of ten answers behind their effect, brings one
// of ten late (also after the terminal has given up and asked again), delivers one of twenty requests twice, and is down half of the
// time.
// The clients lose answers themselves and ask again under their own Idempotency-Key.
//
// Links are paid by their customers as soon as somebody can show them, and what they paid is charged, captured, refunded and given
// up. The service these contracts are taken from knows no Keys: the link takes the Key off whatever is done to a transaction or a
// link, which therefore does not arrive twice, and off half of the links that are made, which may. A keyless write that is refused
// behind a lost answer ends with that refusal where a reading shows that nothing came of it, and the books tell.
//
// When the queue is empty, every acknowledged write has exactly one effect in the backend's books, with its amount, or none and a
// refusal; there is no effect that nobody was told of; one Idempotency-Key has one answer; nothing is in doubt; a link
// has the id its client was told, and another of its making is one that nobody knows and nobody pays; and the terminal's reconciliation report and the books agree to the last minor unit. The judge adds the books up itself.
//
// It must not be imported.
package lossy
