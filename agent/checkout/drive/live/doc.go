// Package live remembers what is known of the sales in this run only: who waits for an outcome,
// what is being told, which timers and questions wait, how patient the register is.
//
// It guarantees:
//   - of two commits the newer one sets the timer, and begins or ends the questions, in whatever
//     order they are performed;
//   - a waiter is told once;
//   - a sale is forgotten once it has ended, no caller waits for it, and none is being told.
//
// Nothing in it is needed after a crash: the journal has what decides. It starts no goroutine, and
// must not import the store, the device, or what performs.
package live
