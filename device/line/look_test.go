package line

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// TestLookNamesWhatKeepsALineShut: it says so without opening the device.
func TestLookNamesWhatKeepsALineShut(t *testing.T) {
	dir, locks := t.TempDir(), t.TempDir()
	look := func(path string) (string, error) { return Config{Path: path, LockDir: locks}.Look() }

	_, err := look(filepath.Join(dir, "ttyUSB9"))
	require.ErrorIs(t, err, os.ErrNotExist)
	file := filepath.Join(dir, "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	for _, no := range []string{file, dir, "/dev/null"} {
		_, err = look(no)
		require.ErrorIs(t, err, ErrNotTTY, no)
	}

	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	require.NoError(t, err)
	defer master.Close()
	n, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	require.NoError(t, err)
	pty := filepath.Join("/dev/pts", strconv.Itoa(n))
	name := filepath.Join(dir, "register")
	require.NoError(t, os.Symlink(pty, name))
	device, err := look(name)
	require.NoError(t, err, "it is locked for its own end, and would not open")
	require.Equal(t, pty, device)

	lock, err := takeFile(locks, pty)
	require.NoError(t, err)
	device, err = look(name)
	require.ErrorIs(t, err, ErrInUse)
	require.Equal(t, pty, device)
	require.NoError(t, lock.Close())
	_, err = look(name)
	require.NoError(t, err)
}
