package apdu

import (
	"fmt"
	"slices"
)

// reader walks over a data block; base is the block's offset in the APDU, for errors.
type reader struct {
	buf  []byte
	pos  int
	base int
	cmd  Command
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

// hint says whether an object only tells what a register likes: what is inside one that cannot be read is
// left out. Libraries write such lists in ways of their own. Amounts and numbers stand in none of them.
func hint(cmd Command, tag uint32) bool {
	switch cmd {
	case Registration:
		return true
	case Authorisation:
		return tag == 0xE8 || tag == 0x30 || tag == 0x34
	}
	return false
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
		from, to := r.pos, r.pos+n
		if t.Children, err = r.objects(to, path, depth+1); err != nil && depth == 0 && hint(r.cmd, tag) {
			t.Children, t.Value, t.unread, err = nil, append([]byte{}, r.buf[from:to]...), true, nil
			r.pos = to
		}
		return t, err
	}
	t.Value = append([]byte{}, r.buf[r.pos:r.pos+n]...)
	r.pos += n
	return t, nil
}
