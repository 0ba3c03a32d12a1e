package apdu

import "fmt"

// Encode writes m. A decoded message gives back its bytes; one built by hand takes the shortest length forms.
// Errors: *SyntaxError with ErrValue, ErrTag or ErrLength where a value does not fit its field.
func Encode(m Message) ([]byte, error) { return Append(nil, m) }

// Append is Encode onto dst; on error it returns dst unchanged.
func Append(dst []byte, m Message) ([]byte, error) {
	var body []byte
	if m.Raw != nil {
		if m.Prefix != nil || m.Fields != nil {
			return dst, &SyntaxError{0, "", ErrValue}
		}
		body = m.Raw
	} else {
		body = append(body, m.Prefix...)
		for _, f := range m.Fields {
			var err error
			if body, err = appendField(body, f); err != nil {
				return dst, err
			}
		}
	}
	if len(body) > MaxData {
		return dst, &SyntaxError{2, "LEN", ErrLength}
	}
	dst = append(dst, byte(m.Cmd>>8), byte(m.Cmd))
	if m.long || len(body) >= 0xFF {
		dst = append(dst, 0xFF, byte(len(body)), byte(len(body)>>8))
	} else {
		dst = append(dst, byte(len(body)))
	}
	return append(dst, body...), nil
}

func appendField(dst []byte, f Field) ([]byte, error) {
	path := fmt.Sprintf("%02X", f.BMP)
	fail := func(err error) ([]byte, error) { return dst, &SyntaxError{len(dst), path, err} }
	spec, ok := Lookup(f.BMP)
	if !ok {
		return dst, &UnknownBMPError{BMP: f.BMP, Offset: len(dst)}
	}
	n := len(f.Value)
	switch spec.Format {
	case Fixed:
		if n != spec.Len {
			return fail(ErrValue)
		}
		dst = append(dst, f.BMP)
	case LLVar:
		if n > 99 {
			return fail(ErrValue)
		}
		dst = append(dst, f.BMP, 0xF0|byte(n/10), 0xF0|byte(n%10))
	case LLLVar:
		if n > 999 {
			return fail(ErrValue)
		}
		dst = append(dst, f.BMP, 0xF0|byte(n/100), 0xF0|byte(n/10%10), 0xF0|byte(n%10))
	case BER:
		if f.Value != nil {
			return fail(ErrValue)
		}
		body, err := appendObjects(nil, f.TLV, path)
		if err != nil {
			return dst, err
		}
		if dst, err = appendLen(append(dst, f.BMP), len(body), f.form); err != nil {
			return fail(err)
		}
		return append(dst, body...), nil
	}
	return append(dst, f.Value...), nil
}

func appendLen(dst []byte, n int, form byte) ([]byte, error) {
	switch max(form, shortestForm(n)) {
	case 0:
		return append(dst, byte(n)), nil
	case 0x81:
		return append(dst, 0x81, byte(n)), nil
	}
	if n > 0xFFFF {
		return dst, ErrLength
	}
	return append(dst, 0x82, byte(n>>8), byte(n)), nil
}

func appendObjects(dst []byte, objects []TLV, path string) ([]byte, error) {
	for _, t := range objects {
		at := fmt.Sprintf("%s/%02X", path, t.Tag)
		tag := tagBytes(t.Tag)
		if got, size, err := readTag(tag); err != nil || size != len(tag) || got != t.Tag {
			return dst, &SyntaxError{len(dst), at, ErrTag}
		}
		body := t.Value
		if t.Constructed() && !t.unread {
			if t.Value != nil {
				return dst, &SyntaxError{len(dst), at, ErrValue}
			}
			var err error
			if body, err = appendObjects(nil, t.Children, at); err != nil {
				return dst, err
			}
		} else if t.Children != nil {
			return dst, &SyntaxError{len(dst), at, ErrValue}
		}
		var err error
		if dst, err = appendLen(append(dst, tag...), len(body), t.form); err != nil {
			return dst, &SyntaxError{len(dst), at, err}
		}
		dst = append(dst, body...)
	}
	return dst, nil
}
