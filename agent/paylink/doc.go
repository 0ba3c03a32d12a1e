// Package paylink makes payment links (S1 4.1) a scheme. It is an aapay.Service whose payments are
// links, so the checkout sells by a link's QR code under the same rules as by any other method.
//
// Files: entry.go is what is stored, rows.go reads and writes it; begin.go takes requests, make.go makes
// a link, undo.go and refund.go take money back, status.go says how a transaction stands, before.go what
// a journal before this one has sold.
//
// It owns the table paylink_entries. It guarantees:
//   - Number, hash and address of a link are durable before an initialize is answered, so no
//     unknown link is shown.
//   - A payment whose undo was accepted before its link was stored never begins.
//   - An undo is done only when the link can no longer be paid and the list of transactions shows
//     no payment that is still to be given back. The answer to a delete proves nothing: the link is
//     read afterwards.
//   - A refund is sent after a durable snapshot of its transaction. It is sent again only if a new
//     reading of the transaction proves that no money was given back.
//   - It touches only the link that it made: number, hash, reference, amount, currency and account
//     agree.
//   - A Key that a journal before this one may have used gives back nothing unless all that was given
//     back of the payment is known.
//   - The same Key with the same request has one answer. Each step can be interrupted and is
//     repeated.
//
// It must not import the checkout, the outbox or an HTTP package.
package paylink
