package qr_test

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/cross/need"
	"posagent/device/qr"
)

// payload makes a link of n bytes, mixed case so that it is encoded as bytes.
func payload(n int) string {
	s := "https://pay.example/q/"
	for i := 0; len(s) < n; i++ {
		s += fmt.Sprintf("%02xZ", i*37%256)
	}
	return s[:n]
}

func newCode(t testing.TB, payload string, opts qr.Options) *qr.Code {
	t.Helper()
	c, err := qr.New(payload, opts)
	require.NoError(t, err)
	return c
}

func TestLevelAndSize(t *testing.T) {
	for _, tc := range []struct {
		bytes   int
		opts    qr.Options
		level   qr.Level
		version int
		err     error
	}{
		{60, qr.Options{}, qr.Medium, 4, nil},
		{100, qr.Options{}, qr.Medium, 6, nil},
		{200, qr.Options{}, qr.Medium, 10, nil},
		{213, qr.Options{}, qr.Medium, 10, nil},
		{214, qr.Options{}, qr.Low, 9, nil},
		{1024, qr.Options{}, qr.Low, 23, nil},
		{1025, qr.Options{}, 0, 0, qr.ErrTooLong},
		{0, qr.Options{}, 0, 0, qr.ErrEmpty},
		{60, qr.Options{Level: qr.High}, qr.High, 7, nil},
		{60, qr.Options{Level: qr.Quartile}, qr.Quartile, 5, nil},
		{60, qr.Options{MaxModules: 41}, qr.Medium, 4, nil},
		{60, qr.Options{MaxModules: 40}, qr.Low, 0, qr.ErrTooLong},
		{70, qr.Options{MaxModules: 41}, qr.Low, 4, nil},
		{70, qr.Options{MaxModules: 41, Level: qr.Medium}, 0, 0, qr.ErrTooLong},
		{60, qr.Options{Level: 9}, 0, 0, fmt.Errorf("unknown error level 9")},
	} {
		t.Run(fmt.Sprintf("%d bytes %+v", tc.bytes, tc.opts), func(t *testing.T) {
			c, err := qr.New(payload(tc.bytes)[:tc.bytes], tc.opts)
			if tc.err != nil {
				require.ErrorContains(t, err, tc.err.Error())
				require.Nil(t, c)
				return
			}
			require.NoError(t, err)
			require.Equal(t, tc.level, c.Level(), c.Level().String())
			require.Equal(t, tc.version, c.Version())
			require.Equal(t, 17+4*tc.version+8, c.Size())
		})
	}
}

func TestQuietZoneIsLightAndBitmapIsACopy(t *testing.T) {
	c := newCode(t, payload(100), qr.Options{})
	bitmap := c.Bitmap()
	require.Len(t, bitmap, c.Size())
	dark := 0
	for y, row := range bitmap {
		require.Len(t, row, c.Size())
		for x, d := range row {
			require.Equal(t, c.Dark(x, y), d)
			if d {
				dark++
				require.True(t, min(x, y) >= qr.QuietZone && max(x, y) < c.Size()-qr.QuietZone, "dark module in the quiet zone")
			}
		}
	}
	require.Greater(t, dark, c.Size())
	bitmap[qr.QuietZone][qr.QuietZone] = false
	require.True(t, c.Dark(qr.QuietZone, qr.QuietZone), "the finder's corner")
	require.False(t, c.Dark(-1, 0) || c.Dark(0, -1) || c.Dark(c.Size(), 0) || c.Dark(0, c.Size()))
}

// TestIndependentDecoder reads every rendering back with a decoder that shares no code with the encoder.
func TestIndependentDecoder(t *testing.T) {
	zbarimg := need.Tool(t, "zbarimg")
	dir := t.TempDir()
	want := map[string]string{}
	save := func(name string, data []byte, payload string) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), data, 0o600))
		want[name] = payload
	}
	for _, n := range []int{60, 100, 150, 200} {
		for _, level := range []qr.Level{qr.Low, qr.Medium} {
			p := payload(n)
			c := newCode(t, p, qr.Options{Level: level})
			name := func(what string) string { return fmt.Sprintf("%d-%v-%s.png", n, level, what) }
			pngData, err := c.PNG(5)
			require.NoError(t, err)
			save(name("png"), pngData, p)
			save(name("svg"), encode(t, rasterSVG(t, c.SVG(), 5)), p)
			save(name("bitmap"), encode(t, paint(c.Size(), 5, func(x, y int) bool { return c.Bitmap()[y][x] })), p)
			// each style on the terminal it is made for; ANSI on both
			save(name("ansi-on-dark"), encode(t, rasterText(t, c.HalfBlocks(qr.ANSI), true)), p)
			save(name("ansi-on-light"), encode(t, rasterText(t, c.HalfBlocks(qr.ANSI), false)), p)
			save(name("plain-on-dark"), encode(t, rasterText(t, c.HalfBlocks(qr.OnDark), true)), p)
			save(name("plain-on-light"), encode(t, rasterText(t, c.HalfBlocks(qr.OnLight), false)), p)
		}
	}
	emv := newCode(t, emvExample, qr.Options{})
	save("emv.png", encode(t, rasterText(t, emv.HalfBlocks(qr.ANSI), true)), emvExample)
	long := newCode(t, payload(qr.MaxPayload), qr.Options{})
	save("longest.png", encode(t, rasterText(t, long.HalfBlocks(qr.ANSI), true)), payload(qr.MaxPayload))
	require.Len(t, want, 4*2*7+2)
	for name, payload := range want {
		out, err := exec.CommandContext(t.Context(), zbarimg, "-q", "--raw", filepath.Join(dir, name)).Output()
		require.NoError(t, err, name)
		require.Equal(t, payload+"\n", string(out), name)
	}
}

