// Package till is a register that speaks JSON lines: `posagent register --protocol jsonl` and tests
// use it. It was written from README.md of ecr/jsonl. It shares no code with the terminal, so that a
// mistake of the terminal's is not repeated here.
//
// It guarantees
//   - One question at a time; Abort may be asked beside it.
//   - Every question ends: with the terminal's answer, or with an error within the Wait.
//   - An outcome is acknowledged once it is read, and not before.
//
// It imports the standard library.
package till
