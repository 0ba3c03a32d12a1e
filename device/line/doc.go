// Package line owns serial lines: it waits for the device, opens it, and hands out a connection that behaves.
//
// It guarantees
//   - that a call on a closed connection never reaches a file descriptor, reused or not;
//   - that a read without data ends with os.ErrDeadlineExceeded, never with (0, nil);
//   - that a write ends: a peer that stopped reading costs one write timeout and the connection, not the caller;
//   - that a lost device gives one error and a closed connection; the caller opens again and waits there;
//   - that only a terminal device is opened, and only by one process at a time.
//
// It knows bytes, no frames and no protocols, and is the only importer of go.bug.st/serial. It imports no other
// package of this module.
//
// 2026-11-21: the lock is flock on /run/lock/LCK..<name>, or in os.TempDir where /run/lock cannot be written; a lock
// file without a flock is a leftover of a dead process. TIOCEXCL does not hold against root, so it does not count.
//
// 2026-11-21: the descriptor is closed only when no read or write is inside the library. Reads therefore come back
// every readSlice; a write that does not come back is helped by discarding the output queue, and abandoned if that
// does not help. Abandoned writes are counted; with maxStuck of them Open refuses until one has come back.
//
// 2026-11-21: the modem lines are raised by the kernel when the device is opened; asking again is allowed to fail,
// because pseudo-terminals and some USB converters have none.
package line
