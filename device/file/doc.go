// Package file reads and replaces files where another account, or another program, may have put something in their place.
//
// It guarantees that a read ends: a pipe or a device is refused and never waited for, and no more is
// read than was asked for. A replacement is whole or not there, and writes through no link. It judges the file that it has open, not its name. It must not know what a
// file means.
package file
