// Package session joins a register line, a dialogue of any protocol and a desk. It carries the
// protocol's messages, calls the desk and the till for the dialogue, and keeps its timers.
//
// It guarantees
//   - one goroutine steps a connection's dialogue; calls of the desk never hold it up, and their
//     answers come back to it as events;
//   - one connection holds the line at a time; what the dialogues of a line save is shared and
//     stored;
//   - every outcome a dialogue took over reaches Desk.Delivered, also after the connection is lost;
//     an error of the desk is tried again;
//   - when Serve... returns, its goroutines have ended and its connections are closed.
//
// It imports ecr and the standard library. It knows no protocol: its caller gives it an
// ecr.Protocol. The line it needs is the small interface Opener.
package session
