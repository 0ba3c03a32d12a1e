package printer

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// cell is one printed character.
type cell struct {
	letter rune
	byte   byte
	page   int  // index into Profile.Pages; ascii on every page
	hold   bool // a blank at which a line does not break
}

const ascii = -1

// speller writes text in the code pages of a profile.
type speller struct{ letters [][]rune }

func newSpeller(pages []Page) speller {
	var s speller
	for _, p := range pages {
		s.letters = append(s.letters, []rune(pageLetters(p.Name)))
	}
	return s
}

// spell returns the cells of a text of one line. Control characters, and invisible ones such as direction overrides, are left
// out; a combining mark becomes part of the letter before it. Each other character is a cell of its own, or several that spell it.
func (s speller) spell(text string) []cell {
	var letters []rune
	for _, r := range text { // an invalid byte becomes U+FFFD
		switch {
		case unicode.IsSpace(r):
			if r != '\u00a0' && r != '\u202f' && r != '\u2007' {
				r = ' '
			}
		case unicode.In(r, unicode.Mn, unicode.Me):
			if last := len(letters) - 1; last >= 0 {
				letters[last] = withMark(letters[last], r)
			}
			continue
		case unicode.In(r, unicode.Cc, unicode.Cf):
			continue
		}
		letters = append(letters, r)
	}
	out := make([]cell, 0, len(letters))
	for i, r := range letters {
		if unicode.IsSpace(r) {
			out = append(out, cell{letter: ' ', byte: ' ', page: ascii, hold: r != ' '})
			continue
		}
		capitals := i > 0 && unicode.IsUpper(letters[i-1]) || i+1 < len(letters) && unicode.IsUpper(letters[i+1])
		cells, ok := s.write(r, capitals)
		if !ok {
			cells = []cell{{letter: '?', byte: '?', page: ascii}}
		}
		out = append(out, cells...)
	}
	return out
}

// find returns a character as it stands on the first page that has it.
func (s speller) find(r rune) (cell, bool) {
	if r > ' ' && r < 0x7f {
		return cell{letter: r, byte: byte(r), page: ascii}, true
	}
	for page := range s.letters {
		if c, ok := s.on(page, r); ok {
			return c, true
		}
	}
	return cell{}, false
}

// on returns a character as it stands on one page, beyond ASCII.
func (s speller) on(page int, r rune) (cell, bool) {
	i := slices.Index(s.letters[page], r)
	return cell{letter: r, byte: byte(0x80 + i), page: page}, i >= 0 && r >= 0x80
}

// write returns a character as it stands on a page, or as it is spelled, or without its mark. It fails where nothing of it can be printed.
func (s speller) write(r rune, capitals bool) ([]cell, bool) {
	if c, ok := s.find(r); ok {
		return []cell{c}, true
	}
	if r >= 0xff01 && r <= 0xff5e { // the wide forms of ASCII
		return s.write(r-0xff01+'!', capitals)
	}
	var out []cell
	for _, l := range spelled(r, capitals) {
		c, ok := s.find(l)
		if !ok {
			out = nil
			break
		}
		out = append(out, c)
	}
	if out != nil {
		return out, true
	}
	if base := withoutMark(r); base != r {
		return s.write(base, capitals)
	}
	return nil, false
}

// spelled returns what stands for a character that cannot be printed, "" where nothing does. The spelling of a capital is that of
// the small letter; capitals says that it is within a word of capitals.
func spelled(r rune, capitals bool) string {
	for _, s := range spellings {
		if first, n := utf8.DecodeRuneInString(s); first == r {
			return s[n:]
		}
	}
	small := unicode.ToLower(r)
	if small == r {
		return ""
	}
	s := spelled(small, false)
	if capitals {
		return strings.ToUpper(s)
	}
	first, n := utf8.DecodeRuneInString(s)
	if n == 0 {
		return ""
	}
	return string(unicode.ToUpper(first)) + s[n:]
}

// withMark joins a letter and a combining mark, or returns the letter as it is where no such letter is known.
func withMark(base, mark rune) rune {
	for _, m := range marked {
		if m.mark != mark {
			continue
		}
		pairs := []rune(m.letters)
		for i := 0; i < len(pairs); i += 2 {
			if pairs[i] == base {
				return pairs[i+1]
			}
		}
	}
	return base
}

// withoutMark returns the letter below a mark, or the letter as it is where it has none.
func withoutMark(r rune) rune {
	for _, m := range marked {
		pairs := []rune(m.letters)
		for i := 1; i < len(pairs); i += 2 {
			if pairs[i] == r {
				return pairs[i-1]
			}
		}
	}
	return r
}

