// Package paylink speaks payment links (S1 4.1) as a scheme: it is an aapay.Service whose payments are links, so that the
// checkout can take a sale by showing a link as a QR code, under the same rules as any other method (MONEY B.15).
//
// It owns the table paylink_entries.
//
// It guarantees:
//   - no link is shown that the terminal does not know: number, hash and address are durable before an initialize is answered;
//   - a payment whose undo was accepted before its link was journalled never begins;
//   - an undo is done only when the link can no longer be paid and the list of transactions shows nothing that was paid and not
//     given back; what a delete answers proves nothing, the link is read afterwards;
//   - a refund is sent after a durable snapshot of its transaction, and again only when that proves that nothing was given
//     back (MONEY C.2);
//   - only a link that is the one that was made, by number, hash, reference, amount and currency, and in the same account, is touched;
//   - the same Key with the same request has one answer; every step can be cut off and is taken again.
//
// It must not import the checkout, the outbox or an HTTP package.
//
// Decisions, 2026-11-21:
//
// The name of the method is paylink. It is the terminal's own: a method of the backend with that name is not offered. Where the
// method is switched off, transactions that bear it wait; they are never handed to the scheme service.
//
// The transactionId of a payment is the link's number: it is known from the start and never changes, however many customers
// tried. The ppref of every transaction is its terminalReference.
//
// That a link is asked for is durable before the request leaves, with the request. One whose reply is lost is sent again under its Key, by
// the sale or by its undo, which then deletes the link it finds. Where the service honours no Key that makes a second
// link; nobody has seen the first one, so nobody can pay it, and it expires after two days.
//
// COMMIT is the link's word confirmed. A link that says that it has expired or was declined is TIMEDOUT, so that it is undone: while
// it is there it can be paid. A link that is gone without a payment is CANCELLED; the checkout watches such a sale to the end of its
// window and undoes what comes back to life.
//
// A reversal gives back all that is left of every payment on its link. Without a payment it is REVERSED when the link has
// been gone, and its transactions quiet, for 30 s: a customer may have been about to pay when it was deleted. A payment that somebody began
// and left is waited for for 24 h.
//
// A refund of a part whose reply was lost is compared after 30 s: the refunded amount where the service tells it, else the words. Where a
// second refund hides between them, it is IN_DOUBT, and a person decides.
//
// Transactions belong to a link by its number or hash where the service says them, else by the referenceId, which is random. One of
// another amount or currency stops everything until somebody has looked.
//
// The reading of an undo's status takes its next step, so that the outbox's rhythm is the rhythm of the work.
package paylink
