package device

import (
	"errors"
	"os"
	"path/filepath"
)

// ReplaceFile gives a file its content whole or not at all. It is durable then, and readable by its owner only.
func ReplaceFile(file string, write func(*os.File) error) error {
	f, err := os.OpenFile(file+".new", os.O_CREATE|os.O_RDWR|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	if err := write(f); err != nil {
		return errors.Join(err, f.Close(), os.Remove(file+".new"))
	}
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		return errors.Join(err, os.Remove(file+".new"))
	}
	if err := os.Rename(file+".new", file); err != nil {
		return err
	}
	return syncDir(filepath.Dir(file))
}
