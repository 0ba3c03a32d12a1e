// Package ready says whether a register may ask the terminal for a sale now. If it may not, it
// gives the cause and what to type.
//
// It owns the table of causes (table.go), with the words and the remedy of each. The command
// `run`, the first line of `status`, the probe /readyz, the log and the screens for technicians
// read it.
//
// It guarantees:
//   - Each cause has its own words and its own remedy.
//   - Neither contains a line break, and the words do not contain ": ". So a program can split the
//     line "NOT READY: WORDS: REMEDY" at ": ".
//   - No remedy names a verb that deletes data.
//
// It knows no room: the room that finds a fault names its cause. It imports nothing of this
// module.
package ready
