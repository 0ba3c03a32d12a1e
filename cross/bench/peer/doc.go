// Command peer is the embedded durable queue that the bench sets beside ours: bbolt, each operation a put of 300 bytes under a
// growing key, durable before the caller goes on. It is a module of its own, so that the program never depends on it.
//
// It runs OPS operations of CALLERS callers on DIR and prints what they came to as JSON. With several callers bbolt gathers them
// into one commit; it may take all of them at once and is not made to wait.
package main
