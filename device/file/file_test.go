package file_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/device/file"
)

func TestRead(t *testing.T) {
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	require.NoError(t, os.WriteFile(in("plain"), []byte("12345"), 0o640))
	require.NoError(t, os.Symlink("plain", in("link")))
	require.NoError(t, os.Symlink("pipe", in("linked pipe")))
	require.NoError(t, syscall.Mkfifo(in("pipe"), 0o600))

	for _, path := range []string{"plain", "link"} {
		data, info, err := file.Read(in(path), file.Follow, 5)
		require.NoError(t, err, path)
		require.Equal(t, "12345", string(data), path)
		require.Equal(t, fs.FileMode(0o640), info.Mode().Perm(), path)
	}
	for name, tc := range map[string]struct {
		path  string
		links file.Links
		most  int64
		want  error
	}{
		"a byte too many": {in("plain"), file.Follow, 4, file.ErrTooLong}, "a link": {in("link"), file.NoFollow, 5, syscall.ELOOP},
		"a pipe": {in("pipe"), file.NoFollow, 5, file.ErrIrregular}, "a link to a pipe": {in("linked pipe"), file.Follow, 5, file.ErrIrregular},
		"a directory": {dir, file.Follow, 5, file.ErrIrregular}, "a device": {"/dev/zero", file.Follow, 5, file.ErrIrregular},
		"nothing": {in("nothing"), file.Follow, 5, fs.ErrNotExist},
	} {
		data, _, err := file.Read(tc.path, tc.links, tc.most)
		require.ErrorIs(t, err, tc.want, name)
		require.Nil(t, data, name)
	}
}
