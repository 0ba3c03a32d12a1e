// Package pgtest runs PostgreSQL servers for tests: those of pgserver, whose errors fail the test and
// which end with it.
//
// Files: server.go; env.go names the server that suites run on.
//
// It must not be imported outside of tests.
package pgtest
