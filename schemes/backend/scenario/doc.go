// Package scenario is the table of what the embedded backend does for which amount or consumer, as data, and the
// two engines that play a row: Script says what the wallet does when, Perform spoils an HTTP reply.
//
// It guarantees that the same row does the same thing every time and that no row moves money by itself: rows only
// pick words and moments, the books decide. An amount or consumer no row names is approved.
//
// It knows no service and no store; it must not import schemes/<svc>, store or a sibling room.
//
// 2026-11-21: a row is picked by consumerId first, then by amount. Undo rows (On reversal, On refund) are picked by
// the amount or consumer of the original payment, which itself is approved.
//
// 2026-11-21: every spoilt reply is spoilt once per transaction (or per Key or terminalReference where there is no
// transaction yet) and the mark is durable, so that asking again in the right way always ends well.
//
// 2026-11-21: the payment service has a table of its own (Cards): test card numbers, the only ones taken, and amounts that do
// the same where the card approves or there is none. Its lines begin at 910.01, so that no wallet row is met by them. A
// card that fails fails every time; only a soft decline lets the next try through.
package scenario
