package demo

import (
	"fmt"
	"os"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// cable is a serial cable: two pseudo terminals whose masters are copied into one another until it is pulled.
type cable struct {
	terminal, register string // the device paths of the two ends
	pulled             atomic.Bool
	files              []*os.File
}

func newCable() (*cable, error) {
	c := &cable{}
	a, pathA, err := c.pty()
	if err != nil {
		return nil, err
	}
	b, pathB, err := c.pty()
	if err != nil {
		c.close()
		return nil, err
	}
	c.terminal, c.register = pathA, pathB
	go c.copy(a, b)
	go c.copy(b, a)
	return c, nil
}

// pty opens one pair in raw mode. The slave stays open here, so that the line survives its users.
func (c *cable) pty() (*os.File, string, error) {
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		return nil, "", fmt.Errorf("open a pseudo terminal: %w (is /dev/pts mounted?)", err)
	}
	c.files = append(c.files, master)
	fd := int(master.Fd())
	unlock := int32(0)
	if _, _, e := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), unix.TIOCSPTLCK, uintptr(unsafe.Pointer(&unlock))); e != 0 {
		return nil, "", fmt.Errorf("unlock the pseudo terminal: %w", e)
	}
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		return nil, "", fmt.Errorf("number of the pseudo terminal: %w", err)
	}
	path := fmt.Sprintf("/dev/pts/%d", n)
	slave, err := os.OpenFile(path, os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		return nil, "", fmt.Errorf("open %s: %w", path, err)
	}
	c.files = append(c.files, slave)
	t, err := unix.IoctlGetTermios(int(slave.Fd()), unix.TCGETS)
	if err != nil {
		return nil, "", fmt.Errorf("terminal settings of %s: %w", path, err)
	}
	t.Iflag, t.Oflag, t.Lflag = 0, 0, 0
	t.Cflag = t.Cflag&^(unix.CSIZE|unix.PARENB) | unix.CS8
	t.Cc[unix.VMIN], t.Cc[unix.VTIME] = 1, 0
	if err := unix.IoctlSetTermios(int(slave.Fd()), unix.TCSETS, t); err != nil {
		return nil, "", fmt.Errorf("raw mode of %s: %w", path, err)
	}
	return master, path, nil
}

func (c *cable) copy(from, to *os.File) {
	buf := make([]byte, 1024)
	for {
		n, err := from.Read(buf)
		if err != nil {
			return
		}
		if c.pulled.Load() {
			continue // the bytes fall on the floor
		}
		if _, err := to.Write(buf[:n]); err != nil {
			return
		}
	}
}

func (c *cable) pull() { c.pulled.Store(true) }
func (c *cable) plug() { c.pulled.Store(false) }

func (c *cable) close() {
	for _, f := range c.files {
		f.Close()
	}
}
