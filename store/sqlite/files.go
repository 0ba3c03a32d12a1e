package sqlite

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"posagent/device/file"
	"posagent/store"
)

// size is that of the file at path, 0 where there is none.
func size(path string) (int64, error) {
	fi, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	return fi.Size(), nil
}

func fileSize(path string) int64 {
	fi, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return fi.Size()
}

// createFile makes an empty file with private permissions, durably. It must not touch an existing
// one: closing a descriptor of it would drop SQLite's locks in this process.
func createFile(path string) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if errors.Is(err, os.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	return file.SyncDir(filepath.Dir(path))
}

func removeAll(paths ...string) error {
	for _, p := range paths {
		if err := os.Remove(p); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

func syncFile(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close(), file.SyncDir(filepath.Dir(path)))
}

// openBeside opens a file that lies beside a journal for reading. The directory may be another
// account's: no link is followed, and a pipe is not waited for.
func openBeside(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	if fi, err := f.Stat(); err != nil || !fi.Mode().IsRegular() {
		return nil, errors.Join(fmt.Errorf("%s is not a regular file", path), err, f.Close())
	}
	return f, nil
}

// plain refuses a journal one of whose files is a pipe, a device or anything else that a reader would
// wait for. It answers ErrDamaged.
func plain(path string) error {
	for _, end := range []string{"", "-wal", "-shm", "-journal"} {
		fi, err := os.Stat(path + end)
		if err == nil && !fi.Mode().IsRegular() {
			return fmt.Errorf("%w: %s is not a regular file", store.ErrDamaged, path+end)
		}
	}
	return nil
}
