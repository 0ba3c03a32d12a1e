package line

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"time"

	"go.bug.st/serial"
	"golang.org/x/sys/unix"

	"posagent/device/node"
)

const (
	backoffMin = 100 * time.Millisecond
	backoffMax = 5 * time.Second
	maxStuck   = 4
)

// Open waits until the device is there and free, and opens it. Errors: ctx.Err() with what kept it from opening, ErrNotTTY when
// the path is something else than a terminal device, ErrStuck, or an impossible Config.
func (p *Port) Open(ctx context.Context) (Conn, error) {
	if p.cfg.StopBits != 1 && p.cfg.StopBits != 2 {
		return nil, fmt.Errorf("open %s: %d stop bits", p.cfg.Path, p.cfg.StopBits)
	}
	for wait := backoffMin; ; wait = min(wait*2, backoffMax) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		c, err := p.tryOpen()
		if err == nil {
			return c, nil
		}
		err = fmt.Errorf("open %s: %w", p.cfg.Path, err)
		p.count(func(s *Stats) {
			s.LastError, s.Reason = err.Error(), err
			s.WaitingForLock = errors.Is(err, errInUse)
		})
		if errors.Is(err, ErrNotTTY) || errors.Is(err, ErrStuck) {
			return nil, err
		}
		jittered := wait/2 + rand.N(wait/2+1)
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("%w (%w)", err, ctx.Err())
		case <-time.After(jittered):
		}
	}
}

func (p *Port) tryOpen() (*conn, error) {
	if p.Stats().AbandonedNow >= maxStuck {
		return nil, ErrStuck
	}
	path, err := node.Path(p.cfg.SysDir, p.cfg.Path)
	if err != nil {
		return nil, err
	}
	tty, err := openTTY(path)
	if err != nil {
		return nil, err
	}
	lock, err := takeLock(p.cfg.LockDir, path, tty)
	if err != nil {
		_ = unix.Close(tty)
		return nil, err
	}
	stop := serial.TwoStopBits
	if p.cfg.StopBits == 1 {
		stop = serial.OneStopBit
	}
	raw, err := serial.Open(path, &serial.Mode{BaudRate: p.cfg.Baud, DataBits: 8, Parity: serial.NoParity, StopBits: stop})
	if err != nil {
		_ = lock.Close()
		return nil, translate(err)
	}
	if err := p.cfg.leadsTo(tty); err != nil {
		_, _ = raw.Close(), lock.Close()
		return nil, err
	}
	// The library marks the device exclusive, which outlives a program that is killed while another one has it open and
	// does not stop root. The lock file is what counts.
	_ = unix.IoctlSetInt(tty, unix.TIOCNXCL, 0)
	_ = raw.SetDTR(true)
	_ = raw.SetRTS(true)
	_ = raw.ResetInputBuffer()
	p.count(func(s *Stats) {
		s.Open, s.OpenedAt, s.LastError, s.Reason, s.WaitingForLock = true, time.Now(), "", nil, false
		s.Opens++
	})
	return &conn{port: p, raw: raw, lock: lock, settings: settingsOf(tty)}, nil
}

// leadsTo returns an error unless the configured path still names the device that tty is. The system gives the number of a
// device that was pulled to the next one: what was opened meanwhile may be another register's line.
func (c Config) leadsTo(tty int) error {
	path, err := node.Path(c.SysDir, c.Path)
	if err != nil {
		return err
	}
	var named, opened unix.Stat_t
	if err := errors.Join(unix.Stat(path, &named), unix.Fstat(tty, &opened)); err != nil {
		return err
	}
	if named.Rdev != opened.Rdev || named.Ino != opened.Ino || named.Dev != opened.Dev {
		return errHangup
	}
	return nil
}

// openTTY refuses what is not a terminal device without opening anything that an opening could disturb, and gives a
// descriptor of what is.
func openTTY(path string) (fd int, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return -1, err
	}
	if info.Mode()&os.ModeCharDevice == 0 {
		return -1, fmt.Errorf("%s: %w", info.Mode().Type(), ErrNotTTY)
	}
	fd, err = unix.Open(path, unix.O_RDWR|unix.O_NOCTTY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if errors.Is(err, unix.EBUSY) { // marked exclusive by another program
		return -1, errInUse
	}
	if err != nil {
		return -1, err
	}
	if _, err := unix.IoctlGetTermios(fd, unix.TCGETS); err != nil {
		_ = unix.Close(fd)
		if errors.Is(err, unix.ENOTTY) || errors.Is(err, unix.EINVAL) {
			return -1, ErrNotTTY
		}
		return -1, err
	}
	return fd, nil
}
