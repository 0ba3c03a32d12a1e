package scene_test

import (
	"image/color"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/device/display/scene"
)

func TestClean(t *testing.T) {
	for in, want := range map[string]string{
		"Swish":                                "Swish",
		"  two \t\r\n words ":                  "two words",
		"\x1b[2J\x1b[31mred\x1b[0m":            "red",
		"\x1b]0;title\x07text":                 "text",
		"\x1b]8;;http://x\x1b\\link":           "link",
		"\x1bPdcs\x1b\\after":                  "after",
		"\u009b31mred":                         "red",
		"\u009d0;title\u009ctext":              "text",
		"\x1b]never ends":                      "",
		"\x1b[31":                              "",
		"\x1b":                                 "",
		"a\x1bcb":                              "ab",
		"\x1bé":                                "é",
		"\x1b[3\nx":                            "x",
		"a\x00\x07\x08\x7fb":                   "ab",
		"a\u202eevil\u202c\u2066x\u2069":       "aevilx",
		"zero\u200bwidth\ufeff":                "zerowidth",
		"bad \xff byte":                        "bad \ufffd byte",
		"Köln 東京 ✓":                            "Köln 東京 ✓",
		strings.Repeat("ä", 500):               strings.Repeat("ä", 240),
		"\x1b[31m" + strings.Repeat("x ", 300): strings.TrimSpace(strings.Repeat("x ", 120)),
	} {
		require.Equal(t, want, scene.Clean(in), "%q", in)
	}
}

func FuzzClean(f *testing.F) {
	for _, s := range []string{"Swish", "\x1b[2J\x1b[31mred\x1b[0m", "\u009d0;t\u009c", "\x1b\x1b[[31m", "\x1b]8;;\x1b[31m", "\u202e", "\xc2", "\x1b\xc2\x9b"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := scene.Clean(s)
		require.LessOrEqual(t, len([]rune(got)), 240)
		for _, r := range got {
			require.False(t, r < 0x20 || r >= 0x7f && r <= 0x9f || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069, "%q", got)
		}
		require.Equal(t, got, scene.Clean(got), "cleaning twice changes nothing")
	})
}

func TestColor(t *testing.T) {
	for in, want := range map[string]color.RGBA{
		"#fff":    {255, 255, 255, 255},
		"#0aF":    {0, 170, 255, 255},
		"#102030": {16, 32, 48, 255},
	} {
		got, ok := scene.Color(in)
		require.True(t, ok, in)
		require.Equal(t, want, got, in)
	}
	for _, in := range []string{"", "#", "#ff", "#ffff", "#fffff", "#fffffff", "fff", "#ggg", "red", "#12345x", "#+12345", `#fff" onload="x`, "url(x)", "#é0"} {
		_, ok := scene.Color(in)
		require.False(t, ok, in)
	}
}
