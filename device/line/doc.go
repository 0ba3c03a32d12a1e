// Package line owns serial lines. It waits for the device, opens it and returns a connection.
//
// It guarantees:
//   - A call on a closed connection never reaches a file descriptor, reused or not.
//   - A read without data returns os.ErrDeadlineExceeded, never (0, nil).
//   - A write ends. If the peer has stopped reading, the write fails after one timeout and the
//     connection is closed.
//   - A lost device gives one error and a closed connection. The caller opens again and waits
//     there.
//   - Only a terminal device is opened, and only by one process at a time.
//
// It handles bytes, no frames and no protocols. It is the only importer of go.bug.st/serial and
// imports device/node alone of this module.
package line
