package sqlite

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/store"
	"posagent/store/marks"
)

// copyJournal copies a journal with its log and its mark, as a power cut would leave them.
func copyJournal(t *testing.T, from, to string) {
	t.Helper()
	for _, suffix := range []string{"", "-wal", ".mark"} {
		data, err := os.ReadFile(from + suffix)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(to+suffix, data, 0o600))
	}
}

// A start that fails after a kill in the middle of a folding leaves the log alone: the mark says
// that it must be there.
func TestField_J1AFailedStartKeepsTheLog(t *testing.T) {
	dir := t.TempDir()
	opt := Options{Path: filepath.Join(dir, "agent.db"), Wrapper: plainWrapper{}, Ballast: -1, CheckpointEvery: time.Hour,
		Steps: []store.Step{{Name: "t/1", SQL: "CREATE TABLE t (id INTEGER PRIMARY KEY) STRICT;"}}, Marks: []string{store.MarkPath(filepath.Join(dir, "agent.db"))}}
	s, err := Open(t.Context(), opt)
	require.NoError(t, err)
	for range 5 {
		require.NoError(t, s.Write(t.Context(), func(tx store.Tx) error { _, err := tx.Exec("INSERT INTO t DEFAULT VALUES"); return err }))
	}
	killed := filepath.Join(t.TempDir(), "agent.db")
	require.NoError(t, s.exclusive(t.Context(), func() error {
		f, err := s.beginFold()
		require.NoError(t, err)
		require.NotZero(t, f.log.Frames)
		require.NoError(t, s.marks.Durably(func(c *marks.Slot) { c.Fold = f.log }))
		copyJournal(t, opt.Path, killed)
		_, _, err = s.endFold(f, s.w)
		return err
	}))
	require.NoError(t, s.Close())

	opt.Path, opt.Marks = killed, []string{store.MarkPath(killed)}
	older := opt
	older.Steps = nil
	_, err = Open(t.Context(), older)
	require.ErrorIs(t, err, store.ErrNewer)
	broken := opt
	broken.Steps = append([]store.Step{}, opt.Steps...)
	broken.Steps = append(broken.Steps, store.Step{Name: "t/2", SQL: "CREATE TABLE t (id INTEGER PRIMARY KEY) STRICT;"})
	_, err = Open(t.Context(), broken)
	require.Error(t, err)

	s, err = Open(context.Background(), opt)
	require.NoError(t, err, "nothing is missing")
	n := 0
	require.NoError(t, s.Read(t.Context(), func(r store.Reader) error { return r.QueryRow("SELECT count(*) FROM t").Scan(&n) }))
	require.Equal(t, 5, n)
	require.NoError(t, s.Close())
}

// A log beside a writer that never rests: what a checkpoint leaves of it, as something was written or read meanwhile, the writer folds
// itself once the log is long, and the next commit starts it anew.
func TestALongLogIsFoldedByTheWriter(t *testing.T) {
	path := filepath.Join(t.TempDir(), "agent.db")
	synctest.Test(t, func(t *testing.T) {
		s, err := Open(t.Context(), Options{Path: path, Wrapper: plainWrapper{}, Ballast: -1, CheckpointEvery: time.Hour, Synchronous: "OFF",
			Steps: []store.Step{{Name: "t/1", SQL: "CREATE TABLE t (id INTEGER PRIMARY KEY, text TEXT) STRICT;"}}})
		require.NoError(t, err)
		defer func() { require.NoError(t, s.Close()) }()
		write := func(more func()) {
			require.NoError(t, s.Write(context.Background(), func(tx store.Tx) error {
				_, err := tx.Exec("INSERT INTO t (text) VALUES (?)", strings.Repeat("x", 64<<10))
				more()
				return err
			}))
		}
		released, ended := [2]chan struct{}{make(chan struct{}), make(chan struct{})}, make(chan struct{})
		go func() { // sees the log as it is now
			_ = s.Read(context.Background(), func(r store.Reader) error {
				var n int
				err := r.QueryRow("SELECT COUNT(*) FROM t").Scan(&n)
				<-released[0]
				return err
			})
		}()
		synctest.Wait()
		for range walFrames/16 + 100 {
			write(func() {})
		}
		go write(func() { <-released[1] })
		synctest.Wait()
		go func() { s.checkpoint(); close(ended) }()
		synctest.Wait()
		close(released[0])
		synctest.Wait()
		close(released[1])
		<-ended
		write(func() {})
		frames, _, _, err := s.ckpt.checkpoint("NOOP")
		require.NoError(t, err)
		require.Less(t, frames, int64(walFrames), "the log is started anew")
	})
}
