package layout_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/device/display/glyph"
	"posagent/device/display/layout"
	"posagent/device/display/scene"
	"posagent/device/qr"
)

var noon = time.Date(2026, 11, 21, 12, 3, 13, 0, time.UTC)

func code(t *testing.T, payload string) *qr.Code {
	t.Helper()
	c, err := qr.New(payload, qr.Options{})
	require.NoError(t, err)
	return c
}

func place(t *testing.T, s scene.Scene, w, h int) (*layout.Page, error) {
	t.Helper()
	page, err := layout.Place(glyph.NewSet(), s, noon, layout.Geometry{W: w, H: h}, false)
	require.NotNil(t, page)
	return page, err
}

// said are the texts of a page, from its first element to its last.
func said(page *layout.Page) (texts []string) {
	for _, e := range page.Elements {
		if e.Kind == layout.Text {
			texts = append(texts, e.Text)
		}
	}
	return texts
}

func theCode(page *layout.Page) *layout.Element {
	for i := range page.Elements {
		if page.Elements[i].Kind == layout.Code {
			return &page.Elements[i]
		}
	}
	return nil
}

func TestGeometry(t *testing.T) {
	for _, g := range []layout.Geometry{{W: 63, H: 480}, {W: 800, H: 4097}, {W: 800, H: 480, Rotate: 45}, {W: 800, H: 480, Rotate: -90}, {}} {
		require.Error(t, g.Check(), g)
		page, err := layout.Place(glyph.NewSet(), scene.Scene{}, noon, g, false)
		require.Error(t, err)
		require.Nil(t, page)
	}
	w, h := layout.Geometry{W: 800, H: 480, Rotate: 270}.Upright()
	require.Equal(t, []int{480, 800}, []int{w, h})
	w, h = layout.Geometry{W: 800, H: 480, Rotate: 180}.Upright()
	require.Equal(t, []int{800, 480}, []int{w, h})
	page, err := place(t, scene.Scene{}, 800, 480)
	require.NoError(t, err)
	require.Empty(t, page.Elements, "an empty screen")
}

func TestTheCodeIsAsLargeAsItCanBe(t *testing.T) {
	c := code(t, "https://pay.example/q/1") // 33 modules a side
	v := scene.Scene{Kind: scene.Code, Title: "Swish", Amount: "12.50 EUR", Code: c}
	for _, tc := range []struct{ w, h, least int }{ // modules in pixels, measured on paper
		{320, 240, 5}, {240, 320, 5}, {480, 320, 8}, {800, 480, 13}, {480, 800, 13}, {1280, 800, 22},
	} {
		page, err := place(t, v, tc.w, tc.h)
		require.NoError(t, err)
		e := theCode(page)
		require.NotNil(t, e)
		require.Equal(t, 33*e.Module, e.Box.Dx())
		require.Equal(t, 33*e.Module, e.Box.Dy())
		require.GreaterOrEqual(t, e.Module, tc.least, "%d x %d", tc.w, tc.h)
	}
}

// TestNoCodeWithoutRoomForItOrItsAmount: a code that cannot be read, or whose amount cannot, is not shown.
func TestNoCodeWithoutRoomForItOrItsAmount(t *testing.T) {
	long := code(t, strings.Repeat("https://pay.example/", 50)) // 117 modules: 234 pixels
	page, err := place(t, scene.Scene{Kind: scene.Code, Title: "Swish", Amount: "12.50 EUR", Code: long, Sandbox: true}, 320, 240)
	require.ErrorIs(t, err, layout.ErrTooSmall)
	require.Nil(t, theCode(page))
	require.Contains(t, said(page), "SANDBOX - no real money")
	require.Contains(t, strings.Join(said(page), " "), "This screen is too small for the code.")
	require.Contains(t, strings.Join(said(page), " "), "12.50 EUR")

	page, err = place(t, scene.Scene{Kind: scene.Code, Amount: strings.Repeat("9", 60) + " EUR", Code: code(t, "x")}, 320, 240)
	require.ErrorIs(t, err, layout.ErrTooSmall)
	require.Nil(t, theCode(page))
	require.Contains(t, said(page), strings.Repeat("9", 60), "too small, but whole")

	page, err = place(t, scene.Scene{Kind: scene.Code, Amount: strings.Repeat("9", 160) + " EUR", Code: code(t, "x")}, 320, 240)
	require.ErrorIs(t, err, layout.ErrTooSmall)
	require.Nil(t, theCode(page))
	for _, s := range said(page) {
		require.NotContains(t, s, "99", "no part of an amount")
	}
}

