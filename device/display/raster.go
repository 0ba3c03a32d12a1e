package display

import (
	"bytes"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"time"

	"golang.org/x/image/font"
	"golang.org/x/image/font/basicfont"
	"golang.org/x/image/font/inconsolata"
	"golang.org/x/image/math/fixed"

	"posagent/device/qr"
)

// side is the width of a PNG in pixels, unless the code needs more.
const side = 480

var (
	white  = color.RGBA{R: 0xff, G: 0xff, B: 0xff, A: 0xff}
	yellow = color.RGBA{R: 0xff, G: 0xff, A: 0xff}
)

func background(v View) color.RGBA {
	if c, ok := Color(v.Background); ok {
		return c
	}
	return white
}

// strip is one part of a picture from top to bottom: a line of text, or the code.
type strip struct {
	text   string
	face   *basicfont.Face
	scale  int         // pixels of the screen for one of the face
	ground *color.RGBA // nil = the picture's
	code   *image.Paletted
}

func (s strip) height() int {
	if s.code != nil {
		return s.code.Rect.Dy() + 16
	}
	return s.face.Height*s.scale + 8
}

// pngPicture draws a view as SVG and console show it: banner, method, amount, code, how long it is valid, state.
func pngPicture(v View, now time.Time) ([]byte, error) {
	w := side
	var code *image.Paletted
	if v.Code != nil {
		img, err := v.Code.Image(max(1, min(side/v.Code.Size(), qr.MaxScale)))
		if err != nil {
			return nil, err
		}
		code, w = img, max(w, img.Rect.Dx())
	}
	own := wordsFor(v.Language)
	var strips []strip
	add := func(text string, face *basicfont.Face, scale int, ground *color.RGBA) {
		for _, l := range wrap(Clean(text), (w-16)/(face.Advance*scale)) {
			strips = append(strips, strip{text: l, face: face, scale: scale, ground: ground})
		}
	}
	if v.Sandbox {
		add(own.sandbox, inconsolata.Bold8x16, 2, &yellow)
	}
	add(v.Title, inconsolata.Bold8x16, 3, nil)
	add(v.Amount, inconsolata.Bold8x16, 4, nil)
	add(v.PushText, inconsolata.Regular8x16, 2, nil)
	if code != nil {
		strips = append(strips, strip{code: code})
	}
	add(v.validUntil(now, false), inconsolata.Regular8x16, 2, nil)
	add(v.Text, inconsolata.Bold8x16, 3, nil)
	h := 16
	for _, s := range strips {
		h += s.height()
	}
	h = max(h, w)
	bg := background(v)
	pic := image.NewPaletted(image.Rect(0, 0, w, h), color.Palette{bg, ink(bg), color.White, color.Black, yellow})
	y := 8
	for _, s := range strips {
		if s.code != nil {
			at := image.Pt((w-s.code.Rect.Dx())/2, y+8)
			draw.Draw(pic, s.code.Rect.Add(at), s.code, image.Point{}, draw.Src)
		} else {
			s.draw(pic, y)
		}
		y += s.height()
	}
	var b bytes.Buffer
	err := (&png.Encoder{CompressionLevel: png.BestSpeed}).Encode(&b, pic)
	return b.Bytes(), err
}

// draw writes one line of text in the middle of a picture.
func (s strip) draw(pic *image.Paletted, y int) {
	pen := pic.Palette[1]
	if s.ground != nil {
		pen = ink(*s.ground)
		draw.Draw(pic, image.Rect(0, y, pic.Rect.Dx(), y+s.height()), image.NewUniform(*s.ground), image.Point{}, draw.Src)
	}
	small := image.NewAlpha(image.Rect(0, 0, s.face.Advance*len([]rune(s.text)), s.face.Height))
	(&font.Drawer{Dst: small, Src: image.Opaque, Face: s.face, Dot: fixed.P(0, s.face.Ascent)}).DrawString(s.text)
	left := (pic.Rect.Dx() - small.Rect.Dx()*s.scale) / 2
	for dy := range small.Rect.Dy() * s.scale {
		for dx := range small.Rect.Dx() * s.scale {
			if small.AlphaAt(dx/s.scale, dy/s.scale).A >= 0x80 {
				pic.Set(left+dx, y+4+dy, pen)
			}
		}
	}
}
