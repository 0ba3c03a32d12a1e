package display_test

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"flag"
	"image/color"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/cross/need"
	"posagent/device/display"
	"posagent/device/qr"
)

var update = flag.Bool("update", false, "write the golden files anew")

var noon = time.Date(2026, 11, 21, 12, 3, 13, 0, time.UTC)

func code(t testing.TB, payload string) *qr.Code {
	t.Helper()
	c, err := qr.New(payload, qr.Options{})
	require.NoError(t, err)
	return c
}

// sale is a view with everything on it.
func sale(t testing.TB) display.View {
	return display.View{
		Title: "Swish", Amount: "12.50 EUR", Text: "Waiting for your phone", PushText: "Open the app and scan the code",
		Code: code(t, "https://pay.example/q/1"), Until: noon.Add(27 * time.Second), Background: "#f0e", Sandbox: true,
	}
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		require.NoError(t, os.MkdirAll("testdata", 0o755))
		require.NoError(t, os.WriteFile(path, got, 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, string(want), string(got))
}

func at(now time.Time) func() time.Time { return func() time.Time { return now } }

func TestConsoleGolden(t *testing.T) {
	for name, opts := range map[string]display.Options{
		"console-plain.txt":     {Width: 44, Plain: true},
		"console-light.txt":     {Width: 44, Plain: true, Light: true},
		"console-color.txt":     {Width: 44, Color: true},
		"console-colorless.txt": {Width: 44},
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			opts.Now = at(noon)
			c := display.NewConsole(&out, opts)
			require.NoError(t, c.Show(sale(t)))
			require.NoError(t, c.Show(display.View{Title: "Swish", Amount: "12.50 EUR", Text: "Approved. Thank you."}))
			golden(t, name, out.Bytes())
		})
	}
}

func TestConsoleTakesTheCodeOff(t *testing.T) {
	for _, opts := range []display.Options{{Plain: true}, {Color: true}, {}} {
		var out bytes.Buffer
		now := noon
		opts.Now = func() time.Time { return now }
		c := display.NewConsole(&out, opts)
		require.NoError(t, c.Refresh())
		require.Empty(t, out.String(), "nothing to refresh yet")

		v := sale(t)
		v.Text = ""
		require.NoError(t, c.Show(v))
		require.Contains(t, out.String(), "▀")
		require.Contains(t, out.String(), "valid until 12:03:40 / 27 s")

		out.Reset()
		now = v.Until.Add(-time.Millisecond)
		require.NoError(t, c.Refresh())
		if opts.Plain {
			require.Empty(t, out.String(), "a log does not count down")
		} else {
			require.Contains(t, out.String(), " / 1 s")
		}

		out.Reset()
		now = v.Until
		require.NoError(t, c.Refresh())
		require.NotContains(t, out.String(), "▀")
		require.NotContains(t, out.String(), "valid until")
		require.Contains(t, out.String(), "no longer valid")
		if !opts.Plain {
			require.True(t, strings.HasPrefix(out.String(), "\x1b[H"), "drawn over the old view")
			require.True(t, strings.HasSuffix(out.String(), "\x1b[J"), "the rest of the old view is cleared")
		}

		out.Reset()
		require.NoError(t, c.Show(v), "shown again after its time")
		require.NotContains(t, out.String(), "▀")

		out.Reset()
		require.NoError(t, c.Show(display.View{Amount: "1.00 EUR"}))
		require.NotContains(t, out.String(), "Swish")
	}
}

func TestPlainConsoleDoesNotRepeatItself(t *testing.T) {
	var out bytes.Buffer
	now := noon
	c := display.NewConsole(&out, display.Options{Plain: true, Now: func() time.Time { return now }})
	v := sale(t)
	require.NoError(t, c.Show(v))
	first := out.Len()
	now = now.Add(2 * time.Second)
	require.NoError(t, c.Show(v))
	require.Equal(t, first, out.Len())
	v.Text = "Confirm on your phone"
	require.NoError(t, c.Show(v))
	require.Greater(t, out.Len(), first)
}

func TestUnsetClockIsNotPrinted(t *testing.T) {
	var out bytes.Buffer
	boot := time.Unix(40, 0).UTC()
	c := display.NewConsole(&out, display.Options{Plain: true, Now: at(boot)})
	v := sale(t)
	v.Until = boot.Add(27 * time.Second)
	require.NoError(t, c.Show(v))
	require.Contains(t, out.String(), "valid for 27 s")
	require.NotContains(t, out.String(), "00:01:07")
}

func TestCodeLargerThanTheConsole(t *testing.T) {
	var out bytes.Buffer
	c := display.NewConsole(&out, display.Options{Width: 30, Plain: true, Now: at(noon)})
	require.ErrorIs(t, c.Show(sale(t)), display.ErrTooSmall)
	require.Contains(t, out.String(), "12.50 EUR")
	require.Contains(t, out.String(), "screen is too small")
	require.NotContains(t, out.String(), "▀")
	require.Equal(t, 30, c.MaxModules())
}

