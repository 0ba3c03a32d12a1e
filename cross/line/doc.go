// Package line is the campaign on the register's cable: bits flip, bytes vanish, double and change places, answers are lost
// or come late, the cable is pulled at every byte of a dialogue, registers die in the middle of a sale and abort it at
// every millisecond around its approval.
//
// It works on two levels. Frame against frame: nothing damaged is delivered except what the checksum cannot see, a command
// is delivered at most once, and a second after the noise ends the line is in step. Sale against books: a
// register that asks until it has a definite answer was told approved if and only if one net payment is in the books.
//
// It drives the product through cross/stack and must not be imported.
package line
