package printer_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/cross/need"
	"posagent/device/printer"
)

// payloads are what codes say, by name: a short link, one with a blank and an ampersand, and the longest.
func payloads() map[string]string {
	return map[string]string{
		"short":   "https://pay.example/q/1",
		"odd":     "https://pay.example/r?id=9007199254740991&t=Kiosk am Markt 12,50",
		"longest": "https://pay.example/" + strings.Repeat("0aZ9", 251),
	}
}

// TestIndependentDecoder: a decoder that shares no code with the encoder reads the code from the picture of the paper.
func TestIndependentDecoder(t *testing.T) {
	zbarimg := need.Tool(t, "zbarimg")
	for name, payload := range payloads() {
		for _, columns := range []int{32, 42, 48} {
			out := printed(t, profile(t, columns), printer.Document{Lines: []printer.Line{
				centred("Scan to pay"), {Kind: printer.Code, Text: payload}, {Kind: printer.Pair, Text: "TOTAL", Right: "12.50 EUR", Bold: true, Double: true}, cut,
			}})
			picture, err := out.PNG()
			require.NoError(t, err)
			path := filepath.Join(t.TempDir(), name+".png")
			require.NoError(t, os.WriteFile(path, picture, 0o600))
			read, err := exec.CommandContext(t.Context(), zbarimg, "-q", "--raw", path).Output()
			require.NoError(t, err, "%s on %d columns", name, columns)
			require.Equal(t, payload+"\n", string(read), "%s on %d columns", name, columns)
		}
	}
}

// TestCodesAreSentInPieces: no picture is longer than a kilobyte, they follow each other without a gap, and hold no byte that begins a
// real-time command.
func TestCodesAreSentInPieces(t *testing.T) {
	for name, payload := range payloads() {
		for _, columns := range []int{32, 42, 48} {
			p := profile(t, columns)
			data, err := printer.Encode(p, printer.Document{Lines: []printer.Line{{Kind: printer.Code, Text: payload}}})
			require.NoError(t, err)
			start, err := printer.Encode(p, printer.Document{})
			require.NoError(t, err)
			rows := 0
			for data = data[len(start):]; len(data) > 0; {
				require.Equal(t, "\x1dv0\x00", string(data[:4]))
				width, height := int(data[4])|int(data[5])<<8, int(data[6])|int(data[7])<<8
				require.LessOrEqual(t, width*8, p.Dots)
				require.LessOrEqual(t, 8+width*height, 1024)
				require.NotContains(t, string(data[8:8+width*height]), "\x10")
				rows += height
				data = data[8+width*height:]
			}
			out := printed(t, p, printer.Document{Lines: []printer.Line{{Kind: printer.Code, Text: payload}}})
			require.Equal(t, rows+48, out.Picture().Bounds().Dy(), "%s: pictures of %d rows in all, between margins of 24", name, rows)
		}
	}
}

// TestACodeThatHasNoRoom is refused: it could not be scanned.
func TestACodeThatHasNoRoom(t *testing.T) {
	p := narrow()
	_, err := printer.Encode(p, printer.Document{Lines: []printer.Line{text("a"), {Kind: printer.Code, Text: strings.Repeat("a", 1024)}}})
	require.ErrorIs(t, err, printer.ErrDocument)
	require.ErrorContains(t, err, "line 2: payload too long for a readable code")
}
