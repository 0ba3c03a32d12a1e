// Package socket reaches the socket by which a running terminal is asked, whatever its path's length,
// and says who is at its other end.
//
// It must not import any other package of the module: a program that has neither journal nor services
// uses it too.
package socket
