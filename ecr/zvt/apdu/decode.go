package apdu

import (
	"fmt"
	"slices"
)

// MaxData is the largest data block an APDU can carry.
const MaxData = 0xFFFF

// header reads CLASS INSTR LEN. missing > 0: that many bytes at least are still to come.
func header(buf []byte) (headerLen, dataLen, missing int) {
	if len(buf) < 3 {
		return 0, 0, 3 - len(buf)
	}
	if buf[2] != 0xFF {
		return 3, int(buf[2]), 0
	}
	if len(buf) < 5 {
		return 0, 0, 5 - len(buf)
	}
	return 5, int(buf[3]) | int(buf[4])<<8, 0
}

// Begins reports whether a message of either side can begin with b: it is the CLASS of a command or of a reply. No
// letter, no TLS record and no STUN header begins with one.
func Begins(b byte) bool {
	switch b {
	case 0x04, 0x05, 0x06, 0x08, 0x0F, 0x80, 0x84:
		return true
	}
	return false
}

// Next cuts the first APDU off a stream. missing is 0 when apdu is complete; otherwise apdu is nil, rest is buf and
// at least missing more bytes are needed. apdu aliases buf.
func Next(buf []byte) (apdu, rest []byte, missing int) {
	h, n, missing := header(buf)
	if missing > 0 {
		return nil, buf, missing
	}
	if len(buf) < h+n {
		return nil, buf, h + n - len(buf)
	}
	return buf[: h+n : h+n], buf[h+n:], 0
}

// Decode reads exactly one APDU. On error the returned Message still carries Cmd if the header could be read.
// Errors: *SyntaxError, *UnknownBMPError. The result does not alias data.
func Decode(data []byte) (Message, error) {
	var m Message
	if len(data) >= 2 {
		m.Cmd = Command(data[0])<<8 | Command(data[1])
	}
	h, n, missing := header(data)
	if missing > 0 {
		return m, &SyntaxError{len(data), "LEN", ErrTruncated}
	}
	switch {
	case len(data) < h+n:
		return m, &SyntaxError{len(data), "LEN", ErrTruncated}
	case len(data) > h+n:
		return m, &SyntaxError{h + n, "LEN", ErrTrailing}
	}
	body := slices.Clone(data[h:])
	m.long = h == 5 && n < 0xFF
	l, ok := layoutOf(m.Cmd)
	if !ok || l.raw {
		m.Raw = nonEmpty(body)
		return m, nil
	}
	var firstErr error
	found := false
	for _, cut := range l.cuts(body) {
		r := reader{buf: body, pos: cut, base: h}
		fields, err := r.fields()
		if err == nil && l.only != 0 && len(fields) > 0 && fields[0].BMP != l.only {
			err = &UnknownBMPError{BMP: fields[0].BMP, Offset: h + cut}
		}
		if err != nil {
			if firstErr == nil {
				firstErr = err
			}
			continue
		}
		if !found || l.want != 0 && !hasField(m.Fields, l.want) && hasField(fields, l.want) {
			m.Prefix, m.Fields, found = nonEmpty(body[:cut:cut]), fields, true
		}
		if l.want == 0 || hasField(fields, l.want) {
			break
		}
	}
	if found {
		return m, nil
	}
	if l.soft && body[0] != 0x06 {
		m.Raw = body
		return m, nil
	}
	return m, firstErr
}

func nonEmpty(b []byte) []byte {
	if len(b) == 0 {
		return nil
	}
	return b
}

func hasField(fields []Field, bmp byte) bool {
	return slices.ContainsFunc(fields, func(f Field) bool { return f.BMP == bmp })
}

// reader walks over a data block; base is the block's offset in the APDU, for errors.
type reader struct {
	buf  []byte
	pos  int
	base int
}

func (r *reader) fail(path string, at int, err error) error {
	return &SyntaxError{Offset: r.base + at, Path: path, Err: err}
}

func (r *reader) fields() ([]Field, error) {
	var out []Field
	for r.pos < len(r.buf) {
		f, err := r.field()
		if err != nil {
			return nil, err
		}
		out = append(out, f)
	}
	return out, nil
}

func (r *reader) field() (Field, error) {
	start := r.pos
	f := Field{BMP: r.buf[start]}
	spec, ok := Lookup(f.BMP)
	if !ok {
		return f, &UnknownBMPError{BMP: f.BMP, Offset: r.base + start}
	}
	r.pos++
	path := fmt.Sprintf("%02X", f.BMP)
	n := spec.Len
	switch spec.Format {
	case LLVar, LLLVar:
		digits := 2 + int(spec.Format-LLVar)
		var err error
		if n, err = varLen(r.buf[r.pos:], digits); err != nil {
			return f, r.fail(path, r.pos, err)
		}
		r.pos += digits
	case BER:
		n, form, err := r.berLen()
		if err != nil {
			return f, r.fail(path, r.pos, err)
		}
		f.form = form
		f.TLV, err = r.objects(r.pos+n, path, 0)
		return f, err
	}
	if len(r.buf)-r.pos < n {
		return f, r.fail(path, len(r.buf), ErrTruncated)
	}
	f.Value = slices.Clone(r.buf[r.pos : r.pos+n])
	if f.Value == nil {
		f.Value = []byte{}
	}
	r.pos += n
	return f, nil
}

