// Package sqlite is the engine of a terminal's journal and of a small backend: one SQLite file
// with one writer.
//
// It owns the file, its settings, its lock, its schema steps, its write-ahead log (WAL) and its
// mark. The tables belong to the rooms that bring their steps. It must import nothing of the
// project but store and store/marks, and no other package imports modernc.org/sqlite.
//
// # What it guarantees
//
// It keeps the contract of store. It never answers ErrCommitUnknown, and it runs a closure once.
//
// One goroutine writes. It joins the callers that wait into one transaction, gives each a
// savepoint, and answers them when COMMIT has returned. A caller that fails or panics rolls back
// alone.
//
// Settings are read back on every connection, because the driver ignores a misspelt one silently.
//
// An I/O error closes the writer's connection: a repeated sync would prove nothing. The store
// reopens the file, checks it and commits a write of its own, which also overwrites the rest of an
// unacknowledged batch in the WAL. It retries until the medium works.
//
// On a full disk it deletes a reserve file beside the database, so that writes for work in
// progress still succeed; a start, whose run before has used that up, deletes a second one.
//
// A journal with a mark knows its own end. A start returns *CutError and changes nothing in four
// cases: fewer commits than the mark counts, another generation, a WAL that disappeared during a
// checkpoint, or no journal at all. A kill or a power cut raises no false alarm.
//
// In a synctest bubble, open, use and Close a store inside the bubble.
package sqlite
