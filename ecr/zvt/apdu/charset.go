package apdu

import (
	"strings"
	"unicode/utf8"
)

// Charset is how a register's line writes text. The zero value is CP437, the default of the protocol.
type Charset uint8

// The character sets. ASCII writes umlauts as two letters.
const (
	CP437 Charset = iota
	Latin1
	DIN66003 // seven bits, umlauts in the places of brackets
	UTF8
	ASCII
)

var charsetNames = [...]string{"cp437", "iso-8859-1", "din-66003", "utf-8", "ascii"}

func (c Charset) String() string {
	if int(c) < len(charsetNames) {
		return charsetNames[c]
	}
	return "unknown"
}

// ParseCharset reads the name String gives.
func ParseCharset(name string) (Charset, bool) {
	for i, n := range charsetNames {
		if strings.EqualFold(n, name) {
			return Charset(i), true
		}
	}
	return 0, false
}

// CharsetOfTag is the meaning of TLV 14: 00 ASCII, 01 ISO-8859-1, FE UTF-8, FF CP437. Other values are not offered.
func CharsetOfTag(b byte) (Charset, bool) {
	switch b {
	case 0x00:
		return ASCII, true
	case 0x01:
		return Latin1, true
	case 0xFE:
		return UTF8, true
	case 0xFF:
		return CP437, true
	}
	return 0, false
}

// Tag is the TLV 14 value of c; DIN 66003 has none and counts as ASCII.
func (c Charset) Tag() byte {
	switch c {
	case Latin1:
		return 0x01
	case UTF8:
		return 0xFE
	case CP437:
		return 0xFF
	}
	return 0x00
}

// cp437High is 0x80..0xFF of code page 437.
const cp437High = "ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜ¢£¥₧ƒáíóúñÑªº¿⌐¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀" +
	"αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u00a0"

// din66003 holds the places where the set differs from ASCII.
const (
	din66003Bytes = "@[\\]{|}~"
	din66003Runes = "§ÄÖÜäöüß"
)

// Decode turns line bytes into text. Every byte has a meaning in the eight-bit sets; what has none is U+FFFD.
func (c Charset) Decode(b []byte) string {
	if c == UTF8 {
		return strings.ToValidUTF8(string(b), "\uFFFD")
	}
	var out strings.Builder
	out.Grow(len(b))
	high := []rune(cp437High)
	din := []rune(din66003Runes)
	for _, x := range b {
		switch {
		case c == CP437 && x >= 0x80:
			out.WriteRune(high[x-0x80])
		case c == Latin1:
			out.WriteRune(rune(x))
		case x >= 0x80:
			out.WriteRune('\uFFFD')
		case c == DIN66003 && strings.IndexByte(din66003Bytes, x) >= 0:
			out.WriteRune(din[strings.IndexByte(din66003Bytes, x)])
		default:
			out.WriteByte(x)
		}
	}
	return out.String()
}

// Encode turns text into line bytes. What the set cannot express is written in other letters, at worst as '?'.
// Line feeds and carriage returns are kept, other control characters become spaces.
func (c Charset) Encode(s string) []byte {
	s = strings.ToValidUTF8(s, "?")
	out := make([]byte, 0, len(s))
	for _, r := range s {
		switch {
		case r < 0x20 && r != '\n' && r != '\r' || r == 0x7F || r >= 0x80 && r < 0xA0:
			out = append(out, ' ')
		case c == UTF8:
			out = utf8.AppendRune(out, r)
		default:
			if b, ok := c.one(r); ok {
				out = append(out, b)
				continue
			}
			for _, q := range transliterate(r) {
				b, ok := c.one(q)
				if !ok {
					b = '?'
				}
				out = append(out, b)
			}
		}
	}
	return out
}

// one is the byte of a rune in a single-byte set.
func (c Charset) one(r rune) (byte, bool) {
	switch c {
	case CP437:
		if r < 0x80 {
			return byte(r), true
		}
		i := 0
		for _, q := range cp437High {
			if q == r {
				return byte(0x80 + i), true
			}
			i++
		}
		return 0, false
	case Latin1:
		return byte(r), r <= 0xFF
	case DIN66003:
		i := 0
		for _, q := range din66003Runes {
			if q == r {
				return din66003Bytes[i], true
			}
			i++
		}
		return byte(r), r < 0x80 && !strings.ContainsRune(din66003Bytes, r)
	}
	return byte(r), r < 0x80
}

// cut shortens encoded text to limit bytes without splitting a character.
func (c Charset) cut(b []byte, limit int) []byte {
	if len(b) <= limit {
		return b
	}
	for c == UTF8 && limit > 0 && !utf8.RuneStart(b[limit]) {
		limit--
	}
	return b[:limit]
}

var replacements = map[rune]string{
	'ä': "ae", 'ö': "oe", 'ü': "ue", 'Ä': "Ae", 'Ö': "Oe", 'Ü': "Ue", 'ß': "ss", 'ẞ': "SS",
	'æ': "ae", 'Æ': "Ae", 'ø': "oe", 'Ø': "Oe", 'å': "aa", 'Å': "Aa", 'œ': "oe", 'Œ': "Oe", 'þ': "th", 'ð': "d",
	'€': "EUR", '£': "GBP", '¥': "JPY", '§': "par.", '©': "(c)", '®': "(r)", '™': "(tm)", '×': "x", '·': ".", '•': "*",
	'–': "-", '—': "-", '−': "-", '‑': "-", '‘': "'", '’': "'", '‚': "'", '“': "\"", '”': "\"", '„': "\"",
	'«': "\"", '»': "\"", '…': "...", '\u00a0': " ", '\u202f': " ", '\u2009': " ",
	'[': "(", ']': ")", '{': "(", '}': ")", '\\': "/", '|': "/", '~': "-", '@': "(at)",
	'°': "o", '²': "2", '³': "3", '½': "1/2", '¼': "1/4", 'ł': "l", 'Ł': "L", 'đ': "d", 'Đ': "D", 'ı': "i",
}

// accents maps a plain letter to the accented letters that stand for it.
var accents = map[rune]string{
	'a': "àáâãāăą", 'A': "ÀÁÂÃĀĂĄ", 'c': "çćčĉ", 'C': "ÇĆČĈ", 'd': "ď", 'D': "Ď", 'e': "èéêëēėęě", 'E': "ÈÉÊËĒĖĘĚ",
	'g': "ğģ", 'G': "ĞĢ", 'i': "ìíîïīį", 'I': "ÌÍÎÏĪĮİ", 'k': "ķ", 'K': "Ķ", 'l': "ľĺļ", 'L': "ĽĹĻ", 'n': "ñńňņ", 'N': "ÑŃŇŅ",
	'o': "òóôõōő", 'O': "ÒÓÔÕŌŐ", 'r': "řŕ", 'R': "ŘŔ", 's': "šśşș", 'S': "ŠŚŞȘ", 't': "ťţț", 'T': "ŤŢȚ",
	'u': "ùúûūůűų", 'U': "ÙÚÛŪŮŰŲ", 'y': "ýÿ", 'Y': "ÝŸ", 'z': "žźż", 'Z': "ŽŹŻ",
}

func transliterate(r rune) string {
	if s, ok := replacements[r]; ok {
		return s
	}
	for plain, marked := range accents {
		if strings.ContainsRune(marked, r) {
			return string(plain)
		}
	}
	return "?"
}
