package apdu

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

// Begins reports whether a message of either side can begin with b: it is the CLASS of a command or
// of a reply. No letter, no TLS record and no STUN header begins with one.
func Begins(b byte) bool {
	switch b {
	case 0x04, 0x05, 0x06, 0x08, 0x0F, 0x80, 0x84:
		return true
	}
	return false
}

// Next cuts the first APDU off a stream. missing is 0 when apdu is complete; otherwise apdu is nil,
// rest is buf and at least missing more bytes are needed. apdu aliases buf.
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
