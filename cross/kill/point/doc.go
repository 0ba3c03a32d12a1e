// Package point is where a terminal under test can be made to kill itself: a place in the program with a name.
//
// The product has no such places. cross/kill weaves calls of Hit into a copy of a few sources and builds that copy with
// `go build -overlay`. It owns the variables POSAGENT_KILL_AT ("name:nth": die at the nth time the place is reached) POSAGENT_POINTS (a file
// that gets a line for every place reached), and POSAGENT_NEXT (what the program's next version does to the tables, SQL).
//
// It guarantees that a death at a place is by SIGKILL, and that nothing behind it in its goroutine is run.
//
// It must not import anything of the product, and no source of the product imports it.
package point
