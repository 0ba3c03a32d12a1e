package update

import (
	"crypto/sha256"
	"debug/elf"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"posagent/device/file"
)

// Place is where the terminal's program lies.
type Place struct {
	Program string // its absolute path, without links
}

func (p Place) previous() string { return p.Program + ".previous" }
func (p Place) trial() string    { return p.Program + ".trial" }

// sum returns the SHA-256 of a file.
func sum(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// sameMachine refuses a program that is not for the processor of the one in place.
func (p Place) sameMachine(path string) error {
	is, err := elf.Open(p.Program)
	if err != nil {
		return fmt.Errorf("%s: %w", p.Program, err)
	}
	defer is.Close()
	other, err := elf.Open(path)
	if err != nil {
		return fmt.Errorf("%w: it is no program: %w", ErrUntrusted, err)
	}
	defer other.Close()
	if is.Machine != other.Machine || is.Class != other.Class || is.Data != other.Data {
		return fmt.Errorf("%w: it is for %v, and this box is %v", ErrUntrusted, other.Machine, is.Machine)
	}
	return nil
}

// room refuses where the file system of the program has no room for another one.
func (p Place) room(bytes int64) error {
	free, err := file.Free(filepath.Dir(p.Program))
	if err != nil {
		return err
	}
	if free < bytes+1<<20 {
		return fmt.Errorf("%w: %s has %d kB free, and the program needs %d", ErrSpace, filepath.Dir(p.Program), free>>10, bytes>>10)
	}
	return nil
}

// put puts a program in place, with the one before beside it and the note that it is on trial. It may be cut off anywhere, and back
// undoes what was done.
func (p Place) put(staged string, to program) error {
	fresh := p.Program + ".new"
	if err := copyFile(staged, fresh); err != nil {
		return err
	}
	if got, err := sum(fresh); err != nil || got != to.SHA256 { // what lies there now is what runs
		return errors.Join(fmt.Errorf("%w: the copy is another file", ErrUntrusted), err, os.Remove(fresh))
	}
	if err := double(p.Program, p.previous()); err != nil {
		return err
	}
	if err := os.WriteFile(p.trial(), []byte(to.Version+"\n"), 0o644); err != nil {
		return err
	}
	if err := syncPath(p.trial()); err != nil {
		return err
	}
	if err := syncPath(filepath.Dir(p.Program)); err != nil {
		return err
	}
	return p.rename(fresh)
}

// back puts the program before in place again, where it is not. ErrNoWay where it is not there, or is another.
func (p Place) back(from program) error {
	if got, err := sum(p.Program); err == nil && got == from.SHA256 {
		return errors.Join(remove(p.Program+".new"), remove(p.Program+".back"))
	}
	if got, err := sum(p.previous()); err != nil || got != from.SHA256 {
		return errors.Join(fmt.Errorf("%w: %s is not version %s", ErrNoWay, p.previous(), from.Version), err)
	}
	again := p.Program + ".back"
	if err := double(p.previous(), again); err != nil {
		return err
	}
	return p.rename(again)
}

// endTrial removes the note of the trial.
func (p Place) endTrial() error {
	return errors.Join(remove(p.trial()), remove(p.Program+".new"), remove(p.Program+".back"), syncPath(filepath.Dir(p.Program)))
}

func (p Place) rename(from string) error {
	if err := os.Rename(from, p.Program); err != nil {
		return err
	}
	return syncPath(filepath.Dir(p.Program))
}

// double gives a file a second name; where the file system has no second names, it copies it.
func double(path, name string) error {
	if err := remove(name); err != nil {
		return err
	}
	err := os.Link(path, name)
	if err == nil || !errors.Is(err, syscall.EPERM) && !errors.Is(err, syscall.EOPNOTSUPP) && !errors.Is(err, syscall.EMLINK) {
		return err
	}
	return copyFile(path, name)
}

// copyFile copies a program durably.
func copyFile(from, to string) (err error) {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	if err := remove(to); err != nil { // what lies there may be a link
		return err
	}
	out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o755)
	if err != nil {
		return err
	}
	if _, err = io.Copy(out, in); err == nil {
		err = errors.Join(out.Chmod(0o755), out.Sync())
	}
	if err = errors.Join(err, out.Close()); err != nil {
		return errors.Join(err, os.Remove(to))
	}
	return nil
}

// remove removes a file that may not be there.
func remove(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// syncPath makes a file, or the names in a directory, durable.
func syncPath(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
