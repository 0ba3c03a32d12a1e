// Package exam runs the checks of a doctor: of the terminal, of its backend, and of the backend on a
// database. It knows no check; each doctor has a table of its own, and facts that its checks look at.
//
// Files: exam.go runs a table, finding.go makes what a check answers, hold.go remembers an earlier
// examination, text.go reads the words of checks, print.go writes a report, disk.go looks at a file
// system.
//
// It guarantees:
//   - A check runs only after all that it depends on. If one of these fails, it is skipped and names
//     the check that it waits for: one cause is one failure.
//   - Each check has a time limit, and so has the whole examination. A check that panics fails by
//     itself. Results stand in the order of the table.
//   - It writes one file, where WriteHeld is called.
//
// It imports device/file, and no other package of this module.
package exam
