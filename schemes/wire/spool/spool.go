package spool

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"os"
)

// File is a content that was kept.
type File struct {
	*os.File
	Size   int64  // bytes
	SHA256 string // lower hex digits
}

// Keep copies a content into a file of a directory. read is why the content could not be read, kept why it could not be stored; after
// either nothing is open.
func Keep(dir, pattern string, content io.Reader) (f File, read, kept error) {
	body, err := os.CreateTemp(dir, pattern)
	if err != nil {
		return File{}, nil, err
	}
	if err := os.Remove(body.Name()); err != nil { // the open file keeps its room
		_ = body.Close()
		return File{}, nil, err
	}
	to, sum := &disk{w: body}, sha256.New()
	n, err := io.Copy(io.MultiWriter(to, sum), content)
	if err != nil {
		_ = body.Close()
		if to.err != nil {
			return File{}, nil, to.err
		}
		return File{}, err, nil
	}
	return File{body, n, hex.EncodeToString(sum.Sum(nil))}, nil, nil
}

// disk remembers its own failure, which is not the sender's.
type disk struct {
	w   io.Writer
	err error
}

// Write implements io.Writer.
func (d *disk) Write(p []byte) (int, error) {
	n, err := d.w.Write(p)
	d.err = err
	return n, err
}
