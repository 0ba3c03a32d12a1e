package display

import (
	"bytes"
	"errors"
	"fmt"
	"image/png"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"posagent/device/display/layout"
)

// The size of a picture file in pixels, unless it is set.
const (
	FileWidth  = 480
	FileHeight = 800
)

// File shows views as a picture file that some viewer or page displays.
type File struct {
	Now           func() time.Time // set before the first Show; NewFile sets time.Now
	Width, Height int              // pixels; set before the first Show; NewFile sets FileWidth and FileHeight

	path   string
	render func(v View, now time.Time) ([]byte, error) // ErrTooSmall comes with a picture
	canvas *canvas

	mu    sync.Mutex
	view  View
	shown bool   // a view was
	over  bool   // the code was taken off
	last  []byte // what the file holds; nil = unknown
	ended bool
}

var (
	_ Screen    = (*File)(nil)
	_ Refresher = (*File)(nil)
	_ Ender     = (*File)(nil)
)

// NewFile returns a screen that writes path, a .png or .svg. Nothing is written before the first Show.
func NewFile(path string) (*File, error) {
	f := &File{Now: time.Now, Width: FileWidth, Height: FileHeight, path: path, canvas: newCanvas()}
	switch strings.ToLower(filepath.Ext(path)) {
	case ".png":
		f.render = f.png
	case ".svg":
		f.render = f.svg
	default:
		return nil, fmt.Errorf("display file %s: want .png or .svg", path)
	}
	return f, nil
}

// Show replaces the picture in one step. A picture that would be the same is not written again.
func (f *File) Show(v View) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.ended {
		return nil
	}
	f.view, f.shown = v, true
	return errors.Join(f.write())
}

// Refresh takes a code off that is no longer valid; otherwise a picture does not change with time.
func (f *File) Refresh() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	over := f.view.At(f.Now()).Code != f.view.Code
	if !f.shown || f.ended || over == f.over && f.last != nil {
		return nil
	}
	_, err := f.write() // Show has said what is too small
	return err
}

// End implements Ender.
func (f *File) End() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.shown || f.ended {
		return nil
	}
	f.view, f.ended = last(f.view), true
	_, err := f.write()
	return err
}

// write returns ErrTooSmall, and what kept the picture from the file.
func (f *File) write() (small, err error) {
	now := f.Now()
	f.over = f.view.At(now).Code != f.view.Code
	data, small := f.render(f.view, now)
	if data == nil {
		return nil, fmt.Errorf("draw %s: %w", f.path, small)
	}
	if f.last != nil && bytes.Equal(data, f.last) {
		return small, nil
	}
	f.last = nil
	if err := replace(f.path, data); err != nil {
		// No picture is better than that of an earlier sale.
		if stays := unix.Unlink(f.path); stays != nil && !errors.Is(stays, fs.ErrNotExist) {
			err = fmt.Errorf("%w, and the old picture stays: %w", err, stays)
		}
		return small, fmt.Errorf("show on %s: %w", f.path, err)
	}
	f.last = data
	return small, nil
}

func (f *File) png(v View, now time.Time) ([]byte, error) {
	pic, small := f.canvas.dots(v, now, layout.Geometry{W: f.Width, H: f.Height}, true)
	if pic == nil {
		return nil, small
	}
	var b bytes.Buffer
	if err := (&png.Encoder{CompressionLevel: png.BestSpeed}).Encode(&b, pic); err != nil {
		return nil, err
	}
	return b.Bytes(), small
}

func (f *File) svg(v View, now time.Time) ([]byte, error) {
	return f.canvas.lines(v, now, layout.Geometry{W: f.Width, H: f.Height})
}

// cause is what the system says, without the name of the file that was to be made, which is another one each time.
func cause(err error) error {
	if errno := unix.Errno(0); errors.As(err, &errno) {
		return errno
	}
	return err
}

// replace puts data in the place of path by a rename, readable by everybody.
func replace(path string, data []byte) (err error) {
	defer func() { err = cause(err) }()
	tmp, err := os.CreateTemp(filepath.Dir(path), ".display-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(tmp.Name()) // the error that is returned matters more
		}
	}()
	_, err = tmp.Write(data)
	if chmod := tmp.Chmod(0o644); err == nil {
		err = chmod
	}
	if closed := tmp.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return err
	}
	return os.Rename(tmp.Name(), path)
}
