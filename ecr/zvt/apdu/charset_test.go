package apdu

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

var all = []Charset{CP437, Latin1, DIN66003, UTF8, ASCII}

func TestUmlauts(t *testing.T) {
	const text = "Größe: Äpfel, Öl, Übung"
	for cs, want := range map[Charset]string{
		CP437:    "Gr\x94\xe1e: \x8epfel, \x99l, \x9abung",
		Latin1:   "Gr\xf6\xdfe: \xc4pfel, \xd6l, \xdcbung",
		DIN66003: "Gr|~e: [pfel, \\l, ]bung",
		UTF8:     text,
		ASCII:    "Groesse: Aepfel, Oel, Uebung",
	} {
		got := cs.Encode(text)
		require.Equal(t, want, string(got), cs)
		if cs != ASCII {
			require.Equal(t, text, cs.Decode(got), cs)
		}
	}
}

func TestTransliteration(t *testing.T) {
	const text = "5,00 € – „Café“ Łódź @ […] ☂\x1b\t"
	for cs, want := range map[Charset]string{
		CP437:    "5,00 EUR - \"Caf\x82\" L\xa2dz @ [...] ?  ",
		Latin1:   "5,00 EUR - \"Caf\xe9\" L\xf3dz @ [...] ?  ",
		DIN66003: "5,00 EUR - \"Cafe\" Lodz (at) (...) ?  ",
		UTF8:     "5,00 € – „Café“ Łódź @ […] ☂  ",
		ASCII:    "5,00 EUR - \"Cafe\" Lodz @ [...] ?  ",
	} {
		require.Equal(t, want, string(cs.Encode(text)), cs)
	}
}

func TestEveryByteOfAFullSetComesBack(t *testing.T) {
	for b := 0x20; b < 0x100; b++ {
		if b == 0x7F {
			continue
		}
		require.Equal(t, []byte{byte(b)}, CP437.Encode(CP437.Decode([]byte{byte(b)})), "%02X", b)
		if b >= 0xA0 || b < 0x80 {
			require.Equal(t, []byte{byte(b)}, Latin1.Encode(Latin1.Decode([]byte{byte(b)})), "%02X", b)
		}
		if b < 0x80 {
			require.Equal(t, []byte{byte(b)}, DIN66003.Encode(DIN66003.Decode([]byte{byte(b)})), "%02X", b)
		}
	}
}

func TestAnyTextIsEncoded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.String().Draw(t, "text")
		for _, cs := range all {
			out := cs.Encode(s)
			for _, b := range out {
				require.True(t, b >= 0x20 && b != 0x7F || b == '\n' || b == '\r', "%v %02X", cs, b)
				require.True(t, b < 0x80 || cs != ASCII && cs != DIN66003)
			}
			require.Equal(t, out, cs.Encode(cs.Decode(out)), "%v", cs)
			f := Text(0xF1, cs, s)
			_, err := Encode(New(DisplayText, f, CardName(cs, s), Text(0x2A, cs, s)))
			require.NoError(t, err)
		}
	})
}

func TestCharsetNames(t *testing.T) {
	for _, cs := range all {
		got, ok := ParseCharset(cs.String())
		require.True(t, ok)
		require.Equal(t, cs, got)
		if cs == DIN66003 {
			continue
		}
		got, ok = CharsetOfTag(cs.Tag())
		require.True(t, ok)
		require.Equal(t, cs, got)
	}
	_, ok := ParseCharset("ebcdic")
	require.False(t, ok)
	_, ok = CharsetOfTag(0x02)
	require.False(t, ok)
}
