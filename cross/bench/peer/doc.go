// Command peer is the embedded durable queue that the bench compares with ours: bbolt. Each
// operation is a put of 300 bytes under a growing key, durable before the caller continues. It is a
// module of its own, so that the program never depends on it.
//
// It runs OPS operations of CALLERS callers on DIR and prints the result as JSON. With several
// callers bbolt gathers them into one commit; it may take all of them at once and is not made to
// wait.
package main
