// Package ready says whether a register may ask the terminal for a sale now, and if not, why and what to type.
//
// It owns the one table of causes: for each its words and its remedy. The command `run`, the first line of `status`, the probe
// /readyz, the log and the technician's screens all read it.
//
// It guarantees:
//   - every cause has words and a remedy of its own;
//   - neither contains a line break, and the words contain no ": ", so that "NOT READY: WORDS: REMEDY" can be read by a program;
//   - no remedy names a verb that deletes something.
//
// It knows no room: who finds a trouble names its cause. It imports nothing of this module.
package ready
