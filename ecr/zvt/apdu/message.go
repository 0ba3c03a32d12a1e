package apdu

import (
	"bytes"
	"fmt"
	"math"
)

// Message is one APDU. A decoded Message keeps the order and the length form of what it was decoded
// from, so that Encode gives back the same bytes; a Message built by hand is encoded canonically.
type Message struct {
	Cmd    Command
	Prefix []byte  // the positional bytes before the first BMP (password, config byte, result byte, ...)
	Fields []Field // in wire order
	Raw    []byte  // the whole data block where the command is unknown or its data is not BMPs; then Prefix and Fields are nil
	long   bool    // three-byte length form although the data is shorter than 255 bytes
}

// Field is one BMP.
type Field struct {
	BMP   byte
	Value []byte // payload without BMP and length digits; nil for BMP 06
	TLV   []TLV  // BMP 06 only; empty, not nil, for an empty container
	form  byte   // BER length form of BMP 06 as decoded: 0 canonical, 0x81, 0x82
}

// TLV is one BER data object.
type TLV struct {
	Tag      uint32 // as on the wire: 0x24, 0x1F04, 0x1F8006
	Value    []byte // primitive; or what is inside a hint that cannot be read
	Children []TLV  // constructed (bit 20 of the first tag byte)
	form     byte
	unread   bool // what is inside could not be read, and stands in Value
}

// Constructed reports whether the object holds other objects (bit 20 of the first tag byte).
func (t TLV) Constructed() bool {
	b := tagBytes(t.Tag)
	return b[0]&0x20 != 0
}

// Field returns the first field with this BMP.
func (m Message) Field(bmp byte) (Field, bool) {
	for _, f := range m.Fields {
		if f.BMP == bmp {
			return f, true
		}
	}
	return Field{}, false
}

// BMP returns the value of the first field with this BMP.
func (m Message) BMP(bmp byte) ([]byte, bool) {
	f, ok := m.Field(bmp)
	return f.Value, ok
}

// Has reports whether a field with this BMP is present.
func (m Message) Has(bmp byte) bool { _, ok := m.Field(bmp); return ok }

// Byte returns a one-byte field.
func (m Message) Byte(bmp byte) (byte, bool) {
	if v, ok := m.BMP(bmp); ok && len(v) == 1 {
		return v[0], true
	}
	return 0, false
}

// BCD returns a decimal field. present is true also when the digits are bad; then err is a
// *SyntaxError with ErrBCD.
func (m Message) BCD(bmp byte) (n int64, present bool, err error) {
	v, ok := m.BMP(bmp)
	if !ok {
		return 0, false, nil
	}
	n, err = UnpackBCD(v)
	if err != nil {
		return 0, true, &SyntaxError{0, fmt.Sprintf("%02X", bmp), err}
	}
	return n, true, nil
}

// number is BCD for fields where bad digits are as good as none.
func (m Message) number(bmp byte) (int, bool) {
	n, ok, err := m.BCD(bmp)
	return int(n), ok && err == nil
}

// Amount is BMP 04 in minor units. A nibble A-F is an error, never zero.
func (m Message) Amount() (minor int64, present bool, err error) { return m.BCD(0x04) }

// Currency is the numeric ISO 4217 code of BMP 49; a registration carries it among its positional
// bytes.
func (m Message) Currency() (numeric int, ok bool) {
	if m.Cmd == Registration && len(m.Prefix) == 6 {
		n, err := UnpackBCD(m.Prefix[4:6])
		return int(n), err == nil
	}
	return m.number(0x49)
}

// Receipt is BMP 87; false also when its digits are bad (FFFF means "none").
func (m Message) Receipt() (int, bool) { return m.number(0x87) }

// Trace is BMP 0B, or TLV 1F2B where the number has more than six digits.
func (m Message) Trace() (int, bool) {
	if t, ok := m.FindTLV(0x1F2B); ok {
		if n, err := UnpackBCD(t.Value); err == nil && n <= math.MaxInt32 {
			return int(n), true
		}
	}
	return m.number(0x0B)
}

// OriginalTrace is BMP 37.
func (m Message) OriginalTrace() (int, bool) { return m.number(0x37) }

// Turnover is BMP 88.
func (m Message) Turnover() (int, bool) { return m.number(0x88) }

// Result is BMP 27, or the positional result byte of 06 1E.
func (m Message) Result() (byte, bool) {
	if m.Cmd == AbortPT {
		if len(m.Prefix) == 0 {
			return 0, false
		}
		return m.Prefix[0], true
	}
	return m.Byte(0x27)
}

// Time is BMP 0C.
func (m Message) Time() (hour, minute, second int, ok bool) {
	n, ok := m.number(0x0C)
	hour, minute, second = n/10000, n/100%100, n%100
	if !ok || hour > 23 || minute > 59 || second > 59 {
		return 0, 0, 0, false
	}
	return hour, minute, second, true
}

