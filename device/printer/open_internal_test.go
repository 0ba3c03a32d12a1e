package printer

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"posagent/cross/need"
	"posagent/ecr/ecrtest/lines"
)

func newAt(t *testing.T, open Opener, status Status) *Printer {
	t.Helper()
	prof, err := Named("80mm")
	require.NoError(t, err)
	prof.Status = status
	p, err := New(Config{Profile: prof, Open: open, Answer: 300 * time.Millisecond})
	require.NoError(t, err)
	t.Cleanup(func() { _ = p.Close() })
	return p
}

var line = Document{Lines: []Line{{Text: "paid"}, {Kind: Cut}}}

// bytesOf are the bytes of a document of a new printer, and of each further one.
func bytesOf(t *testing.T) (first, next string) {
	t.Helper()
	prof, err := Named("80mm")
	require.NoError(t, err)
	data, err := Encode(prof, line)
	require.NoError(t, err)
	return strings.Repeat("\x00", 1024) + string(data), string(data)
}

// TestFile: documents are added to a plain file, which can be moved away at any time.
func TestFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "receipts.bin")
	p := newAt(t, File(path), NoStatus)
	first, next := bytesOf(t)
	require.NoError(t, p.Print(t.Context(), line))
	require.NoError(t, p.Print(t.Context(), line))
	got, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, first+next, string(got))
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode())

	require.NoError(t, os.Rename(path, path+".1"))
	require.NoError(t, p.Print(t.Context(), line))
	got, err = os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, next, string(got))
}

func TestFilesThatAreRefused(t *testing.T) {
	dir := t.TempDir()
	fifo := filepath.Join(dir, "fifo")
	require.NoError(t, unix.Mkfifo(fifo, 0o600))
	full := filepath.Join(dir, "full")
	require.NoError(t, os.WriteFile(full, nil, 0o600))
	require.NoError(t, os.Truncate(full, maxFile-100))
	for path, want := range map[string]error{
		fifo: ErrNotFile, dir: ErrNotFile, "/dev/null": ErrNotFile, full: ErrFull,
		filepath.Join(dir, "no", "such"): os.ErrNotExist, "/dev/no-such-printer": os.ErrNotExist, "/etc/../dev/no-such-printer": os.ErrNotExist,
	} {
		err := newAt(t, File(path), NoStatus).Print(t.Context(), line)
		require.ErrorIs(t, err, want, path)
		require.ErrorIs(t, err, ErrOffline, path)
		require.NotErrorIs(t, err, ErrUnknownEnd, path)
	}
	info, err := os.Stat(full)
	require.NoError(t, err)
	require.EqualValues(t, maxFile-100, info.Size())
	err = newAt(t, File(filepath.Join(dir, "answers")), RealTime).Print(t.Context(), line)
	require.ErrorContains(t, err, "is a file, which answers nothing: its status is none")
}

// TestDevice: only a device file that is no terminal is opened, and waited for.
func TestDevice(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	far, pty, err := lines.PTY()
	require.NoError(t, err)
	defer func() { require.NoError(t, far.Close()) }()
	for _, path := range []string{file, dir, pty} {
		err := newAt(t, Device(path), NoStatus).Print(t.Context(), line)
		require.ErrorIs(t, err, ErrNotDevice, path)
		require.ErrorIs(t, err, ErrOffline)
	}
	missing := filepath.Join(dir, "lp0")
	p := newAt(t, Device(missing), NoStatus)
	err = p.Print(t.Context(), line)
	require.ErrorIs(t, err, os.ErrNotExist)
	require.ErrorIs(t, err, ErrOffline)
	require.NoError(t, os.Symlink("/dev/null", missing))
	require.NoError(t, p.Print(t.Context(), line))

	err = newAt(t, Device("/dev/full"), NoStatus).Print(t.Context(), line)
	require.ErrorIs(t, err, unix.ENOSPC)
	require.NotErrorIs(t, err, ErrUnknownEnd, "its first write, which prints nothing, failed")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = Device(filepath.Join(dir, "none"))(ctx)
	require.ErrorIs(t, err, context.Canceled)
}

