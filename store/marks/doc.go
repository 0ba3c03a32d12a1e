// Package marks remembers, beside a journal, where it ends, and judges a journal by it. It is above engines: it knows commits
// and generations, and no database.
//
// It owns the mark: a file of two slots of 512 bytes, written in turn. Each slot holds the journal's generation, the sequence
// of its last commit, the head of the audit chain, a note of the owner, which log is being folded, a MAC and a checksum.
//
// It guarantees that a torn slot is not read, that Commit syncs nothing, and that Durably returns when both slots are on the
// medium. Judge is pure: a journal that is behind its mark, of another generation, or gone is cut.
//
// It must not import an engine, nor anything of the project but store.
package marks
