// Command guest measures the program's memory on a board with 64 MB: `make guest`, which boots one.
//
// It owns both ends. On the host it packs itself and posagent, both built for the board, into the
// archive that a kernel unpacks as its first file system; for `make keypad` it packs other files so.
// On the board it is process 1. It starts a
// sandbox terminal, reads its memory from the kernel, makes one sale, reads again and powers the
// board off.
//
// It guarantees "guest: ok" on the console only if the terminal got ready, the sale was approved,
// and the memory was within its goal both times.
//
// It must not import anything of the project: it measures the binary from outside.
package main
