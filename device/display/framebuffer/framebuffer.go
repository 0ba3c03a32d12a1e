package framebuffer

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Config says where pictures go.
type Config struct {
	Path   string // a framebuffer device, or a file
	File   Mode   // how a plain file lies; a device says it itself
	Rotate int    // degrees that the picture is turned clockwise on the panel: 0, 90, 180 or 270
}

// Device is one framebuffer. It is not safe for concurrent use.
type Device struct {
	cfg    Config
	looks  bool        // a plain file is neither made nor made as long as a picture
	file   *os.File    // nil = not open
	opened os.FileInfo // file, when it was opened
	mode   Mode
	dark   bool    // Write has blanked the panel
	shown  []byte  // what the device holds, rows of mode.row() bytes; nil = not known
	row    []byte  // the row that is made
	tints  [3]tint // red, green, blue
	alpha  uint32  // all of its bits
}

// tint is what a value of one colour is in a pixel.
type tint [256]uint32

// New returns a framebuffer that is opened by the first Size or Write.
func New(cfg Config) *Device { return &Device{cfg: cfg} }

// Look says why no picture could be written there, and writes nothing: what Size answers.
func (c Config) Look() error {
	d := &Device{cfg: c, looks: true}
	_, _, err := d.Size()
	if made, _ := os.Stat(filepath.Dir(c.Path)); errors.Is(err, fs.ErrNotExist) && c.makes() && made != nil && made.IsDir() {
		return d.Close() // the first picture makes it
	}
	return errors.Join(err, d.Close())
}

// makes says that a file which is not there is made. A device that is not there yet must not become a file.
func (c Config) makes() bool {
	return c.File.W > 0 && (!strings.HasPrefix(c.Path, "/dev/") || strings.HasPrefix(c.Path, "/dev/shm/"))
}

// Path is where pictures go.
func (d *Device) Path() string { return d.cfg.Path }

// Size opens the device where it is not open, or where its path names another one by now, and returns its pixels, as the panel has
// them. A device is asked each time: it may have got another mode. Errors of the system, and what is wrong with the device or the
// file.
func (d *Device) Size() (w, h int, err error) {
	if d.file != nil {
		if now, err := os.Stat(d.cfg.Path); err != nil || !os.SameFile(now, d.opened) {
			_ = d.Close() // what it held is of no use any more
		}
	}
	if err := d.open(); err != nil {
		return 0, 0, err
	}
	if d.isDevice() {
		mode, err := ask(d.file)
		if err != nil {
			return 0, 0, errors.Join(fmt.Errorf("framebuffer %s: %w", d.cfg.Path, err), d.Close())
		}
		if mode != d.mode {
			d.use(mode)
		}
	}
	return d.mode.W, d.mode.H, nil
}

// Close closes the device; the picture stays on it.
func (d *Device) Close() error {
	if d.file == nil {
		return nil
	}
	err := d.file.Close()
	d.file, d.shown = nil, nil
	return err
}

func (d *Device) open() error {
	if d.file != nil {
		return nil
	}
	flags := os.O_RDWR
	if d.cfg.makes() && !d.looks {
		flags |= os.O_CREATE
	}
	f, err := os.OpenFile(d.cfg.Path, flags|noBlock, 0o644)
	if err != nil {
		return fmt.Errorf("framebuffer: %w", err)
	}
	mode, err := d.look(f)
	if err != nil {
		return errors.Join(fmt.Errorf("framebuffer %s: %w", d.cfg.Path, err), f.Close())
	}
	d.file = f
	d.use(mode)
	return nil
}

// use makes room for pictures of a mode; the next one is written as a whole.
func (d *Device) use(mode Mode) {
	d.mode, d.shown = mode, nil
	d.row = make([]byte, mode.row())
	for i, c := range []Field{mode.Format.Red, mode.Format.Green, mode.Format.Blue} {
		for v := range 256 {
			most := 1<<c.Length - 1
			d.tints[i][v] = uint32((v*most+127)/255) << c.Offset
		}
	}
	d.alpha = uint32(uint64(1)<<mode.Format.Alpha.Length-1) << mode.Format.Alpha.Offset
}

