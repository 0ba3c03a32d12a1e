// Package checkout is the CORE of a sale: what a sale is, what may happen to it, and what has to be
// done then. Next is a pure function over one table (table.go); agent/checkout/drive journals its
// states and performs its effects.
//
// It guarantees:
//   - the table names every pair of phase and event; what cannot happen is refused, not ignored by
//     accident;
//   - no edge leads back over the commit point: an approved sale is never declined, a reversing one
//     never approved;
//   - undo is owed for every payment that was sent and not approved, until proven otherwise: Owed
//     is derived from the state alone, there is no separate row that might be missing;
//   - every time in a State is on the boot clock, so that a jump of the wall clock decides nothing.
//
// It must not import os, net, database/sql, the store or the outbox; it calls no clock and starts
// no goroutine.
package checkout
