package display_test

import (
	"bytes"
	"context"
	"crypto/sha256"
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
	"posagent/device/display/framebuffer"
	"posagent/device/display/scene"
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
		require.Contains(t, out.String(), "valid for 27 s")

		out.Reset()
		now = v.Until.Add(-time.Millisecond)
		require.NoError(t, c.Refresh())
		if opts.Plain {
			require.Empty(t, out.String(), "a log does not count down")
		} else {
			require.Contains(t, out.String(), "valid for 1 s")
		}

		out.Reset()
		now = v.Until
		require.NoError(t, c.Refresh())
		require.NotContains(t, out.String(), "▀")
		require.NotContains(t, out.String(), "valid for")
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
		{24, []string{"SANDBOX", "Swish", "12.50", "Open the app", "valid for", "Waiting"}, nil, nil},
		{23, []string{"SANDBOX", "Swish", "12.50", "valid for", "Waiting"}, []string{"Open the app"}, nil},
		{22, []string{"SANDBOX", "Swish 12.50 EUR", "valid for", "Waiting"}, []string{"Open the app"}, nil},
		{21, []string{"SANDBOX", "Swish 12.50 EUR", "valid for"}, []string{"Open the app", "Waiting"}, nil},
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
	require.ErrorIs(t, f.Show(v), display.ErrTooSmall, "such an amount has no room: no code without it")
	v.Amount = "12.50 EUR"
	require.NoError(t, f.Show(v))
	svg, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Contains(t, string(svg), "shape-rendering", "the code")
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

// TestSVGSaysWhatItDraws: its letters are lines, so each text stands in a label too.
func TestSVGSaysWhatItDraws(t *testing.T) {
	path := filepath.Join(t.TempDir(), "screen.svg")
	f, err := display.NewFile(path)
	require.NoError(t, err)
	f.Now = at(noon)
	v := sale(t)
	v.Title = "Fish & Chips <Ltd>"
	require.NoError(t, f.Show(v))
	svg, err := os.ReadFile(path)
	require.NoError(t, err)
	requireXML(t, svg)
	require.NotContains(t, string(svg), "<text", "no font of a viewer")
	for _, s := range []string{
		`width="480" height="800"`, `fill="#ff00ee"`, `aria-label="SANDBOX - no real money"`, `aria-label="Fish &amp; Chips &lt;Ltd&gt;"`, `aria-label="12.50 EUR"`,
		`aria-label="Open the app and scan the code"`, `aria-label="valid"`, `aria-label="Waiting for your phone"`,
	} {
		require.Contains(t, string(svg), s)
	}
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
		require.False(t, bytes.Equal(shown, gone))
		v.Kind, v.Code = scene.Code, nil
		require.NoError(t, f.Show(v))
		cleared, err := os.ReadFile(path)
		require.NoError(t, err)
		require.True(t, bytes.Equal(gone, cleared))

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
	require.Equal(t, color.RGBA{A: 255}, color.RGBAModel.Convert(img.At(0, 799)))
	t.Run("its code is read", func(t *testing.T) {
		out, err := exec.CommandContext(t.Context(), need.Tool(t, "zbarimg"), "-q", "--raw", path).Output()
		require.NoError(t, err)
		require.Equal(t, v.Code.Payload()+"\n", string(out))
	})
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
		require.Equal(t, 1, failures, "one error is told once")
	})
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		require.NoError(t, display.Run(ctx, still{&recorder{}}, nil))
		require.ErrorIs(t, ctx.Err(), context.DeadlineExceeded)
	})
}

// script is a screen whose refreshes end as it says, one after the other.
type script struct {
	display.Screen
	says []string
}

func (s *script) Refresh() error {
	say := s.says[0]
	s.says = s.says[1:]
	if say == "" {
		return nil
	}
	return errors.New(say)
}

func TestRunTellsAnErrorThatComesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 6500*time.Millisecond)
		defer cancel()
		var told []string
		s := &script{says: []string{"gone", "gone", "", "gone", "broken", ""}}
		require.NoError(t, display.Run(ctx, s, func(err error) { told = append(told, err.Error()) }))
		require.Equal(t, []string{"gone", "gone", "broken"}, told)
		require.Empty(t, s.says)
	})
}

// TestNothingOfASaleStaysWhenTheProgramEnds: a code on a panel or in a file would outlive its time.
func TestNothingOfASaleStaysWhenTheProgramEnds(t *testing.T) {
	dir := t.TempDir()
	png, err := display.NewFile(filepath.Join(dir, "screen.png"))
	require.NoError(t, err)
	svg, err := display.NewFile(filepath.Join(dir, "screen.svg"))
	require.NoError(t, err)
	fb := display.NewFramebuffer(framebuffer.Config{Path: filepath.Join(dir, "fb"), File: framebuffer.Mode{W: 320, H: 240, Format: framebuffer.RGB565()}})
	var tty, log bytes.Buffer
	screen := display.Fan(png, svg, fb, display.NewConsole(&tty, display.Options{}), display.NewConsole(&log, display.Options{Plain: true}))
	read := func() (held [][32]byte) {
		for _, name := range []string{"screen.png", "screen.svg", "fb"} {
			data, err := os.ReadFile(filepath.Join(dir, name))
			require.NoError(t, err)
			held = append(held, sha256.Sum256(data))
		}
		return held
	}
	require.NoError(t, screen.Show(display.View{Kind: scene.NotReady, Sandbox: true, Language: "de"}))
	want := read()
	v := sale(t)
	v.Language, v.Until = "de", time.Now().Add(time.Hour)
	require.NoError(t, screen.Show(v))
	require.NotEqual(t, want, read())
	tty.Reset()
	log.Reset()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.NoError(t, display.Run(ctx, screen, func(err error) { t.Error(err) }))
	require.Equal(t, want, read())
	require.Contains(t, tty.String(), "Nicht bereit")
	require.NotContains(t, tty.String(), "▀")
	require.Empty(t, log.String(), "a log is no screen")
	require.NoError(t, screen.Show(v), "a sale that ends late")
	require.NoError(t, screen.(display.Refresher).Refresh())
	require.Equal(t, want, read(), "shows nothing any more")
}

// TestAFramebufferIsDrawnAgain: something else may have drawn on the panel, or it was pulled and is back.
func TestAFramebufferIsDrawnAgain(t *testing.T) {
	path := filepath.Join(t.TempDir(), "none", "fb")
	now := noon
	fb := display.NewFramebuffer(framebuffer.Config{Path: path, File: framebuffer.Mode{W: 320, H: 240, Format: framebuffer.XRGB8888()}})
	fb.Now = func() time.Time { return now }
	require.NoError(t, fb.Refresh(), "nothing to refresh yet")
	v := sale(t)
	require.ErrorContains(t, fb.Show(v), path)
	require.ErrorContains(t, fb.Refresh(), path, "it is still away")
	require.NoError(t, os.Mkdir(filepath.Dir(path), 0o755))
	require.NoError(t, fb.Refresh())
	shown, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Len(t, shown, 4*320*240)

	require.NoError(t, os.WriteFile(path, make([]byte, len(shown)), 0o600))
	for range 10 {
		require.NoError(t, fb.Refresh())
	}
	again, err := os.ReadFile(path)
	require.NoError(t, err)
	require.True(t, bytes.Equal(shown, again))

	now = v.Until
	require.NoError(t, fb.Refresh())
	gone, err := os.ReadFile(path)
	require.NoError(t, err)
	require.False(t, bytes.Equal(shown, gone))
	v.Kind, v.Code = scene.Code, nil
	require.NoError(t, fb.Show(v))
	cleared, err := os.ReadFile(path)
	require.NoError(t, err)
	require.True(t, bytes.Equal(gone, cleared), "the code is off")
}
