package caisseap

import (
	"errors"
	"fmt"
	"strings"
)

// Field is one field of a message: a tag of two capitals and its value.
type Field struct{ Tag, Value string }

// Message is the fields of a request or an answer, in their order on the wire.
type Message []Field

// Limits of a message in bytes. Registers read an answer with one recv of MaxAnswer.
const (
	MaxRequest = 2048
	MaxAnswer  = 1024
	header     = 5 // of a field: the tag and three digits
)

// ErrFormat is the error of bytes that are no message.
var ErrFormat = errors.New("caisse-ap: malformed message")

// size is the least and the most bytes of a tag's value.
type size struct{ least, most int }

// sizes are those of the fields that decide something, and of the echoes, which have to fit into an
// answer. Others may have 1 to 999 bytes: tills send them as they like.
var sizes = map[string]size{
	"CZ": {1, 256}, "CJ": {1, 256}, "CA": {1, 2}, "CB": {1, 12}, "CD": {1, 1}, "CE": {3, 3}, "CC": {3, 3}, "CF": {1, 99},
}

// Get returns the value of a tag, "" if it is not there.
func (m Message) Get(tag string) string {
	for _, f := range m {
		if f.Tag == tag {
			return f.Value
		}
	}
	return ""
}

// Encode returns the bytes of a message.
func (m Message) Encode() []byte {
	var b strings.Builder
	for _, f := range m {
		fmt.Fprintf(&b, "%s%03d%s", f.Tag, len(f.Value), f.Value)
	}
	return []byte(b.String())
}

// Decode reads a message of whole fields, CZ first and each tag once. With ErrFormat it returns the
// fields before the fault.
func Decode(data []byte) (Message, error) {
	var m Message
	for len(data) > 0 {
		f, rest, err := next(data)
		switch {
		case err != nil:
			return m, err
		case len(f.Value) > len(rest):
			return m, fmt.Errorf("%w: %s ends early", ErrFormat, f.Tag)
		}
		f.Value, data = string(rest[:len(f.Value)]), rest[len(f.Value):]
		switch s, known := sizes[f.Tag]; {
		case known && (len(f.Value) < s.least || len(f.Value) > s.most):
			return m, fmt.Errorf("%w: %s has %d bytes", ErrFormat, f.Tag, len(f.Value))
		case strings.ContainsFunc(f.Value, func(r rune) bool { return r < ' ' || r > '~' }):
			return m, fmt.Errorf("%w: %s is not printable", ErrFormat, f.Tag)
		case len(m) == 0 && f.Tag != "CZ":
			return m, fmt.Errorf("%w: begins with %s", ErrFormat, f.Tag)
		case m.Get(f.Tag) != "":
			return m, fmt.Errorf("%w: %s twice", ErrFormat, f.Tag)
		}
		m = append(m, f)
	}
	if len(m) == 0 {
		return nil, fmt.Errorf("%w: empty", ErrFormat)
	}
	return m, nil
}

// blank stands in for a value whose length alone is known.
var blank = strings.Repeat(" ", 999)

// next reads the header of the first field; its value is a blank of the right length.
func next(data []byte) (f Field, rest []byte, err error) {
	if len(data) < header || !capital(data[0]) || !capital(data[1]) {
		return f, nil, fmt.Errorf("%w: no field", ErrFormat)
	}
	n := 0
	for _, c := range data[2:header] {
		if c < '0' || c > '9' {
			return f, nil, fmt.Errorf("%w: size of %s", ErrFormat, data[:2])
		}
		n = 10*n + int(c-'0')
	}
	if n == 0 {
		return f, nil, fmt.Errorf("%w: %s is empty", ErrFormat, data[:2])
	}
	return Field{string(data[:2]), blank[:n]}, data[header:], nil
}

func capital(c byte) bool { return c >= 'A' && c <= 'Z' }

// State is what the bytes that have come so far are.
type State uint8

// The states.
const (
	Strange State = iota // no message begins so
	Partial              // more has to come
	Whole                // a request, unless more comes: the protocol has no end mark
	Ended                // a request and a CR or LF, or a fault: nothing has to come any more
)

// Scan says what the bytes are that a connection has sent, and how many of them are fields.
func Scan(data []byte) (state State, fields int) {
	var m Message
	for rest := data; ; {
		fields = len(data) - len(rest)
		switch {
		case len(rest) == 0 && complete(m):
			return Whole, fields
		case len(rest) == 0:
			return Partial, fields
		case len(m) > 0 && (rest[0] == '\r' || rest[0] == '\n'):
			return Ended, fields
		case !begins(rest, len(m) == 0):
			if len(m) == 0 {
				return Strange, 0
			}
			return Ended, len(data)
		case len(rest) < header:
			return Partial, fields
		}
		f, after, err := next(rest)
		if err != nil || len(m) > 64 {
			return Ended, len(data)
		}
		if len(f.Value) > len(after) {
			return Partial, fields
		}
		f.Value, rest = string(after[:len(f.Value)]), after[len(f.Value):]
		m = append(m, f)
	}
}

// begins says whether bytes can be the beginning of a field; a message begins with C.
func begins(data []byte, first bool) bool {
	for i, c := range data[:min(len(data), header)] {
		if i < 2 && !capital(c) || i >= 2 && (c < '0' || c > '9') || i == 0 && first && c != 'C' {
			return false
		}
	}
	return true
}

// complete says whether every field is there that a request must have.
func complete(m Message) bool {
	must := []string{"CZ", "CJ", "CA", "CD"}
	if cd := m.Get("CD"); cd == debit || cd == credit {
		must = append(must, "CB", "CE")
	}
	for _, tag := range must {
		if m.Get(tag) == "" {
			return false
		}
	}
	return true
}