// look says how what was opened lies.
func (d *Device) look(f *os.File) (Mode, error) {
	info, err := f.Stat()
	if err != nil {
		return Mode{}, err
	}
	d.opened = info
	switch kind := info.Mode().Type(); {
	case kind == os.ModeDevice|os.ModeCharDevice:
		return ask(f)
	case kind != 0:
		return Mode{}, errors.New("neither a framebuffer nor a plain file")
	case d.cfg.File.W == 0:
		return Mode{}, errors.New("a plain file: set framebuffer_size, like 800x480")
	}
	m, err := d.cfg.File.check()
	if err != nil {
		return m, err
	}
	if n := info.Size(); n != 0 && n != int64(m.Offset+m.H*m.Stride) {
		return m, fmt.Errorf("holds %d bytes, a picture has %d: name another file, or remove it", n, m.Offset+m.H*m.Stride)
	}
	if d.looks {
		return m, nil
	}
	return m, f.Truncate(int64(m.Offset + m.H*m.Stride))
}

// Write shows an upright picture, which must be as large as the panel is when it is turned. Rows that the device holds already are
// not written again, unless whole is set: something else may have drawn over them.
func (d *Device) Write(pic *image.RGBA, whole bool) error {
	if err := d.open(); err != nil {
		return err
	}
	if err := d.write(pic, whole); err != nil {
		d.dark = d.isDevice()
		if d.dark {
			blank(d.file, dark) // what stands there is of an earlier sale
		}
		return errors.Join(fmt.Errorf("framebuffer %s: %w", d.cfg.Path, err), d.Close())
	}
	if d.dark {
		d.Light()
	}
	return nil
}

// Light lights a panel that was made dark: by the console of the kernel, which does so after some idle minutes (consoleblank), or by
// Write, where it could not take an old picture away.
func (d *Device) Light() {
	if d.file != nil && d.isDevice() {
		blank(d.file, unblank)
		d.dark = false
	}
}

func (d *Device) isDevice() bool { return d.opened.Mode().Type() != 0 }

func (d *Device) write(pic *image.RGBA, whole bool) error {
	m, n := d.mode, d.mode.row()
	w, h := m.W, m.H
	if d.cfg.Rotate%180 != 0 {
		w, h = h, w
	}
	if pic.Rect.Dx() != w || pic.Rect.Dy() != h {
		return fmt.Errorf("a picture of %d x %d for a panel of %d x %d, turned by %d", pic.Rect.Dx(), pic.Rect.Dy(), m.W, m.H, d.cfg.Rotate)
	}
	if d.shown == nil {
		d.shown, whole = make([]byte, n*m.H), true
	}
	from := 0 // the first of the rows that wait to be written
	for y := range m.H {
		d.convert(pic, y)
		held := d.shown[y*n:][:n]
		same := !whole && bytes.Equal(held, d.row)
		if same || m.Stride != n { // rows with a gap between them go one by one
			if err := d.put(from, y); err != nil {
				return err
			}
			from = y
		}
		if same {
			from = y + 1
		}
		copy(held, d.row)
	}
	return d.put(from, m.H)
}

// put writes the rows from one on up to another.
func (d *Device) put(from, to int) error {
	if from >= to {
		return nil
	}
	n := d.mode.row()
	_, err := d.file.WriteAt(d.shown[from*n:to*n], int64(d.mode.Offset+from*d.mode.Stride))
	return err
}

// convert makes row y of the panel of an upright picture.
func (d *Device) convert(pic *image.RGBA, y int) {
	w, h := d.mode.W, d.mode.H
	at, step := 0, 0 // in pic.Pix: the first pixel of the row, and how far the next one is
	switch d.cfg.Rotate {
	case 0:
		at, step = y*pic.Stride, 4
	case 90: // the panel's left edge is the picture's bottom
		at, step = (w-1)*pic.Stride+4*y, -pic.Stride
	case 180:
		at, step = (h-1-y)*pic.Stride+4*(w-1), -4
	case 270:
		at, step = 4*(h-1-y), pic.Stride
	}
	if d.mode.Format.Bits == 16 {
		for x := range w {
			p := d.pixel(pic.Pix[at:])
			d.row[2*x], d.row[2*x+1] = byte(p), byte(p>>8)
			at += step
		}
		return
	}
	for x := range w {
		p := d.pixel(pic.Pix[at:])
		d.row[4*x], d.row[4*x+1], d.row[4*x+2], d.row[4*x+3] = byte(p), byte(p>>8), byte(p>>16), byte(p>>24)
		at += step
	}
}

// pixel is one dot in the device's bits.
func (d *Device) pixel(dot []byte) uint32 {
	return d.tints[0][dot[0]] | d.tints[1][dot[1]] | d.tints[2][dot[2]] | d.alpha
}
