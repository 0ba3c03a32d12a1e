package qr_test

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/device/qr"
)

// TestPNGIsReadByTheLibrary: every pixel of every shape comes back, over the limit of one block too.
func TestPNGIsReadByTheLibrary(t *testing.T) {
	colours := color.Palette{color.RGBA{0x12, 0xfe, 0x80, 0xff}, color.RGBA{0, 0, 0, 0xff}, color.RGBA{0xff, 0xff, 0xff, 0xff}, color.RGBA{1, 2, 3, 0xff}}
	rng := rand.New(rand.NewPCG(1, 2))
	for _, side := range []struct{ w, h, colours int }{{1, 1, 2}, {7, 3, 2}, {8, 8, 2}, {9, 5, 3}, {480, 480, 3}, {641, 640, 4}, {4000, 10, 2}} {
		img := image.NewPaletted(image.Rect(0, 0, side.w, side.h), colours[:side.colours])
		for i := range img.Pix {
			img.Pix[i] = uint8(rng.IntN(side.colours))
		}
		got, err := png.Decode(bytes.NewReader(qr.EncodePNG(img)))
		require.NoError(t, err)
		require.Equal(t, img.Bounds(), got.Bounds())
		for y := range side.h {
			for x := range side.w {
				require.Equal(t, img.At(x, y), color.RGBAModel.Convert(got.At(x, y)), "%v %d %d", side, x, y)
			}
		}
	}
}
