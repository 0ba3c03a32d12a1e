package store

import "io"

// End is where a journal ends: which commit was its last.
type End struct {
	Generation int64    // raised when a journal is restored, accepted after a cut, or begun anew
	Sequence   int64    // raised by each commit that changes something
	Head       [32]byte // of the audit chain
	Note       [32]byte // the highest numbers in use, as the journal's owner packs them
}

// Before is what was known of the journal's end before its present generation began.
type Before struct {
	Kind Kind   `json:"kind"`
	Why  string `json:"why"` // in words, with the reason that a person gave
	End  End    `json:"end"` // of the older mark; zero = there was none
	// Known: the mark is the journal's own, and saw the last of it on this box. Else that journal may
	// have gone on behind it.
	Known bool `json:"known,omitempty"`
}

// Kind says how a generation began.
type Kind string

// The kinds of Before.
const (
	FirstGeneration Kind = ""         // nothing was before
	WasRestored     Kind = "restored" // from a backup
	WasAccepted     Kind = "accepted" // a cut journal, by a person
	WasLost         Kind = "lost"     // begun anew after the journal was lost
	WasLocked       Kind = "locked"   // begun anew where no key opened the journal
	WasReset        Kind = "reset"    // begun anew after a reset
)

// OfSandbox is why a reset journal moved no money: it was a sandbox's.
const OfSandbox = "reset of a sandbox"

// Nothing reports whether nothing of before counts: no journal was there, or a sandbox's.
func (b Before) Nothing() bool {
	return b.Kind == FirstGeneration || b.Kind == WasReset && b.Why == OfSandbox
}

// MarkFile is one open mark: the file that remembers where a journal ends.
type MarkFile interface {
	io.ReaderAt
	io.WriterAt
	io.Closer
	// Sync returns when what was written, and the file's name, is durable.
	Sync() error
}

// MarkPath is where the mark of the journal at path lies.
func MarkPath(path string) string { return path + ".mark" }
