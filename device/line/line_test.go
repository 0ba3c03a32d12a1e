package line

import (
	"bytes"
	"context"
	"fmt"
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

// openPTY opens a pseudo-terminal pair; the master is the far end of the cable.
func openPTY(t *testing.T) (master *os.File, path string) {
	t.Helper()
	master, path, err := lines.PTY()
	require.NoError(t, err)
	t.Cleanup(func() { _ = master.Close() })
	return master, path
}

func config(t *testing.T, path string) Config {
	return Config{Path: path, Baud: 115200, LockDir: t.TempDir()}
}

func open(t *testing.T, p *Port) Conn {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), need.Limit())
	defer cancel()
	c, err := p.Open(ctx)
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// givesUp opens a port until it is known to wait, and ends the waiting.
func givesUp(t *testing.T, p *Port, what string, waits func(Stats) bool) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ended := make(chan error, 1)
	go func() {
		_, err := p.Open(ctx)
		ended <- err
	}()
	need.Until(t, what, func() bool { return waits(p.Stats()) })
	cancel()
	require.ErrorIs(t, need.Receive(t, "the end of the waiting", ended), context.Canceled)
}

func waitsForLock(s Stats) bool { return s.WaitingForLock }

func TestBytesGoBothWays(t *testing.T) {
	master, path := openPTY(t)
	p := New(config(t, path))
	c := open(t, p)
	_, err := c.Write([]byte{0x10, 0x02, 0x00, 0xFF, 0x11, 0x13, 0x0D, 0x0A})
	require.NoError(t, err)
	got := make([]byte, 64)
	n, err := master.Read(got)
	require.NoError(t, err)
	require.Equal(t, []byte{0x10, 0x02, 0x00, 0xFF, 0x11, 0x13, 0x0D, 0x0A}, got[:n], "raw: no byte means anything to the driver")

	_, err = master.Write([]byte("\x06abc\x15\x03\x04"))
	require.NoError(t, err)
	var back []byte
	for len(back) < 7 { // one byte at a time out of one large read
		var one [1]byte
		_, err := c.Read(one[:])
		require.NoError(t, err)
		back = append(back, one[0])
	}
	require.Equal(t, "\x06abc\x15\x03\x04", string(back))
	s := p.Stats()
	require.True(t, s.Open)
	require.EqualValues(t, 7, s.ReadBytes)
	require.EqualValues(t, 8, s.WrittenBytes)
}

func TestReadWithoutDataMeetsItsDeadline(t *testing.T) {
	_, path := openPTY(t)
	c := open(t, New(config(t, path)))
	for _, d := range []time.Duration{-time.Second, 0, 20 * time.Millisecond, 250 * time.Millisecond} {
		require.NoError(t, c.SetReadDeadline(time.Now().Add(d)))
		n, err := c.Read(make([]byte, 16))
		require.Zero(t, n)
		require.ErrorIs(t, err, os.ErrDeadlineExceeded)
	}
}

func TestUseAfterCloseReachesNoDescriptor(t *testing.T) {
	_, path := openPTY(t)
	c := open(t, New(config(t, path)))
	require.NoError(t, c.Close())
	// The freed descriptors are taken by files of somebody else.
	var files []*os.File
	for i := range 16 {
		f, err := os.Create(filepath.Join(t.TempDir(), fmt.Sprint(i)))
		require.NoError(t, err)
		defer func() { _ = f.Close() }()
		files = append(files, f)
	}
	n, err := c.Write([]byte("PRINT TOTAL"))
	require.Zero(t, n)
	require.ErrorIs(t, err, os.ErrClosed)
	_, err = c.Read(make([]byte, 8))
	require.ErrorIs(t, err, os.ErrClosed)
	require.NoError(t, c.Close())
	for _, f := range files {
		info, err := f.Stat()
		require.NoError(t, err)
		require.Zero(t, info.Size())
	}
}

func TestCloseEndsABlockedRead(t *testing.T) {
	_, path := openPTY(t)
	c := open(t, New(config(t, path)))
	ended := make(chan error, 1)
	go func() {
		_, err := c.Read(make([]byte, 8))
		ended <- err
	}()
	require.NoError(t, c.Close())
	require.ErrorIs(t, need.Receive(t, "the end of the read", ended), os.ErrClosed)
}

