package apdu

import (
	"bytes"
	"slices"
)

// Decode reads exactly one APDU. On error the returned Message still carries Cmd if the header
// could be read. Errors: *SyntaxError, *UnknownBMPError. The result does not alias data.
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
		r := reader{buf: body, pos: cut, base: h, cmd: m.Cmd}
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

// Line is the attribute and the text of 06 D1. A container that some terminals append to the text
// is left out.
func (m Message) Line() (attr byte, text []byte, ok bool) {
	if m.Cmd != PrintLine || len(m.Raw) == 0 {
		return 0, nil, false
	}
	text = m.Raw[1:]
	if i := bytes.IndexByte(text, 0x06); i >= 0 {
		r := reader{buf: text, pos: i}
		if fields, err := r.fields(); err == nil && len(fields) == 1 {
			text = text[:i]
		}
	}
	return m.Raw[0], text, true
}
