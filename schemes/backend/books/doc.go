// Package books decides what money moves in the embedded backend.
//
// It owns the double-entry rules of one payment: from the ledger of the payment and an event (reserve, commit,
// release, reverse, refund, and in parts: authorize, capture, refund under way) it gives the postings and the next
// ledger, or refuses. Nobody else decides postings; the sub-package journal writes them down and never makes one up.
//
// It guarantees, whatever the order of events: the postings of one event sum to zero; a payment is committed at
// most once, in one piece or in parts of what is held; a fee is taken at most once; what went back to the consumer, or is
// on its way, never exceeds what was committed; a full reversal happens at most once and never after a refund; a
// closed payment takes no money any more.
//
// It is pure: no os, net, database/sql, time.Now. It imports schemes/money and the standard library only.
package books
