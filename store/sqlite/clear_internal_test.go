package sqlite

import (
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/store"
	"posagent/store/marks"
)

// failingMark is a mark whose writes fail once left of them are done; left < 0 = never.
type failingMark struct {
	store.MarkFile
	left *int
}

func (m failingMark) WriteAt(b []byte, off int64) (int, error) {
	if *m.left == 0 {
		return 0, errors.New("input/output error")
	}
	*m.left--
	return m.MarkFile.WriteAt(b, off)
}

// A mark that fails after it said that the log is being folded still says so: then the log stays.
func TestField_J1AMarkThatFailsKeepsTheLog(t *testing.T) {
	path := filepath.Join(t.TempDir(), "agent.db")
	left := -1
	opt := Options{Path: path, Wrapper: plainWrapper{}, Ballast: -1, CheckpointEvery: time.Hour, Marks: []string{store.MarkPath(path)},
		Steps: []store.Step{{Name: "t/1", SQL: "CREATE TABLE t (id INTEGER PRIMARY KEY) STRICT;"}},
		OpenMark: func(path string, create bool) (store.MarkFile, error) {
			f, err := marks.OpenFile(path, create)
			return failingMark{f, &left}, err
		}}
	for name, end := range map[string]func(*Store) error{
		"closed":               func(s *Store) error { return s.Close() },
		"truncated and closed": func(s *Store) error { _ = s.Truncate(t.Context()); return s.Close() },
	} {
		s, err := Open(t.Context(), opt)
		require.NoError(t, err, name)
		require.NoError(t, s.Write(t.Context(), func(tx store.Tx) error { _, err := tx.Exec("INSERT INTO t DEFAULT VALUES"); return err }))
		left = marks.Slots
		_ = end(s)
		left = -1
		s, err = Open(t.Context(), opt)
		require.NoError(t, err, name)
		require.NoError(t, s.Close())
	}
}
