package printer

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Errors of the openers.
var (
	ErrNotDevice = errors.New("not a USB printer's device file")
	ErrNotFile   = errors.New("not a plain file")
	ErrNotOurs   = errors.New("holds something else than receipts: name a file that is not there yet")
	ErrFull      = errors.New("file is full: move it away")
)

// pollEvery is how often a device that is not there, or has nothing to say, is looked at again.
const (
	pollEvery = 100 * time.Millisecond
	emptyRead = 20 * time.Millisecond
)

// Device opens the device file of a USB printer, such as /dev/usb/lp0, and waits for it while it is missing or another program has it.
// Errors: ErrNotDevice, os.ErrPermission, and the context's.
func Device(path string) Opener {
	return func(ctx context.Context) (Conn, error) {
		for {
			conn, err := openDevice(path)
			if err == nil {
				return conn, nil
			}
			if !errors.Is(err, os.ErrNotExist) && !errors.Is(err, unix.EBUSY) && !errors.Is(err, unix.ENODEV) {
				return nil, err
			}
			select {
			case <-ctx.Done():
				return nil, fmt.Errorf("%w: %w", err, ctx.Err())
			case <-time.After(pollEvery):
			}
		}
	}
}

// openDevice opens a character device that is no terminal. It looks at it before: opening a terminal moves its modem lines.
func openDevice(path string) (Conn, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if info.Mode()&os.ModeCharDevice == 0 {
		return nil, fmt.Errorf("%s: %w", path, ErrNotDevice)
	}
	f, err := os.OpenFile(path, os.O_RDWR|unix.O_NOCTTY|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	d, err := newDevice(f)
	if err != nil {
		return nil, err
	}
	terminal := false
	err = d.raw.Control(func(fd uintptr) { // File.Fd would make it blocking
		_, err := unix.IoctlGetTermios(int(fd), unix.TCGETS)
		terminal = err == nil
	})
	if terminal {
		err = fmt.Errorf("%s: %w", path, ErrNotDevice)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return d, nil
}

// device is an open USB printer.
type device struct {
	*os.File
	raw syscall.RawConn
}

var _ Conn = (*device)(nil)

func newDevice(f *os.File) (*device, error) {
	raw, err := f.SyscallConn()
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &device{f, raw}, nil
}

// Read returns at least one byte, or fails. A USB printer that has nothing to say may end a read with nothing.
func (d *device) Read(p []byte) (int, error) {
	for {
		n, err := d.File.Read(p)
		if n > 0 || !errors.Is(err, io.EOF) {
			return n, err
		}
		<-time.After(emptyRead)
	}
}

// Write returns when the printer has taken the bytes: the driver holds them until then, and forgets them when the device is closed.
func (d *device) Write(p []byte) (int, error) {
	n, err := d.File.Write(p)
	if err != nil {
		return n, err
	}
	var failed error
	err = d.raw.Write(func(fd uintptr) bool {
		look := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLOUT}}
		if _, err := unix.Poll(look, 0); err != nil && !errors.Is(err, unix.EINTR) {
			failed = err
		}
		if look[0].Revents&(unix.POLLERR|unix.POLLHUP|unix.POLLNVAL) != 0 {
			failed = unix.EIO
		}
		return failed != nil || look[0].Revents&unix.POLLOUT != 0
	})
	return n, errors.Join(failed, err)
}

// maxFile is the size up to which a plain file is written.
const maxFile = 16 << 20

// File writes at the end of a plain file, which it makes if need be, but not below /dev: a file in the place of a printer that is off
// would keep it away. It opens the file for each write, so that it can be moved away at any time. Errors: ErrNotFile, and those
// of the file system; of a write also ErrFull, at 16 MiB.
func File(path string) Opener {
	return func(context.Context) (Conn, error) {
		path := filepath.Clean(path)
		info, err := os.Stat(path)
		if errors.Is(err, os.ErrNotExist) && !strings.HasPrefix(path, "/dev/") {
			if _, err = os.Stat(filepath.Dir(path)); err == nil {
				return file(path), nil
			}
		}
		switch {
		case err != nil:
			return nil, err
		case !info.Mode().IsRegular():
			return nil, fmt.Errorf("%s: %w", path, ErrNotFile)
		}
		return file(path), nil
	}
}

// file is the path of a plain file. It answers nothing.
type file string

var _ Conn = file("")

func (f file) Write(p []byte) (n int, err error) {
	out, err := os.OpenFile(string(f), os.O_RDWR|os.O_CREATE|os.O_APPEND|unix.O_NONBLOCK, 0o600)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	info, err := out.Stat()
	switch {
	case err != nil:
		return 0, err
	case !info.Mode().IsRegular():
		return 0, fmt.Errorf("%s: %w", f, ErrNotFile)
	case info.Size()+int64(len(p)) > maxFile:
		return 0, fmt.Errorf("%s: %w", f, ErrFull)
	}
	if err := receipts(out); err != nil {
		return 0, fmt.Errorf("%s: %w", f, err)
	}
	return out.Write(p)
}

// receipts refuses a file that holds what no printer was sent: that begins with rest, and start.
func receipts(f io.ReaderAt) error {
	head := make([]byte, maxPiece+len(initialize))
	n, err := f.ReadAt(head, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	sent := bytes.TrimLeft(head[:n], "\x00")
	if len(sent) == 0 || bytes.HasPrefix(sent, initialize) || sent[0] == esc && (len(sent) == 1 || sent[1] == 0) { // cut there, and gone on
		return nil
	}
	return ErrNotOurs
}

func (f file) Read([]byte) (int, error) {
	return 0, fmt.Errorf("%s is a file, which answers nothing: its status is none", f)
}

func (f file) SetReadDeadline(time.Time) error { return nil }

func (f file) Close() error { return nil }
