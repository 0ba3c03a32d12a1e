// Package socket is what the kernel knows of a peer's TCP connection: whether it has ended, and what
// it has not acknowledged. It owns the look; what follows from it is the protocols' (MONEY F.5).
//
// It guarantees that a connection whose state cannot be read counts as gone. It must not import a
// protocol.
package socket
