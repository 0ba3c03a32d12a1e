package config

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// The sides of a screen in pixels.
const (
	minSide = 64
	maxSide = 4096
)

// Size reads a size in pixels, like 800x480.
func Size(s string) (width, height int, err error) {
	w, h, ok := strings.Cut(s, "x")
	width, wrongW := strconv.Atoi(w)
	height, wrongH := strconv.Atoi(h)
	if !ok || wrongW != nil || wrongH != nil || w[0] == '+' || h[0] == '+' || min(width, height) < minSide || max(width, height) > maxSide {
		return 0, 0, fmt.Errorf("%q is no size in pixels: want one like 800x480, %d to %d a side", s, minSide, maxSide)
	}
	return width, height, nil
}

func (c Config) display(k *check) {
	d := c.Display
	if d.Page && c.Port.Listen == "" {
		k.fail("display.page", "there is no local port to show it: set [port] listen")
	}
	switch filepath.Ext(d.File) {
	case ".png", ".svg":
		k.path("display.file", d.File)
	default:
		if d.File != "" {
			k.fail("display.file", "%q ends neither in .png nor in .svg", d.File)
		}
	}
	if _, _, err := Size(d.FileSize); err != nil {
		k.fail("display.file_size", "%w", err)
	}
	k.path("display.framebuffer", d.Framebuffer)
	if d.FramebufferSize != "" {
		if _, _, err := Size(d.FramebufferSize); err != nil {
			k.fail("display.framebuffer_size", "%w", err)
		}
		if d.Framebuffer == "" {
			k.fail("display.framebuffer_size", "set, and display.framebuffer is not")
		}
	}
	k.oneOf("display.framebuffer_pixels", d.FramebufferPixels, "rgb565", "xrgb8888")
	if d.FramebufferStride < 0 || d.FramebufferStride > 16*maxSide {
		k.fail("display.framebuffer_stride", "%d is not between 0 and %d", d.FramebufferStride, 16*maxSide)
	}
	if !slices.Contains([]int{0, 90, 180, 270}, d.Rotate) {
		k.fail("display.rotate", "%d is none of 0, 90, 180, 270", d.Rotate)
	}
}
