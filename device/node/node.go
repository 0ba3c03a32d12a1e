package node

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// id is what a device is, and a file.
type id struct {
	kind uint32 // S_IFCHR or S_IFBLK; 0 = a file
	dev  uint64 // of a device its number, of a file its file system's
	ino  uint64 // of a file
}

// console is the number of /dev/console, which is another name of the last console that the kernel has.
const console = 5<<8 | 1

func of(sys string, st unix.Stat_t) id {
	switch kind := uint32(st.Mode) & unix.S_IFMT; kind {
	case unix.S_IFCHR, unix.S_IFBLK:
		device := id{kind: kind, dev: uint64(st.Rdev)}
		if kind == unix.S_IFCHR && device.dev == console {
			device.dev = behindConsole(sys)
		}
		return device
	}
	return id{dev: uint64(st.Dev), ino: st.Ino}
}

// behindConsole is the number of the device behind /dev/console, or its own where that cannot be read.
func behindConsole(sys string) uint64 {
	if sys == "" {
		sys = "/sys"
	}
	names := strings.Fields(attribute(filepath.Join(sys, "class/tty/console"), "active"))
	if len(names) == 0 {
		return console
	}
	last := names[len(names)-1]
	if last == "tty0" { // the screen that is shown
		last = attribute(filepath.Join(sys, "class/tty/tty0"), "active")
	}
	major, minor, _ := strings.Cut(attribute(filepath.Join(sys, "class/tty", last), "dev"), ":")
	a, err := strconv.ParseUint(major, 10, 32)
	b, bad := strconv.ParseUint(minor, 10, 32)
	if err != nil || bad != nil {
		return console
	}
	return unix.Mkdev(uint32(a), uint32(b))
}

// Same reports whether two configured names mean one thing: one device, or one file by whatever link and name. Of what is not there
// the names are compared, without links as far as they lead somewhere.
func Same(a, b string) bool { return same("", a, b) }

func same(sys, a, b string) bool {
	if a == b {
		return true
	}
	one, err := Path(sys, a)
	other, bad := Path(sys, b)
	if err == nil && bad == nil {
		var st, st2 unix.Stat_t
		return one == other || unix.Stat(one, &st) == nil && unix.Stat(other, &st2) == nil && of(sys, st) == of(sys, st2)
	}
	if IsUSB(a) || IsUSB(b) {
		return strings.EqualFold(a, b)
	}
	return Real(a) == Real(b)
}

// Real is a path without links, as far as it is there.
func Real(path string) string {
	whole, err := filepath.EvalSymlinks(path)
	if err == nil || path == filepath.Dir(path) || !os.IsNotExist(err) {
		return whole
	}
	return filepath.Join(Real(filepath.Dir(path)), filepath.Base(path))
}

// Mine reports whether this program itself has a device open by another file of it, or writes its output there. open is the
// descriptor that asks. It is false where the system does not tell.
func Mine(open int) bool {
	var mine, st unix.Stat_t
	list, err := os.ReadDir("/proc/self/fd")
	if err != nil || unix.Fstat(open, &mine) != nil || uint32(mine.Mode)&unix.S_IFMT != unix.S_IFCHR {
		return false
	}
	for _, entry := range list {
		n, err := strconv.Atoi(entry.Name())
		if err != nil || n == open || n == 0 || unix.Fstat(n, &st) != nil || of("", st) != of("", mine) {
			continue
		}
		if n <= 2 || st.Ino != mine.Ino || st.Dev != mine.Dev {
			return true
		}
	}
	return false
}
