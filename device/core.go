package device

import (
	"errors"

	"golang.org/x/sys/unix"
)

// NoCoreDumps keeps this process's memory, which has card data and keys in it, out of core files and from debuggers of the same
// account. Only root can still read it.
func NoCoreDumps() error {
	err := unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{})
	return errors.Join(err, unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0))
}
