package crashfs_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/store"
	"posagent/store/crashfs"
	"posagent/store/sqlite"
)

// A checkpoint that is stopped after any of its pages, and whose log is then lost, has left the newest sequence beside old rows: the
// start says that the journal was cut, or holds everything.
func TestField_J1AFoldingThatLostItsLogIsNoticed(t *testing.T) {
	s, rec := unfolded(t)
	require.Len(t, accept(t, s, rec, 1, 21), 20)
	require.NoError(t, s.Truncate(t.Context()))
	for id := range int64(20) { // the pages of all rows are in the next log, the record of the end among the first of them
		require.NoError(t, s.Write(t.Context(), put(s, id+1, lives[1])))
		rec.Ack(sale{id + 1, lives[1]})
	}
	from := rec.Len() + 3 // both slots of the mark, and their sync: before that nothing is folded
	require.NoError(t, s.Truncate(t.Context()))
	to := rec.Len()
	require.NoError(t, s.Close())
	require.NoError(t, rec.Close())

	cuts, whole := 0, 0
	dir := scratch(t)
	for n := from; n <= to; n++ {
		rep, err := rec.Enumerate(crashfs.Plan{States: 4, Seed: newSeed(), Dir: dir, From: n, To: n}, func(st crashfs.State) error {
			path := filepath.Join(st.Dir, "agent.db")
			if err := os.Remove(path + "-wal"); err != nil && !errors.Is(err, os.ErrNotExist) {
				return err
			}
			s, err := sqlite.Open(t.Context(), options(path, "", "FULL"))
			if errors.Is(err, store.ErrCut) {
				cuts++
				return nil
			}
			if err != nil {
				return err
			}
			found := make(map[int64]string)
			err = s.Read(t.Context(), func(r store.Reader) error { return load(s, r, found) })
			for _, a := range st.Acked {
				if want := a.(sale); slices.Index(lives, found[want.id]) < slices.Index(lives, want.state) {
					err = errors.Join(err, &lostError{[]sale{want}})
					break
				}
			}
			whole++
			return errors.Join(err, s.Close())
		})
		require.NoError(t, err)
		for _, f := range rep.Failures {
			t.Errorf("seed %d, %v: %v", rep.Seed, f.State, f.Err)
		}
	}
	t.Logf("%d points of a checkpoint: %d cut, %d whole", to-from+1, cuts, whole)
	require.Positive(t, cuts)
	require.Positive(t, whole)
}
