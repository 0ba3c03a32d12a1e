// Command postgres starts one PostgreSQL server for a run of tests, runs a command with the server's URL in
// RUN_POSTGRES, and ends the server with it:
//
//	go run ./cross/postgres go test ./...
//
// Each test that asks pgtest.Open has a database of its own there. Where PostgreSQL is not installed
// the command runs without: the tests say so themselves. It ends as the command ends, and the server
// ends also where this program is killed.
//
// It must not be imported.
package main