// Date is BMP AA (year 0..99) or BMP 0D (year -1: none).
func (m Message) Date() (year, month, day int, ok bool) {
	n, ok := m.number(0xAA)
	year = n / 10000
	if !ok {
		n, ok = m.number(0x0D)
		year = -1
	}
	month, day = n/100%100, n%100
	if !ok || month < 1 || month > 12 || day < 1 || day > 31 {
		return 0, 0, 0, false
	}
	return year, month, day, true
}

// TerminalID is BMP 29 as its eight digits.
func (m Message) TerminalID() (string, bool) {
	v, ok := m.BMP(0x29)
	if !ok || !isBCD(v) {
		return "", false
	}
	return fmt.Sprintf("%X", v), true
}

// CardType is BMP 8A, or TLV 41 where the type is above 254 or 8A is absent. 8A = FF without TLV 41
// says nothing.
func (m Message) CardType() (int, bool) {
	b, ok := m.Byte(0x8A)
	if ok && b != 0xFF {
		return int(b), true
	}
	if t, has := m.FindTLV(0x41); has && len(t.Value) > 0 && len(t.Value) <= 4 {
		n := 0
		for _, x := range t.Value {
			n = n<<8 | int(x)
		}
		return n, true
	}
	return 0, false
}

// Text is a text field, without its padding of spaces and NULs.
func (m Message) Text(bmp byte, cs Charset) (string, bool) {
	v, ok := m.BMP(bmp)
	if !ok {
		return "", false
	}
	if i := bytes.IndexByte(v, 0); i >= 0 {
		v = v[:i]
	}
	return cs.Decode(bytes.TrimRight(v, " ")), true
}

// TLV returns the objects of the first container; ok is true also when it is empty.
func (m Message) TLV() (objects []TLV, ok bool) {
	f, ok := m.Field(0x06)
	return f.TLV, ok
}

// FindTLV walks down the container by tags: FindTLV(0x24, 0x07) is the first 07 inside the first
// 24.
func (m Message) FindTLV(path ...uint32) (TLV, bool) {
	objects, _ := m.TLV()
	return Find(objects, path...)
}

// Find is FindTLV over a list of objects.
func Find(objects []TLV, path ...uint32) (TLV, bool) {
	if len(path) == 0 {
		return TLV{}, false
	}
	for _, t := range objects {
		if t.Tag != path[0] {
			continue
		}
		if len(path) == 1 {
			return t, true
		}
		if found, ok := Find(t.Children, path[1:]...); ok {
			return found, true
		}
	}
	return TLV{}, false
}

// Password is the six digits a command starts with; false if it has none or they are no digits.
func (m Message) Password() (string, bool) {
	if !m.Cmd.passwordFirst() || len(m.Prefix) < 3 || !isBCD(m.Prefix[:3]) {
		return "", false
	}
	return fmt.Sprintf("%X", m.Prefix[:3]), true
}

// Config is the config byte of a registration.
func (m Message) Config() (byte, bool) {
	if m.Cmd != Registration || len(m.Prefix) < 4 {
		return 0, false
	}
	return m.Prefix[3], true
}

// ReceiptRange is the positional range of 06 12; to is 0 where only one number was sent.
func (m Message) ReceiptRange() (from, to int, ok bool) {
	if m.Cmd != ReprintReceipt || len(m.Prefix) < 5 {
		return 0, 0, false
	}
	a, err := UnpackBCD(m.Prefix[3:5])
	if err != nil {
		return 0, 0, false
	}
	if len(m.Prefix) < 7 {
		return int(a), 0, true
	}
	b, err := UnpackBCD(m.Prefix[5:7])
	return int(a), int(b), err == nil
}

// IntermediateStatus is the status byte of 04 FF and its timeout in minutes, -1 where none was
// sent.
func (m Message) IntermediateStatus() (status byte, minutes int, ok bool) {
	if m.Cmd != Intermediate || len(m.Prefix) == 0 {
		return 0, -1, false
	}
	minutes = -1
	if len(m.Prefix) > 1 {
		if n, err := UnpackBCD(m.Prefix[1:2]); err == nil {
			minutes = int(n)
		}
	}
	return m.Prefix[0], minutes, true
}

// TerminalStatus is the answer to a status enquiry (06 0F with its version and status byte first),
// or the status BMP 19 of a registration's completion.
func (m Message) TerminalStatus(cs Charset) (version string, status byte, ok bool) {
	if m.Cmd != Completion {
		return "", 0, false
	}
	if n := len(m.Prefix); n > 0 {
		if n > 4 {
			version = cs.Decode(m.Prefix[3 : n-1])
		}
		return version, m.Prefix[n-1], true
	}
	status, ok = m.Byte(0x19)
	return "", status, ok
}
