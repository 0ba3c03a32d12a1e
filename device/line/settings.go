package line

import (
	"time"

	"golang.org/x/sys/unix"
)

// lookEvery is how often an open line is looked at. A register repeats its message within seconds.
const lookEvery = time.Second

// settings are speed and modes of a terminal device. They are the device's own: stty, minicom, a getty or a prober of modems changes
// them for whoever has it open, and leaves them so.
type settings struct {
	set    unix.Termios // as the line was opened; the zero value is not known
	looked time.Time
}

func settingsOf(tty int) settings {
	now, err := unix.IoctlGetTermios(tty, unix.TCGETS2)
	if err != nil {
		return settings{}
	}
	return settings{set: *now, looked: time.Now()}
}

// restore sets a line up again that another program has changed, and says whether one had.
func (s *settings) restore(tty int) bool {
	if s.set == (unix.Termios{}) || time.Since(s.looked) < lookEvery {
		return false
	}
	s.looked = time.Now()
	now, err := unix.IoctlGetTermios(tty, unix.TCGETS2)
	return err == nil && *now != s.set && unix.IoctlSetTermios(tty, unix.TCSETS2, &s.set) == nil
}
