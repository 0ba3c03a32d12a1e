// Package journal stores the sales: their rows, the compare-and-set that changes them, and the
// rows that are written in the same commit.
//
// Files: row.go is a stored sale, rows.go reads and writes it; transit.go applies an event, apply.go
// takes one in; counters.go gives the numbers, batch.go closes a batch, timeline.go is the history.
//
// It owns the tables checkout_sales, checkout_requests, checkout_entries, checkout_registers,
// checkout_batches, checkout_counters, checkout_ages, checkout_aside and checkout_routes.
//
// It guarantees:
//   - An event is applied in one transaction, so two events cannot both win. The transaction reads
//     the row, calls checkout.Next, and writes the row with an undo operation, receipt numbers and
//     the ledger, as the decision needs them.
//   - A row whose MAC is wrong is shown but never processed.
//   - A sale of the open batch is never purged. Neither is one that an open sale or operation
//     refers to.
//   - Receipt and trace numbers are given with the outcome, and never twice within a batch.
//
// A Step lists the effects that follow a commit; the caller performs them. The package starts no
// goroutine. It must not import agent/checkout/drive or any other package below it, the device, or
// the packages of a register's line.
package journal
