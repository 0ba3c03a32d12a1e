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
package paylink
