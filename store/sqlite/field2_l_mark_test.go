package sqlite_test

import (
	"io/fs"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/store"
	"posagent/store/marks"
	"posagent/store/sqlite"
)

// TestField2_L9AMarkThatStandsStill: the medium of the second mark became read-only. The mark was not read either, so that an older directory
// went in undetected. What stands there is read, and that it is not written is said for as long as it is so: at the start, and after a
// write that failed.
func TestField2_L9AMarkThatStandsStill(t *testing.T) {
	dir, far := scratch(t), filepath.Join(t.TempDir(), "mark")
	path := filepath.Join(dir, "agent.db")
	readOnly := false
	opt := marked(path)
	opt.Marks = append(opt.Marks, far)
	opt.OpenMark = func(path string, create bool) (store.MarkFile, error) {
		if readOnly && path == far {
			return nil, &fs.PathError{Op: "open", Path: path, Err: syscall.EROFS}
		}
		return marks.OpenFile(path, create)
	}
	s, err := sqlite.Open(t.Context(), opt)
	require.NoError(t, err)
	require.NoError(t, s.Write(t.Context(), insert(1, "one")))
	older := frozen(t, path, t.TempDir())
	require.NoError(t, s.Write(t.Context(), insert(2, "two")))
	require.NoError(t, s.Close())

	readOnly = true
	s, err = sqlite.Open(t.Context(), opt)
	require.NoError(t, err)
	unwritten := func() error { return s.Health(t.Context()).Marks[1].Err }
	require.ErrorIs(t, unwritten(), syscall.EROFS)
	require.NoError(t, s.Write(t.Context(), insert(3, "three")))
	require.ErrorIs(t, unwritten(), syscall.EROFS)
	require.NoError(t, s.Health(t.Context()).Marks[0].Err)
	require.NoError(t, s.Close())

	opt.Path, opt.Marks[0] = older, store.MarkPath(older)
	_, err = sqlite.Open(t.Context(), opt)
	require.ErrorIs(t, err, store.ErrCut, "what stands on the medium knows more than the older directory")
}
