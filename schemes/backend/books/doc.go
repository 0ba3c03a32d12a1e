// Package books decides what money moves in the embedded backend.
//
// It owns the double-entry rules of one payment. It takes the payment's ledger and an event
// (reserve, commit, release, reverse, refund, or one of a card payment's parts) and returns the
// postings and the next ledger, or a refusal. No other package decides postings; the sub-package
// journal stores them and adds none.
//
// It guarantees, in any order of events:
//   - The postings of one event sum to zero.
//   - A payment is committed at most once, as a whole or in parts of what is held. A fee is taken
//     at most once.
//   - Refunds, finished or under way, never exceed what was committed.
//   - A full reversal happens at most once and never after a refund.
//   - A closed payment takes no more money.
//
// It is pure: no os, net, database/sql or time.Now. It must not import anything but schemes/money,
// schemes/wire and the standard library.
package books
