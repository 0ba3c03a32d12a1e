package apdu

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

// tagBytes is a tag as it is on the wire.
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
