package apdu

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Description is a message as people read it; it marshals to JSON. Card data is masked in it.
type Description struct {
	Command   string `json:"command"` // "06 01"
	Name      string `json:"name"`
	Length    int    `json:"length"`               // of the data block
	LongForm  bool   `json:"longForm,omitempty"`   // three length bytes although one would do
	Password  string `json:"password,omitempty"`   // positional bytes from here on
	Config    string `json:"config,omitempty"`     // "BA"
	Currency  string `json:"currency,omitempty"`   // of a registration: "0978"
	From      *int   `json:"from,omitempty"`       // of 06 12
	To        *int   `json:"to,omitempty"`         // of 06 12
	Result    string `json:"result,omitempty"`     // of 06 1E and 84 xx: "6C"
	Status    string `json:"status,omitempty"`     // of 04 FF, and of 06 0F after a status enquiry: "0E"
	Meaning   string `json:"meaning,omitempty"`    // of Result or Status
	Minutes   *int   `json:"minutes,omitempty"`    // timeout of 04 FF
	Version   string `json:"version,omitempty"`    // of 06 0F after a status enquiry
	Attribute string `json:"attribute,omitempty"`  // of 06 D1
	Text      string `json:"text,omitempty"`       // of 06 D1
	Prefix    string `json:"positional,omitempty"` // any other positional bytes, hexadecimal
	Data      string `json:"data,omitempty"`       // an undissected data block, hexadecimal

	Fields []FieldDescription `json:"fields,omitempty"`
}

// FieldDescription is one BMP.
type FieldDescription struct {
	BMP     string           `json:"bmp"`
	Name    string           `json:"name"`
	Value   string           `json:"value,omitempty"`
	Meaning string           `json:"meaning,omitempty"`
	Objects []TLVDescription `json:"objects,omitempty"`
}

// TLVDescription is one data object.
type TLVDescription struct {
	Tag     string           `json:"tag"`
	Name    string           `json:"name,omitempty"`
	Value   string           `json:"value,omitempty"`
	Objects []TLVDescription `json:"objects,omitempty"`
}

// Describe makes the readable tree of a message; texts are read as cs.
func Describe(m Message, cs Charset) Description {
	d := Description{Command: m.Cmd.String(), Name: m.Cmd.Name(), LongForm: m.long}
	if data, err := Encode(m); err == nil {
		_, d.Length, _ = header(data)
	}
	describePrefix(&d, m, cs)
	for _, f := range m.Fields {
		d.Fields = append(d.Fields, describeField(f, cs))
	}
	return d
}

func describePrefix(d *Description, m Message, cs Charset) {
	d.Password, _ = m.Password()
	rest := m.Prefix
	if d.Password != "" {
		rest = rest[3:]
	}
	switch {
	case m.Cmd == Registration && len(m.Prefix) >= 4:
		d.Config, rest = fmt.Sprintf("%02X", m.Prefix[3]), m.Prefix[4:]
		if len(rest) == 2 {
			d.Currency, rest = fmt.Sprintf("%04X", rest), nil
		}
	case m.Cmd == ReprintReceipt && len(m.Prefix) >= 5:
		if from, to, ok := m.ReceiptRange(); ok {
			d.From, rest = &from, nil
			if to > 0 {
				d.To = &to
			}
		}
	case m.Cmd == AbortPT && len(m.Prefix) == 1:
		d.Result, d.Meaning, rest = fmt.Sprintf("%02X", rest[0]), ResultName(rest[0]), nil
	case m.Cmd>>8 == 0x84:
		d.Result, d.Meaning = fmt.Sprintf("%02X", m.Cmd.Code()), ResultName(m.Cmd.Code())
	case m.Cmd == Intermediate && len(m.Prefix) > 0:
		status, minutes, _ := m.IntermediateStatus()
		d.Status, d.Meaning, rest = fmt.Sprintf("%02X", status), StatusName(status), nil
		if minutes >= 0 {
			d.Minutes = &minutes
		}
	case m.Cmd == Completion && len(m.Prefix) > 0:
		version, status, _ := m.TerminalStatus(cs)
		d.Version, d.Status, d.Meaning, rest = version, fmt.Sprintf("%02X", status), ResultName(status), nil
		if status == 0 {
			d.Meaning = "ready"
		}
	}
	d.Prefix = fmt.Sprintf("%X", rest)
	if attr, text, ok := m.Line(); ok {
		d.Attribute, d.Text = fmt.Sprintf("%02X", attr), printable(cs.Decode(text))
	} else {
		d.Data = fmt.Sprintf("%X", m.Raw)
	}
}

