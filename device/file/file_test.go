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

// What another account has planted where a file is written is not followed and not waited for: a link, a name of another file, a pipe,
// a directory; nor is the rest of a run that was killed. A failure leaves the old file, and nothing beside it.
func TestField2_D6NothingPlantedIsWrittenThrough(t *testing.T) {
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	secret := in("secret")
	for name, plant := range map[string]func(at string) error{
		"a link": func(at string) error { return os.Symlink(secret, at) }, "another name": func(at string) error { return os.Link(secret, at) },
		"a pipe": func(at string) error { return syscall.Mkfifo(at, 0o600) }, "a rest": func(at string) error { return os.WriteFile(at, []byte("rest of a run"), 0o666) },
		"nothing": func(string) error { return nil },
	} {
		for _, replace := range []func(path string) error{
			func(path string) error { return file.Replace(path, 0o640, file.Bytes([]byte("new"))) },
			func(path string) error { return file.Put(path, 0o640, []byte("new")) },
		} {
			require.NoError(t, os.WriteFile(secret, []byte("secret"), 0o600))
			path := in("target")
			require.NoError(t, plant(path+".new"), name)
			require.NoError(t, replace(path), name)
			data, info, err := file.Read(path, file.NoFollow, 100)
			require.NoError(t, err, name)
			require.Equal(t, []any{"new", fs.FileMode(0o640)}, []any{string(data), info.Mode()}, name)
			data, err = os.ReadFile(secret)
			require.NoError(t, err)
			require.Equal(t, "secret", string(data), name)
			require.NoFileExists(t, path+".new")
			require.NoError(t, os.Remove(path))
			require.NoError(t, os.Remove(secret))
		}
	}
	require.NoError(t, os.WriteFile(in("old"), []byte("old"), 0o600))
	require.ErrorIs(t, file.Replace(in("old"), 0o600, func(*os.File) error { return syscall.ENOSPC }), syscall.ENOSPC)
	data, err := os.ReadFile(in("old"))
	require.NoError(t, err)
	require.Equal(t, "old", string(data))
	require.NoFileExists(t, in("old.new"))
	require.NoError(t, os.Mkdir(in("old.new"), 0o700))
	require.NoError(t, os.WriteFile(in("old.new")+"/x", nil, 0o600))
	require.Error(t, file.Replace(in("old"), 0o600, file.Bytes(nil)), "a directory that is not empty")
}
