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
//
// 2026-11-21: amounts are minor units of the payment's currency, for every service alike; the aapay service's
// hundredths (S1 2.4) are converted at its own boundary.
//
// 2026-11-21: the accounts of one payment are consumer, reserved (money held but still the consumer's risk) and
// merchant; a card payment's are fees (what the consumer pays on top) and returning (a refund that has begun) besides.
// A positive posting is money that arrives in the account.
//
// 2026-11-21: a fee is held with the amount, taken with the first capture whole, given back with a reservation that
// ends before that, and not refunded.
package books
