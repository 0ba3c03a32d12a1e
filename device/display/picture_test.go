package display_test

import (
	"bytes"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/device/display/glyph"
	"posagent/device/display/layout"
	"posagent/device/display/paint"
)

// TestThePictureOfTheREADME: the README shows a customer's screen as the program draws it now: the code, the wait for the wallet, and
// that it is paid. PICTURES=write draws it anew.
func TestThePictureOfTheREADME(t *testing.T) {
	const file, gap = "testdata/sale.png", 12
	panel := layout.Geometry{W: 320, H: 240, Rotate: 90}
	letters := glyph.NewSet()
	painter := paint.New(letters)
	scenes := []string{"code", "waiting", "paid"}
	w, h := panel.Upright()
	sheet := image.NewRGBA(image.Rect(0, 0, len(scenes)*(w+gap)+gap, h+2*gap))
	draw.Draw(sheet, sheet.Bounds(), image.NewUniform(color.Gray{0x80}), image.Point{}, draw.Src)
	for _, s := range samples(t, "en") {
		i := slices.Index(scenes, s.name)
		if i < 0 {
			continue
		}
		s.view.Sandbox = false
		page, err := layout.Place(letters, s.view, noon, panel, false)
		require.NoError(t, err)
		at := image.Pt(gap+i*(w+gap), gap)
		draw.Draw(sheet, image.Rectangle{at, at.Add(image.Pt(w, h))}, painter.Paint(page), image.Point{}, draw.Src)
	}
	var now bytes.Buffer
	require.NoError(t, (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&now, sheet))
	if os.Getenv("PICTURES") == "write" {
		require.NoError(t, os.WriteFile(file, now.Bytes(), 0o644))
	}
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	kept, err := png.Decode(bytes.NewReader(data))
	require.NoError(t, err)
	require.Equal(t, sheet.Bounds(), kept.Bounds())
	got := image.NewRGBA(kept.Bounds())
	draw.Draw(got, got.Bounds(), kept, image.Point{}, draw.Src)
	require.True(t, bytes.Equal(sheet.Pix, got.Pix), "the picture of the README is old: make pictures")
}
