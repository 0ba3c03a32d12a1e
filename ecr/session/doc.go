// Package session joins a register line, the ZVT dialogue and a desk: it reads and writes what the pure machine of
// ecr/zvt decides, calls the desk and the till for it, and keeps its timers.
//
// It guarantees
//   - one goroutine steps a connection's machine; calls of the desk never hold it up, and their answers come back to
//     it as events;
//   - a line has one dialogue at a time, over however many connections; its registration is shared and stored;
//   - every outcome a machine took over reaches Desk.Delivered, also after the connection is lost; an error of the
//     desk is tried again;
//   - when Serve... returns, its goroutines have ended and its connections are closed.
//
// It imports ecr, ecr/zvt and its codec and frames, and the standard library; never device, store or agent. The line it
// needs is the small interface Opener.
//
// # Decisions
//
// 2026-11-21: a serial line keeps its dialogue while the device is away, and a message of ours waits reopenWithin for
// it: a converter that drops out for a moment costs nothing. On TCP a lost connection ends its dialogue; the sale runs
// on and the register asks for it with 06 20 on its next connection.
//
// 2026-11-21: TCP connections run side by side because registers open one per command and leave old ones half open.
// While one runs a dialogue the others get 84 A0 00, except registration, log-off, status (9C), 06 B0, which reaches
// the running sale, and 06 20, which waits for the dialogue to end (DECISIONS.md).
package session
