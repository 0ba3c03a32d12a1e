package keypad

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Why a device is not read. A path that is missing is os.ErrNotExist, one that the program may not read os.ErrPermission.
var (
	ErrNotInput = errors.New("not an input device: name one of /dev/input/by-id (ls -l /dev/input/by-id)")
	ErrNoKeys   = errors.New("not a keypad: name the keypad's own device (ls -l /dev/input/by-id), or say in map which of its keys they are")
	ErrInUse    = errors.New("another program keeps its keys to itself: end that program")
)

var (
	errUnplugged = errors.New("unplugged")
	errStopped   = errors.New("not read any more: the program stops")
)

// device is one opening of an input device.
type device interface {
	io.ReadCloser // Read gives whole events, and ends with Close
	// Flush throws away what can be read now.
	Flush() error
	Name() (string, error)
	// Has returns the codes of the keys that the device has, Closed those that are down.
	Has() (*bits, error)
	Closed() (*bits, error)
	// Own keeps the keys from the console and from other programs, and has events timed by a clock that never jumps.
	Own() error
}

const (
	inputMajor = 13 // of every input device
	maxName    = 80
	maxFlush   = 1000 // reads: a device that is never empty floods
)

// The requests of linux/input.h.
const (
	eviocgversion  = 2<<30 | 4<<16 | 'E'<<8 | 0x01
	eviocgname     = 2<<30 | 256<<16 | 'E'<<8 | 0x06
	eviocgkey      = 2<<30 | uint(unsafe.Sizeof(bits{}))<<16 | 'E'<<8 | 0x18
	eviocgbitKey   = 2<<30 | uint(unsafe.Sizeof(bits{}))<<16 | 'E'<<8 | 0x20 + evKey
	eviocgrab      = 1<<30 | 4<<16 | 'E'<<8 | 0x90
	eviocsclockid  = 1<<30 | 4<<16 | 'E'<<8 | 0xa0
	clockMonotonic = unix.CLOCK_MONOTONIC
)

// file is a file that is read until it is closed from elsewhere.
type file struct{ f *os.File }

// openFile opens without waiting for anything.
func openFile(path string) (file, error) {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_NONBLOCK|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	if err != nil {
		return file{}, err
	}
	return file{os.NewFile(uintptr(fd), path)}, nil
}

// Read and Close are those of the file, and Flush reads until there is nothing to read.
func (f file) Read(p []byte) (int, error) { return f.f.Read(p) }

func (f file) Close() error { return f.f.Close() }

func (f file) Flush() error {
	var failed error
	err := f.control(func(fd int) error {
		var buf [64 * layout64]byte
		for range maxFlush {
			n, err := unix.Read(fd, buf[:])
			if n <= 0 || err != nil {
				failed = err
				break
			}
		}
		return nil
	})
	if errors.Is(failed, unix.EAGAIN) {
		failed = nil
	}
	return errors.Join(err, failed)
}

// control calls do with the descriptor, which is open as long as do runs.
func (f file) control(do func(fd int) error) error {
	raw, err := f.f.SyscallConn()
	if err != nil {
		return err
	}
	var failed error
	if err := raw.Control(func(fd uintptr) { failed = do(int(fd)) }); err != nil {
		return err
	}
	return failed
}

// evdev is a device of the kernel.
type evdev struct{ file }

var _ device = evdev{}

// openEvdev opens an input device and nothing else: some devices do something when they are opened.
func openEvdev(path string) (device, error) {
	var st unix.Stat_t
	if err := unix.Stat(path, &st); err != nil {
		return nil, translate(err)
	}
	if !isInput(st) {
		return nil, ErrNotInput
	}
	f, err := openFile(path)
	if err != nil {
		return nil, translate(err)
	}
	err = f.control(func(fd int) error {
		var now unix.Stat_t
		if err := unix.Fstat(fd, &now); err != nil {
			return err
		}
		if _, err := unix.IoctlGetInt(fd, eviocgversion); err != nil || !isInput(now) {
			return ErrNotInput
		}
		return nil
	})
	if err != nil {
		_ = f.Close()
		return nil, translate(err)
	}
	return evdev{f}, nil
}

func isInput(st unix.Stat_t) bool {
	return st.Mode&unix.S_IFMT == unix.S_IFCHR && unix.Major(uint64(st.Rdev)) == inputMajor
}

// translate turns what the system says into what can be done about it.
func translate(err error) error {
	switch {
	case errors.Is(err, unix.ENODEV), errors.Is(err, unix.ENXIO), errors.Is(err, io.EOF):
		return errUnplugged
	case errors.Is(err, unix.EBUSY):
		return ErrInUse
	case errors.Is(err, os.ErrPermission):
		return fmt.Errorf("%w: the program's user has to be in the group input", err)
	}
	return err
}

func (d evdev) Name() (string, error) {
	var buf [256]byte
	err := d.request(eviocgname, unsafe.Pointer(&buf))
	return clean(unix.ByteSliceToString(buf[:])), err
}

// clean returns a name that can stand in a line of text.
func clean(name string) string {
	name = strings.Map(func(r rune) rune {
		if r == unicode.ReplacementChar || !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, name)
	if r := []rune(name); len(r) > maxName {
		name = string(r[:maxName])
	}
	return strings.TrimSpace(name)
}

func (d evdev) Has() (*bits, error) {
	var b bits
	return &b, d.request(eviocgbitKey, unsafe.Pointer(&b))
}

func (d evdev) Closed() (*bits, error) {
	var b bits
	return &b, d.request(eviocgkey, unsafe.Pointer(&b))
}

func (d evdev) Own() error {
	return translate(d.control(func(fd int) error {
		if err := unix.IoctlSetInt(fd, eviocgrab, 1); err != nil {
			return err
		}
		_ = unix.IoctlSetPointerInt(fd, eviocsclockid, clockMonotonic) // before Linux 3.4 it is the clock of the day
		return nil
	}))
}

// request is an ioctl that writes to a buffer of the size that the request names.
func (d evdev) request(number uint, to unsafe.Pointer) error {
	return translate(d.control(func(fd int) error {
		if _, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), uintptr(number), uintptr(to)); errno != 0 {
			return errno
		}
		return nil
	}))
}
