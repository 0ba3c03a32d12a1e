package store

import "context"

// Scope is what the Reader and the Tx of every engine are besides. Keyed, EndOf and Context ask
// them through it.
type Scope interface {
	Reader
	// Keyed returns the store that is read from, nil where it has no key.
	Keyed() DB
	// End returns the journal's end in this snapshot. known: there is one, and it verifies where
	// the store has a key.
	End() (e End, known bool, err error)
	// Context returns the context of the Write, without its cancellation.
	Context() context.Context
}

// Keyed returns the store that r reads from, for what is verified or opened with its key; nil where
// that has none.
func Keyed(r Reader) DB {
	if s, ok := r.(Scope); ok {
		return s.Keyed()
	}
	return nil
}

// EndOf returns the journal's end as r sees it. known: there is one, and it verifies where r comes
// from a store with a key.
func EndOf(r Reader) (e End, known bool, err error) {
	if s, ok := r.(Scope); ok {
		return s.End()
	}
	return e, false, nil
}

// Context returns the context of the Write that tx belongs to, so that a function which is given
// the Tx alone can tell on whose behalf it runs. It is not cancelled by anything. It is the
// background where tx is no Write's.
func Context(tx Tx) context.Context {
	if s, ok := tx.(Scope); ok {
		return s.Context()
	}
	return context.Background()
}