func TestHangUpGivesOneErrorAndTheLineOpensAgain(t *testing.T) {
	first, path := openPTY(t)
	second, path2 := openPTY(t)
	stable := filepath.Join(t.TempDir(), "by-id")
	require.NoError(t, os.Symlink(path, stable))
	p := New(config(t, stable))
	c := open(t, p)
	require.NoError(t, first.Close())
	_, err := c.Read(make([]byte, 8))
	require.Error(t, err)
	require.NotErrorIs(t, err, os.ErrClosed, "the first caller hears the reason")
	_, err = c.Read(make([]byte, 8))
	require.ErrorIs(t, err, os.ErrClosed)
	_, err = c.Write([]byte{1})
	require.ErrorIs(t, err, os.ErrClosed)
	require.False(t, p.Stats().Open)
	require.EqualValues(t, 1, p.Stats().Errors)

	// Unplugged for a while: Open waits. Plugged in again under another name, the stable path leads there.
	require.NoError(t, os.Remove(stable))
	opened := make(chan Conn, 1)
	go func() {
		c, _ := p.Open(t.Context())
		opened <- c
	}()
	need.Until(t, "the line is missed", func() bool { return p.Stats().LastError != "" })
	require.NoError(t, os.Symlink(path2, stable))
	c = need.Receive(t, "the line under its new name", opened)
	defer func() { _ = c.Close() }()
	_, err = c.Write([]byte("x"))
	require.NoError(t, err)
	got := make([]byte, 4)
	n, err := second.Read(got)
	require.NoError(t, err)
	require.Equal(t, "x", string(got[:n]))
	require.EqualValues(t, 2, p.Stats().Opens)
}

// A device that is pulled while it is opened frees its number for another: the name must still lead to what was opened.
func TestANameThatLeadsElsewhereWhileItIsOpened(t *testing.T) {
	_, path := openPTY(t)
	_, other := openPTY(t)
	stable := filepath.Join(t.TempDir(), "by-id")
	require.NoError(t, os.Symlink(path, stable))
	tty, err := openTTY(stable)
	require.NoError(t, err)
	defer func() { require.NoError(t, unix.Close(tty)) }()
	cfg := Config{Path: stable}
	require.NoError(t, cfg.leadsTo(tty))
	require.NoError(t, os.Remove(stable))
	require.ErrorIs(t, cfg.leadsTo(tty), os.ErrNotExist)
	require.NoError(t, os.Symlink(other, stable))
	require.ErrorIs(t, cfg.leadsTo(tty), errHangup)
}

func TestOpenStopsWaitingWithItsContext(t *testing.T) {
	p := New(config(t, filepath.Join(t.TempDir(), "absent")))
	givesUp(t, p, "the absent device is missed", func(s Stats) bool { return strings.Contains(s.LastError, "absent") })
}

func TestWriteToAStoppedPeerIsAbandoned(t *testing.T) {
	master, path := openPTY(t) // nobody reads the master
	cfg := config(t, path)
	cfg.WriteTimeout = 50 * time.Millisecond
	p := New(cfg)
	c := open(t, p)
	block := bytes.Repeat([]byte{0x55}, 256)
	var err error
	for range 1000 {
		if _, err = c.Write(block); err != nil {
			break
		}
	}
	require.ErrorIs(t, err, os.ErrDeadlineExceeded)
	_, err = c.Write(block)
	require.ErrorIs(t, err, os.ErrClosed)
	require.EqualValues(t, 1, p.Stats().WriteTimeouts)
	require.LessOrEqual(t, p.Stats().AbandonedNow, 1)
	open(t, p) // one abandoned write does not block the device
	require.NoError(t, master.Close())
	need.Until(t, "the writer comes back with the hang-up", func() bool { return p.Stats().AbandonedNow == 0 })
}

func TestOnlyTerminalsAreOpened(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	require.NoError(t, os.WriteFile(file, []byte("header"), 0o600))
	fifo := filepath.Join(dir, "fifo")
	require.NoError(t, unix.Mkfifo(fifo, 0o600))
	link := filepath.Join(dir, "link")
	require.NoError(t, os.Symlink(file, link))
	for _, path := range []string{file, fifo, dir, link, "/dev/zero", "/dev/null"} {
		t.Run(filepath.Base(path), func(t *testing.T) {
			_, err := New(config(t, path)).Open(t.Context())
			require.ErrorIs(t, err, ErrNotTTY)
		})
	}
	content, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, "header", string(content))
}

func TestSecondOwnerWaitsForTheLock(t *testing.T) {
	_, path := openPTY(t)
	cfg := config(t, path)
	c := open(t, New(cfg))
	other := New(cfg)
	givesUp(t, other, "the second waits for the lock", waitsForLock)
	require.NoError(t, c.Close())
	open(t, other)
}

// TestALineIsLockedWithoutACommonLockFile: two programs that may not write to the same directory, as one of them is started by systemd.
func TestALineIsLockedWithoutACommonLockFile(t *testing.T) {
	master, path := openPTY(t)
	one, two := config(t, path), config(t, path)
	c := open(t, New(one))
	device, err := two.Look()
	require.ErrorIs(t, err, ErrInUse)
	require.Equal(t, path, device)
	other := New(two)
	givesUp(t, other, "the other waits for the lock", waitsForLock)
	_, err = master.Write([]byte{6})
	require.NoError(t, err)
	n, err := c.Read(make([]byte, 4))
	require.NoError(t, err, "the other one has disturbed nothing")
	require.Equal(t, 1, n)
	require.NoError(t, c.Close())
	_, err = two.Look()
	require.NoError(t, err)
	open(t, other)
}

