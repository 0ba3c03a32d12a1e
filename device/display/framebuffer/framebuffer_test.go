package framebuffer

import (
	"encoding/binary"
	"image"
	"image/color"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// reply is what a kernel answers of a screen, field by field as linux/fb.h has them.
type reply struct {
	xres, yres, xoffset, yoffset, bits, grey uint32
	red, green, blue, transp                 [2]uint32 // offset, length
	memory, kind, visual, line               uint32
}

func (r reply) bytes(long int) (variable, fixed []byte) {
	le := binary.LittleEndian
	for _, v := range []uint32{
		r.xres, r.yres, r.xres, 2 * r.yres, r.xoffset, r.yoffset, r.bits, r.grey,
		r.red[0], r.red[1], 0, r.green[0], r.green[1], 0, r.blue[0], r.blue[1], 0, r.transp[0], r.transp[1], 0,
	} {
		variable = le.AppendUint32(variable, v)
	}
	variable = append(variable, make([]byte, 160-len(variable))...)
	fixed = append([]byte("BCM2708 FB"), make([]byte, 6)...) // id[16]
	word := func() {                                         // unsigned long
		if long == 8 {
			fixed = le.AppendUint64(fixed, 0xfedcba9876543210)
		} else {
			fixed = le.AppendUint32(fixed, 0x76543210)
		}
	}
	word() // smem_start
	for _, v := range []uint32{r.memory, r.kind, 7, r.visual} {
		fixed = le.AppendUint32(fixed, v)
	}
	for _, v := range []uint16{1, 1, 0, 0xaaaa} { // xpanstep, ypanstep, ywrapstep, and a gap
		fixed = le.AppendUint16(fixed, v)
	}
	fixed = le.AppendUint32(fixed, r.line)
	if long == 8 {
		fixed = le.AppendUint32(fixed, 0xaaaaaaaa) // a gap
	}
	word()                                              // mmio_start
	return variable, append(fixed, make([]byte, 16)...) // mmio_len, accel, capabilities, reserved[2], a gap
}

func rgb565() reply {
	return reply{
		xres: 800, yres: 480, bits: 16, red: [2]uint32{11, 5}, green: [2]uint32{5, 6}, blue: [2]uint32{0, 5},
		memory: 2 * 480 * 1664, visual: 2, line: 1664,
	}
}

func TestDecode(t *testing.T) {
	for _, long := range []int{4, 8} {
		variable, fixed := rgb565().bytes(long)
		require.Len(t, fixed, map[int]int{4: 68, 8: 80}[long], "as large as the kernel's")
		m, err := decode(variable, fixed, long, binary.LittleEndian)
		require.NoError(t, err)
		require.Equal(t, Mode{W: 800, H: 480, Stride: 1664, Format: RGB565()}, m)

		r := reply{
			xres: 1280, yres: 800, xoffset: 8, yoffset: 800, bits: 32, red: [2]uint32{16, 8}, green: [2]uint32{8, 8}, blue: [2]uint32{0, 8}, transp: [2]uint32{24, 8},
			memory: 1600 * 5152, visual: 2, line: 5152,
		}
		want := XRGB8888()
		want.Alpha = Field{24, 8}
		variable, fixed = r.bytes(long)
		m, err = decode(variable, fixed, long, binary.LittleEndian)
		require.NoError(t, err)
		require.Equal(t, Mode{W: 1280, H: 800, Stride: 5152, Offset: 800*5152 + 32, Format: want}, m)
	}
}

func TestADeviceThatLiesIsRefused(t *testing.T) {
	for name, change := range map[string]func(*reply){
		"memory of one row less": func(r *reply) { r.memory = 479*1664 + 1599 },
		"a row too short":        func(r *reply) { r.line = 1599 },
		"no rows":                func(r *reply) { r.line = 0 },
		"no pixels":              func(r *reply) { r.xres = 0 },
		"millions of pixels":     func(r *reply) { r.yres = 1 << 31 },
		"a window beside it":     func(r *reply) { r.xoffset = 40 },
		"a window below it":      func(r *reply) { r.yoffset = 481 },
		"a window far away":      func(r *reply) { r.yoffset = 1<<32 - 1 },
		"8 bits":                 func(r *reply) { r.bits = 8 },
		"24 bits":                func(r *reply) { r.bits = 24 },
		"planes":                 func(r *reply) { r.kind = 1 },
		"a palette":              func(r *reply) { r.visual = 3 },
		"YUV":                    func(r *reply) { r.grey = 0x56595559 },
		"a colour outside":       func(r *reply) { r.red = [2]uint32{12, 5} },
		"a colour of no bits":    func(r *reply) { r.green = [2]uint32{5, 0} },
		"a colour of many bits":  func(r *reply) { r.blue = [2]uint32{0, 300} },
		"an alpha outside":       func(r *reply) { r.transp = [2]uint32{15, 2} },
	} {
		r := rgb565()
		change(&r)
		for _, long := range []int{4, 8} {
			variable, fixed := r.bytes(long)
			_, err := decode(variable, fixed, long, binary.LittleEndian)
			require.Error(t, err, name)
		}
	}
	variable, fixed := rgb565().bytes(8)
	_, err := decode(variable[:159], fixed, 8, binary.LittleEndian)
	require.ErrorIs(t, err, errShort)
	_, err = decode(variable, fixed[:51], 8, binary.LittleEndian)
	require.ErrorIs(t, err, errShort)
}

func FuzzDecode(f *testing.F) {
	variable, fixed := rgb565().bytes(8)
	f.Add(variable, fixed, true)
	variable, fixed = rgb565().bytes(4)
	f.Add(variable, fixed, false)
	f.Fuzz(func(t *testing.T, variable, fixed []byte, wide bool) {
		long := 4
		if wide {
			long = 8
		}
		m, err := decode(variable, fixed, long, binary.LittleEndian)
		if err != nil {
			return
		}
		at := 16 + long
		require.LessOrEqual(t, uint64(m.end()), uint64(binary.LittleEndian.Uint32(fixed[at:])))
		require.LessOrEqual(t, m.row(), m.Stride)
		require.True(t, m.W > 0 && m.H > 0 && m.Offset >= 0)
	})
}

// colored is a picture whose every dot is different from its neighbours.
func colored(w, h int) *image.RGBA {
	pic := image.NewRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			pic.SetRGBA(x, y, color.RGBA{R: uint8(37*x + 11*y), G: uint8(5*x + 101*y), B: uint8(x * y), A: 255})
		}
	}
	return pic
}

