package sqlite

import (
	"errors"
	"os"
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

// withFailingMark is the options of a store with one table, whose mark fails once left writes of it are done.
func withFailingMark(t *testing.T, left *int) Options {
	path := filepath.Join(t.TempDir(), "agent.db")
	return Options{Path: path, Wrapper: plainWrapper{}, Ballast: -1, CheckpointEvery: time.Hour, Marks: []string{store.MarkPath(path)},
		Steps: []store.Step{{Name: "t/1", SQL: "CREATE TABLE t (id INTEGER PRIMARY KEY, data BLOB) STRICT;"}},
		OpenMark: func(path string, create bool) (store.MarkFile, error) {
			f, err := marks.OpenFile(path, create)
			return failingMark{f, left}, err
		}}
}

func insertOne(tx store.Tx) error {
	_, err := tx.Exec("INSERT INTO t DEFAULT VALUES")
	return err
}

// A mark that fails after it said that the log is being folded still says so: then the log stays.
func TestField_J1AMarkThatFailsKeepsTheLog(t *testing.T) {
	left := -1
	opt := withFailingMark(t, &left)
	for name, end := range map[string]func(*Store) error{
		"closed":               func(s *Store) error { return s.Close() },
		"truncated and closed": func(s *Store) error { _ = s.Truncate(t.Context()); return s.Close() },
	} {
		s, err := Open(t.Context(), opt)
		require.NoError(t, err, name)
		require.NoError(t, s.Write(t.Context(), insertOne))
		left = marks.Slots
		_ = end(s)
		left = -1
		s, err = Open(t.Context(), opt)
		require.NoError(t, err, name)
		require.NoError(t, s.Close())
	}
}

// As long as the mark names a log that was folded, no commit starts that log anew: after a power cut the mark would
// name one that is gone. Once the mark can be written the log is let go of; and, so that it does not fill the medium,
// where it has grown long.
func TestField_J1TheLogStaysUntilTheMarkLetsGo(t *testing.T) {
	left := -1
	opt := withFailingMark(t, &left)
	s, err := Open(t.Context(), opt)
	require.NoError(t, err)
	require.NoError(t, s.Write(t.Context(), insertOne))
	left = marks.Slots
	require.Error(t, s.Truncate(t.Context()))
	log, _, err := walSalts(opt.Path)
	require.NoError(t, err)
	for n := 2; n <= 4; n++ {
		require.NoError(t, s.Write(t.Context(), insertOne), "a failed mark fails no commit")
		require.Error(t, s.Truncate(t.Context()))
		cut := filepath.Join(t.TempDir(), "agent.db")
		copyJournal(t, opt.Path, cut)
		copied := opt
		copied.Path, copied.Marks, copied.OpenMark = cut, []string{store.MarkPath(cut)}, nil
		found, err := Open(t.Context(), copied)
		require.NoError(t, err, "no alarm: nothing is missing")
		rows := 0
		require.NoError(t, found.Read(t.Context(), func(r store.Reader) error { return r.QueryRow("SELECT count(*) FROM t").Scan(&rows) }))
		require.Equal(t, n, rows)
		require.NoError(t, found.Close())
	}
	now, _, err := walSalts(opt.Path)
	require.NoError(t, err)
	require.Equal(t, log, now)

	left = -1
	require.NoError(t, s.Truncate(t.Context()))
	fi, err := os.Stat(opt.Path + "-wal")
	require.NoError(t, err)
	require.Zero(t, fi.Size())

	require.NoError(t, s.Write(t.Context(), insertOne))
	left = marks.Slots
	require.Error(t, s.Truncate(t.Context()))
	require.NotNil(t, s.kept)
	require.NoError(t, s.exclusive(t.Context(), func() error {
		require.Error(t, s.letGo(walFrames))
		return s.letGo(walFrames + 1)
	}))
	require.Nil(t, s.kept)
	require.NoError(t, s.Close())
}

// A mark that can never be written does not fill the medium with the log: past its bound the log is folded and started
// anew, as without a mark.
func TestADeadMarkLetsNoLogGrow(t *testing.T) {
	left := -1
	opt := withFailingMark(t, &left)
	opt.CheckpointEvery = time.Millisecond
	s, err := Open(t.Context(), opt)
	require.NoError(t, err)
	require.NoError(t, s.Write(t.Context(), insertOne))
	left = marks.Slots
	const size, frame = 400 << 10, 1 << 10
	for n := range 10 * walFrames * frame / size {
		require.NoError(t, s.Write(t.Context(), func(tx store.Tx) error {
			_, err := tx.Exec("INSERT OR REPLACE INTO t (id, data) VALUES (?, ?)", n%4+2, make([]byte, size))
			return err
		}))
	}
	require.NotEmpty(t, s.Health(t.Context()).Marks[0].Err)
	require.Less(t, s.Health(t.Context()).WALBytes, int64(4*walFrames*frame))
	require.NoError(t, s.Close())
}

// A store whose medium has failed folds nothing as it closes: its mark may be out of date.
func TestField_J1ABrokenStoreLeavesTheLog(t *testing.T) {
	left := -1
	opt := withFailingMark(t, &left)
	s, err := Open(t.Context(), opt)
	require.NoError(t, err)
	for range 3 {
		require.NoError(t, s.Write(t.Context(), insertOne))
	}
	before, err := os.Stat(opt.Path + "-wal")
	require.NoError(t, err)
	s.setState(store.Broken, store.ErrIO)
	require.NoError(t, s.Close())
	after, err := os.Stat(opt.Path + "-wal")
	require.NoError(t, err)
	require.Equal(t, before.Size(), after.Size())
	s, err = Open(t.Context(), opt)
	require.NoError(t, err)
	require.NoError(t, s.Close())
}
