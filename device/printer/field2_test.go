package printer_test

import (
	"bytes"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"posagent/device/printer"
	"posagent/device/printer/printertest"
)

// TestField2_P6_NoSetUpHangsOnTheProfile: on each profile a printer that starts with two bytes for a letter prints ours, and a code gets onto the paper as a picture,
// drawn by the printer, or as text. The kind is what a profile fixed: columns, status and pages have settings of their own already, these two have one now.
func TestField2_P6_NoSetUpHangsOnTheProfile(t *testing.T) {
	const name, code = "Bäckerei Größer Żółw", "https://pay.example/q/1"
	twoBytes := []byte{0x1c, '.'}
	d := printer.Document{Lines: []printer.Line{text(name), {Kind: printer.Code, Text: code}, {Text: code}, text("end"), cut}}
	for _, profile := range printer.ProfileNames() {
		p, err := printer.Named(profile)
		require.NoError(t, err)
		require.True(t, p.Kanji, profile)
		for word, want := range map[string]string{"picture": "### picture", "own": "### code " + code, "text": ""} {
			p.Codes, err = printer.CodeModeNamed(word)
			require.NoError(t, err)
			data, err := printer.Encode(p, d)
			require.NoError(t, err)
			out := printertest.New(printertest.Config{Columns: p.Columns, Dots: p.Dots, Kanji: true})
			out.Take(data)
			require.Empty(t, out.Strange(), word)
			require.Contains(t, out.Listing(), name, profile)
			require.Equal(t, 1, strings.Count(out.Listing(), "|"+code), "%s: its text stands below", word)
			require.Equal(t, want != "", strings.Contains(out.Listing(), "###"), word)
			require.Contains(t, out.Listing(), want)
			for other, command := range map[string]string{"picture": "\x1dv", "own": "\x1d("} {
				require.Equal(t, word == other, bytes.Contains(data, []byte(command)), "%s sends %s", word, other)
			}
		}
		p.Kanji = false
		data, err := printer.Encode(p, d)
		require.NoError(t, err)
		require.NotContains(t, string(data), string(twoBytes), "a printer that prints it as letters")
	}
	_, err := printer.CodeModeNamed("raster")
	require.EqualError(t, err, `codes "raster": want one of own, picture, text`)
	p := profile(t, 48)
	p.Codes = printer.CodeText
	data, err := printer.Encode(p, printer.Document{Lines: []printer.Line{{Kind: printer.Code, Text: code}, cut}})
	require.NoError(t, err)
	require.Contains(t, string(data), code, "which stands nowhere else")
	p.Codes = printer.CodeOwn
	_, err = printer.Encode(p, printer.Document{Lines: []printer.Line{{Kind: printer.Code, Text: "\x10\x04\x01"}}})
	require.ErrorIs(t, err, printer.ErrDocument, "which a printer answers at once")
	p.Codes = 7
	require.ErrorContains(t, p.Validate(), "codes: 7 is unknown")
}

// TestField2_P9_ADocumentThatLostItsMiddleSaysWhatMatters: the power of the printer fails for a moment, anywhere in a document, and it answers at once as if nothing was. The
// document does not count as printed, or its short form is on the paper. The kind, each way in which a printer tells: never, at once alone, at once and in its turn
// though that is not known before, in its turn, by itself; and a file, which needs no telling. One that tells in its turn is believed, and prints no short form.
func TestField2_P9_ADocumentThatLostItsMiddleSaysWhatMatters(t *testing.T) {
	d := slip("one")
	d.Short = []printer.Line{pair("PAID", "12.50 EUR"), {Text: "approved", Align: printer.Centre}}
	for name, c := range map[string]struct {
		status  printer.Status
		inOrder bool // what it can, beyond what is known of it
		blind   bool // when it has printed
	}{
		"never":                   {printer.NoStatus, false, true},
		"at once":                 {printer.RealTime, false, true},
		"at once, asked in vain":  {printer.RealTime | printer.TryInOrder, false, true},
		"at once, and when asked": {printer.RealTime | printer.TryInOrder, true, false},
		"in its turn":             {printer.InOrder, true, false},
		"at once and in its turn": {printer.RealTime | printer.InOrder, true, false},
		"by itself, and at once":  {printer.RealTime | printer.AutoBack, false, false},
	} {
		dips := []int{0}
		if c.blind {
			dips = append(dips, 1, 40, 150, 700, 1200, 2000, 4000)
		}
		for _, dip := range dips {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, c.status, func(_ *printer.Config, is *printertest.Config) { is.InOrder = c.inOrder })
				require.NoError(t, r.p.Print(t.Context(), printer.Document{Lines: []printer.Line{text("before"), cut}}))
				synctest.Wait()
				r.DipAfter(dip)
				err := r.p.Print(t.Context(), d)
				synctest.Wait()
				whole := strings.Contains(r.Listing(), "end of one")
				short := strings.Contains(r.Listing(), "PAID") && strings.Contains(r.Listing(), "approved")
				switch {
				case err != nil:
					require.ErrorIs(t, err, printer.ErrUnknownEnd, "%s, %d", name, dip)
					require.NotZero(t, dip, name)
				case c.blind:
					require.True(t, short, "%s, %d: %s", name, dip, r.Listing())
				default:
					require.True(t, whole && !short, "%s: %s", name, r.Listing())
				}
				if err == nil {
					require.Equal(t, c.blind, r.p.Stats().Blind, "%s, %d", name, dip)
				}
				if dip == 0 { // what it has found out of a printer it keeps
					require.NoError(t, r.p.Print(t.Context(), d))
					require.Equal(t, c.blind, strings.Count(r.Listing(), "PAID") == 2, "%s: %s", name, r.Listing())
					require.Empty(t, r.Strange(), name)
				}
			})
		}
	}
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, printer.NoStatus, func(cfg *printer.Config, _ *printertest.Config) { cfg.Sure = true })
		require.NoError(t, r.p.Print(t.Context(), d))
		synctest.Wait()
		require.NotContains(t, r.Listing(), "PAID")
		require.False(t, r.p.Stats().Blind)
	})
	bad := d
	bad.Short = []printer.Line{{Kind: printer.Code, Text: "x"}}
	_, err := printer.Encode(profile(t, 48), bad)
	require.ErrorIs(t, err, printer.ErrDocument)
}
