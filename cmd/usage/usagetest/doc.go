// Package usagetest holds a program to its table of verbs: every verb and every flag stands in the
// help, in the manual page, and in what bash, zsh and fish offer.
//
// It guarantees that each help is asked of the program, that groff reads the page, and that the shells
// themselves are asked what they offer. A shell that is not installed is listed as not run.
//
// It is test code, imported by the tests of the programs. It imports cmd/usage alone; the finder of
// tools is given to it.
package usagetest
