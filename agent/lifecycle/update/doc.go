// Package update replaces the terminal's program by a newer one from a signed repository, and takes
// the newer one back where the terminal is worse with it.
//
// A repository is one of The Update Framework (TUF): a root that the box was given signs who may sign
// what, the metadata expire, and an older state of the repository is refused. It is a folder on a
// server or on a stick.
//
// It guarantees:
//   - Nothing is put in place that is not signed, whole, of this processor and newer.
//   - The program is replaced by one rename. At each moment there is one that runs, and the one before
//     lies beside it, PROGRAM.previous.
//   - The running terminal is restarted when no sale is open, and no sale begins meanwhile.
//   - The new program is on trial: PROGRAM.trial lies beside it, by which the program leaves the
//     journal such that the one before can open it. The trial ends well once the terminal works as
//     before, for some seconds; else the program before is put back.
//   - Each step is written down before it is taken, and a step that was cut off is taken again. After
//     the end of the trial there is no way back by itself.
//   - A version that the terminal's fleet holds is not taken, unless a person wishes it. How an update
//     ended lies beside the program, PROGRAM.outcome, for the terminal to tell its fleet.
//
// It runs as root in a program of its own. It trusts nothing in the terminal's state directory: the
// kernel says which process answers at its socket, and which program that is. What is held there can
// only keep it from an update.
//
// It must not import the agent's other rooms, besides control/socket and rollout.
package update
