// Package drive journals sales and performs what the checkout decides: it is the terminal's ecr.Desk, ecr.Till and ecr.Memory.
//
// It owns the tables checkout_sales, checkout_requests, checkout_entries, checkout_registers, checkout_batches, checkout_counters
// and checkout_aside.
//
// It guarantees:
//   - a sale is durable before Begin returns, and every decision before anybody is told of it;
//   - an event is applied in one transaction: the row is read, checkout.Next decides, the row is written, and what belongs to
//     the decision (an undo operation, receipt numbers, the ledger) is written with it, so that two events cannot both win (MONEY B.6);
//   - effects follow the commit; what a crash swallows is done again by the next start, from the row alone;
//   - the code has left the screen before an outcome is told;
//   - a row whose fields were changed behind its back is shown and never acted upon.
//
// It must not import ecr/session, ecr/zvt, the HTTP packages or the embedded backend.
//
// Decisions, 2026-11-21:
//
// One sale at a time for the whole terminal, whatever line asks: there is one screen. Refunds and reversals do not occupy it.
//
// A repeated status that changes nothing is not written.
//
// The method and the sealed request lie in a table of their own, and a column with an index is written only when it changes: a
// sale wrote 59.5 KiB with all of them in each of its five states, and writes 43.8 KiB. The MAC of the sale covers both tables.
//
// The same 1F73 or JSON-lines id on the same line is the same sale for 90 days; with another kind, amount or currency it is
// refused. An id of a register that starts to count again has to be told apart by the line's dialogue.
//
// A refund or reversal that was told "in progress" is told its end to the first repetition of the same request; so is the line's
// last one when its telling was lost: an undo is not for refunds (MONEY B.4), and a second one would be wrong.
//
// Receipt numbers go on over the batches and around at 9999; the end of day does not restart them.
//
// The end of day waits for open and UNCONFIRMED sales and for refunds and reversals in progress, and for the proof of the undo of
// those it found UNCONFIRMED; asked again after a refusal, it carries those over too, so that a dead network cannot hold a batch
// for ever. Other undos are carried over: they are named when the batch closes, and again in the batch
// in which they end.
//
// A telling nobody reports on counts as lost after 5 minutes.
//
// A sale that was resumed 20 times without any change of phase, by starts of less than a minute each, is no longer touched at start, and the merchant is told: a sale
// must not be able to keep the terminal from starting. Its undo stays owed.
//
// 2026-11-22. The open sales of a journal that was put back from an earlier time are set aside: each may have ended since, and
// undoing it would take back what the register was told. A person, who can look at the register's own journal, has each of them
// taken up again or closed. Receipt and trace numbers go on where the old journal was, so those of the open batch may repeat.
//
// All requests of a sale are sealed; the seal's key is destroyed when the sale is DONE.
package drive
