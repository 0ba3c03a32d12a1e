package qr

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"strconv"
	"strings"
)

// Style says how half-blocks get their colours.
type Style int

// The styles.
const (
	// ANSI sets black on white by escape sequences: right on dark and on light terminals.
	ANSI Style = iota
	// OnDark is plain text for a terminal with light characters on a dark ground.
	OnDark
	// OnLight is plain text for a terminal, or paper, with dark characters on a light ground.
	OnLight
)

// The escape sequences of style ANSI. Colours 16 and 231 of the 256 are black and white on every terminal,
// whereas 30 and 47 follow its theme.
const (
	ansiBlackOnWhite = "\x1b[38;5;16;48;5;231m"
	ansiReset        = "\x1b[0m"
)

// HalfBlocks draws the code as lines of text, one character for two modules one above the other. Every line has
// Size() characters (besides the escape sequences), and there are (Size()+1)/2 of them.
func (c *Code) HalfBlocks(style Style) []string {
	blocks := [4]string{" ", "▄", "▀", "█"} // neither, lower, upper, both modules inked
	inkDark := style != OnDark              // on a dark ground the ink is light
	lines := make([]string, 0, (c.size+1)/2)
	var b strings.Builder
	for y := 0; y < c.size; y += 2 {
		b.Reset()
		if style == ANSI {
			b.WriteString(ansiBlackOnWhite)
		}
		for x := range c.size {
			i := 0
			if c.Dark(x, y) == inkDark {
				i |= 2
			}
			if c.Dark(x, y+1) == inkDark {
				i |= 1
			}
			b.WriteString(blocks[i])
		}
		if style == ANSI {
			b.WriteString(ansiReset)
		}
		lines = append(lines, b.String())
	}
	return lines
}

// MaxScale is the largest scale of PNG in pixels per module.
const MaxScale = 64

// Image draws the code at scale pixels per module, 1 to MaxScale, as a two-colour picture.
func (c *Code) Image(scale int) (*image.Paletted, error) {
	if scale < 1 || scale > MaxScale {
		return nil, fmt.Errorf("scale %d: want 1 to %d", scale, MaxScale)
	}
	side := c.size * scale
	img := image.NewPaletted(image.Rect(0, 0, side, side), color.Palette{color.White, color.Black})
	for y := range c.size {
		row := img.Pix[y*scale*img.Stride : y*scale*img.Stride+side]
		for x := range c.size {
			if c.Dark(x, y) {
				for i := range scale {
					row[x*scale+i] = 1
				}
			}
		}
		for i := 1; i < scale; i++ {
			copy(img.Pix[(y*scale+i)*img.Stride:], row)
		}
	}
	return img, nil
}

// PNG draws the code at scale pixels per module, 1 to MaxScale.
func (c *Code) PNG(scale int) ([]byte, error) {
	img, err := c.Image(scale)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = png.Encode(&b, img)
	return b.Bytes(), err
}

// SVG draws the code as a picture of its own, Size() units a side, that scales to whatever shows it.
func (c *Code) SVG() []byte {
	return fmt.Appendf(nil, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %[1]d %[1]d" shape-rendering="crispEdges">`+
		`<rect width="%[1]d" height="%[1]d" fill="#fff"/><path fill="#000" d="%[2]s"/></svg>`+"\n", c.size, c.Path())
}

// Path returns the dark modules as SVG path data, for a picture that holds more than the code.
func (c *Code) Path() string {
	var b strings.Builder
	for y := range c.size {
		for x := 0; x < c.size; x++ {
			if !c.Dark(x, y) {
				continue
			}
			from := x
			for c.Dark(x, y) {
				x++
			}
			run := strconv.Itoa(x - from)
			b.WriteString("M" + strconv.Itoa(from) + " " + strconv.Itoa(y) + "h" + run + "v1h-" + run + "z")
		}
	}
	return b.String()
}
