package wire_test

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"posagent/cross/need"
	"posagent/schemes/wire"
)

func TestPANIsShownNowhere(t *testing.T) {
	const digits = "4111111111111111"
	p := wire.NewPAN(digits)
	type card struct{ PAN wire.PAN }
	var log strings.Builder
	slog.New(slog.NewTextHandler(&log, nil)).Info("x", "pan", p, "card", card{p}, "pointer", &p)
	slog.New(slog.NewJSONHandler(&log, nil)).Info("x", "pan", p, "card", card{p}, "pointer", &p)
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d", "%T"} {
		fmt.Fprintf(&log, verb+verb+verb, p, card{p}, &card{p})
	}
	require.NotContains(t, log.String(), digits)
	require.NotContains(t, log.String(), fmt.Sprintf("%x", digits))
	require.Contains(t, log.String(), "[pan]")
	_, err := json.Marshal(card{p})
	require.ErrorContains(t, err, "card number")
	_, err = json.Marshal(map[wire.PAN]int{p: 1})
	require.Error(t, err)
	require.Empty(t, wire.PAN{}.String())
	require.Equal(t, digits, p.Reveal())
	require.Equal(t, "411111******1111", p.Masked())
	require.Empty(t, wire.NewPAN("4111111111111112").Masked())
}

func TestPANIsReadStrictly(t *testing.T) {
	var c struct {
		PAN wire.PAN `json:"pan"`
	}
	require.NoError(t, wire.Decode([]byte(`{"pan":"4111111111111111"}`), &c))
	require.Equal(t, "4111111111111111", c.PAN.Reveal())
	require.Error(t, wire.Decode([]byte(`{"pan":4111111111111111}`), &c))
	require.Error(t, wire.Decode([]byte(`{"pan":null}`), &c))
	require.NoError(t, wire.Decode([]byte(`{"pan":""}`), &c))
	require.True(t, c.PAN.IsZero())
}

func TestPANValid(t *testing.T) {
	for digits, want := range map[string]bool{
		"4111111111111111": true, "5555555555554444": true, "378282246310005": true, "4222222222222": true, "6304000000000000000": true,
		"4111111111111112": false, "411111111111": false, "41111111111111111111": false, "411111111111111a": false,
		"４１１１１１１１１１１１１１１１": false, "4111 1111 1111 1111": false, "": false,
	} {
		require.Equal(t, want, wire.NewPAN(digits).Valid(), digits)
	}
}

func TestMaskPANs(t *testing.T) {
	for in, want := range map[string]string{
		"card 4111111111111111, thanks": "card 411111******1111, thanks",
		"4111 1111 1111 1111":           "4111 11** **** 1111",
		"4111-1111-1111-1111x":          "4111-11**-****-1111x",
		"order 20261121123456":          "order 20261121123456",
		"/p/4111%201111%201111%201111/": "/p/4111%2011**%20****%201111/",
		"4111%2D1111%2d1111-1111":       "4111%2D11**%2d****-1111",
		"a=4111+1111%2b1111%2B1111":     "a=4111+11**%2b****%2B1111",
		"4111%25201111%2525201111 1111": "4111%252011**%252520**** 1111",
		"%34111111111%311111%2531":      "%3411111****%3**111%2531",
		"4111%201111%20%201111%201111":  "4111%201111%20%201111%201111", // as with two spaces
		"4111%3A1111%3A1111%3A1111":     "4111%3A1111%3A1111%3A1111",
		"100% 4111111111111111 5%":      "100% 411111******1111 5%",
		"%":                             "%", "1%2": "1%2", "%25": "%25", "%2": "%2", "4111111111111111%": "411111******1111%",
		"004111111111111111": "00411111******1111",
		"":                   "",
	} {
		require.Equal(t, want, wire.MaskPANs(in), in)
	}
}

// TestField2_A4NoNumberUncoversACardNumber: an order number, a year or another card number beside a card number made a false window
// that swallowed its beginning, and the rest stayed in clear. Of a card number in whatever text at most ten digits stay. The kind: a
// number before it, behind it, on both sides, joined to it or parted from it, as it is written and as a path escapes it.
func TestField2_A4NoNumberUncoversACardNumber(t *testing.T) {
	for in, want := range map[string]string{
		"47841779 4443192459649218":         "478417** *44319******9218",
		"492342 4594470175652105":           "492342 ***4********2105",
		"1674 4595033215368675":             "1674 459*********8675",
		"2026 4111111111111111":             "2026 4111********1111",
		"4111111111111111 2026":             "411111******1111 2026",
		"4111111111111111 5555555555554444": "411111******1111 555555******4444",
	} {
		require.Equal(t, want, wire.MaskPANs(in), in)
	}
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	spread := func(digits string) (text string, at []int) { // with separators, each digit's place told
		parts := []string{"", "", "", "", "", " ", "-", "+", "%20", "%2D", "%2520"}
		if r.IntN(2) == 0 {
			parts = parts[:1] // in one piece
		}
		for i := range digits {
			if i > 0 {
				text += parts[r.IntN(len(parts))]
			}
			at, text = append(at, len(text)), text+digits[i:i+1]
		}
		return text, at
	}
	some := func(most int) string {
		b := make([]byte, r.IntN(most+1))
		for i := range b {
			b[i] = '0' + byte(r.IntN(10))
		}
		return string(b)
	}
	for range need.Size(20_000, 1_000_000) {
		var text string
		var cards [][]int
		for range 1 + r.IntN(3) {
			lead, _ := spread(some(20))
			number := cardNumber(r)
			written, at := spread(number)
			text += lead + []string{"", " ", "-", "/", "%20", " x "}[r.IntN(6)]
			for i := range at {
				at[i] += len(text)
			}
			cards, text = append(cards, at), text+written+[]string{"", " ", "+", "%2B", ", "}[r.IntN(5)]
		}
		tail, _ := spread(some(20))
		text += tail
		masked := wire.MaskPANs(text)
		require.Len(t, masked, len(text))
		for _, at := range cards {
			shown := 0
			for _, i := range at {
				if masked[i] != '*' {
					shown++
				}
			}
			if shown > 10 {
				require.Failf(t, "card number told", "%d of its %d digits: %q became %q", shown, len(at), text, masked)
			}
		}
		if wire.MaskPANs(masked) != masked {
			require.Failf(t, "not masked at once", "%q became %q", masked, wire.MaskPANs(masked))
		}
	}
}