// turned is where a dot of an upright picture of w x h lies on the panel when the picture is turned clockwise.
func turned(x, y, w, h, degrees int) (int, int) {
	for ; degrees > 0; degrees -= 90 {
		x, y = h-1-y, x
		w, h = h, w
	}
	return x, y
}

// seen reads a dot of a file as a panel would show it.
func seen(data []byte, m Mode, x, y int) (r, g, b uint8) {
	at := data[m.Offset+y*m.Stride+x*m.Format.Bits/8:]
	if m.Format.Bits == 16 {
		p := uint32(at[0]) | uint32(at[1])<<8
		five := func(v uint32) uint8 { return uint8((v*255 + 15) / 31) }
		return five(p >> 11), uint8((p>>5&63*255 + 31) / 63), five(p & 31)
	}
	return at[2], at[1], at[0]
}

func TestAFileHoldsThePicture(t *testing.T) {
	for name, format := range Formats() {
		for _, gap := range []int{0, 6} {
			for _, rotate := range []int{0, 90, 180, 270} {
				const w, h = 24, 10
				pic := colored(w, h)
				m := Mode{W: w, H: h, Format: format}
				if rotate%180 != 0 {
					m.W, m.H = h, w
				}
				m.Stride = m.row() + gap
				path := filepath.Join(t.TempDir(), "fb")
				d := New(Config{Path: path, File: m, Rotate: rotate})
				pw, ph, err := d.Size()
				require.NoError(t, err)
				require.Equal(t, []int{m.W, m.H}, []int{pw, ph})
				require.NoError(t, d.Write(pic, false))
				data, err := os.ReadFile(path)
				require.NoError(t, err)
				require.Len(t, data, m.H*m.Stride)
				near := map[string]float64{"rgb565": 4.2, "xrgb8888": 0}[name] // half of a step of five bits
				for y := range h {
					for x := range w {
						px, py := turned(x, y, w, h, rotate)
						r, g, b := seen(data, m, px, py)
						c := pic.RGBAAt(x, y)
						require.InDelta(t, float64(c.R), float64(r), near, "%s %d", name, rotate)
						require.InDelta(t, float64(c.G), float64(g), near)
						require.InDelta(t, float64(c.B), float64(b), near)
					}
				}
				for y := range m.H { // what lies between the rows is not ours
					for _, b := range data[y*m.Stride+m.row() : (y+1)*m.Stride] {
						require.Zero(t, b)
					}
				}
				require.NoError(t, d.Close())
			}
		}
	}
}

