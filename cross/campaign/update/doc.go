// Package update updates a running terminal from a signed repository, with the real programs: to one
// that works, and to ones that crash, stand still, lose their network or break a line. It attacks the
// repository too, and asks an independent implementation of TUF about each attack.
//
// It has tests alone.
package update
