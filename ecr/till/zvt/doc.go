// Package zvt is a cash register on the other end of a line of ZVT. `posagent register`, the demo
// and tests use it. It is the master: it sends a command, answers what the terminal says
// and returns one Result when the terminal is done.
//
// It owns the register's dialogue (Register and its commands), the habits of the registers found
// in the field (Habit), the ways to misbehave (Reaction) and the reading of hexadecimal messages
// (DecodeHex). It shares the codec with the terminal and nothing else, so that a mistake in the
// terminal's dialogue is not repeated here. It must not import testing, the terminal's dialogue
// (ecr/zvt), device or any package of the agent. The caller gives it a function that opens a serial
// port.
//
// Guarantees:
//   - One command at a time; Abort may be called while one runs.
//   - Every command ends: with the terminal's completion, its refusal, or an error within the times
//     T3 and T4.
//   - Result.Approved is true only if the terminal said so in 04 0F, this register acknowledged it,
//     and no abort followed.
package zvt
