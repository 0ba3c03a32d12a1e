// Package control owns both ends of the socket by which the command line changes the running
// terminal.
//
// It guarantees:
//   - It reads a request only from a process of the terminal's own user, or of root. The kernel
//     names the user when the connection is accepted. Only its owner can open the socket's file.
//   - It never replaces a path that is not a socket, nor a socket at which a process answers.
//   - Each verb is one change of the outbox, or one change of each operation in turn. It answers
//     after its commit.
//   - The code of an error distinguishes a refusal from a failure.
//   - A recording has none of the secrets of the configuration that the terminal runs on.
//
// It must not import the store's writers, the services, the register link or the configuration.
package control
