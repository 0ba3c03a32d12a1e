// Package deletedrows finds the sales and operations that were removed from the journal from outside.
//
// Their rows are numbered without a gap. The note of the journal's end (store.EndOf) carries the
// numbers of its first and its newest row, so that a row which is missing between them is seen, also
// the newest one. The marks carry the same note, and with it what a later journal must not give again.
//
// It guarantees that a number in the note never falls, and that reading changes nothing.
//
// Read counts every row, which takes long in a journal of a million: the daemon's status counts a
// piece of it each time (Watch).
//
// It must not import agent/view or any room that shows or changes rows: it only counts them.
package deletedrows
