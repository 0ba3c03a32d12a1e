package lines

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"golang.org/x/sys/unix"
)

// PTY makes a pseudo terminal. It returns the far end of the cable, which the caller closes, and the path of the near
// one. It fails where the machine has no /dev/ptmx.
func PTY() (far *os.File, path string, err error) {
	fd, err := unix.Open("/dev/ptmx", unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, "", fmt.Errorf("open /dev/ptmx: %w", err)
	}
	far = os.NewFile(uintptr(fd), "ptmx")
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err = errors.Join(err, unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0)); err != nil {
		return nil, "", errors.Join(err, far.Close())
	}
	return far, fmt.Sprintf("/dev/pts/%d", n), nil
}

// Cable is a pseudo terminal behind a name of its own, as a serial converter has.
type Cable struct {
	Far    *os.File // the register's end
	Device string   // the terminal's end
	Name   string   // leads to Device
	pulled sync.Once
}

// Plug makes a cable whose name is ttyUSB7 in a directory. It fails where PTY does, and where the name is taken.
func Plug(dir string) (*Cable, error) {
	far, device, err := PTY()
	if err != nil {
		return nil, err
	}
	c := &Cable{Far: far, Device: device, Name: filepath.Join(dir, "ttyUSB7")}
	if err := os.Symlink(device, c.Name); err != nil {
		_ = far.Close()
		return nil, err
	}
	return c, nil
}

// Pull removes the cable, its name first: the number of its pseudo terminal may be given to another. A second call does nothing.
func (c *Cable) Pull() {
	c.pulled.Do(func() {
		_ = os.Remove(c.Name)
		_ = c.Far.Close()
	})
}

// OpenRaw opens the near end without a line discipline that meddles with the bytes.
func OpenRaw(path string) (*os.File, error) {
	fd, err := unix.Open(path, unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	near := os.NewFile(uintptr(fd), path)
	tio, err := unix.IoctlGetTermios(fd, unix.TCGETS)
	if err == nil {
		tio.Iflag, tio.Oflag, tio.Lflag = 0, 0, 0
		tio.Cflag = unix.CS8 | unix.CREAD | unix.CLOCAL | unix.CSTOPB
		tio.Cc[unix.VMIN], tio.Cc[unix.VTIME] = 1, 0
		err = unix.IoctlSetTermios(fd, unix.TCSETS, tio)
	}
	if err != nil {
		return nil, errors.Join(err, near.Close())
	}
	return near, nil
}
