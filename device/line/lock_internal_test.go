package line

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// Where the kernel does not protect shared places, a lock file that somebody has planted is not written through: a link, another name
// of a file, a pipe. It is named, and no other place is taken for it.
func TestField2_A2NothingPlantedIsLocked(t *testing.T) {
	dir, device := t.TempDir(), "/dev/ttyS1"
	key, at := filepath.Join(dir, "device.key"), filepath.Join(dir, lockName(device))
	for name, plant := range map[string]func() error{
		"a link": func() error { return os.Symlink(key, at) }, "a link to nothing": func() error { return os.Symlink(filepath.Join(dir, "none"), at) },
		"another name": func() error { return os.Link(key, at) }, "a pipe": func() error { return unix.Mkfifo(at, 0o600) },
	} {
		require.NoError(t, os.WriteFile(key, []byte("the device's key, longer than a number"), 0o600))
		require.NoError(t, plant(), name)
		f, err := takeFile(dir, device)
		require.ErrorIs(t, err, errPlanted, name)
		require.ErrorContains(t, err, at)
		require.Nil(t, f)
		data, err := os.ReadFile(key)
		require.NoError(t, err)
		require.Equal(t, "the device's key, longer than a number", string(data), name)
		require.NoFileExists(t, filepath.Join(dir, "none"))
		require.NoError(t, os.Remove(at))
		require.NoError(t, os.Remove(key))
	}
	for range 2 { // made, and found
		f, err := takeFile(dir, device)
		require.NoError(t, err)
		require.NoError(t, f.Close())
	}
	file := unix.Stat_t{Mode: unix.S_IFREG | 0o644, Nlink: 1, Uid: 1000}
	require.False(t, planted(file, 1000))
	require.True(t, planted(file, 1001), "another account's")
	require.True(t, planted(file, 0), "root trusts no other account, either")
	file.Uid = 0
	require.False(t, planted(file, 1001))
}