func TestOnlyRowsThatChangedAreWritten(t *testing.T) {
	for _, gap := range []int{0, 8} {
		path := filepath.Join(t.TempDir(), "fb")
		m := Mode{W: 4, H: 8, Format: XRGB8888(), Stride: 16 + gap}
		d := New(Config{Path: path, File: m})
		pic := colored(4, 8)
		require.NoError(t, d.Write(pic, false))
		good, err := os.ReadFile(path)
		require.NoError(t, err)

		drawn := append([]byte(nil), good...) // something else draws over it
		for i := range drawn {
			drawn[i] = 0xee
		}
		require.NoError(t, os.WriteFile(path, drawn, 0o600))
		for _, y := range []int{2, 3, 7} {
			pic.SetRGBA(1, y, color.RGBA{R: 1, G: 2, B: 3, A: 255})
		}
		require.NoError(t, d.Write(pic, false))
		data, err := os.ReadFile(path)
		require.NoError(t, err)
		for y := range 8 {
			row := data[y*m.Stride:][:16]
			if y == 2 || y == 3 || y == 7 {
				require.Equal(t, []byte{3, 2, 1, 0}, row[4:8], y)
				require.Equal(t, good[y*m.Stride:][:4], row[:4], y)
			} else {
				require.Equal(t, drawn[:16], row, y)
			}
		}
		require.NoError(t, d.Write(pic, true))
		data, err = os.ReadFile(path)
		require.NoError(t, err)
		require.Equal(t, good[:16], data[:16], "all of it is written again")
		require.NoError(t, d.Close())
	}
}

// TestWhatIsNoFramebuffer: a wrong path must not destroy what is there.
func TestWhatIsNoFramebuffer(t *testing.T) {
	dir := t.TempDir()
	stated := Mode{W: 4, H: 4, Format: RGB565()}
	fifo := filepath.Join(dir, "fifo")
	require.NoError(t, unix.Mkfifo(fifo, 0o600))
	text := filepath.Join(dir, "text")
	require.NoError(t, os.WriteFile(text, []byte("a configuration"), 0o600))
	missing := filepath.Join(dir, "none", "fb0")
	for _, tc := range []struct {
		path, want string
		file       Mode
	}{
		{"/dev/null", "not a framebuffer", stated},
		{fifo, "neither a framebuffer nor a plain file", stated},
		{dir, "is a directory", stated},
		{text, "holds 15 bytes, a picture has 32: name another file, or remove it", stated},
		{text, "set framebuffer_size", Mode{}},
		{missing, "no such file", stated},
		{"/dev/fb-that-is-not-there", "no such file", stated},
		{filepath.Join(dir, "new"), "no such file", Mode{}},
		{filepath.Join(dir, "wide"), "5000 x 4 pixels", Mode{W: 5000, H: 4, Format: RGB565()}},
		{filepath.Join(dir, "narrow"), "rows of 7 bytes", Mode{W: 4, H: 4, Stride: 7, Format: RGB565()}},
	} {
		err := New(Config{Path: tc.path, File: tc.file}).Write(colored(4, 4), true)
		require.ErrorContains(t, err, tc.want, tc.path)
		require.ErrorContains(t, err, tc.path)
	}
	data, err := os.ReadFile(text)
	require.NoError(t, err)
	require.Equal(t, "a configuration", string(data))
	err = New(Config{Path: filepath.Join(dir, "other"), File: stated}).Write(colored(4, 5), true)
	require.ErrorContains(t, err, "a picture of 4 x 5 for a panel of 4 x 4")
}

// TestADeviceThatWasPulledIsOpenedAgain: a write fails, and the next one shows all of the picture.
func TestADeviceThatWasPulledIsOpenedAgain(t *testing.T) {
	path := filepath.Join(t.TempDir(), "fb")
	d := New(Config{Path: path, File: Mode{W: 4, H: 4, Format: RGB565()}})
	pic := colored(4, 4)
	require.NoError(t, d.Write(pic, false))
	require.NoError(t, d.file.Close()) // what the system says of a device that is gone
	pic.SetRGBA(0, 0, color.RGBA{R: 255, A: 255})
	require.ErrorContains(t, d.Write(pic, false), path)
	require.NoError(t, os.Remove(path))
	require.NoError(t, d.Write(pic, false))
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, []byte{0x00, 0xf8}, data[:2])
	require.NotEqual(t, []byte{0, 0}, data[30:], "the rows that did not change too")
}

// TestAFileThatWasRemovedIsMadeAgain: a write to what no path names any more is no error, and is seen by nobody.
func TestAFileThatWasRemovedIsMadeAgain(t *testing.T) {
	path := filepath.Join(t.TempDir(), "fb")
	d := New(Config{Path: path, File: Mode{W: 4, H: 4, Format: RGB565()}})
	show := func() {
		_, _, err := d.Size()
		require.NoError(t, err)
		require.NoError(t, d.Write(colored(4, 4), false))
	}
	show()
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, os.Remove(path))
	show()
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, want, data)
	require.NoError(t, os.Rename(path, path+".old"))
	require.NoError(t, os.WriteFile(path, []byte("a configuration"), 0o600))
	_, _, err = d.Size()
	require.ErrorContains(t, err, "name another file, or remove it")
}
