// Package session joins a register line, a dialogue of any protocol and a desk. It carries the
// protocol's messages, calls the desk and the till for the dialogue, and keeps its timers.
//
// It guarantees
//   - One goroutine steps a connection's dialogue. Calls of the desk never delay it; their answers
//     come back to it as events.
//   - One connection holds the line at a time. The dialogues of a line share what they save, and it
//     is stored.
//   - Each outcome given to a dialogue is reported to Desk.Delivered, even if the connection is
//     lost. If the desk returns an error, the report is retried.
//   - When Serve... returns, its goroutines have ended and its connections are closed.
//
// It imports ecr and the standard library. It knows no protocol: its caller gives it an
// ecr.Protocol. The line it needs is the small interface Opener.
package session
