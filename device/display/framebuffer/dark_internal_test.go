package framebuffer

import (
	"image"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// A panel whose driver refuses a picture is made dark, so that no code outlives its sale, and lighted with the next picture.
func TestField2_P2APanelThatRefusesAPictureIsMadeDark(t *testing.T) {
	d := New(Config{})
	on := func(path string) {
		t.Helper()
		f, err := os.OpenFile(path, os.O_RDWR, 0)
		require.NoError(t, err)
		d.file = f
		d.opened, err = f.Stat()
		require.NoError(t, err)
		d.use(Mode{W: 4, H: 4, Stride: 8, Format: RGB565()})
	}
	pic := image.NewRGBA(image.Rect(0, 0, 4, 4))
	on("/dev/full")
	require.ErrorContains(t, d.Write(pic, true), "no space left")
	require.True(t, d.dark)
	on("/dev/null")
	require.NoError(t, d.Write(pic, false))
	require.False(t, d.dark)
	require.NoError(t, d.Close())
}
