// Package view is what a terminal shows of itself, as JSON with versioned schemas: the command line prints it, the local
// port serves it, and neither has a form of its own.
//
// It guarantees that nothing in it is a secret or card data, that amounts are whole minor units, that times are UTC, and that
// reading changes nothing. It works beside a running daemon, and without one; what only the daemon can tell is in House.
//
// It must not import the local port, the register link, the services that it does not show, or the configuration.
//
// Decisions, 2026-11-21:
//
// A schema's name ends in its version. Fields are added to a version; what is renamed or removed makes the next one.
//
// 2026-11-22. What arrives and what happens here are two streams, each durable and numbered by itself, and a reader's place
// is both numbers: the inbox keeps what arrives however much happens here, and neither waits for the other.
//
// Events carry the body as the sender wrote it, since the receiver of the body is whoever holds the terminal's token. An
// operation's payload and memo are never shown.
package view
