package sqlite_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/store"
	"posagent/store/sqlite"
)

// copyTo writes the content of one file over another one, as cp does.
func copyTo(t *testing.T, from, to string) {
	t.Helper()
	data, err := os.ReadFile(from)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(to, data, 0o600))
}

func countRows(t *testing.T, s *sqlite.Store) (n int64) {
	t.Helper()
	require.NoError(t, s.Read(t.Context(), func(r store.Reader) error { return r.QueryRow("SELECT count(*) FROM rows").Scan(&n) }))
	return n
}

// TestField2_L1NothingBeginsOnWhatIsNotTheJournal: a technician or a program takes the files of the
// running terminal's journal away, or puts others in their place. The kind: each file by itself and all
// of them, removed, replaced, written over, and moved with their directory. After each the owner takes
// no new work from then on, what is open can still be written and read, and no second owner is let in
// while the database itself is there.
func TestField2_L1NothingBeginsOnWhatIsNotTheJournal(t *testing.T) {
	remove := func(ends ...string) func(t *testing.T, path, older string) {
		return func(t *testing.T, path, _ string) {
			for _, end := range ends {
				require.NoError(t, os.Remove(path+end))
			}
		}
	}
	moveIn := func(t *testing.T, path, older string) { // as tar and rsync do
		require.NoError(t, os.Rename(older, path))
	}
	for _, c := range []struct {
		name string
		do   func(t *testing.T, path, older string)
		lost bool // no new work
		back bool // the journal was gone, and is there again after the end
		cut  bool // the next start finds an older one
	}{
		{"all of it removed", remove("", "-wal", "-shm", ".mark"), true, true, false},
		{"with its lock", remove("", "-wal", "-shm", ".mark", ".lock"), true, true, false},
		{"the database removed", remove(""), true, true, false},
		{"the log removed", remove("-wal"), true, false, false},
		{"the index of the log removed", remove("-shm"), true, false, false},
		{"the lock removed", remove(".lock"), true, false, false},
		{"the mark removed", remove(".mark"), false, false, false},
		{"the lock replaced", func(t *testing.T, path, _ string) {
			require.NoError(t, os.Remove(path+".lock"))
			require.NoError(t, os.WriteFile(path+".lock", []byte("1\n"), 0o600))
		}, true, false, false},
		{"an older one moved in", moveIn, true, false, true},
		{"an older one written over it", func(t *testing.T, path, older string) { copyTo(t, older, path) }, true, false, true},
		{"its directory moved away", func(t *testing.T, path, _ string) {
			require.NoError(t, os.Rename(filepath.Dir(path), filepath.Dir(path)+".away"))
		}, true, false, true},
		{"its time changed", func(t *testing.T, path, _ string) {
			require.NoError(t, os.Chtimes(path, time.Unix(1, 0), time.Unix(1, 0)))
		}, false, false, false},
		{"the same written over it", func(t *testing.T, path, _ string) { copyTo(t, path, path) }, false, false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(scratch(t), "a", "agent.db")
			s := openMarked(t, path)
			require.NoError(t, s.Write(t.Context(), insert(1, "sold before the backup")))
			require.NoError(t, s.Truncate(t.Context()))
			older := filepath.Join(scratch(t), "older.db")
			copyTo(t, path, older)
			require.NoError(t, s.Write(t.Context(), insert(2, "sold after it")))
			require.NoError(t, s.Truncate(t.Context()))
			require.NoError(t, s.Write(t.Context(), insert(3, "in the log alone")))
			require.NoError(t, s.Reserved(t.Context()))

			c.do(t, path, older)
			if !c.lost {
				require.NoError(t, s.Reserved(t.Context()))
				require.FileExists(t, store.MarkPath(path))
			} else {
				err := s.Reserved(t.Context())
				require.ErrorIs(t, err, store.ErrDisplaced)
				require.Regexp(t, `agent\.db\S* was (removed|replaced|overwritten) while the terminal runs`, err.Error())
			}
			require.NoError(t, s.Write(t.Context(), insert(4, "the end of what was open")))
			require.Equal(t, int64(4), countRows(t, s))
			if _, err := os.Stat(path); err == nil && !c.cut {
				_, err := sqlite.Hold(t.Context(), path)
				require.ErrorIs(t, err, store.ErrLocked)
				pid, running, err := sqlite.Owner(path)
				require.NoError(t, err)
				require.True(t, running)
				require.Equal(t, os.Getpid(), pid)
			}

			_ = s.Close() // where nothing can be put back, the log names it
			if _, err := os.Stat(filepath.Dir(path)); err != nil {
				require.NoError(t, os.Mkdir(filepath.Dir(path), 0o700))
			}
			again, err := sqlite.Open(t.Context(), marked(frozen(t, path, scratch(t)))) // as another process would
			switch {
			case c.cut && err != nil:
				require.ErrorIs(t, err, store.ErrCut)
			case c.cut: // the directory was taken with all that knows of it
				require.Equal(t, int64(0), countRows(t, again))
				require.NoError(t, again.Close())
			default:
				require.NoError(t, err)
				require.Equal(t, int64(4), countRows(t, again))
				require.NoError(t, again.Check(t.Context()))
				require.NoError(t, again.Close())
			}
			if c.back {
				_, err := os.Lstat(path + ".back")
				require.ErrorIs(t, err, fs.ErrNotExist)
			}
		})
	}
}
