// Package control owns the socket by which the command line asks the running terminal to change something: both ends of it.
//
// It guarantees:
//   - a request is read only from a process of the terminal's own user, or of root; the kernel says whose it is, at accept,
//     and the socket's file is for its owner alone besides;
//   - a path that is not a socket is never replaced, and neither is a socket at which somebody answers;
//   - each verb is one change of the outbox, or of each operation in turn, and answers after its commit;
//   - what is refused is told apart from what failed, by code.
//
// It must not import the store's writers, the services, the register link or the configuration.
//
// Decisions.
//
// 2026-11-22. A room of its own, not a part of the local port: there a token proves a program, nothing changes by hand, and a
// web browser on the same machine must be kept out. Here the kernel proves a person's account, everything changes something,
// and no browser can speak. One mistake in mounting would have given every local program the technician's verbs.
//
// 2026-11-22. It speaks HTTP all the same: requests, answers and streams end where they should without a protocol of our own.
//
// 2026-11-22. A socket's path may have 107 bytes. A longer one is reached through the folder's descriptor under /proc.
package control
