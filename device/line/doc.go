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
package line
