package display

import (
	"bytes"
	"fmt"
	"html"
	"image/color"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// File shows views as a picture file that some viewer or page displays.
type File struct {
	Now func() time.Time // set before the first Show; NewFile sets time.Now

	path   string
	render func(v View, now time.Time) ([]byte, error)

	mu   sync.Mutex
	view View
	last []byte // what the file holds; nil = unknown
}

var (
	_ Screen    = (*File)(nil)
	_ Refresher = (*File)(nil)
)

// NewFile returns a screen that writes path, a .png or .svg. Nothing is written before the first Show.
func NewFile(path string) (*File, error) {
	f := &File{Now: time.Now, path: path}
	switch strings.ToLower(filepath.Ext(path)) {
	case ".png":
		f.render = pngPicture
	case ".svg":
		f.render = svgPicture
	default:
		return nil, fmt.Errorf("display file %s: want .png or .svg", path)
	}
	return f, nil
}

// Show replaces the picture in one step. A picture that would be the same is not written again.
func (f *File) Show(v View) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.view = v
	return f.write()
}

// Refresh takes a code off that is no longer valid; otherwise a picture does not change with time.
func (f *File) Refresh() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.view.at(f.Now()) == f.view && f.last != nil {
		return nil
	}
	return f.write()
}

func (f *File) write() error {
	now := f.Now()
	data, err := f.render(f.view.at(now), now)
	if err != nil {
		return fmt.Errorf("draw %s: %w", f.path, err)
	}
	if f.last != nil && bytes.Equal(data, f.last) {
		return nil
	}
	f.last = nil
	if err := replace(f.path, data); err != nil {
		return fmt.Errorf("show on %s: %w", f.path, err)
	}
	f.last = data
	return nil
}

// replace puts data in the place of path by a rename, readable by everybody.
func replace(path string, data []byte) (err error) {
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

// The layout of an SVG, in its own units.
const (
	svgWidth  = 100
	svgHeight = 150 // at least
	svgCode   = 80  // side of the code
)

func svgPicture(v View, now time.Time) ([]byte, error) {
	bg := background(v)
	var b strings.Builder
	y := 3.0
	text := func(s string, size float64, weight, fill string) {
		for _, l := range wrap(Clean(s), int(160/size)) {
			y += size * 1.25
			fmt.Fprintf(&b, `<text x="%d" y="%.1f" font-size="%.1f" font-weight="%s" fill="%s">%s</text>`+"\n", svgWidth/2, y, size, weight, fill, html.EscapeString(l))
		}
	}
	if v.Sandbox {
		fmt.Fprintf(&b, `<rect width="%d" height="8" fill="#ff0"/>`+"\n", svgWidth)
		y = 0
		text(wordsFor(v.Language).sandbox, 4.5, "bold", "#000")
		y = 9
	}
	fg := hex(ink(bg))
	text(v.Title, 7, "bold", fg)
	text(v.Amount, 9, "bold", fg)
	text(v.PushText, 4, "normal", fg)
	if v.Code != nil {
		y += 3
		fmt.Fprintf(&b, `<g transform="translate(%d %.1f) scale(%.6f)" shape-rendering="crispEdges"><rect width="%[4]d" height="%[4]d" fill="#fff"/><path fill="#000" d="%[5]s"/></g>`+"\n",
			(svgWidth-svgCode)/2, y, float64(svgCode)/float64(v.Code.Size()), v.Code.Size(), v.Code.Path())
		y += svgCode
	}
	text(v.validUntil(now, false), 4, "normal", fg)
	text(v.Text, 6, "bold", fg)
	height := max(svgHeight, int(y)+5) // long texts make the picture longer, never cut it
	return fmt.Appendf(nil, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %[1]d %[2]d" font-family="sans-serif" text-anchor="middle">`+"\n"+
		`<rect width="%[1]d" height="%[2]d" fill="%[3]s"/>`+"\n%[4]s</svg>\n", svgWidth, height, hex(bg), b.String()), nil
}

func hex(c color.RGBA) string { return fmt.Sprintf("#%02x%02x%02x", c.R, c.G, c.B) }
