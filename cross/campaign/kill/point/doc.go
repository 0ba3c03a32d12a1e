// Package point is a place in the program at which a terminal under test can kill itself, with a
// name.
//
// The product has no such places. cross/campaign/kill weaves calls of Hit into a copy of a few sources and
// builds that copy with `go build -overlay`. It owns three variables: POSAGENT_KILL_AT
// ("name:nth": die when the place is reached for the nth time), POSAGENT_POINTS (a file that gets
// a line for each place reached) and POSAGENT_NEXT (SQL that the program's next version runs).
//
// It guarantees that a terminal dies by SIGKILL, and that its goroutine runs nothing after the
// place.
//
// It must not import anything of the product, and no source of the product imports it.
package point
