package display

import (
	"image"
	"time"

	"posagent/device/display/glyph"
	"posagent/device/display/layout"
	"posagent/device/display/paint"
)

// canvas draws views as dots or as lines. It is not safe for concurrent use.
type canvas struct {
	letters *glyph.Set
	painter *paint.Painter
}

func newCanvas() *canvas {
	letters := glyph.NewSet()
	return &canvas{letters, paint.New(letters)}
}

// dots draws a view upright for a panel. The picture is overwritten by the next call. ErrTooSmall comes with a picture.
func (c *canvas) dots(v View, now time.Time, g layout.Geometry, still bool) (*image.RGBA, error) {
	page, err := layout.Place(c.letters, v, now, g, still)
	if page == nil {
		return nil, err
	}
	return c.painter.Paint(page), err
}

// lines draws a view as SVG. ErrTooSmall comes with a picture.
func (c *canvas) lines(v View, now time.Time, g layout.Geometry) ([]byte, error) {
	page, err := layout.Place(c.letters, v, now, g, true)
	if page == nil {
		return nil, err
	}
	return paint.SVG(c.letters, page), err
}