// TestField_U4CodeGetsTheRoomItNeeds: method and amount stay in any number of lines; today's method was lost first.
func TestField_U4CodeGetsTheRoomItNeeds(t *testing.T) {
	v := sale(t) // the code is 33 modules a side: 17 lines
	for _, tc := range []struct {
		height      int
		shown, gone []string
		err         error
	}{
		{24, []string{"SANDBOX", "Swish", "12.50", "Open the app", "valid until", "Waiting"}, nil, nil},
		{23, []string{"SANDBOX", "Swish", "12.50", "valid until", "Waiting"}, []string{"Open the app"}, nil},
		{22, []string{"SANDBOX", "Swish 12.50 EUR", "valid until", "Waiting"}, []string{"Open the app"}, nil},
		{21, []string{"SANDBOX", "Swish 12.50 EUR", "valid until"}, []string{"Open the app", "Waiting"}, nil},
		{20, []string{"SANDBOX", "Swish", "12.50", "screen is too small"}, []string{"▀"}, display.ErrTooSmall},
	} {
		var out bytes.Buffer
		c := display.NewConsole(&out, display.Options{Height: tc.height, Now: at(noon)})
		require.ErrorIs(t, c.Show(v), tc.err)
		require.Less(t, strings.Count(out.String(), "\n"), tc.height)
		for _, s := range tc.shown {
			require.Contains(t, out.String(), s, tc.height)
		}
		for _, s := range tc.gone {
			require.NotContains(t, out.String(), s, tc.height)
		}
		require.Equal(t, tc.err == nil, v.Code.Size() <= c.MaxModules())
	}
}

func TestConsoleReportsWhatItCannotWrite(t *testing.T) {
	broken := errors.New("gone")
	c := display.NewConsole(writer(func([]byte) (int, error) { return 0, broken }), display.Options{})
	require.ErrorIs(t, c.Show(display.View{Text: "x"}), broken)
}

type writer func([]byte) (int, error)

func (w writer) Write(p []byte) (int, error) { return w(p) }

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
		require.Equal(t, want, display.Clean(in), "%q", in)
	}
}

func FuzzClean(f *testing.F) {
	for _, s := range []string{"Swish", "\x1b[2J\x1b[31mred\x1b[0m", "\u009d0;t\u009c", "\x1b\x1b[[31m", "\x1b]8;;\x1b[31m", "\u202e", "\xc2", "\x1b\xc2\x9b"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := display.Clean(s)
		require.LessOrEqual(t, len([]rune(got)), 240)
		for _, r := range got {
			require.False(t, r < 0x20 || r >= 0x7f && r <= 0x9f || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069, "%q", got)
		}
		require.Equal(t, got, display.Clean(got), "cleaning twice changes nothing")
	})
}

func TestColor(t *testing.T) {
	for in, want := range map[string]color.RGBA{
		"#fff":    {255, 255, 255, 255},
		"#0aF":    {0, 170, 255, 255},
		"#102030": {16, 32, 48, 255},
	} {
		got, ok := display.Color(in)
		require.True(t, ok, in)
		require.Equal(t, want, got, in)
	}
	for _, in := range []string{"", "#", "#ff", "#ffff", "#fffff", "#fffffff", "fff", "#ggg", "red", "#12345x", "#+12345", `#fff" onload="x`, "url(x)", "#é0"} {
		_, ok := display.Color(in)
		require.False(t, ok, in)
	}
}

func TestHostileViewMovesNothing(t *testing.T) {
	evil := "\x1b[2J\x1b]0;x\x07<script>alert(1)</script>\u202e&\"'\nnext"
	v := display.View{Title: evil, Amount: evil, Text: evil, PushText: evil, Background: "#fff\" onload=\"alert(1)", Code: code(t, "x")}
	var out bytes.Buffer
	require.NoError(t, display.NewConsole(&out, display.Options{Plain: true, Now: at(noon)}).Show(v))
	require.NotContains(t, out.String(), "\x1b")
	require.NotContains(t, out.String(), "\u202e")

	path := filepath.Join(t.TempDir(), "screen.svg")
	f, err := display.NewFile(path)
	require.NoError(t, err)
	require.NoError(t, f.Show(v))
	svg, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NotContains(t, string(svg), "<script")
	require.NotContains(t, string(svg), "onload")
	requireXML(t, svg)
}

func requireXML(t *testing.T, data []byte) {
	t.Helper()
	d := xml.NewDecoder(bytes.NewReader(data))
	for {
		if _, err := d.Token(); err != nil {
			require.EqualError(t, err, "EOF")
			return
		}
	}
}

