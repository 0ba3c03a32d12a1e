// Package pgtest runs a PostgreSQL server for tests, from Debian's programs, with a directory and a
// socket of its own: no network, no server that runs already.
//
// Files: server.go.
//
// It must not be imported outside of tests.
package pgtest
