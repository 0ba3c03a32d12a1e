// Package links is the payment-link service of the embedded backend: it implements paylinks.Links and
// paylinks.Transactions (S1 2.1, 2.2, 3.1, 4.1, 6) over a store, and the page a customer opens.
//
// It owns the links_* tables. It guarantees: one payment per link, however many pay, delete and refund it at once; a link
// that was deleted is never paid, and one that was paid, or is being paid, is never deleted; money moves only as the books
// decide, in the commit that changes the words and queues the webhook; what a customer wrote and what a link was made with
// lie sealed; of a card nothing is kept but its brand and masked number, and only test cards are taken; the page sends a
// customer on only after his own payment, and only to an address its link was made with.
//
// Time is evaluated lazily at every touch, in the order things were due and at their own moments, and by Run for the links
// nobody touches.
//
// It must not import another room of the backend besides books, deliver, once, pages, scenario and sweep.
//
// Decisions:
//
// 2026-11-21: amounts are hundredths of the denomination; an amount its currency cannot express is refused.
//
// 2026-11-21: a link shows the status of the payment that holds it; refunded and partially refunded ones leave it confirmed.
// A declined, failed or cancelled attempt leaves it waiting, and payable again. While a provider thinks, the transaction is
// waiting and the link cannot be deleted: an undo asks again until the answer is final (MONEY B.15).
//
// 2026-11-21: a deleted link is not found any more, by nothing and nobody: who deletes it and hears that has his proof. To
// cancel what is cancelled gives the same answer again.
//
// 2026-11-21: a pre-authorization holds no money until it is charged, a reservation does. Either is collected once; what a
// smaller charge leaves is let go. A cancelled one leaves its link waiting.
//
// 2026-11-21: a refund has a number and uuid of its own in webhooks and books, so that receivers that know repeats by uuid
// and status (MONEY D.10) count two equal parts twice; the routes show the payment only.
//
// 2026-11-21: an expirationDate is the last day on which a link can be paid, in UTC. One that is over makes an expired link.
//
// 2026-11-21: a subscription is charged every interval after its first payment, on that day of the month or the month's
// last; its period ends it. Its customer may end it until the cancellation interval is over, always without one. A
// renewal is a transaction of its own.
//
// 2026-11-21: a link at a counter is paid by itself after the wallet delay; one made for a person waits for the person.
// Scenario rows are picked by amount: wallet rows say how an attempt ends, initialize, status, reversal and refund rows
// spoil the reply to create, read, delete and refund, once.
//
// 2026-11-22: a card whose bank asks its cardholder (3-D Secure) leaves the transaction waiting and the link taken until the
// answer, or for ten minutes; no answer is a refusal. Renewals ask nobody.
package links
