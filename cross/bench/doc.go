// Command bench measures the program against the limits of the machine it runs on: `make bench`.
//
// It owns one table. A row sets ours beside a limit measured in the same run, in turns with ours because disks and
// neighbours drift, and compares the ratio with its goal. Medians are of all turns.
//
// It guarantees that no absolute time fails a run: a machine is as fast as it is. What fails are ratios, and figures
// that do not depend on the machine's speed: flushes, bytes, memory. A row without a goal only tells. It exits 1 when a
// row failed.
//
// The limit of a durable write is as many callers as ours, each appending 512 bytes, and one fdatasync for all of them;
// the limit of a sale is the disk's fdatasync times the commits that have to be durable first, and 5 ms.
//
// Rows with "+5 ms" run under strace, which makes every sync as slow as that of a cheap flash; without strace they are
// listed as not run. The sale rows drive the built binary against a backend of this program that notes when bytes pass.
//
// The rows of "accept while the backend is away" set a write of a local client, from the call to its "pending", beside the same
// write where nobody listens at the backend's address. In both the terminal knows that the backend is away.
//
// The rows of "port" are POSTs of local clients to the built binary, over loopback and connections that are kept, while its backend is
// away: each ends in a 202 and a durable operation. Each client has a connection of its own up to the port's limit of them. Beside them
// stand the raw limit, a probe of the same server, which is HTTP alone, and a payment that the rules refuse, which is all but the store.
//
// The rows of "payments" and of "links, disputes, hosted build" are the embedded backend's over loopback: as many durable commits
// of a store as a call makes are its limit. A read, a page and a list commit nothing, and are time that only ours takes.
//
// The rows of "crowd" are sales beside tokenless sockets, one client's floods of lists and noise on the line, in turns with sales in quiet:
// here quiet is the limit. The terminal's own processor time is told too, because those who flood it share the machine.
//
// It must not import agent but for the journal's tables and the outbox. Where a terminal is measured the backend is one of this
// program's own, which answers at once.
//
// # Decisions
//
// 2026-11-21: a sale has the screen file, the HTTP port, the TCP line and a serial line of the terminal open, as a shop
// has; the register is on TCP, because a serial line would be the larger part of what is measured.
//
// 2026-11-22: the outbox stands beside the raw limit, beside redis-server with appendfsync always, and beside bbolt, which is a
// module of its own in peer. All three write 300 bytes an operation; ours alone seals them, authenticates the row, and keeps what a
// status and a sender look for. Its goals are therefore what it reached with a margin, and a bare row's are told beside them.
//
// 2026-11-21: old sales are copies of one real sale. A copy does not verify, so a start that read old rows would show.
//
// 2026-11-22: a backend that drips one byte a second does so from its first header byte on: headers that come at once would answer
// the probe, and the terminal would rightly call it reachable.
//
// 2026-11-22: the services' rows over loopback are told and not judged: of a call that makes one commit most of the time is HTTP's.
// A hosted payment is filled in as a browser does it: five pages with a token each, and five commits.
//
// 2026-11-22: a POST to the port carries an Idempotency-Key, as that of a careful client does. The client writes and reads bare HTTP,
// because it shares the machine with the terminal; a payment link is made by a client of net/http, because it is signed.
package main
