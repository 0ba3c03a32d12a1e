// Package journal keeps the sales: their rows, the compare-and-set that moves them, and what
// belongs to a move in the same commit.
//
// It owns the tables checkout_sales, checkout_requests, checkout_entries, checkout_registers,
// checkout_batches, checkout_counters, checkout_ages and checkout_aside.
//
// It guarantees:
//   - an event is applied in one transaction: the row is read, checkout.Next decides, the row is
//     written, and what belongs to the decision (an undo operation, receipt numbers, the ledger) is
//     written with it, so that two events cannot both win;
//   - a row whose fields were changed behind its back is shown and never acted upon;
//   - a sale of the open batch, and one that anything open is about, is never purged;
//   - receipt and trace numbers are given with the outcome, and never twice within a batch.
//
// What follows a commit is a Step: the caller performs its effects. It starts no goroutine, and
// must not import what performs (agent/checkout/drive), the device, or the packages of a register's
// line.
package journal
