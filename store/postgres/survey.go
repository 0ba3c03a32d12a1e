package postgres

import (
	"errors"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// Held says whether a process has the memory of a server at path. It makes no file.
func Held(path string) (bool, error) {
	f, err := os.Open(path + ".lock")
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer f.Close()
	err = unix.Flock(int(f.Fd()), unix.LOCK_SH|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return true, nil
	}
	return false, err
}
