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
package control
