// Package lines makes lines between a register and a terminal, for tests and measurements: pseudo
// terminals, and connections in memory.
//
// It guarantees that a pseudo terminal carries each byte as it is and obeys read deadlines at both
// ends, and that a connection in memory costs no time. It imports ecr and golang.org/x/sys.
package lines
