// Package offline holds the typed adapters between the outbox and the services: one file per service, one
// outbox.Kind per row of the operation table (table.go). Undos of the alternative schemes stand in aapay.go; Front takes the
// writes of local clients.
//
// It owns the tables offline_things (ids and owners), offline_keys (what came under a client's Idempotency-Key), offline_totals, offline_purged and
// offline_proven.
//
// It guarantees that an undo is called done only when the backend says so (MONEY B.2), that it is sent again under
// its own Key only, and that on a backend without the idempotent route it is sent once; and of a write of a local client:
//   - what breaks a rule of the contract is refused and never stored; what is answered 202 is durable with its Key and local id;
//   - the answer is the backend's own where it comes within Options.Within, and at once "pending" where it is known that nobody
//     answers; a final answer is frozen under the caller's Idempotency-Key, for one client, route and body; what was purged answers 410;
//   - our Key is made of the caller's, so that a restored journal makes the same one again and the backend knows it;
//   - a local id stays good for ever; operations by it and by the backend's id are one aggregate and are sent with the backend's;
//   - a validation code is written nowhere; card numbers lie sealed until the operation's end, or nowhere;
//   - nothing is stored for a service that never answered as itself, or beyond the limits: 503 says why.
//
// Adding a kind: a row of Table, an adapter (send, and look and compare where a lost reply can be found out by reading) registered by a
// function like paymentAdapters, the contract's methods over do like those of paying, a line in Front.ask, and the service's
// field in Options. Limits, keys, ids, order, replay and answers come with the row.
//
// It must not import the checkout: Settled and After are handed in.
//
// Decisions.
//
// 2026-11-22. What may not be stored (validation code, above a limit, unknown amount) goes through the outbox all the same, so that its
// Key is durable before it is sent, but only while its caller waits, for at most Options.Patience. Never sent = withdrawn, EXPIRED, 503. Sent
// and unanswered = 504 under the same Idempotency-Key; with a validation code it is then in doubt, since the request cannot be
// made again from what is stored, until the caller repeats it.
//
// 2026-11-22. A compared write that is refused when it is sent again, after two readings that show no effect of the lost one, is read once
// more: still nothing = it ends with that refusal. The refusal alone would not do, it may be due to a late effect of the first.
//
// 2026-11-22. The digest that guards a key leaves the validation code out: not even a digest of it may stay.
//
// 2026-11-22. An operation that names no amount is stored only on a payment that was made here, with what is left as its amount; on
// a foreign payment nobody could say what it is about.
//
// 2026-11-22. Each stored operation counts with its own amount, so a payment and its capture count twice: the limits bound what may
// have to be explained, not only what may be lost.
//
// 2026-11-22. A service is proven by a read of something that is not there: only the service itself refuses that in its own words.
//
// 2026-11-22. A service that is switched off is not passed by: its ids stay good, what was stored for it is sent, and its writes have
// their Keys stored, but each is answered now or not at all. It needs no proof, which is the way out with a backend that
// answers a read of nothing in words of its own.
//
// 2026-11-22. While a backend does not answer, a payment is read as the terminal knows it, and says so in its operation; a token cannot be.
//
// 2026-11-22. Payment links: what is done to a transaction is read and compared on every backend, whatever [offline] keyless says, because the
// service this contract is taken from honours no Keys; the Key is sent all the same. A charge is done when its transaction became confirmed
// (with the charge's own reference, where it has one) or when one transaction of its amount was made beside it; a refund by what
// went back; a cancellation when it is cancelled or gone. As it was = sent again after a while. A list that does not end proves nothing.
//
// 2026-11-22. Amounts do not limit what is stored for links: making one moves nothing, the rest collects what a customer granted, or gives
// money back. Their number is limited. The amount of an operation on a transaction is in hundredths: its currency is not known here.
//
// 2026-11-22. A link that was not sent yet and is deleted is sent, and then deleted: two operations in their order, so that both end in the
// backend's own word. A deletion sent again that finds nothing is done.
//
// 2026-11-22. A link that the backend does not know yet is read as it was asked for, waiting, without hash and address. Once the backend
// knows it, only the backend is asked, because only it knows whether the link was paid. Lists of transactions are the backend's: what
// waits here is on none of them. Only links have local ids: customers make transactions at the backend.
//
// 2026-11-22. Attachments of a link up to 64 KiB together are stored, sealed. Above it the link is made while its caller waits, or not at all.
//
// 2026-11-22. A backend that gives a link an id from 2,000,000,000 up has not answered: the operation ends in doubt.
//
// 2026-11-22. Links of local clients and undos of links the terminal made itself are two services to the outbox (paylinks, paylink), as
// they have two connections: neither opens the other's circuit.
//
// 2026-11-21. COMMIT outranks a final bad word (MONEY A.1), so an undo that says FAILED with COMMIT is done, and so is a
// STALE one; with another live word it is waited for. ROLLBACK is never success. REVERSED ends a reversal and REFUNDED a refund
// well whether or not the method lists them; RESERVED never does, because an undo has to be proven.
//
// 2026-11-21. 201 is final with -1 or -2, or without a response and not valid. -1 and -2 in a 202, contradictions and unknown words are live: the status decides (MONEY B.9).
//
// 2026-11-21. A backend that answers 404 or 405 without its own body has no idempotent route. That the plain route
// comes next is stored before it is used, with the number of the one attempt that may use it; every other attempt only
// reads the status by terminalReference. The same answer from the plain route means that nobody like the service
// is there (a captive portal): the plan is dropped and everything starts again.
//
// 2026-11-21. "Not found" is live until it has been said for UndoPayload.Window. Then an undo under a Key is
// sent again under that Key, and one on the plain route, or past the backend's memory of the Key, ends FAILED with
// NotFound set: the checkout reads the original and makes a new attempt with its own Key (MONEY B.3). Asking status
// was preferred to DOUBT, because money is waiting to be given back and a new attempt needs no technician.
//
// 2026-11-21. A refund that says TIMEDOUT without COMMIT is live for UndoPayload.Window more: it may still commit, and whoever is told
// that it failed makes another. A reversal needs no such wait, a second one gives nothing back twice.
package offline
