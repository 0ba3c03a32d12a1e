// Package sqlite is the engine of a terminal's journal and of a small backend: one SQLite file with one writer.
//
// It owns the file, its settings, its lock, its schema steps, its log and its mark; the tables belong to the rooms that
// bring their steps. It must import nothing of the project but store and store/marks, and no other package imports modernc.org/sqlite.
//
// # What it guarantees
//
// It keeps the contract of store. It never answers ErrCommitUnknown, and it runs a closure once.
//
// One goroutine writes. It joins the callers that wait into one transaction, gives each a savepoint, and answers them
// when COMMIT has returned. A caller that fails or panics rolls back alone.
//
// Settings are read back on every connection: the driver ignores a misspelt one without a word.
//
// An I/O error closes the writer's connection: a sync that failed once is never tried again and believed. The store
// reopens the file, checks it and commits a write of its own, which also overwrites what an unacknowledged batch may
// have left in the log. It tries again by itself and with every Write until the medium works.
//
// On a full disk a reserve file beside the database is given up, so that what was begun can be finished.
//
// A journal with a mark knows its own end. A start that finds fewer commits than the mark has seen, another generation, a
// log that is gone while it was being folded, or no journal at all answers *CutError and changes nothing. It raises no
// false alarm after a kill or a power cut.
//
// In a synctest bubble, open, use and Close a store inside the bubble. Its goroutines wait on channels and timers alone.
package sqlite
