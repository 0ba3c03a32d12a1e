package display_test

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/device/display"
)

// picture shows a view on a PNG file and returns what a viewer sees.
func picture(t *testing.T, v display.View) image.Image {
	t.Helper()
	path := filepath.Join(t.TempDir(), "screen.png")
	f, err := display.NewFile(path)
	require.NoError(t, err)
	f.Now = at(noon)
	require.NoError(t, f.Show(v))
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	if dir := os.Getenv("SCREENS"); dir != "" {
		require.NoError(t, os.WriteFile(filepath.Join(dir, "screen-"+v.Language+v.Text+".png"), data, 0o644))
	}
	pic, err := png.Decode(bytes.NewReader(data))
	require.NoError(t, err)
	return pic
}

// inked returns how many rows of a picture have a pixel of a colour, and the first and the last of them.
func inked(pic image.Image, c color.Color) (rows, first, last int) {
	want := color.RGBAModel.Convert(c)
	for y := pic.Bounds().Min.Y; y < pic.Bounds().Max.Y; y++ {
		for x := pic.Bounds().Min.X; x < pic.Bounds().Max.X; x++ {
			if color.RGBAModel.Convert(pic.At(x, y)) == want {
				if rows == 0 {
					first = y
				}
				rows, last = rows+1, y
				break
			}
		}
	}
	return rows, first, last
}

// TestField_U4PNGSaysWhatEveryScreenSays: a PNG held the code alone, and an idle or a paid one was blank.
func TestField_U4PNGSaysWhatEveryScreenSays(t *testing.T) {
	red := color.RGBA{R: 0xff, A: 0xff}
	paid := display.View{Title: "Swish", Amount: "12.50 EUR", Text: "Paid. Thank you.", Background: "#ff0000"}
	ink := color.White // on red
	pic := picture(t, paid)
	require.Equal(t, red, color.RGBAModel.Convert(pic.At(0, 0)))
	all, _, bottom := inked(pic, ink)
	require.Greater(t, all, 3*16, "three lines of letters at least sixteen pixels high")
	for name, less := range map[string]func(*display.View){
		"method": func(v *display.View) { v.Title = "" },
		"amount": func(v *display.View) { v.Amount = "" },
		"state":  func(v *display.View) { v.Text = "" },
	} {
		v := paid
		less(&v)
		rows, _, _ := inked(picture(t, v), ink)
		require.Greater(t, all-rows, 15, "without its %s the picture has a line less", name)
	}
	yellow := color.RGBA{R: 0xff, G: 0xff, A: 0xff}
	rows, first, last := inked(pic, yellow)
	require.Zero(t, rows, "no banner where money is real")
	paid.Sandbox = true
	rows, first, last = inked(picture(t, paid), yellow)
	require.Greater(t, rows, 30)
	require.Equal(t, rows, last-first+1, "one bar")
	require.Less(t, last, bottom, "above the texts")

	with := picture(t, sale(t))
	require.Greater(t, with.Bounds().Dy(), with.Bounds().Dx(), "a code and texts are higher than wide")
	idle, _, _ := inked(picture(t, display.View{Title: "Corner Shop", Text: "Ready"}), color.Black)
	require.Greater(t, idle, 2*16)
}

// TestField_U4TextsOfALongNameStayOnThePicture: letters are never cut off at an edge.
func TestField_U4TextsOfALongNameStayOnThePicture(t *testing.T) {
	v := display.View{Title: "Ä very long name of a payment method that nobody can read from afar", Amount: "999.999.999.999,99 EUR", Language: "de"}
	pic := picture(t, v)
	for y := range pic.Bounds().Dy() {
		for _, x := range []int{0, pic.Bounds().Dx() - 1} {
			require.Equal(t, color.RGBA{R: 0xff, G: 0xff, B: 0xff, A: 0xff}, color.RGBAModel.Convert(pic.At(x, y)), "%d,%d", x, y)
		}
	}
}

func TestField_L13GermanScreen(t *testing.T) {
	v := sale(t)
	v.Language = "de"
	var out bytes.Buffer
	require.NoError(t, display.NewConsole(&out, display.Options{Plain: true, Now: at(noon)}).Show(v))
	require.Contains(t, out.String(), "SANDBOX - kein echtes Geld")
	require.Contains(t, out.String(), "gültig bis 12:03:40 / 27 s")
	require.NotContains(t, out.String(), "valid")
}

// TestField_U4ConsoleFollowsItsWindow: a console did not ask for the lines of its window, and amount and banner scrolled away.
func TestField_U4ConsoleFollowsItsWindow(t *testing.T) {
	var out bytes.Buffer
	lines := 25
	c := display.NewConsole(&out, display.Options{Now: at(noon), Size: func() (int, int) { return 80, lines }})
	require.NoError(t, c.Show(sale(t)))
	require.Contains(t, out.String(), "Open the app")
	lines = 21
	out.Reset()
	require.NoError(t, c.Refresh())
	require.NotContains(t, out.String(), "Open the app")
	require.Contains(t, out.String(), "Swish 12.50 EUR")
	require.Contains(t, out.String(), "SANDBOX")
	require.Contains(t, out.String(), "\x1b[2J", "what was drawn for the old size is wiped")
}
