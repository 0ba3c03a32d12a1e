// Package books decides what money moves in the embedded backend.
//
// It owns the double-entry rules of one payment: from the ledger of the payment and an event (reserve, commit,
// release, reverse, refund) it gives the postings and the next ledger, or refuses. Nobody else decides postings;
// the sub-package journal writes them down and never makes one up.
//
// It guarantees, whatever the order of events: the postings of one event sum to zero; a payment is committed at
// most once; what went back to the consumer never exceeds what was committed; a full reversal happens at most
// once and never after a refund; a closed payment takes no money any more.
//
// It is pure: no os, net, database/sql, time.Now. It imports schemes/money and the standard library only.
//
// 2026-11-21: amounts are minor units of the payment's currency, for every service alike; the aapay service's
// hundredths (S1 2.4) are converted at its own boundary.
//
// 2026-11-21: the accounts of one payment are consumer, reserved (money held but still the consumer's risk) and
// merchant. A positive posting is money that arrives in the account.
package books