func TestLockFallsBackToTheTemporaryDirectory(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	_, path := openPTY(t)
	cfg := Config{Path: path, LockDir: filepath.Join(t.TempDir(), "missing")}
	c := open(t, New(cfg))
	found, err := filepath.Glob(filepath.Join(os.TempDir(), "LCK..pts_*"))
	require.NoError(t, err)
	require.Len(t, found, 1)
	givesUp(t, New(cfg), "the fallback locks as well", waitsForLock)
	_, err = takeFile(cfg.LockDir, path)
	require.ErrorIs(t, err, ErrInUse, "the file by itself, too")
	require.NoError(t, c.Close())
}

func TestTooManyAbandonedWritesRefuseAnotherOpening(t *testing.T) {
	_, path := openPTY(t)
	p := New(config(t, path))
	p.count(func(s *Stats) { s.AbandonedNow = maxStuck })
	_, err := p.Open(t.Context())
	require.ErrorIs(t, err, ErrStuck)
}

func TestImpossibleStopBits(t *testing.T) {
	_, err := New(Config{Path: "/dev/null", StopBits: 3}).Open(t.Context())
	require.ErrorContains(t, err, "stop bits")
}

// TestField_L12APtyHasNoCarrierToLose: where the device cannot tell, nothing is said of the other end.
func TestField_L12APtyHasNoCarrierToLose(t *testing.T) {
	_, path := openPTY(t)
	c := open(t, New(config(t, path)))
	wire, ok := c.(interface{ Carrier() (up, ok bool) })
	require.True(t, ok)
	_, known := wire.Carrier()
	require.False(t, known)
	require.NoError(t, c.Close())
	_, known = wire.Carrier()
	require.False(t, known)
}

// What another program leaves on an open line is taken back, and counted. The kind: canonical mode with echo (stty sane, a getty),
// another speed, another character size, flow control; each alone, again after the first time.
func TestField2_P3SettingsThatAreChangedComeBack(t *testing.T) {
	t.Parallel()
	master, path := openPTY(t)
	p := New(config(t, path))
	c := open(t, p)
	read := make(chan byte)
	go func() {
		var one [1]byte
		for {
			if _, err := c.Read(one[:]); err != nil {
				close(read)
				return
			}
			read <- one[0]
		}
	}()
	tty, err := unix.Open(path, unix.O_RDWR|unix.O_NOCTTY, 0)
	require.NoError(t, err)
	defer func() { require.NoError(t, unix.Close(tty)) }()
	good, err := unix.IoctlGetTermios(tty, unix.TCGETS2)
	require.NoError(t, err)
	for i, change := range []func(*unix.Termios){
		func(s *unix.Termios) { s.Lflag |= unix.ICANON | unix.ECHO | unix.ISIG },
		func(s *unix.Termios) { s.Iflag |= unix.ICRNL },
		func(s *unix.Termios) { s.Oflag |= unix.OPOST | unix.ONLCR },
		func(s *unix.Termios) { s.Cflag, s.Ispeed, s.Ospeed = s.Cflag&^unix.CBAUD|unix.B115200, 115200, 115200 },
		func(s *unix.Termios) { s.Cflag = s.Cflag&^unix.CSIZE | unix.CS7 | unix.PARENB },
		func(s *unix.Termios) { s.Iflag |= unix.IXON | unix.IXOFF },
	} {
		bad := *good
		change(&bad)
		require.NoError(t, unix.IoctlSetTermios(tty, unix.TCSETS2, &bad))
		taken, err := unix.IoctlGetTermios(tty, unix.TCGETS2)
		require.NoError(t, err)
		if *taken == *good { // a pseudo terminal has no such thing
			continue
		}
		need.Until(t, "the line to be set up again", func() bool {
			now, err := unix.IoctlGetTermios(tty, unix.TCGETS2)
			return err == nil && *now == *good
		})
		_, err = master.Write([]byte{0x02, byte(i)})
		require.NoError(t, err)
		require.Equal(t, []byte{0x02, byte(i)}, []byte{need.Receive(t, "a byte", read), need.Receive(t, "a byte", read)})
	}
	st := p.Stats()
	require.GreaterOrEqual(t, st.Altered, uint64(4), "a pseudo terminal has modes and flow control at least")
	require.False(t, st.AlteredAt.IsZero())
	require.EqualValues(t, 1, st.Opens)
	require.NoError(t, c.Close())
	for range read { // until the reader has gone
	}
}
