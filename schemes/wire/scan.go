package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// MaxDepth is how deep objects and arrays may nest.
const MaxDepth = 64

type scanner struct {
	data  []byte
	pos   int
	depth int
	lacks bool // a required field was missing or null, or stands in a type that reads itself
	own   bool // names that a type does not have are refused
}

func (s *scanner) enter() error {
	if s.depth++; s.depth > MaxDepth {
		return &FieldError{Reason: fmt.Sprintf("nested deeper than %d", MaxDepth), Code: TooLarge}
	}
	s.pos++
	s.space()
	return nil
}

// text reads a string and returns it unescaped.
func (s *scanner) text() (string, error) {
	raw, escaped, err := s.quoted()
	if err != nil {
		return "", err
	}
	if escaped {
		return unquote(raw)
	}
	return string(raw[1 : len(raw)-1]), nil
}

func unquote(raw []byte) (out string, err error) {
	if err := json.Unmarshal(raw, &out); err != nil {
		return "", bad("not a readable string")
	}
	return out, nil
}

// quoted reads a string as it is written, with its quotes.
func (s *scanner) quoted() (raw []byte, escaped bool, err error) {
	start := s.pos
	if !s.eat('"') {
		return nil, false, bad("a string was expected")
	}
	for s.pos < len(s.data) {
		switch c := s.data[s.pos]; {
		case c == '"':
			s.pos++
			return s.data[start:s.pos], escaped, nil
		case c < 0x20:
			return nil, false, bad("an unescaped control character in a string")
		case c == '\\':
			escaped = true
			if err := s.escape(); err != nil {
				return nil, false, err
			}
		case c < utf8.RuneSelf:
			s.pos++
		default:
			r, n := utf8.DecodeRune(s.data[s.pos:])
			if r == utf8.RuneError && n == 1 {
				return nil, false, bad("not UTF-8")
			}
			s.pos += n
		}
	}
	return nil, false, bad("ends in the middle of a string")
}

func (s *scanner) escape() error {
	rest := s.data[s.pos:]
	if len(rest) < 2 {
		return bad("ends in the middle of a string")
	}
	if rest[1] != 'u' {
		if !strings.ContainsRune(`"\/bfnrt`, rune(rest[1])) {
			return bad("an unknown escape in a string")
		}
		s.pos += 2
		return nil
	}
	hi, ok := hex4(rest)
	if !ok {
		return bad("an unreadable escape in a string")
	}
	s.pos += 6
	if hi < 0xd800 || hi > 0xdfff {
		return nil
	}
	lo, ok := hex4(s.data[s.pos:])
	if hi > 0xdbff || !ok || lo < 0xdc00 || lo > 0xdfff {
		return bad("half of a surrogate pair in a string")
	}
	s.pos += 6
	return nil
}

// hex4 reads \uXXXX at the start of b.
func hex4(b []byte) (uint64, bool) {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return 0, false
	}
	for _, c := range b[2:6] {
		if !(c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F') {
			return 0, false
		}
	}
	n, err := strconv.ParseUint(string(b[2:6]), 16, 16)
	return n, err == nil
}

func (s *scanner) digits() bool {
	start := s.pos
	for s.pos < len(s.data) && s.data[s.pos] >= '0' && s.data[s.pos] <= '9' {
		s.pos++
	}
	return s.pos > start
}

func (s *scanner) word(w string) error {
	if !bytes.HasPrefix(s.data[s.pos:], []byte(w)) {
		return bad("not JSON")
	}
	s.pos += len(w)
	return nil
}

func (s *scanner) eat(c byte) bool {
	if s.pos < len(s.data) && s.data[s.pos] == c {
		s.pos++
		return true
	}
	return false
}

func (s *scanner) space() {
	for s.pos < len(s.data) {
		switch s.data[s.pos] {
		case ' ', '\t', '\n', '\r':
			s.pos++
		default:
			return
		}
	}
}

// skip passes one value of a text that was checked, with the space around it.
func (s *scanner) skip() []byte {
	start := s.pos
	for depth := 0; s.pos < len(s.data); {
		switch c := s.data[s.pos]; {
		case c == '"':
			if _, _, err := s.quoted(); err != nil {
				return s.data[start:s.pos]
			}
			continue
		case c == '{' || c == '[':
			depth++
		case depth == 0 && (c == '}' || c == ']' || c == ','):
			return s.data[start:s.pos]
		case c == '}' || c == ']':
			depth--
		}
		s.pos++
	}
	return s.data[start:s.pos]
}

// show makes a key safe for an error text.
func show(key string) string {
	plain := len(key) > 0 && len(key) <= 40
	for _, r := range key {
		if !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-') {
			plain = false
			break
		}
	}
	if plain {
		return key
	}
	if r := []rune(key); len(r) > 40 {
		key = string(r[:40]) + "…"
	}
	return strconv.QuoteToASCII(key)
}
