package printer_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"

	"posagent/device/printer"
	"posagent/device/printer/printertest"
)

// numbers are Epson's, from the manual of ESC t.
var numbers = map[string]byte{"PC437": 0, "PC850": 2, "PC865": 5, "PC737": 14, "WPC1252": 16, "PC866": 17, "PC852": 18, "PC858": 19,
	"ISO8859-2": 39, "ISO8859-15": 40, "WPC1250": 45, "WPC1251": 46, "WPC1253": 47, "WPC1254": 48, "WPC1257": 51}

// of is a printer with these code pages.
func of(pages ...string) printer.Profile {
	p := printer.Profile{Columns: 48, Dots: 576}
	for _, name := range pages {
		p.Pages = append(p.Pages, printer.Page{Name: name, Number: numbers[name]})
	}
	return p
}

// TestEveryLetterOfEveryPage compares the tables with those of another source: what a page has is printed as it is, with one byte.
func TestEveryLetterOfEveryPage(t *testing.T) {
	require.Len(t, printer.PageNames(), len(numbers))
	for _, name := range printer.PageNames() {
		p := of(name)
		letters := 0
		for r := rune(0x21); r < 0x2700; r++ {
			if !printertest.Prints(name, r) {
				continue
			}
			letters++
			data, err := printer.Encode(p, printer.Document{Lines: []printer.Line{text(string(r))}})
			require.NoError(t, err)
			start, err := printer.Encode(p, printer.Document{})
			require.NoError(t, err)
			require.Len(t, data, len(start)+2, "%c in %s: one byte and the end of the line", r, name)
			require.Equal(t, []string{"  |" + string(r)}, listing(t, p, text(string(r))), "%s %U", name, r)
		}
		require.Greater(t, letters, 94+80, name)
	}
}

// TestSpelled: what no page of the printer has is spelled with what it has.
func TestSpelled(t *testing.T) {
	for _, tc := range []struct {
		pages    []string
		in, want string
	}{
		{[]string{"PC437"}, "Grüße für 5 €", "Grüße für 5 EUR"},
		{[]string{"PC866"}, "Grüße, ÄRGER, Ä., Øl, Ångström", "Gruesse, AERGER, Ae., Oel, Aangstroem"},
		{[]string{"PC437"}, "Zażółć gęślą jaźń, Łódź", "Zazólc gesla jazn, Lódz"},
		{[]string{"PC437", "PC852"}, "Zażółć gęślą jaźń, Łódź", "Zażółć gęślą jaźń, Łódź"},
		{[]string{"WPC1250"}, "Zażółć gęślą jaźń, 5 €", "Zażółć gęślą jaźń, 5 €"},
		{[]string{"WPC1250"}, "București, Țepeș", "Bucureşti, Ţepeş"},
		{[]string{"PC437"}, "București, Țepeș", "Bucuresti, Tepes"},
		{[]string{"PC858"}, "„so“ – ‘da’ … • 5 − 3 → 2 ™", "\"so\" - 'da' ... * 5 - 3 -> 2 TM"},
		{[]string{"WPC1252"}, "„so“ – ‘da’ … •", "„so“ – ‘da’ … •"},
		{[]string{"PC437"}, "Жук щука ЖУК ёж Київ", "Zhuk shchuka ZHUK yozh Kiyiv"},
		{[]string{"PC850"}, "Αθήνα Ψωμί", "Athina Psomi"},
		{[]string{"PC737"}, "Αθήνα Ψωμί", "Αθήνα Ψωμί"},
		{[]string{"PC858"}, "a\u0308 e\u0301 q\u0308 \u0301x", "ä é q x"},
		{[]string{"PC858"}, "ＡＢＣ　１２", "ABC 12"},
		{[]string{"PC858"}, "漢字 😀 \ue000 \xff \ufffd", "?? ? ? ? ?"},
		{[]string{"PC858"}, "ﬁn ﬂott №5", "fin flott No5"},
		{[]string{"PC437"}, "100 Kč, 5 zł, 7 ₺, £3", "100 Kc, 5 zl, 7 TRY, £3"},
		{[]string{"PC858"}, "┌─┐ █", "┌─┐ █"},
		{[]string{"ISO8859-15"}, "┌─┐ █ Œuvre 5 €", "+-+ # Œuvre 5 €"},
	} {
		t.Run(strings.Join(tc.pages, "+")+" "+tc.in, func(t *testing.T) {
			require.Equal(t, []string{"  |" + tc.want}, listing(t, of(tc.pages...), text(tc.in)))
		})
	}
}

// TestThePageIsChangedWhereItMust: a letter that the current page has is printed from there.
func TestThePageIsChangedWhereItMust(t *testing.T) {
	p := of("PC858", "PC852")
	data, err := printer.Encode(p, printer.Document{Lines: []printer.Line{text("äłäł€"), text("ö")}})
	require.NoError(t, err)
	start, err := printer.Encode(p, printer.Document{})
	require.NoError(t, err)
	// In PC858 (19) ä is 84, € D5 and ö 94; in PC852 (18) ä is 84 and ł 88.
	require.Equal(t, "\x84\x1bt\x12\x88\x84\x88\x1bt\x13\xd5\n\x94\n", string(data[len(start):]))
}