func TestFileGolden(t *testing.T) {
	path := filepath.Join(t.TempDir(), "screen.svg")
	f, err := display.NewFile(path)
	require.NoError(t, err)
	f.Now = at(noon)
	require.NoError(t, f.Show(sale(t)))
	svg, err := os.ReadFile(path)
	require.NoError(t, err)
	requireXML(t, svg)
	golden(t, "screen.svg", svg)

	v := sale(t)
	v.PushText = strings.Repeat("long words ", 30)
	require.NoError(t, f.Show(v))
	svg, err = os.ReadFile(path)
	require.NoError(t, err)
	require.NotContains(t, string(svg), `viewBox="0 0 100 150"`, "a long text makes the picture longer")
}

func TestFileTakesTheCodeOff(t *testing.T) {
	for _, name := range []string{"screen.png", "screen.SVG"} {
		dir := t.TempDir()
		path := filepath.Join(dir, name)
		f, err := display.NewFile(path)
		require.NoError(t, err)
		now := noon
		f.Now = func() time.Time { return now }
		v := sale(t)
		require.NoError(t, f.Show(v))
		shown, err := os.ReadFile(path)
		require.NoError(t, err)
		first, err := os.Stat(path)
		require.NoError(t, err)
		require.Equal(t, os.FileMode(0o644), first.Mode())

		now = v.Until.Add(-time.Nanosecond)
		require.NoError(t, f.Refresh())
		require.NoError(t, f.Show(v))
		second, err := os.Stat(path)
		require.NoError(t, err)
		require.True(t, os.SameFile(first, second), "the same picture is not written again")

		now = v.Until
		require.NoError(t, f.Refresh())
		gone, err := os.ReadFile(path)
		require.NoError(t, err)
		require.NotEqual(t, shown, gone)
		v.Code = nil
		require.NoError(t, f.Show(v))
		cleared, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Equal(t, gone, cleared)

		left, err := os.ReadDir(dir)
		require.NoError(t, err)
		require.Len(t, left, 1, "no temporary file stays")
	}
	_, err := display.NewFile("screen.gif")
	require.ErrorContains(t, err, ".png or .svg")
}

func TestFileThatCannotBeWritten(t *testing.T) {
	f, err := display.NewFile(filepath.Join(t.TempDir(), "none", "screen.png"))
	require.NoError(t, err)
	require.ErrorIs(t, f.Show(display.View{}), os.ErrNotExist)

	dir := t.TempDir()
	path := filepath.Join(dir, "screen.png")
	require.NoError(t, os.Mkdir(path, 0o755)) // a rename onto a folder fails
	f, err = display.NewFile(path)
	require.NoError(t, err)
	require.Error(t, f.Show(display.View{}))
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, left, 1, "no temporary file stays")
}

func TestPNGIsReadByAnIndependentDecoder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "screen.png")
	f, err := display.NewFile(path)
	require.NoError(t, err)
	f.Now = at(noon)
	v := sale(t)
	v.Background = "#000"
	require.NoError(t, f.Show(v))
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	img, err := png.Decode(bytes.NewReader(data))
	require.NoError(t, err)
	require.Equal(t, color.RGBA{A: 255}, color.RGBAModel.Convert(img.At(0, 0)))
	zbarimg := need.Tool(t, "zbarimg")
	if zbarimg == "" {
		return
	}
	out, err := exec.CommandContext(t.Context(), zbarimg, "-q", "--raw", path).Output()
	require.NoError(t, err)
	require.Equal(t, v.Code.Payload()+"\n", string(out))
}

// recorder is a screen that remembers.
type recorder struct {
	views     []display.View
	refreshes int
	err       error
}

func (r *recorder) Show(v display.View) error {
	r.views = append(r.views, v)
	return r.err
}

func (r *recorder) Refresh() error {
	r.refreshes++
	return r.err
}

type still struct{ display.Screen }

func TestFan(t *testing.T) {
	broken := &recorder{err: errors.New("gone")}
	fine := &recorder{}
	s := display.Fan(broken, fine, still{&recorder{}})
	require.ErrorIs(t, s.Show(display.View{Text: "x"}), broken.err)
	require.Equal(t, []display.View{{Text: "x"}}, fine.views, "one broken screen does not darken the others")
	require.ErrorIs(t, s.(display.Refresher).Refresh(), broken.err)
	require.Equal(t, 1, fine.refreshes)
	require.NoError(t, display.Fan().Show(display.View{}))
}

func TestRunRefreshesEverySecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 3500*time.Millisecond)
		defer cancel()
		var failures int
		r := &recorder{err: errors.New("gone")}
		require.NoError(t, display.Run(ctx, r, func(err error) { failures++ }))
		require.Equal(t, 3, r.refreshes)
		require.Equal(t, 3, failures)
	})
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		require.NoError(t, display.Run(ctx, still{&recorder{}}, nil))
		require.ErrorIs(t, ctx.Err(), context.DeadlineExceeded)
	})
}