func TestTextsMakeRoomForTheCode(t *testing.T) {
	v := scene.Scene{Kind: scene.Code, Title: "Swish", Amount: "12.50 EUR", Code: code(t, "https://pay.example/q/1"), PushText: strings.Repeat("WWWW ", 40)}
	page, err := place(t, v, 320, 240)
	require.NoError(t, err)
	require.GreaterOrEqual(t, theCode(page).Module, 4)
	texts := strings.Join(said(page), " ")
	require.Contains(t, texts, "Swish")
	require.Contains(t, texts, "12.50 EUR")
	require.NotContains(t, texts, strings.TrimSpace(v.PushText), "it is cut")

	page, err = place(t, v, 1280, 800)
	require.NoError(t, err)
	require.Contains(t, strings.Join(said(page), " "), strings.TrimSpace(v.PushText), "there is room for all of it")
}

func TestCountdownMovesNothing(t *testing.T) {
	v := scene.Scene{Kind: scene.Code, Title: "Swish", Amount: "12.50 EUR", Code: code(t, "x"), From: noon, Until: noon.Add(120 * time.Second)}
	letters := glyph.NewSet()
	first, err := layout.Place(letters, v, noon, layout.Geometry{W: 320, H: 240}, false)
	require.NoError(t, err)
	for left := 119; left > 0; left -= 7 {
		page, err := layout.Place(letters, v, v.Until.Add(-time.Duration(left)*time.Second), layout.Geometry{W: 320, H: 240}, false)
		require.NoError(t, err)
		require.Len(t, page.Elements, len(first.Elements))
		for i, e := range page.Elements {
			was := first.Elements[i]
			require.Equal(t, was.Style, e.Style)
			require.Equal(t, was.Box.Min.Y, e.Box.Min.Y)
			if e.Text == was.Text {
				require.Equal(t, was.Box, e.Box)
			}
		}
	}
	still, err := layout.Place(letters, v, noon, layout.Geometry{W: 320, H: 240}, true)
	require.NoError(t, err)
	again, err := layout.Place(letters, v, noon.Add(time.Minute), layout.Geometry{W: 320, H: 240}, true)
	require.NoError(t, err)
	require.Equal(t, still, again, "a still page does not change with time")
	over, err := layout.Place(letters, v, v.Until, layout.Geometry{W: 320, H: 240}, true)
	require.NoError(t, err)
	require.Nil(t, theCode(over))
}

func TestAChoiceOfMoreThanItsKeys(t *testing.T) {
	v := scene.Scene{Kind: scene.Choice, Title: "Shop", Amount: "12.50 EUR"}
	for range 10 {
		v.Options = append(v.Options, "Method")
	}
	page, err := place(t, v, 800, 480)
	require.ErrorIs(t, err, layout.ErrTooSmall)
	texts := said(page)
	require.Contains(t, texts, "9")
	require.NotContains(t, texts, "10")
	v.Options = nil
	_, err = place(t, v, 800, 480)
	require.NoError(t, err)
}

// TestWordsStayWhole: no word of ours is broken where a smaller size keeps it whole.
func TestWordsStayWhole(t *testing.T) {
	for _, language := range scene.Languages() {
		for _, k := range scene.Kinds() {
			v := scene.Scene{Kind: k, Title: "Zahlungsart", Amount: "12.50 EUR", Language: language, Sandbox: true, Code: code(t, "x"), Options: []string{"MobilePay", "Swish"}}
			words := map[string]bool{}
			texts := v.At(noon).Texts(noon, true)
			for _, s := range append(texts.Options, texts.Banner, texts.Title, texts.Amount, texts.Note, texts.Hint, texts.Headline, texts.Detail, texts.Value) {
				for word := range strings.FieldsSeq(s) {
					words[word] = true
				}
			}
			for _, side := range [][2]int{{240, 320}, {320, 240}, {480, 800}, {800, 480}} {
				page, err := place(t, v, side[0], side[1])
				require.NoError(t, err)
				for _, s := range said(page) {
					for word := range strings.FieldsSeq(s) {
						require.True(t, words[word] || word == "1" || word == "2", "%s %s %v: %q", language, k, side, word)
					}
				}
			}
		}
	}
}

// TestEverySize: no size of a screen, and no text, makes it fail in another way than by ErrTooSmall.
func TestEverySize(t *testing.T) {
	letters := glyph.NewSet()
	c := code(t, "https://pay.example/q/1")
	for w := 64; w < 520; w += 113 {
		for h := 64; h < 520; h += 127 {
			for _, k := range scene.Kinds() {
				for _, text := range []string{"", "x", strings.Repeat("W", 240), strings.Repeat("a b ", 60)} {
					v := scene.Scene{
						Kind: k, Title: text, Amount: "999,999,999.99 EUR", Text: text, PushText: text, Code: c, From: noon, Until: noon.Add(time.Minute), Sandbox: true,
						Options: []string{text, text, text}, Entry: scene.Entry{Label: text, Typed: text, Max: 255, Min: 1, Fault: scene.TooFew},
					}
					page, err := layout.Place(letters, v, noon, layout.Geometry{W: w, H: h}, false)
					if err != nil {
						require.ErrorIs(t, err, layout.ErrTooSmall)
					}
					require.NotNil(t, page)
				}
			}
		}
	}
}