// TestStart is the beginning of every document, byte for byte.
func TestStart(t *testing.T) {
	for columns, want := range map[int]string{
		48: "\x1b@\x1bt\x13\x1c.\x1bR\x00", // Chinese characters off
		32: "\x1b@\x1bt\x13\x1c.\x1bR\x00",
	} {
		data, err := printer.Encode(profile(t, columns), printer.Document{})
		require.NoError(t, err)
		require.Equal(t, want, string(data))
	}
}

// attacks are texts that would be commands if their bytes went to the printer.
var attacks = []string{
	"\x1b@", "\x1bp\x00\x19\xfa", "\x1dV\x00", "\x10\x04\x01", "\x10\x14\x01\x00\x01", "\x10\x05\x02", "\x1c&", "\x1d(L\x06\x000E\x01", "a\x00b", "\x7f\x80\x9b\u009b",
	"\u001b\u0040", "x\u202ey\u2066z", "\u0085\u2028\u2029", "line\nnext", "\r\n\r", "\u0010\u0004\u0001",
	"\u2780\u1b1b\u1d1d", "ἐ", // characters whose low bytes are commands
}

// TestTextIsNeverACommand: no text of a document adds a byte below a blank, or DEL, to the bytes that its plain twin has.
func TestTextIsNeverACommand(t *testing.T) {
	for _, attack := range attacks {
		for _, columns := range []int{32, 48} {
			p := profile(t, columns)
			for _, kind := range []printer.Kind{printer.Text, printer.Pair} {
				l := printer.Line{Kind: kind, Text: attack, Right: strings.ReplaceAll(attack, "\n", " ")}
				data, err := printer.Encode(p, printer.Document{Lines: []printer.Line{l}})
				require.NoError(t, err)
				start, err := printer.Encode(p, printer.Document{})
				require.NoError(t, err)
				body := data[len(start):]
				for _, page := range p.Pages {
					body = bytes.ReplaceAll(body, []byte{0x1b, 't', page.Number}, nil)
				}
				body = bytes.ReplaceAll(body, []byte("\n"), nil)
				require.Equal(t, -1, bytes.IndexFunc(body, func(r rune) bool { return r < ' ' || r == 0x7f }), "%q gave %q", attack, body)
				require.Empty(t, printed(t, p, printer.Document{Lines: []printer.Line{l}}).Strange())
			}
		}
	}
}

// visible are the characters of a text that a printer with these pages prints as they are, in order. The fuzz test looks for them on
// the paper.
func visible(p printer.Profile, s string) (letters []rune) {
	all := []rune(s)
	for i, r := range all {
		if unicode.IsSpace(r) || i+1 < len(all) && unicode.Is(unicode.M, all[i+1]) {
			continue // a mark may make another letter of it
		}
		for _, page := range p.Pages {
			if printertest.Prints(page.Name, r) {
				letters = append(letters, r)
				break
			}
		}
	}
	return letters
}

// FuzzDocument prints documents of any text: what is printable is on the paper in its order, and nothing of it is a command.
func FuzzDocument(f *testing.F) {
	for i, a := range attacks {
		f.Add(a, "Łódź 12,50 €", uint16(i*257))
	}
	f.Add("Bäckerei Öztürk & Söhne", "999,999,999.99 EUR", uint16(0x1234))
	f.Add(strings.Repeat("wide ", 60), strings.Repeat("9", 100), uint16(0xffff))
	f.Fuzz(func(t *testing.T, one, two string, shape uint16) {
		p := profile(t, []int{32, 42, 48}[shape%3])
		var d printer.Document
		want, cuts, pictures := "", 0, 0
		for i := range 4 {
			bits := shape >> (i * 4)
			l := printer.Line{Kind: printer.Kind(bits % 2), Text: one, Right: two, Align: printer.Align(bits % 3), Bold: bits&4 != 0, Double: bits&8 != 0}
			if i%2 == 1 {
				l.Text, l.Right = two, one
			}
			d.Lines = append(d.Lines, l)
			want += string(visible(p, l.Text))
			if l.Kind == printer.Pair {
				want += string(visible(p, l.Right))
			}
		}
		if shape&0x100 != 0 && len(one) > 0 && len(one) <= 300 {
			d.Lines = append(d.Lines, printer.Line{Kind: printer.Code, Text: one})
			pictures++
		}
		if shape&0x200 != 0 {
			d.Lines = append(d.Lines, cut)
			cuts++
		}
		data, err := printer.Encode(p, d)
		if err != nil {
			require.ErrorIs(t, err, printer.ErrDocument)
			return
		}
		for _, command := range []string{"\x10\x04", "\x10\x05", "\x10\x14"} {
			require.NotContains(t, string(data), command, "a real-time command")
		}
		out := paper(p)
		require.Empty(t, out.Take(data))
		require.Empty(t, out.Strange(), "%q", data)
		if p.Cut == printer.NoCut {
			cuts = 0
		}
		require.Equal(t, cuts, out.Cuts())
		var got strings.Builder
		rows := 0
		for _, l := range out.Lines() {
			got.WriteString(l.Text)
			rows += l.Picture
		}
		require.Equal(t, pictures > 0, rows > 0)
		rest := got.String()
		for i, r := range want {
			_, after, found := strings.Cut(rest, string(r))
			require.True(t, found, fmt.Sprintf("%c, byte %d of %q, is not in %q", r, i, want, got.String()))
			rest = after
		}
	})
}