func encode(t testing.TB, img image.Image) []byte {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, png.Encode(&b, img))
	return b.Bytes()
}

// paint draws size*size modules at scale pixels each.
func paint(size, scale int, dark func(x, y int) bool) *image.Gray {
	img := image.NewGray(image.Rect(0, 0, size*scale, size*scale))
	for y := range size * scale {
		for x := range size * scale {
			if !dark(x/scale, y/scale) {
				img.SetGray(x, y, color.Gray{Y: 255})
			}
		}
	}
	return img
}

// rasterText draws lines as a terminal would, a character 4 pixels wide and 8 high: ink and ground come from the terminal, or from
// the one escape sequence that the ANSI style uses.
func rasterText(t testing.TB, lines []string, darkTerminal bool) *image.Gray {
	t.Helper()
	const w, h = 4, 8
	black, white := color.Gray{Y: 30}, color.Gray{Y: 225}
	ink, ground := black, white
	if darkTerminal {
		ink, ground = white, black
	}
	width := 0
	for i, l := range lines {
		set, rest, ansi := strings.Cut(l, "m")
		if ansi {
			require.Equal(t, "\x1b[38;5;16;48;5;231", set)
			rest, ok := strings.CutSuffix(rest, "\x1b[0m")
			require.True(t, ok)
			lines[i] = rest
			ink, ground = black, white
		}
		width = max(width, len([]rune(lines[i])))
	}
	img := image.NewGray(image.Rect(0, 0, width*w, len(lines)*h))
	for row, l := range lines {
		for col, r := range []rune(l) {
			for y := range h {
				c := ground
				if r == '█' || r == '▀' && y < h/2 || r == '▄' && y >= h/2 {
					c = ink
				} else {
					require.Contains(t, " ▀▄", string(r))
				}
				for x := range w {
					img.SetGray(col*w+x, row*h+y, c)
				}
			}
		}
	}
	return img
}

// rasterSVG draws the one path of our SVG: M x y h n v1 h -n z.
func rasterSVG(t testing.TB, svg []byte, scale int) *image.Gray {
	t.Helper()
	var doc struct {
		ViewBox string `xml:"viewBox,attr"`
		Path    struct {
			D string `xml:"d,attr"`
		} `xml:"path"`
	}
	require.NoError(t, xml.Unmarshal(svg, &doc))
	var size, height int
	_, err := fmt.Sscanf(doc.ViewBox, "0 0 %d %d", &size, &height)
	require.NoError(t, err)
	require.Equal(t, size, height)
	dark := map[image.Point]bool{}
	for _, run := range strings.SplitAfter(doc.Path.D, "z") {
		if run == "" {
			continue
		}
		var x, y, n, back int
		_, err := fmt.Sscanf(run, "M%d %dh%dv1h%dz", &x, &y, &n, &back)
		require.NoError(t, err, run)
		require.Equal(t, -n, back)
		for i := range n {
			dark[image.Pt(x+i, y)] = true
		}
	}
	return paint(size, scale, func(x, y int) bool { return dark[image.Pt(x, y)] })
}

func TestScaleOfPNG(t *testing.T) {
	c := newCode(t, "x", qr.Options{})
	for _, scale := range []int{-1, 0, qr.MaxScale + 1} {
		_, err := c.PNG(scale)
		require.ErrorContains(t, err, "scale")
	}
	img, err := c.Image(qr.MaxScale)
	require.NoError(t, err)
	require.Equal(t, c.Size()*qr.MaxScale, img.Bounds().Dx())
}

// BenchmarkCode is one code as the terminal makes it: one encode, then every rendering from the same matrix.
func BenchmarkCode(b *testing.B) {
	for _, n := range []int{60, 100, 200} {
		p := payload(n)
		b.Run(fmt.Sprintf("new-%d", n), func(b *testing.B) {
			for b.Loop() {
				_, err := qr.New(p, qr.Options{})
				require.NoError(b, err)
			}
		})
		c := newCode(b, p, qr.Options{})
		b.Run(fmt.Sprintf("halfblocks-%d", n), func(b *testing.B) {
			for b.Loop() {
				c.HalfBlocks(qr.ANSI)
			}
		})
		b.Run(fmt.Sprintf("svg-%d", n), func(b *testing.B) {
			for b.Loop() {
				c.SVG()
			}
		})
	}
}

// TestOneEncodePerCode holds the renderings to the cached matrix: encoding again costs thousands of allocations.
func TestOneEncodePerCode(t *testing.T) {
	c := newCode(t, payload(100), qr.Options{})
	rendering := testing.AllocsPerRun(10, func() {
		c.HalfBlocks(qr.ANSI)
		c.Bitmap()
	})
	encoding := testing.AllocsPerRun(3, func() { newCode(t, payload(100), qr.Options{}) })
	require.Less(t, rendering*5, encoding)
}
