// Package lossy is the campaign on the link: local clients write payments and tokens through the terminal's front and its
// outbox to a whole backend, in virtual time, over a link that loses three of ten answers behind their effect, brings one of ten late
// (also after the terminal has given up and asked again), delivers one of twenty requests twice, and is down half of the time.
// The clients lose answers themselves and ask again under their own Idempotency-Key.
//
// When the queue is empty, every acknowledged write has exactly one effect in the backend's books, with its amount, or none and a
// refusal; there is no effect that nobody was told of; one Idempotency-Key has one answer; nothing is in doubt, as the backend honours
// Keys; and the terminal's reconciliation report and the books agree to the last minor unit. The judge adds the books up itself.
//
// It must not be imported.
package lossy