// varLen reads the length digits of an LLVAR or LLLVAR field.
func varLen(b []byte, digits int) (int, error) {
	if len(b) < digits {
		return 0, ErrTruncated
	}
	n := 0
	for _, d := range b[:digits] {
		if d < 0xF0 || d > 0xF9 {
			return 0, ErrDigits
		}
		n = n*10 + int(d&0x0F)
	}
	return n, nil
}

// berLen reads a BER length and reports a form that is not the shortest one.
func (r *reader) berLen() (n int, form byte, err error) {
	b := r.buf[r.pos:]
	switch {
	case len(b) == 0:
		return 0, 0, ErrTruncated
	case b[0] <= 0x7F:
		r.pos++
		return int(b[0]), 0, nil
	case b[0] == 0x81:
		if len(b) < 2 {
			return 0, 0, ErrTruncated
		}
		r.pos += 2
		n = int(b[1])
	case b[0] == 0x82:
		if len(b) < 3 {
			return 0, 0, ErrTruncated
		}
		r.pos += 3
		n = int(b[1])<<8 | int(b[2])
	default:
		return 0, 0, ErrLength
	}
	if shortestForm(n) != b[0] {
		form = b[0]
	}
	return n, form, nil
}

// shortestForm is the first byte of the canonical length: 0x81, 0x82, or 0 for the one-byte form.
func shortestForm(n int) byte {
	switch {
	case n <= 0x7F:
		return 0
	case n <= 0xFF:
		return 0x81
	}
	return 0x82
}

const maxDepth = 12

// objects reads data objects up to end, which must be hit exactly.
func (r *reader) objects(end int, path string, depth int) ([]TLV, error) {
	out := []TLV{}
	if end > len(r.buf) {
		return nil, r.fail(path, len(r.buf), ErrTruncated)
	}
	if depth >= maxDepth {
		return nil, r.fail(path, r.pos, ErrDepth)
	}
	for r.pos < end {
		t, err := r.object(end, path, depth)
		if err != nil {
			return nil, err
		}
		out = append(out, t)
	}
	return out, nil
}

func (r *reader) object(end int, path string, depth int) (TLV, error) {
	start := r.pos
	tag, size, err := readTag(r.buf[start:end])
	if err != nil {
		return TLV{}, r.fail(path, start, err)
	}
	t := TLV{Tag: tag}
	r.pos += size
	path = fmt.Sprintf("%s/%02X", path, tag)
	inner := reader{buf: r.buf[:end], pos: r.pos, base: r.base}
	n, form, err := inner.berLen()
	if err != nil {
		return t, r.fail(path, r.pos, err)
	}
	t.form = form
	r.pos = inner.pos
	if r.pos+n > end {
		return t, r.fail(path, end, ErrTruncated)
	}
	if t.Constructed() {
		t.Children, err = r.objects(r.pos+n, path, depth+1)
		return t, err
	}
	t.Value = append([]byte{}, r.buf[r.pos:r.pos+n]...)
	r.pos += n
	return t, nil
}

// readTag reads a tag of one to four bytes.
func readTag(b []byte) (tag uint32, size int, err error) {
	if len(b) == 0 {
		return 0, 0, ErrTruncated
	}
	tag = uint32(b[0])
	if b[0]&0x1F != 0x1F {
		return tag, 1, nil
	}
	for size = 1; ; size++ {
		switch {
		case size == 4:
			return 0, 0, ErrTag
		case size >= len(b):
			return 0, 0, ErrTruncated
		}
		tag = tag<<8 | uint32(b[size])
		if b[size]&0x80 == 0 {
			return tag, size + 1, nil
		}
	}
}

// Constructed reports whether the object holds other objects (bit 20 of the first tag byte).
func (t TLV) Constructed() bool {
	b := tagBytes(t.Tag)
	return b[0]&0x20 != 0
}

func tagBytes(tag uint32) []byte {
	switch {
	case tag <= 0xFF:
		return []byte{byte(tag)}
	case tag <= 0xFFFF:
		return []byte{byte(tag >> 8), byte(tag)}
	case tag <= 0xFFFFFF:
		return []byte{byte(tag >> 16), byte(tag >> 8), byte(tag)}
	}
	return []byte{byte(tag >> 24), byte(tag >> 16), byte(tag >> 8), byte(tag)}
}
