package qr

import (
	"encoding/binary"
	"hash/adler32"
	"hash/crc32"
	"image"
)

// EncodePNG writes a picture of at most four colours as PNG, uncompressed: image/png and its compressor would be 70 kB of a
// terminal's binary, and a picture that lies in memory or on a small file system for a minute need not be small.
func EncodePNG(img *image.Paletted) []byte {
	w, h := img.Rect.Dx(), img.Rect.Dy()
	depth := 1
	if len(img.Palette) > 2 {
		depth = 2
	}
	out := []byte("\x89PNG\r\n\x1a\n")
	head := binary.BigEndian.AppendUint32(nil, uint32(w))
	head = append(binary.BigEndian.AppendUint32(head, uint32(h)), byte(depth), 3, 0, 0, 0) // 3: by palette
	out = chunk(out, "IHDR", head)
	var palette []byte
	for _, c := range img.Palette {
		r, g, b, _ := c.RGBA()
		palette = append(palette, byte(r>>8), byte(g>>8), byte(b>>8))
	}
	out = chunk(out, "PLTE", palette)
	out = chunk(out, "IDAT", stored(rows(img, w, h, depth)))
	return chunk(out, "IEND", nil)
}

// rows packs the pixels, each row after the number of its filter: none.
func rows(img *image.Paletted, w, h, depth int) []byte {
	wide := (w*depth + 7) / 8
	out := make([]byte, 0, (wide+1)*h)
	for y := range h {
		row := make([]byte, wide+1)
		for x, p := range img.Pix[y*img.Stride : y*img.Stride+w] {
			at := x * depth
			row[1+at/8] |= p << (8 - depth - at%8)
		}
		out = append(out, row...)
	}
	return out
}

// stored wraps data as zlib does, in blocks that are not compressed (RFC 1950, RFC 1951 3.2.4).
func stored(data []byte) []byte {
	const most = 0xffff
	out := []byte{0x78, 0x01}
	for rest := data; ; {
		n := min(len(rest), most)
		last := byte(0)
		if n == len(rest) {
			last = 1
		}
		out = binary.LittleEndian.AppendUint16(append(out, last), uint16(n))
		out = binary.LittleEndian.AppendUint16(out, ^uint16(n))
		out = append(out, rest[:n]...)
		if rest = rest[n:]; last == 1 {
			return binary.BigEndian.AppendUint32(out, adler32.Checksum(data))
		}
	}
}

// chunk appends one part of a PNG.
func chunk(out []byte, kind string, data []byte) []byte {
	out = binary.BigEndian.AppendUint32(out, uint32(len(data)))
	from := len(out)
	out = append(append(out, kind...), data...)
	return binary.BigEndian.AppendUint32(out, crc32.ChecksumIEEE(out[from:]))
}
