// Package pgserver runs PostgreSQL servers from Debian's programs, each with a directory and a
// socket of its own: no network, no server that runs already.
//
// Files: server.go starts and ends one, process.go has its programs and processes, standby.go its
// copies, restore.go its past, sql.go asks it.
//
// It guarantees that a server ends with the program that started it. Its methods are for one
// goroutine at a time.
//
// It must not import testing (pgtest does) or the store.
package pgserver
