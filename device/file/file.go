package file

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
)

// What a read fails with, besides what the system says.
var (
	ErrIrregular = errors.New("is not a regular file")
	ErrTooLong   = errors.New("is too long")
)

// Links says what becomes of a symbolic link at the end of a path.
type Links int

// Follow is for a path that a person has named; NoFollow is for one in a directory of another account.
const (
	Follow   Links = 0
	NoFollow Links = syscall.O_NOFOLLOW
)

// Open opens a regular file for reading. It fails with ErrIrregular, with ELOOP for a link that is not
// followed, or with what the system says.
func Open(path string, links Links) (*os.File, fs.FileInfo, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOCTTY|int(links), 0)
	if err != nil {
		return nil, nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s %w", path, ErrIrregular)
	}
	if err != nil {
		return nil, nil, errors.Join(err, f.Close())
	}
	return f, info, nil
}

// Read reads a regular file of at most so many bytes. It fails as Open does, and with ErrTooLong.
func Read(path string, links Links, most int64) ([]byte, fs.FileInfo, error) {
	f, info, err := Open(path, links)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && int64(len(data)) > most {
		data, err = nil, fmt.Errorf("%s %w: it has more than %d bytes", path, ErrTooLong, most)
	}
	return data, info, err
}
