// Package scrub overwrites memory that the program has freed. Card data passes through texts and
// buffers that Go frees but does not clear. Without this, a reader of the process's memory finds
// dozens of old requests.
//
// Some time after the last Touch it overwrites unreachable memory on the heap and on the stacks of
// ended goroutines, and returns free pages to the kernel. Reachable memory stays: an open
// connection has the last bytes it read and wrote in its buffers (net/http, bufio). In tests with
// up to 300 card payments, 0 to 2 of about 500 copies were left besides these. They lie on stacks
// that other goroutines took over, and behind the last object of a span.
//
// Files: scrub.go has the heap, stack.go and below_*.s the stacks. Other processors than amd64, arm,
// arm64 and 386 need a below of their own.
//
// It must not import any other package of the module.
package scrub
