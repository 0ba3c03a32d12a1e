// Package scrub overwrites memory that the program has let go of. Card data passes through texts and buffers that Go frees but
// does not clear: without this, dozens of old requests could be read in the process's memory long after their answers.
//
// A while after the last Touch it overwrites what is unreachable on the heap and on the stacks of ended goroutines, whoever had
// allocated it, and gives free pages back to the kernel. What is reachable stays: a connection that is kept open has the last
// bytes it read and wrote in its buffers (net/http, bufio, crypto/tls). A goroutine that began on the stack of another one keeps
// what lies below its own frames: after 300 card payments that were at most 2 copies of about 500, and mostly none.
//
// It must not import any other package of the module.
package scrub
