// Package checkout is the CORE of a sale: what a sale is, what may happen to it, and what has to be done then.
// Next is a pure function over one table (table.go); agent/checkout/drive journals its states and performs its effects.
//
// It guarantees:
//   - the table names every pair of phase and event; what cannot happen is refused, not ignored by accident;
//   - no edge leads back over the commit point: an approved sale is never declined, a reversing one never approved;
//   - undo is owed for every payment that was sent and not approved, until proven otherwise: Owed is derived from
//     the state alone, there is no separate row that might be missing (MONEY B.1);
//   - every time in a State is on the boot clock, so that a jump of the wall clock decides nothing.
//
// It must not import os, net, database/sql, the store or the outbox; it calls no clock and starts no goroutine.
//
// Decisions, 2026-11-21, where S1 and the money rules are silent:
//
// "Older than" a limit begins at the limit: a code that arrived 30,000 ms ago with a stale age of 30,000 ms is STALE.
//
// A timer that runs out (stale, time-out, deadline) takes the code off the screen at once and asks for one more status,
// for at most 4 s; only an approval seen in that answer ends otherwise than in an undo.
//
// FINALIZED or REPORTED with ROLLBACK is a final no. The same words with neither COMMIT nor ROLLBACK, and every unknown word,
// are live. A COMMIT beside a live word waits for the word; beside STALE, TIMEDOUT or a bad word it is success (A.1).
//
// The window in which an original may still change is stale age + staleTimeOut + finalizeTimeOut after the last time an
// initialize may have left; a new boot starts it anew, because the boot clock that measured it is gone. TIMEDOUT without COMMIT is proof
// only where there is no reversal, and after another finalizeTimeOut.
//
// An approval by an okCodes word without COMMIT is "settling". For RESERVED the finalizeTimeOut is a merchant exception; for
// the other words it ends the watch silently, because a method that names such a word need not ever say COMMIT.
//
// A refusal of initialize (wire.Invalid, Unauthorized, Forbidden, TooLarge) with no earlier attempt in doubt has no effect by
// contract; the sale is nevertheless watched like a declined one, and a COMMIT seen in the watch is undone.
//
// A 201 that says OK or pending contradicts itself and counts as live (B.9); 201 with -1, -2 or without a response object
// is final.
//
// The default method is the one with the lowest priority number; among equals the service's order decides.
package checkout
