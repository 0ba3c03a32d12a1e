package bracket

import (
	"strings"
	"unicode/utf8"

	"posagent/schemes/wire"
)

// Limits of a form. A zero field means the default beside it.
type Limits struct {
	Pairs int   // pairs of a form: 1000
	Name  int   // bytes of a decoded name: 256
	Depth int   // brackets of a name: 8
	Text  int64 // bytes of a multipart form's texts and names together: wire.MaxRequest
	Files int   // files of a multipart form: 10
	Bytes int64 // bytes of its files together: MaxFiles
}

// MaxFiles is how many bytes of files a multipart form may carry, unless its route says otherwise.
const MaxFiles = 16 << 20

func (l Limits) or() Limits {
	def := func(n *int, d int) {
		if *n <= 0 {
			*n = d
		}
	}
	def(&l.Pairs, 1000)
	def(&l.Name, 256)
	def(&l.Depth, 8)
	def(&l.Files, 10)
	if l.Text <= 0 {
		l.Text = wire.MaxRequest
	}
	if l.Bytes <= 0 {
		l.Bytes = MaxFiles
	}
	return l
}

// Pair is one name and its value, both decoded.
type Pair struct{ Name, Value string }

// Form is a form in the order it was sent.
type Form []Pair

// Parse reads a form body or a raw query. The error is wire.Invalid or wire.TooLarge and repeats nothing of the text.
func Parse(text string, lim Limits) (Form, error) {
	lim = lim.or()
	var f Form
	for text != "" {
		var piece string
		if piece, text, _ = strings.Cut(text, "&"); piece == "" {
			continue
		}
		name, value, _ := strings.Cut(piece, "=")
		var p Pair
		var ok, ok2 bool
		p.Name, ok = unescape(name)
		p.Value, ok2 = unescape(value)
		if !ok || !ok2 {
			return nil, wire.Errorf(wire.Invalid, "", "form: broken escape, or not UTF-8")
		}
		if err := f.add(p, lim); err != nil {
			return nil, err
		}
	}
	return f, nil
}

func (f *Form) add(p Pair, lim Limits) error {
	switch {
	case len(*f) >= lim.Pairs:
		return wire.Errorf(wire.TooLarge, "", "form: more than %d pairs", lim.Pairs)
	case len(p.Name) > lim.Name:
		return wire.Errorf(wire.TooLarge, "", "form: a name above %d bytes", lim.Name)
	case strings.Count(p.Name, "[") > lim.Depth:
		return wire.Errorf(wire.TooLarge, "", "form: a name deeper than %d", lim.Depth)
	}
	*f = append(*f, p)
	return nil
}

// Without returns the pairs whose name is none of names.
func (f Form) Without(names ...string) Form {
	out := make(Form, 0, len(f))
next:
	for _, p := range f {
		for _, n := range names {
			if p.Name == n {
				continue next
			}
		}
		out = append(out, p)
	}
	return out
}

// Values returns the values of a name, in order.
func (f Form) Values(name string) []string {
	var out []string
	for _, p := range f {
		if p.Name == name {
			out = append(out, p.Value)
		}
	}
	return out
}

// Encode writes the form with RFC 3986 escapes: a space is %20, and only A-Z a-z 0-9 - _ . ~ stand for themselves.
func (f Form) Encode() string { return f.encode(false) }

// EncodeRFC1738 writes the form as PHP's http_build_query does by default: a space is +, and ~ is escaped.
func (f Form) EncodeRFC1738() string { return f.encode(true) }

func (f Form) encode(old bool) string {
	var b strings.Builder
	for i, p := range f {
		if i > 0 {
			b.WriteByte('&')
		}
		escape(&b, p.Name, old)
		b.WriteByte('=')
		escape(&b, p.Value, old)
	}
	return b.String()
}

func escape(b *strings.Builder, s string, old bool) {
	const hex = "0123456789ABCDEF"
	for i := range len(s) {
		switch c := s[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '-', c == '_', c == '.', c == '~' && !old:
			b.WriteByte(c)
		case c == ' ' && old:
			b.WriteByte('+')
		default:
			b.WriteByte('%')
			b.WriteByte(hex[c>>4])
			b.WriteByte(hex[c&15])
		}
	}
}

func unescape(s string) (string, bool) {
	if !strings.ContainsAny(s, "%+") {
		return s, utf8.ValidString(s)
	}
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '+':
			out = append(out, ' ')
		case '%':
			if i+2 >= len(s) {
				return "", false
			}
			hi, lo := digit(s[i+1]), digit(s[i+2])
			if hi < 0 || lo < 0 {
				return "", false
			}
			out = append(out, byte(hi<<4|lo))
			i += 2
		default:
			out = append(out, s[i])
		}
	}
	return string(out), utf8.Valid(out)
}

func digit(c byte) int {
	switch {
	case '0' <= c && c <= '9':
		return int(c - '0')
	case 'a' <= c && c <= 'f':
		return int(c-'a') + 10
	case 'A' <= c && c <= 'F':
		return int(c-'A') + 10
	}
	return -1
}
