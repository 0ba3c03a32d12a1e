package sqlite_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/store"
	"posagent/store/marks"
	"posagent/store/sqlite"
)

// TestField2_M3TheEndIsKnownByItsOwnMarkAlone: what a mark has seen is the last of a journal only where
// it is that journal's own mark, of this box. Elsewhere the journal may have gone on.
func TestField2_M3TheEndIsKnownByItsOwnMarkAlone(t *testing.T) {
	sell := func(t *testing.T, path string, box marks.Box, ids ...int64) {
		t.Helper()
		onBox(t, path, box, func(s *sqlite.Store) {
			for _, id := range ids {
				require.NoError(t, s.Write(t.Context(), insert(id, fmt.Sprint("sold ", id))))
			}
		})
	}
	// restore puts a backup of from where to is.
	restore := func(t *testing.T, from, to string) {
		t.Helper()
		staged := filepath.Join(t.TempDir(), "agent.db")
		opt := marked(to)
		require.NoError(t, sqlite.Snapshot(t.Context(), from, staged, opt.Wrapper, opt.Wrapper, nil))
		opt.Path = staged
		require.NoError(t, sqlite.Stage(t.Context(), opt, opt.Wrapper, "restored from a backup"))
		require.NoError(t, sqlite.Replace(t.Context(), staged, to, false))
	}
	for name, c := range map[string]struct {
		known bool
		kind  store.Kind
		begin func(t *testing.T, path string) (at string, box marks.Box, accept string)
	}{
		"restored over itself": {true, store.WasRestored, func(t *testing.T, path string) (string, marks.Box, string) {
			old := copied(t, path)
			sell(t, path, boxOne, 2)
			restore(t, old, path)
			return path, boxOne, ""
		}},
		"restored to another directory": {false, store.WasRestored, func(t *testing.T, path string) (string, marks.Box, string) {
			to := filepath.Join(t.TempDir(), "agent.db")
			restore(t, path, to)
			return to, boxOne, ""
		}},
		"restored over another box's journal": {false, store.WasRestored, func(t *testing.T, path string) (string, marks.Box, string) {
			to := filepath.Join(t.TempDir(), "agent.db")
			sell(t, to, boxTwo, 1, 2, 3)
			restore(t, path, to)
			return to, boxTwo, ""
		}},
		"cut and accepted": {true, store.WasAccepted, func(t *testing.T, path string) (string, marks.Box, string) {
			old, err := os.ReadFile(path)
			require.NoError(t, err)
			sell(t, path, boxOne, 2)
			require.NoError(t, os.WriteFile(path, old, 0o600))
			return path, boxOne, "looked"
		}},
		"its mark is lost, and accepted": {false, store.WasAccepted, func(t *testing.T, path string) (string, marks.Box, string) {
			require.NoError(t, os.Remove(store.MarkPath(path)))
			return path, boxOne, "looked"
		}},
		"copied to another box, and accepted": {false, store.WasAccepted, func(t *testing.T, path string) (string, marks.Box, string) {
			return copied(t, path), boxTwo, "the other one is dead"
		}},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "agent.db")
			sell(t, path, boxOne, 1)
			at, box, accept := c.begin(t, path)
			s, err := openOn(at, box, accept)
			require.NoError(t, err)
			before, err := s.Before(t.Context())
			require.NoError(t, err)
			require.Equal(t, []any{c.kind, c.known}, []any{before.Kind, before.Known})
			require.NoError(t, s.Close())
		})
	}
}
