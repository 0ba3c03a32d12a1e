// Command posagent-update replaces the program of a payment terminal by a newer, signed one, and takes
// it back where the terminal is worse with it. It runs as root, from a timer or by hand; the terminal
// itself never needs to.
//
// The verbs of `repository` make what it trusts, at the desk of whoever makes the releases.
//
// It guarantees that its table of verbs is the only list of them, and that its exit codes are those of
// posagent: that program passes them on. 4 and 5 never come from here.
//
// It must not import the terminal's rooms, besides agent/lifecycle/update.
package main
