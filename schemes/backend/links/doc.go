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
package links
