// Package program builds the product's binary, runs it as a process and reads its books, for the
// campaigns that see it from outside.
//
// It guarantees that a process which was started has ended once Dead is closed, and that a start which
// fails says what the program wrote. It must not import any other package of the module: it knows of
// the product what its command line prints.
package program
