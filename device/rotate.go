package device

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"posagent/device/file"
)

// nextFile is the key that takes device.key's place, while both are needed.
const nextFile = keyFile + ".next"

// NextKeys makes a new key beside the one in dir, or finds the one that an earlier call has made, and answers what OpenKeys does from
// then on: the new key, which opens what the old one wrapped too.
func NextKeys(dir string) (*Keys, error) {
	if _, err := readKey(filepath.Join(dir, keyFile), os.Geteuid()); err != nil {
		return nil, err
	}
	next := filepath.Join(dir, nextFile)
	if _, err := readKey(next, os.Geteuid()); errors.Is(err, os.ErrNotExist) {
		if err := makeKey(dir, next); err != nil {
			return nil, fmt.Errorf("device: make %s: %w", next, err)
		}
	}
	return OpenKeys(dir)
}

// Changing says that the keys in use are being changed, and gives the new key alone.
func (k *Keys) Changing() (next *Keys, yes bool) {
	return &Keys{id: k.id, aead: k.aead}, k.old != nil
}

// ForgetOld puts the new key in the old one's place, when nothing is wrapped under the old one any more. The old one is gone then.
func ForgetOld(dir string) error {
	if err := os.Rename(filepath.Join(dir, nextFile), filepath.Join(dir, keyFile)); err != nil {
		return fmt.Errorf("device: %w", err)
	}
	return file.SyncDir(dir)
}

// Forget deletes the keys in dir: what was wrapped under them is lost.
func Forget(dir string) error {
	err := errors.Join(removed(filepath.Join(dir, nextFile)), removed(filepath.Join(dir, keyFile)))
	if err == nil {
		err = file.SyncDir(dir)
	}
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("device: %w", err)
	}
	return nil
}

// PutAside moves the keys in dir, whatever is in them, to the directory to.
func PutAside(dir, to string) error {
	for _, name := range []string{keyFile, nextFile} {
		if err := os.Rename(filepath.Join(dir, name), filepath.Join(to, name)); err != nil && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("device: %w", err)
		}
	}
	err := file.SyncDir(dir)
	if errors.Is(err, os.ErrNotExist) { // there were none
		err = nil
	}
	return errors.Join(err, file.SyncDir(to))
}
