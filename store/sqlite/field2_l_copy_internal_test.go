package sqlite

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/store"
)

// TestField2_L13ACopyThatHasNoRoomIsNotBegun: a backup filled the card beside the journal before it failed. What the copy needs, its pages in
// use and what the terminal writes meanwhile, is compared with what is free; a file system that does not tell is tried.
func TestField2_L13ACopyThatHasNoRoomIsNotBegun(t *testing.T) {
	dir := t.TempDir()
	l, err := openLink(t.Context(), settings{path: filepath.Join(dir, "a.db"), synchronous: "OFF"})
	require.NoError(t, err)
	defer func() { require.NoError(t, l.close()) }()
	require.NoError(t, l.exec("CREATE TABLE t (b BLOB)"))
	require.NoError(t, l.exec("INSERT INTO t VALUES (zeroblob(3000000))"))
	free := func(n int64, err error) func(string) (int64, error) {
		return func(where string) (int64, error) {
			require.Equal(t, dir, where)
			return n, err
		}
	}
	copied := filepath.Join(dir, "a.db.copy")
	err = l.spaceFor(t.Context(), copied, free(4_000_000, nil))
	require.ErrorIs(t, err, store.ErrFull)
	require.ErrorContains(t, err, "KiB in "+dir+", and 3906 KiB are free there")
	require.NoError(t, l.spaceFor(t.Context(), copied, free(4_200_000, nil)))
	require.NoError(t, l.spaceFor(t.Context(), copied, free(0, errors.New("it does not tell"))))
	require.NoError(t, l.exec("DELETE FROM t"))
	require.NoError(t, l.spaceFor(t.Context(), copied, free(1_200_000, nil)), "what was deleted is not copied")
}
