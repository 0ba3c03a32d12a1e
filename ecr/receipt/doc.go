// Package receipt says what stands on a receipt, line by line: of a sale, for the customer or the
// merchant, and of an end of day.
//
// It owns the texts and their order, in German, Polish and English. Each medium lays the lines out itself:
// a register's printer by its protocol, the terminal's own printer by package agent/counter/printqueue.
//
// It guarantees:
//   - The same outcome gives the same lines on every medium.
//   - A line holds no card number and no secret: an outcome has none.
//
// It does no I/O. It must not import a protocol, a device or the checkout.
package receipt
