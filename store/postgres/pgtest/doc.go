// Package pgtest gives tests PostgreSQL: a database each on the server of the run, or a server of
// their own that they may kill, stop and set (pgserver's, whose errors fail the test). Both end with
// the test.
//
// It decides who uses PostgreSQL at all: Open and Start skip the test under -short and where the
// server is not installed. No test asks for itself.
//
// Files: database.go, server.go; env.go names the server that suites run on.
//
// It must not be imported outside of tests.
package pgtest
