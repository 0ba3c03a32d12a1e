package file

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// Replace gives a file its content whole or not at all; it is durable then, and has mode. It writes into PATH.new first, which it
// makes itself: what lies there, a link that another account has planted or the rest of a run that was killed, is removed and not
// followed.
func Replace(path string, mode fs.FileMode, write func(*os.File) error) error {
	if err := replace(path, mode, write, (*os.File).Sync); err != nil {
		return err
	}
	return SyncDir(filepath.Dir(path))
}

// Put is Replace of what the next start makes anew: it syncs nothing, and a power cut may leave an empty file.
func Put(path string, mode fs.FileMode, data []byte) error {
	return replace(path, mode, Bytes(data), func(*os.File) error { return nil })
}

// Bytes writes data.
func Bytes(data []byte) func(*os.File) error {
	return func(f *os.File) error { _, err := f.Write(data); return err }
}

func replace(path string, mode fs.FileMode, write, sync func(*os.File) error) error {
	fresh := path + ".new"
	if err := syscall.Unlink(fresh); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return &fs.PathError{Op: "unlink", Path: fresh, Err: err}
	}
	f, err := os.OpenFile(fresh, os.O_CREATE|os.O_EXCL|os.O_RDWR|syscall.O_NOFOLLOW, mode)
	if err != nil {
		return err
	}
	if err = write(f); err == nil {
		err = sync(f)
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(fresh, path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(fresh))
	}
	return nil
}

// SyncDir makes the names in a directory durable: those of files that were made, renamed or removed there.
func SyncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
