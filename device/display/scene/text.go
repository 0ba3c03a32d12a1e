package scene

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxText bounds one text from the backend, in characters.
const maxText = 240

// Clean makes a text from outside safe to draw: one line, without control characters, escape sequences, direction
// overrides or invisible characters, at most 240 characters.
func Clean(s string) string {
	var b strings.Builder
	n, gap := 0, false
	for s != "" && n < maxText {
		if cut := escapeLen(s); cut > 0 {
			s = s[cut:]
			continue
		}
		r, w := utf8.DecodeRuneInString(s)
		s = s[w:]
		switch {
		case unicode.IsSpace(r):
			gap = true
		case !unicode.IsPrint(r): // Cc, Cf (overrides, zero width), Co, Cs, unassigned
		default:
			if gap && n > 0 {
				if n+2 > maxText {
					return b.String()
				}
				b.WriteByte(' ')
				n++
			}
			gap = false
			b.WriteRune(r) // an invalid byte becomes U+FFFD
			n++
		}
	}
	return b.String()
}

// escapeLen is the length of the terminal escape sequence at the start of s, 0 when there is none. An unended sequence
// reaches to the end of the text.
func escapeLen(s string) int {
	intro, kind := 0, byte(0)
	switch {
	case len(s) >= 2 && s[0] == 0x1b:
		intro, kind = 2, s[1]
	case len(s) >= 2 && s[0] == 0xc2 && s[1] >= 0x80 && s[1] <= 0x9f: // C1 in UTF-8
		intro, kind = 2, s[1]-0x40
	default:
		return 0
	}
	switch kind {
	case '[': // CSI: parameters, then one final byte
		for i := intro; i < len(s); i++ {
			if s[i] >= 0x40 && s[i] <= 0x7e {
				return i + 1
			}
			if s[i] < 0x20 || s[i] > 0x7e {
				return i
			}
		}
		return len(s)
	case ']', 'P', 'X', '^', '_': // strings, ended by BEL or ST
		for i := intro; i < len(s); i++ {
			switch {
			case s[i] == 0x07:
				return i + 1
			case strings.HasPrefix(s[i:], "\x1b\\"), strings.HasPrefix(s[i:], "\u009c"):
				return i + 2
			}
		}
		return len(s)
	}
	if s[0] == 0x1b && kind >= utf8.RuneSelf {
		return 1 // the escape alone; what follows is text
	}
	return intro
}
