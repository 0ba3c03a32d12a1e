package framebuffer

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// Field is where one colour stands in a pixel.
type Field struct{ Offset, Length uint8 } // bits

// Format is the bits of a pixel, which lies in memory with its lowest byte first.
type Format struct {
	Bits                    int // 16 or 32
	Red, Green, Blue, Alpha Field
}

// RGB565 is two bytes a pixel.
func RGB565() Format {
	return Format{Bits: 16, Red: Field{11, 5}, Green: Field{5, 6}, Blue: Field{0, 5}}
}

// XRGB8888 is four bytes a pixel; the highest is not used.
func XRGB8888() Format {
	return Format{Bits: 32, Red: Field{16, 8}, Green: Field{8, 8}, Blue: Field{0, 8}}
}

// Formats are the formats that a plain file can have, by the names of the configuration.
func Formats() map[string]Format {
	return map[string]Format{"rgb565": RGB565(), "xrgb8888": XRGB8888()}
}

func (f Format) check() error {
	if f.Bits != 16 && f.Bits != 32 {
		return fmt.Errorf("%d bits a pixel: want 16 or 32 (fbset -depth)", f.Bits)
	}
	for _, c := range []Field{f.Red, f.Green, f.Blue} {
		if c.Length < 1 || c.Length > 8 || int(c.Offset)+int(c.Length) > f.Bits {
			return fmt.Errorf("a colour of %d bits at %d of %d: want 1 to 8", c.Length, c.Offset, f.Bits)
		}
	}
	if a := f.Alpha; int(a.Offset)+int(a.Length) > f.Bits {
		return fmt.Errorf("an alpha of %d bits at %d of %d", a.Length, a.Offset, f.Bits)
	}
	return nil
}

// Mode is a screen as it lies in memory.
type Mode struct {
	W, H   int // pixels
	Stride int // bytes from one row to the next; 0 = rows without a gap
	Offset int // bytes before the first visible pixel
	Format Format
}

// maxSide bounds a screen, and so the memory for it.
const maxSide = 4096

// check fills the stride in, and returns what is wrong.
func (m Mode) check() (Mode, error) {
	if err := m.Format.check(); err != nil {
		return m, err
	}
	if m.W < 1 || m.H < 1 || m.W > maxSide || m.H > maxSide {
		return m, fmt.Errorf("%d x %d pixels: want 1 to %d a side", m.W, m.H, maxSide)
	}
	if m.Stride == 0 {
		m.Stride = m.row()
	}
	if m.Stride < m.row() || m.Stride > 16*maxSide {
		return m, fmt.Errorf("rows of %d bytes: %d pixels need %d, and %d is the most", m.Stride, m.W, m.row(), 16*maxSide)
	}
	if m.Offset < 0 {
		return m, fmt.Errorf("the picture begins at %d", m.Offset)
	}
	return m, nil
}

// row is the visible bytes of a row.
func (m Mode) row() int { return m.W * m.Format.Bits / 8 }

// end is where the last visible byte ends.
func (m Mode) end() int { return m.Offset + (m.H-1)*m.Stride + m.row() }

// The sizes of what the kernel answers (linux/fb.h). The fixed part has two unsigned longs.
const (
	varSize = 160
	fixSize = 80 // with longs of 64 bits; 68 with 32
)

// What the fixed part says of a layout that is drawn to.
const (
	packedPixels = 0
	trueColor    = 2
)

// errShort is a reply of the kernel that ends early.
var errShort = errors.New("reply too short")

// decode reads what the kernel says of a framebuffer: struct fb_var_screeninfo and fb_fix_screeninfo, with longs of long bytes.
func decode(variable, fixed []byte, long int, order binary.ByteOrder) (Mode, error) {
	if len(variable) < varSize || len(fixed) < 16+long+28 {
		return Mode{}, errShort
	}
	number := func(p []byte) int { return int(min(order.Uint32(p), 1<<30)) } // also where int has 32 bits
	word := func(i int) int { return number(variable[4*i:]) }
	field := func(i int) Field {
		return Field{Offset: uint8(min(255, order.Uint32(variable[4*i:]))), Length: uint8(min(255, order.Uint32(variable[4*i+4:])))}
	}
	// id[16], smem_start (long), smem_len, type, type_aux, visual, xpanstep, ypanstep, ywrapstep (16 bits), line_length
	at := 16 + long
	memory, kind, visual, stride := number(fixed[at:]), number(fixed[at+4:]), number(fixed[at+12:]), number(fixed[at+24:])
	// xres, yres, xres_virtual, yres_virtual, xoffset, yoffset, bits_per_pixel, grayscale, red, green, blue, transp (offset, length, msb_right)
	m := Mode{
		W: word(0), H: word(1), Stride: stride,
		Format: Format{Bits: word(6), Red: field(8), Green: field(11), Blue: field(14), Alpha: field(17)},
	}
	if kind != packedPixels || visual != trueColor || word(7) != 0 {
		return m, fmt.Errorf("pixels of type %d, visual %d, grey %d: want packed true colour (0, 2, 0)", kind, visual, word(7))
	}
	if stride < 1 {
		return m, fmt.Errorf("rows of %d bytes", stride)
	}
	m, err := m.check()
	if err != nil {
		return m, err
	}
	// A screen may be a window on a larger one.
	left, above := word(4), word(5)
	if left > maxSide || above > 16*maxSide || left*m.Format.Bits/8+m.row() > m.Stride {
		return m, fmt.Errorf("%d pixels from %d, %d on do not lie in rows of %d bytes", m.W, left, above, m.Stride)
	}
	if m.Offset = above*m.Stride + left*m.Format.Bits/8; m.end() > memory {
		return m, fmt.Errorf("%d x %d pixels end at byte %d of a memory of %d", m.W, m.H, m.end(), memory)
	}
	return m, nil
}