func describeField(f Field, cs Charset) FieldDescription {
	spec, _ := Lookup(f.BMP)
	d := FieldDescription{BMP: fmt.Sprintf("%02X", f.BMP), Name: spec.Name}
	if spec.Format == BER {
		d.Objects = describeObjects(f.TLV, cs)
		return d
	}
	d.Value = show(spec.Content, f.Value, cs)
	switch f.BMP {
	case 0x22:
		d.Value = MaskPAN(f.Value)
	case 0x04:
		if n, err := UnpackBCD(f.Value); err == nil {
			d.Value = fmt.Sprint(n)
			d.Meaning = "minor units"
		}
	case 0x0C:
		d.Meaning = separated(d.Value, ":")
	case 0x0D:
		d.Meaning = separated(d.Value, "-")
	case 0xAA:
		d.Meaning = "20" + separated(d.Value, "-")
	case 0x27:
		if len(f.Value) == 1 {
			d.Meaning = ResultName(f.Value[0])
		}
	case 0x8A:
		if len(f.Value) == 1 {
			d.Meaning = CardTypeName(int(f.Value[0]))
		}
	case 0x60:
		if t, ok := ParseTotals(f.Value); ok {
			d.Meaning = t.String()
		}
	}
	return d
}

func describeObjects(objects []TLV, cs Charset) []TLVDescription {
	var out []TLVDescription
	for _, t := range objects {
		spec := tags[t.Tag]
		d := TLVDescription{Tag: fmt.Sprintf("%02X", t.Tag), Name: spec.name}
		if t.Constructed() {
			d.Objects = describeObjects(t.Children, cs)
		} else {
			d.Value = show(spec.content, t.Value, cs)
		}
		out = append(out, d)
	}
	return out
}

func show(c Content, v []byte, cs Charset) string {
	switch c {
	case Secret:
		return strings.Repeat("*", min(len(v), 16))
	case Chars:
		if i := strings.IndexByte(string(v), 0); i >= 0 {
			v = v[:i]
		}
		return printable(cs.Decode(v))
	}
	return fmt.Sprintf("%X", v)
}

// printable replaces what would upset a terminal; line ends stay.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '\r' {
			return '\n'
		}
		if r < 0x20 && r != '\n' || r == 0x7F || r >= 0x80 && r < 0xA0 || r == utf8.RuneError {
			return '.'
		}
		return r
	}, s)
}

// separated puts sep between pairs of digits.
func separated(s, sep string) string {
	var parts []string
	for len(s) >= 2 {
		parts = append(parts, s[:2])
		s = s[2:]
	}
	return strings.Join(parts, sep)
}

// MaskPAN shows BMP 22: digits, E for what the terminal itself masked, F for padding. Of a number with more than ten
// digits the first six and the last four stay, of a shorter one nothing.
func MaskPAN(v []byte) string {
	s := strings.TrimRight(fmt.Sprintf("%X", v), "F")
	keep := len(s) > 10
	return strings.Map(func() func(r rune) rune {
		i := -1
		return func(r rune) rune {
			if i++; r == 'E' || !keep || i >= 6 && i < len(s)-4 {
				return '*'
			}
			return r
		}
	}(), s)
}
