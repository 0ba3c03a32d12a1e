// Package live holds what the terminal knows of its sales in this run only: which callers wait for
// an outcome, which outcome is being told, which timers and status requests are scheduled, and how
// long the register waits for an answer.
//
// It guarantees:
//   - Of two commits the newer one sets the timer and starts or stops the status requests, in
//     whatever order their effects are performed.
//   - A waiter is told once.
//   - A sale is forgotten once it has ended, no caller waits for it, and no outcome of it is being
//     told.
//
// Nothing in it is needed after a crash: the journal decides. It starts no goroutine. It must not
// import the store, the device, agent/checkout/drive or agent/checkout/drive/perform.
package live
