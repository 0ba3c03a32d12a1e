package storetest

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/store"
	"posagent/store/sqlite"
)

// Open opens a new store in a directory of the test and closes it at the test's end. Inside a
// synctest bubble it must be called from inside, so that the store's goroutines live there, and
// Close must be called before the bubble ends: use OpenAt there.
func Open(tb testing.TB, steps ...store.Step) store.Journal {
	tb.Helper()
	s := OpenAt(tb, filepath.Join(tb.TempDir(), "test.db"), steps...)
	tb.Cleanup(func() { require.NoError(tb, s.Close()) })
	return s
}

// OpenAt opens the store at path; the caller closes it. It syncs nothing: what a power cut leaves is
// the engine's own tests' matter, and a slow disk is nobody's.
func OpenAt(tb testing.TB, path string, steps ...store.Step) store.Journal {
	tb.Helper()
	s, err := sqlite.Open(tb.Context(), sqlite.Options{Path: path, Steps: steps, Wrapper: Wrapper{}, Ballast: -1, Synchronous: "OFF"})
	require.NoError(tb, err)
	return s
}

// Wrapper is a store.Wrapper that hides nothing. Two with different IDs do not open each other's
// values.
type Wrapper struct{ ID byte }

var _ store.Wrapper = Wrapper{}

// ErrUnwrap is what Unwrap answers to bytes that Wrap did not make.
var ErrUnwrap = errors.New("storetest: not wrapped")

// Wrap implements store.Wrapper.
func (w Wrapper) Wrap(plain []byte) ([]byte, error) { return append([]byte{'w', w.ID}, plain...), nil }

// Unwrap implements store.Wrapper.
func (w Wrapper) Unwrap(wrapped []byte) ([]byte, error) {
	if len(wrapped) < 2 || wrapped[0] != 'w' || wrapped[1] != w.ID {
		return nil, ErrUnwrap
	}
	return append([]byte{}, wrapped[2:]...), nil
}