// cardNumber makes one of 13 to 19 digits that begins like a card scheme's, with its check digit (ISO/IEC 7812-1).
func cardNumber(r *rand.Rand) string {
	digits := []int{2 + r.IntN(5)}
	for range 11 + r.IntN(7) {
		digits = append(digits, r.IntN(10))
	}
	sum, number := 0, ""
	for i, d := range digits {
		number += strconv.Itoa(d)
		if (len(digits)-i)%2 == 1 {
			d = d*2%10 + d*2/10
		}
		sum += d
	}
	return number + strconv.Itoa((10-sum%10)%10)
}

// A reference that is a UUID stays whole, whatever its digits add up to. Anything else is masked.
func TestMaskReference(t *testing.T) {
	for in, want := range map[string]string{
		"01a20563-7246-7227-9413-1aeb2a4d199a":  "01a20563-7246-7227-9413-1aeb2a4d199a",
		"01A20563-7246-7227-9413-1AEB2A4D199A":  "01A20563-7246-7227-9413-1AEB2A4D199A",
		"L01a20563-7246-7227-9413-1aeb2a4d199a": "L01a20563-7***-****-9413-1aeb2a4d199a",
		"01a20563-7246-7227-9413-1aeb2a4d199a1": "01a20563-7***-****-9413-1aeb2a4d199a1",
		"4111111111111111":                      "411111******1111",
		"":                                      "",
	} {
		require.Equal(t, want, wire.MaskReference(in), in)
	}
	require.Contains(t, wire.MaskReference("41111111-1111-1111-8000-000000000000"), "*", "digits alone")
	require.Contains(t, wire.MaskReference("a4111111-1111-1111-1000-000000000000"), "*", "its variant is none")
}

// A card number is as masked in an escaped path as in the text it stands for.
func TestMaskPANsReadsPaths(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.StringOfN(rapid.SampledFrom([]rune("0111145 -x")), 0, 40, -1).Draw(t, "text")
		path, err := url.PathUnescape(wire.MaskPANs(url.PathEscape(s)))
		require.NoError(t, err)
		require.Equal(t, wire.MaskPANs(s), path)
		path, err = url.PathUnescape(wire.MaskPANs(url.PathEscape(url.PathEscape(s))))
		require.NoError(t, err)
		path, err = url.PathUnescape(path)
		require.NoError(t, err)
		require.Equal(t, wire.MaskPANs(s), path)
	})
}

// A customer is sent nowhere in clear, but to this machine.
func TestField_B9ReturnURLsAreHTTPS(t *testing.T) {
	for s, want := range map[string]bool{
		"https://shop.example/back?a=b#c": true, "HTTPS://shop.example": true, "https://10.0.0.1/": true,
		"http://localhost:8080": true, "http://LOCALHOST": true, "http://127.0.0.1:9999/x": true, "http://127.9.9.9/": true, "http://[::1]:1/": true,
		"http://shop.example/back": false, "http://10.0.0.1/": false, "http://localhost.example/": false, "http://127.0.0.1.example/": false,
		"http://0.0.0.0/": false, "http://[::]/": false, "http://2130706433/": false, "": false, "/back": false, "https://user:pw@shop.example": false,
	} {
		require.Equal(t, want, wire.ReturnURL(s), s)
	}
}

func TestWebURL(t *testing.T) {
	for s, want := range map[string]bool{
		"https://shop.example/back?a=b#c": true, "http://localhost:8080": true, "HTTPS://[::1]/": true,
		"": false, "/back": false, "//shop.example": false, "javascript:alert(1)": false, "ftp://a": false, "https://": false, "https://:1": false,
		"https://user:pw@shop.example": false, "https://a b": false, "https://a\\b": false, "https://a\x00": false, "https:a": false,
		"https://a/" + strings.Repeat("x", 2048): false,
	} {
		require.Equal(t, want, wire.WebURL(s), s)
	}
}
