package store

import (
	"errors"
	"os"
)

// SyncDir makes the names in a directory durable: those of files that were made, renamed or removed
// there.
func SyncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
