// Package marks remembers, beside a journal, where the journal ends, and compares the journal with
// that. It is above engines: it knows commits and generations, and no database.
//
// It owns the mark: a file of two slots of 512 bytes, written in turn. Each slot holds the
// journal's generation, the sequence of its last commit, the head of the audit chain, a note of
// the owner, a MAC and a checksum. It also names the write-ahead log (WAL) that is being
// checkpointed. It also owns Box: by which marks of the hardware a journal knows the box that wrote
// it last.
//
// It guarantees that a torn slot is not read, that Commit syncs nothing, and that Durably returns
// when both slots are on the medium. Judge is pure. A journal counts as cut if it is behind its
// mark, of another generation, last written on another box, or gone.
//
// It must not import an engine, nor anything of the project but store.
package marks
