// Package enrol kills what makes a box a terminal at its system calls, against the real binary and a
// real backend, and repeats it: the enrolment by a code, the one by a bundle without a network, and
// the renewal of the certificate. No box may be lost, no code burned that nobody has, and no
// certificate made that the terminal does not have in the end.
//
// It has tests alone. It needs strace.
package enrol
