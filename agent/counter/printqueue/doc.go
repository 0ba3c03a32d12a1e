// Package printqueue prints receipts and end-of-day slips on the terminal's own printer.
//
// It owns the table paper_waiting: one row for each document that waits for paper. The texts are
// package receipt's, the bytes package printer's.
//
// It guarantees:
//   - A sale never waits for paper and never fails by it. Its commit gets one row, or two; the
//     printer is asked afterwards, by Run alone.
//   - A document waits until it was printed, also over a restart, but for a day at most. At most
//     MaxWaiting documents wait; the oldest goes.
//   - A receipt says what the journal says when it is printed. One of a sale whose row was changed
//     from outside is not printed.
//   - A document of which any part may be on paper already is marked as a copy when it is printed
//     again.
//
// It must not import a register's protocol, the line, or the packages above the checkout.
package printqueue
