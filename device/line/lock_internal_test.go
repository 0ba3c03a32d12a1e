package line

import (
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"posagent/cross/need"
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

// holding lets this binary be the other program that has a line.
const holding = "HOLDS_LINE"

// TestField2_P4WhoHasTheLineIsTold: this program itself, by another name of the line, or another one. Both are told beside a line that waits.
func TestField2_P4WhoHasTheLineIsTold(t *testing.T) {
	if path := os.Getenv(holding); path != "" {
		_, err := New(Config{Path: path, LockDir: t.TempDir()}).Open(t.Context())
		require.NoError(t, err)
		_, _ = os.Stdout.WriteString("has it\n")
		_, _ = os.Stdin.Read(make([]byte, 1)) // until its parent goes
		return
	}
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	require.NoError(t, err)
	defer master.Close()
	require.NoError(t, unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0))
	n, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	require.NoError(t, err)
	pty := filepath.Join("/dev/pts", strconv.Itoa(n))
	link := filepath.Join(t.TempDir(), "by-id")
	require.NoError(t, os.Symlink(pty, link))
	waits := func(path string) error {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		p := New(Config{Path: path, LockDir: t.TempDir()})
		ended := make(chan error, 1)
		go func() { _, err := p.Open(ctx); ended <- err }()
		need.Until(t, "it waits", func() bool { return p.Stats().WaitingForLock })
		cancel()
		require.Error(t, need.Receive(t, "its end", ended))
		return p.Stats().Reason
	}

	first, err := New(Config{Path: pty, LockDir: t.TempDir()}).Open(t.Context())
	require.NoError(t, err)
	require.ErrorIs(t, waits(link), ErrOurs)
	require.ErrorIs(t, waits(link), ErrInUse)
	_, err = Config{Path: link, LockDir: t.TempDir()}.Look()
	require.ErrorIs(t, err, ErrInUse)
	require.NoError(t, first.Close())

	cmd := exec.Command(os.Args[0], "-test.run", "^TestField2_P4WhoHasTheLineIsTold$")
	cmd.Env = append(os.Environ(), holding+"="+pty)
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() { _ = in.Close(); _ = cmd.Wait() })
	said := make([]byte, len("has it\n"))
	_, err = io.ReadFull(out, said)
	require.NoError(t, err)
	reason := waits(link)
	require.ErrorIs(t, reason, ErrInUse)
	require.NotErrorIs(t, reason, ErrOurs)
}
