// Package enrol kills the enrolment of a terminal at its system calls, against the real binary and a
// real backend, and enrols again with the same code: no box may be lost, and no code burned that
// nobody has.
//
// It has tests alone. It needs strace.
package enrol
