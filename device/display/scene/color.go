package scene

import (
	"image/color"
	"math"
	"strconv"
)

// Color reads #rgb or #rrggbb; ok is false for anything else.
func Color(s string) (c color.RGBA, ok bool) {
	if len(s) == 4 && s[0] == '#' {
		s = string([]byte{'#', s[1], s[1], s[2], s[2], s[3], s[3]})
	}
	if len(s) != 7 || s[0] != '#' {
		return color.RGBA{}, false
	}
	n, err := strconv.ParseUint(s[1:], 16, 32)
	if err != nil {
		return color.RGBA{}, false
	}
	return color.RGBA{R: uint8(n >> 16), G: uint8(n >> 8), B: uint8(n), A: 0xff}, true
}

// Contrast returns how well one colour is read on the other, 1 to 21 (WCAG 2: relative luminance). Text wants 4.5 or more.
func Contrast(a, b color.RGBA) float64 {
	la, lb := luminance(a), luminance(b)
	return (max(la, lb) + 0.05) / (min(la, lb) + 0.05)
}

// luminance is the relative luminance of a colour of sRGB, 0 to 1.
func luminance(c color.RGBA) float64 {
	linear := func(v uint8) float64 {
		s := float64(v) / 255
		if s <= 0.04045 {
			return s / 12.92
		}
		return math.Pow((s+0.055)/1.055, 2.4)
	}
	return 0.2126*linear(c.R) + 0.7152*linear(c.G) + 0.0722*linear(c.B)
}

// Ink returns black or white, whichever is read better on c; either way its contrast is 4.58 or more.
func Ink(c color.RGBA) color.RGBA {
	black, white := color.RGBA{A: 0xff}, color.RGBA{R: 0xff, G: 0xff, B: 0xff, A: 0xff}
	if Contrast(white, c) > Contrast(black, c) {
		return white
	}
	return black
}
