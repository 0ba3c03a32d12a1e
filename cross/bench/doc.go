// Command bench measures the program against the limits of the machine it runs on: `make bench`.
//
// It owns one table. A row compares our figure with a limit that is measured in the same run, in turns
// with ours, because disks and neighbours drift. Its ratio is compared with a goal. Medians are over
// all turns.
//
// It guarantees that no absolute time fails a run. What fails are ratios, and figures that do not
// depend on the machine's speed: flushes, bytes, memory. A row without a goal is for information. The
// exit code is 1 when a row failed.
//
//   - "journal", "outbox": the limit of a durable write is as many callers as ours, each appending
//     512 bytes, with one fdatasync for all of them.
//   - "sale": the built binary, against a backend of this program. The limit is the disk's fdatasync
//     times the commits that have to be durable first, and 5 ms.
//   - "port": POSTs of local clients while the backend is away. Each ends in a 202 and a durable
//     operation. Beside it stand the raw limit, a probe of the same server (HTTP alone) and a payment
//     that the rules refuse (everything but the store).
//   - "accept while the backend is away": beside the same write where no process listens at the
//     backend's address.
//   - "payments", "links, disputes, hosted build": the embedded backend over loopback. The limit is
//     as many durable commits of a store as a call makes.
//   - "postgres": payments on a server of its own. The limit is pgbench there, with one row a commit.
//   - "crowd": sales beside tokenless sockets, floods of lists and noise on the line. The limit is the
//     same sale without them.
//
// Rows with "+5 ms" run under strace, which makes every sync as slow as on a cheap flash. Without
// strace they are listed as not run.
//
// It must not import agent but for the journal's tables and the outbox.
package main
