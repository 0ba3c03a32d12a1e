// Package devices lends the terminal's screen, keys and printer to registers, while no sale has them.
//
// It owns what a register shows or asks, and stands between the checkout and the screens: each view
// of the checkout passes through it.
//
// It guarantees:
//   - A sale takes the screen at once. What a register shows then is gone, and what it asks ends
//     with "busy". A view of a sale is never kept back or replaced, nor is its result.
//   - A key counts for what stands on the screen: a register's question, or else the sale.
//   - A question ends: by a key, after its time, with its connection, or by a sale.
//   - What is typed is not logged and not kept.
//
// It must not import the checkout, a protocol, or a device other than screens and keys.
package devices
