package printertest

import (
	"bytes"
	"image/color"
	"image/png"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

func small() Config {
	return Config{Columns: 16, Dots: 192, RealTime: true, InOrder: true, AutoBack: true}
}

// TestCommands feeds bytes as a manual lists them.
func TestCommands(t *testing.T) {
	for name, tc := range map[string]struct {
		in, want string
		strange  []string
	}{
		"a line":                   {"paid\n", "  |paid\n", nil},
		"an unended line":          {"paid", "", nil},
		"initialize drops it":      {"paid\x1b@ok\n", "  |ok\n", nil},
		"bold, and not":            {"\x1bE\x01a\n\x1bE\x00b\n", "b |a\n  |b\n", nil},
		"ESC ! bold and wide":      {"\x1b!\x28a\n\x1b!\x00b\n", "b2|a\n  |b\n", nil},
		"GS ! double":              {"\x1d!\x11a\n", " 2|a\n", nil},
		"in the middle":            {"\x1ba\x01paid\n", "  |      paid\n", nil},
		"to the right":             {"\x1ba2paid\n", "  |            paid\n", nil},
		"a full line and its feed": {"0123456789abcdef\nx\n", "  |0123456789abcdef\n  |x\n", nil},
		"a line that is too long":  {"0123456789abcdefg\n", "  |0123456789abcdef\n  |g\n", []string{"1 lines that are too long"}},
		"feed":                     {"a\x1bd\x02b\n", "  |a\n  |\n  |\n  |b\n", nil},
		"cuts":                     {"\x1dV\x00\x1dV1\x1dVA\x05\x1dVB\x00", "=== full cut\n=== cut\n=== full cut\n=== cut\n", nil},
		"code pages":               {"\x84\x1bt\x13\xd5\x1bt\x12\x88\x1bt\x10\x80\n", "  |ä€ł€\n", nil},
		"an unknown code page":     {"\x1bt\xc8a\n", "  |a\n", []string{"code page 200"}},
		"a byte without a letter":  {"\x1bt\x10\x81\n", "  |□\n", []string{"no letter 81 in code page 16"}},
		"Chinese characters":       {"\x1c&\xb0\xa1\x1c.\x84\n", " 2|〓ä\n", nil},
		"NUL and CR":               {"a\x00\r\x00b\n", "  |ab\n", nil},
		"an unknown command":       {"\x1bza\n", "  |a\n", []string{"1B 7A"}},
		"a tab":                    {"a\tb\n", "  |ab\n", []string{"09"}},
		"half a command":           {"\x1dv0\x00\x01\x00\x02\x00\xff", "", []string{"a command that is not whole: 1D 76 30 00 01 00 02 00"}},
		"a picture":                {"\x1dv0\x00\x02\x00\x03\x00\x1b@\n\xff\x00\x00x\n", "### picture of 3 rows\n  |x\n", nil},
		"a picture in a line":      {"a\x1dv0\x00\x01\x00\x01\x00\xff\n", "  |a\n", []string{"a picture within a line"}},
		"a picture too wide":       {"\x1dv0\x00\x19\x00\x01\x00" + string(make([]byte, 25)), "### picture of 1 rows\n", []string{"a picture of 200 dots on paper of 192"}},
		"national letters":         {"\x1bR\x02", "", []string{"national letters 2"}},
	} {
		t.Run(name, func(t *testing.T) {
			p := New(small())
			require.Empty(t, p.Take([]byte(tc.in)))
			require.Equal(t, tc.want, p.Listing())
			require.Equal(t, tc.strange, p.Strange())
		})
	}
}

// TestPicture: dots are where the bits are, the leftmost first.
func TestPicture(t *testing.T) {
	p := New(small())
	p.Take([]byte("\x1dv0\x00\x02\x00\x02\x00\x80\x01\x40\x02"))
	data, err := p.PNG()
	require.NoError(t, err)
	pic, err := png.Decode(bytes.NewReader(data))
	require.NoError(t, err)
	require.Equal(t, 192+48, pic.Bounds().Dx())
	require.Equal(t, 2+48, pic.Bounds().Dy())
	black := map[[2]int]bool{}
	for y := range pic.Bounds().Dy() {
		for x := range pic.Bounds().Dx() {
			if r, _, _, _ := pic.At(x, y).RGBA(); r == 0 {
				black[[2]int{x - 24, y - 24}] = true
			}
		}
	}
	require.Equal(t, map[[2]int]bool{{0, 0}: true, {15, 0}: true, {1, 1}: true, {14, 1}: true}, black)

	p = New(small())
	p.Take([]byte("I\n"))
	ink := 0
	for _, c := range p.Picture().Pix {
		ink += int(c)
	}
	require.Greater(t, ink, 8, "a letter is drawn")
	require.Equal(t, color.Palette{color.White, color.Black}, p.Picture().Palette)
}

// TestStatus compares the answers with the tables of a manual.
func TestStatus(t *testing.T) {
	all := []byte("\x10\x04\x01\x10\x04\x02\x10\x04\x03\x10\x04\x04")
	p := New(small())
	require.Equal(t, []byte{0x12, 0x12, 0x12, 0x12}, p.Take(all))
	require.Equal(t, []byte{0x00}, p.Take([]byte("\x1dr\x01")))
	require.Equal(t, []byte{0x10, 0, 0, 0x0f}, p.Take([]byte("\x1da\x0e")))
	p.NearEnd(true)
	require.Equal(t, []byte{0x10, 0, 0x03, 0x0f, 0x12, 0x12, 0x12, 0x1e, 0x03}, p.Take(append(all, "\x1dr1"...)))
	p.NearEnd(false)
	p.Take(nil)

	p.Set(PaperOut, true)
	require.Equal(t, []byte{0x18, 0, 0x0f, 0x0f, 0x1a, 0x32, 0x12, 0x7e}, p.Take(append(all, "\x1dr\x01paid\n"...)), "GS r waits")
	require.False(t, p.Idle())
	p.Set(PaperOut, false)
	require.Equal(t, []byte{0x10, 0, 0, 0x0f, 0x00}, append(p.Take(nil), p.Take([]byte{0})...))
	require.Equal(t, "  |paid\n", p.Listing())

	p.Set(CoverOpen, true)
	require.Equal(t, []byte{0x38, 0, 0, 0x0f, 0x1a, 0x16, 0x12, 0x12}, p.Take(all))
	p.Set(CoverOpen, false)
	p.Set(CutterStuck, true)
	require.Equal(t, []byte{0x10, 0, 0, 0x0f, 0x18, 0x08, 0, 0x0f, 0x1a, 0x52, 0x1a, 0x12}, p.Take(all))
	p.PowerCycle()
	p.Set(CutterStuck, false)
	p.Mute(true)
	require.Empty(t, p.Take(all))
	require.Empty(t, New(Config{Columns: 16, Dots: 192}).Take(append(all, "\x1dr\x01\x1da\x0e"...)), "it answers nothing")
}

// TestServe: the paper ends after so many bytes, and what was received is printed when there is paper again.
func TestServe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := small()
		cfg.Rate, cfg.Stops, cfg.Buffer = 10, true, 8
		p := New(cfg)
		p.PaperOutAfter(6)
		near, far := net.Pipe()
		done := make(chan struct{})
		go func() { defer close(done); p.Serve(far) }()
		began := time.Now()
		_, err := near.Write([]byte("paid\nin full\n"))
		require.NoError(t, err)
		time.Sleep(10 * time.Second)
		require.Equal(t, "  |paid\n", p.Listing())
		require.Equal(t, 6, p.Worked())
		p.Set(PaperOut, false)
		require.NoError(t, near.Close())
		<-done
		require.Equal(t, "  |paid\n  |in full\n", p.Listing())
		require.Greater(t, time.Since(began), 10*time.Second)
	})
}