// marked are the letters with a mark, each behind the letter without: Latin, Greek and Cyrillic ones of the code pages, and
// the rest of Latin Extended-A.
var marked = []struct {
	mark    rune
	letters string
}{
	{0x300, "AÀEÈIÌOÒUÙaàeèiìoòuùWẀwẁYỲyỳ"},
	{0x301, "AÁEÉIÍOÓUÚYÝaáeéiíoóuúyýCĆcćLĹlĺNŃnńRŔrŕSŚsśZŹzź¨΅ΑΆΕΈΗΉΙΊΟΌΥΎΩΏϊΐαάεέηήιίϋΰοόυύωώГЃКЌгѓкќWẂwẃ"},
	{0x302, "AÂEÊIÎOÔUÛaâeêiîoôuûCĈcĉGĜgĝHĤhĥJĴjĵSŜsŝWŴwŵYŶyŷ"},
	{0x303, "AÃNÑOÕaãnñoõIĨiĩUŨuũ"},
	{0x304, "AĀaāEĒeēIĪiīOŌoōUŪuū"},
	{0x306, "AĂaăEĔeĕGĞgğIĬiĭOŎoŏUŬuŭУЎИЙийуў"},
	{0x307, "CĊcċEĖeėGĠgġIİZŻzż"},
	{0x308, "AÄEËIÏOÖUÜaäeëiïoöuüyÿYŸΙΪΥΫιϊυϋЕЁІЇеёіїWẄwẅ"},
	{0x30a, "AÅaåUŮuů"},
	{0x30b, "OŐoőUŰuű"},
	{0x30c, "CČcčDĎdďEĚeěLĽlľNŇnňRŘrřSŠsšTŤtťZŽzžAǍaǎIǏiǐOǑoǒUǓuǔ"},
	{0x326, "SȘsșTȚtț"},
	{0x327, "CÇcçGĢgģKĶkķLĻlļNŅnņRŖrŗSŞsşTŢtţ"},
	{0x328, "AĄaąEĘeęIĮiįUŲuų"},
}

// spellings are characters, each followed by what is printed for it where no page has it. Latin letters follow ICAO 9303 (ä = ae,
// ø = oe, å = aa, ß = ss), currencies ISO 4217. A letter that is not here is printed without its mark.
var spellings = strings.Fields(`
	äae öoe üue ßss ẞSS æae øoe åaa œoe þth ðd đd łl ıi ĸk ŋng ħh ŧt ſs șş țţ ĳij ŀl ŉ'n ƒf ﬀff ﬁfi ﬂfl ﬃffi ﬄffl ﬅst ﬆst
	€EUR £GBP ¥Y ₽RUB ₺TRY ₴UAH ₹INR ₩KRW ₪ILS ₫VND ₿BTC ₦NGN ₱PHP ฿THB ₡CRC ₲PYG ₵GHS ₸KZT ₾GEL ₼AZN ₭LAK ₮MNT ₧Pts ¢c
	‘' ’' ‚, ‛' ′' ´' “" ”" „" ‟" ″" «<< »>> ‹< ›> ‐- ‑- ‒- –- —- ―- −- ¯- ‗_ …... ¡! ¿? ˆ^ ˜~ ¨" ¸,
	•* ‣* ·. ∙. ●* ○o ▪* ★* ☆* ✓v ✔v ✗x ✘x ×x ÷/ ±+- ≈~ ≤<= ≥>= ≠!= ≡= ∞oo °deg №No ℹi ™TM ℠SM ©(c) ®(r) ªa ºo §Par.
	⁰0 ¹1 ²2 ³3 ⁴4 ⁵5 ⁶6 ⁷7 ⁸8 ⁹9 ⁿn ½1/2 ¼1/4 ¾3/4 ⅓1/3 ⅔2/3 ‰o/oo ¶P †+ ‡++ ¦| ¬- µu ←<- →-> ↔<-> ⇒=> ↑^ ↓v
	─- ━- ═= │| ┃| ║| ┌+ ┐+ └+ ┘+ ├+ ┤+ ┬+ ┴+ ┼+ ╔+ ╗+ ╚+ ╝+ ╠+ ╣+ ╦+ ╩+ ╬+ █# ▓# ▒# ░# ▀# ▄# ■# □#
	αa βv γg δd εe ζz ηi θth ιi κk λl μm νn ξx οo πp ρr σs ςs τt υy φf χch ψps ωo
	аa бb вv гg дd еe жzh зz иi йj кk лl мm нn оo пp рr сs тt уu фf хkh цts чch шsh щshch ъ" ыy ь' эe юyu яya
	ёyo іi їyi єye ґg ђdj јj љlj њnj ћc џdz ѕdz`)
