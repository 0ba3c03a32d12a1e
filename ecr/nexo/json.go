package nexo

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// object is a JSON object. Numbers are json.Number: their text.
type object = map[string]any

// Limits of a message.
const (
	maxBody  = 128 << 10
	maxDepth = 24
	maxNodes = 10000
)

var errDuplicate = errors.New("a member is given twice")

// parse reads one JSON object. It refuses a member that is given twice, in whatever case, bytes
// after the end, and what is too deep or too long.
func parse(data []byte) (object, error) {
	p := parser{in: json.NewDecoder(bytes.NewReader(data)), left: maxNodes}
	p.in.UseNumber()
	if !utf8.Valid(data) {
		return nil, errors.New("not UTF-8")
	}
	v, err := p.value(0)
	if err == nil {
		if _, more := p.in.Token(); !errors.Is(more, io.EOF) {
			err = errors.New("bytes after the end")
		}
	}
	if err != nil {
		if errors.Is(err, io.EOF) {
			err = errors.New("unexpected end")
		}
		return nil, fmt.Errorf("%d: %w", 1+bytes.Count(data[:min(len(data), int(p.in.InputOffset()))], []byte("\n")), err)
	}
	o, ok := v.(object)
	if !ok {
		return nil, errors.New("1: not an object")
	}
	return o, nil
}

type parser struct {
	in   *json.Decoder
	left int
}

func (p *parser) value(depth int) (any, error) {
	t, err := p.in.Token()
	if err != nil {
		return nil, err
	}
	if p.left--; p.left < 0 || depth > maxDepth {
		return nil, errors.New("too large")
	}
	switch t {
	case json.Delim('['):
		list := []any{}
		for p.in.More() {
			v, err := p.value(depth + 1)
			if err != nil {
				return nil, err
			}
			list = append(list, v)
		}
		_, err := p.in.Token()
		return list, err
	case json.Delim('{'):
		o, seen := object{}, map[string]bool{}
		for p.in.More() {
			name, err := p.in.Token()
			if err != nil {
				return nil, err
			}
			key, _ := name.(string)
			if low := strings.ToLower(key); seen[low] {
				return nil, errDuplicate
			} else {
				seen[low] = true
			}
			if o[key], err = p.value(depth + 1); err != nil {
				return nil, err
			}
		}
		_, err := p.in.Token()
		return o, err
	}
	return t, nil
}

// valueAt follows names into an object; nil where one of them is missing.
func valueAt(o object, path ...string) any {
	var v any = o
	for _, name := range path {
		inner, _ := v.(object)
		v = inner[name]
	}
	return v
}

// objectAt is the object at a path, nil where there is none.
func objectAt(o object, path ...string) object {
	inner, _ := valueAt(o, path...).(object)
	return inner
}

// textAt is the text at a path, "" where there is none.
func textAt(o object, path ...string) string {
	s, _ := valueAt(o, path...).(string)
	return s
}

// ascii writes a value as JSON of ASCII characters alone: one library decodes each network chunk by
// itself, and destroys a character that two of them share.
func ascii(v any) []byte {
	plain, err := json.Marshal(v)
	if err != nil { // no value of ours has a type that JSON lacks
		return []byte("{}")
	}
	out := make([]byte, 0, len(plain))
	for _, r := range string(plain) {
		switch {
		case r < utf8.RuneSelf && r != 0x7f: // DEL is a control, which json leaves as it is
			out = append(out, byte(r))
		case r > 0xFFFF:
			r -= 0x10000
			out = fmt.Appendf(out, `\u%04x\u%04x`, 0xD800+r>>10, 0xDC00+r&0x3FF)
		default:
			out = fmt.Appendf(out, `\u%04x`, r)
		}
	}
	return out
}
