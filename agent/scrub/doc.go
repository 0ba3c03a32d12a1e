// Package scrub overwrites memory that the program has let go of. Card data passes through texts and buffers that Go frees but
// does not clear: without this, dozens of old requests could be read in the process's memory long after their answers.
//
// A while after the last Touch it overwrites what is unreachable on the heap and on the stacks of ended goroutines, whoever had
// allocated it, and gives free pages back to the kernel. What is reachable stays: a connection that is kept open has the last
// bytes it read and wrote in its buffers (net/http, bufio). In tests with up to 300 card payments 0 to 2 of about 500 copies
// were left besides; probably they lie on stacks that other goroutines took over. This is not proven.
//
// It must not import any other package of the module.
package scrub