// TestDeviceWaits stands a pseudo terminal in for a USB printer, whose driver answers the same calls: a write waits until the bytes are
// taken, and both directions obey deadlines.
func TestDeviceWaits(t *testing.T) {
	far, path, err := lines.PTY()
	require.NoError(t, err)
	near, err := lines.OpenRaw(path)
	require.NoError(t, err)
	d, err := newDevice(near)
	require.NoError(t, err)
	defer func() { require.NoError(t, d.Close()) }()

	n, err := d.Write([]byte("paid"))
	require.NoError(t, err)
	require.Equal(t, 4, n)
	buf := make([]byte, 64)
	n, err = far.Read(buf)
	require.NoError(t, err)
	require.Equal(t, "paid", string(buf[:n]))
	_, err = far.Write([]byte{0x12})
	require.NoError(t, err)
	n, err = d.Read(buf)
	require.NoError(t, err)
	require.Equal(t, []byte{0x12}, buf[:n])

	require.NoError(t, d.SetReadDeadline(time.Now().Add(20*time.Millisecond)))
	_, err = d.Read(buf)
	require.ErrorIs(t, err, os.ErrDeadlineExceeded)
	for err = nil; err == nil; { // until the system's memory is full
		require.NoError(t, d.SetWriteDeadline(time.Now().Add(100*time.Millisecond)))
		_, err = d.Write(make([]byte, 1024))
	}
	require.ErrorIs(t, err, os.ErrDeadlineExceeded)
	require.NoError(t, far.Close())
	require.NoError(t, d.SetWriteDeadline(need.Deadline()))
	_, err = d.Write([]byte("paid"))
	require.Error(t, err)
	require.NotErrorIs(t, err, os.ErrDeadlineExceeded, "the device is gone")
}

// TestAnEmptyRead: a USB printer that has nothing to say may end a read with nothing, which is not the end of the device.
func TestAnEmptyRead(t *testing.T) {
	empty, err := os.OpenFile(filepath.Join(t.TempDir(), "empty"), os.O_RDWR|os.O_CREATE, 0o600)
	require.NoError(t, err)
	_, err = empty.Read(make([]byte, 1))
	require.ErrorIs(t, err, io.EOF)
	d, err := newDevice(empty)
	require.NoError(t, err)
	got := make(chan byte, 1)
	go func() {
		var b [1]byte
		if n, err := d.Read(b[:]); n == 1 && err == nil {
			got <- b[0]
		}
	}()
	_, err = empty.WriteAt([]byte{0x16}, 0)
	require.NoError(t, err)
	require.Equal(t, byte(0x16), need.Receive(t, "what the printer has said", got))
	require.NoError(t, empty.Close())
}

// A file that holds something else is not added to: the device's key, the journal, the configuration, a token, whatever it is that the
// setting names by mistake. What a printer was sent, whole or cut by a full disk, is.
func TestField2_P7OnlyReceiptsAreAddedTo(t *testing.T) {
	dir := t.TempDir()
	for name, held := range map[string]string{
		"device.key": "\x00\x1f\x8bsecret", "agent.db": "SQLite format 3\x00", "config.toml": "[terminal]\n", "token": "t", "zeros and a key": strings.Repeat("\x00", 1024) + "x",
	} {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(held), 0o600))
		err := newAt(t, File(path), NoStatus).Print(t.Context(), line)
		require.ErrorIs(t, err, ErrNotOurs, name)
		require.NotErrorIs(t, err, ErrUnknownEnd, name)
		got, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Equal(t, held, string(got))
	}
	for _, held := range []string{"", "\x00", strings.Repeat("\x00", 1024), "\x1b", "\x1b@", strings.Repeat("\x00", 1024) + "\x1b@"} {
		path := filepath.Join(dir, "receipts")
		require.NoError(t, os.WriteFile(path, []byte(held), 0o600))
		require.NoError(t, newAt(t, File(path), NoStatus).Print(t.Context(), line), "%q", held)
	}
}
