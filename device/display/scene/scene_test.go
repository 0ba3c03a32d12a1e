package scene_test

import (
	"image/color"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/device/display/scene"
	"posagent/device/qr"
)

var noon = time.Date(2026, 11, 21, 12, 3, 13, 0, time.UTC)

func code(t *testing.T) *qr.Code {
	t.Helper()
	c, err := qr.New("https://pay.example/q/1", qr.Options{})
	require.NoError(t, err)
	return c
}

func TestACodeIsThereOnlyBeforeItsTime(t *testing.T) {
	until := noon.Add(27 * time.Second)
	v := scene.Scene{Kind: scene.Code, Code: code(t), Until: until, PushText: "Scan it"}
	require.NotNil(t, v.At(until.Add(-time.Nanosecond)).Code)
	require.Nil(t, v.At(until).Code)
	require.Nil(t, v.At(until.Add(time.Hour)).Code)
	over := v.At(until).Texts(until, true)
	require.Equal(t, "This code is no longer valid.", over.Headline)
	require.Empty(t, over.Note+over.Valid, "nothing asks to scan it")
	require.Contains(t, over.Detail, "ask for a new code")
	v.Until = time.Time{}
	require.NotNil(t, v.At(noon.AddDate(10, 0, 0)).Code, "no limit")
}

func TestACodeIsInNoOtherScene(t *testing.T) {
	for _, k := range scene.Kinds() {
		v := scene.Scene{Kind: k, Code: code(t)}
		shown := k == scene.Code || k == scene.Message
		require.Equal(t, shown, v.At(noon).Code != nil, k)
	}
	require.Equal(t, scene.Code, scene.Scene{Code: code(t)}.At(noon).Kind)
}

func TestKindsSayWhatTheyAre(t *testing.T) {
	for k, want := range map[scene.Kind]string{
		scene.Message: "", scene.Idle: "Ready", scene.Choice: "Please choose how to pay", scene.Prompt: "", scene.Waiting: "Please confirm in your app", scene.Moment: "One moment, please", scene.Starting: "Starting",
		scene.Paid: "Paid. Thank you.", scene.NotPaid: "Not paid.", scene.NoConnection: "No connection", scene.NotReady: "Not ready",
	} {
		got := scene.Scene{Kind: k, Sandbox: true, Title: "T", Amount: "1.00 EUR"}.Texts(noon, true)
		require.Equal(t, want, got.Headline, k)
		require.Equal(t, "SANDBOX - no real money", got.Banner, k)
		require.Equal(t, "T", got.Title, k)
		require.Equal(t, "1.00 EUR", got.Amount, k)
	}
	require.Len(t, scene.Kinds(), 12)
	require.Empty(t, scene.Scene{}.Texts(noon, true).Banner)
	why := func(r scene.Reason, text string) string {
		return scene.Scene{Kind: scene.NotPaid, Reason: r, Text: text}.Texts(noon, true).Detail
	}
	require.Equal(t, "Declined.", why(scene.Declined, ""))
	require.Equal(t, "Cancelled.", why(scene.Cancelled, ""))
	require.Equal(t, "because", why(scene.Declined, "because"))
	require.Empty(t, why(scene.Unsaid, ""))
	require.Empty(t, why(99, ""))
	require.Equal(t, "No payment is possible now.", scene.Scene{Kind: scene.NotReady}.Texts(noon, true).Detail)
}

func TestTheCustomersLanguageGoesFirst(t *testing.T) {
	for _, tc := range []struct{ terminal, chosen, want string }{
		{"de", "", "Bereit"}, {"de-CH", "", "Bereit"}, {"DE", "", "Bereit"}, {"de", "fr", "Prêt"}, {"de", "xx", "Bereit"},
		{"xx", "", "Ready"}, {"", "", "Ready"}, {"no", "", "Klar"}, {"nn-NO", "", "Klar"}, {"fi", "pl-PL", "Gotowy"},
	} {
		v := scene.Scene{Kind: scene.Idle, Language: tc.terminal, Chosen: tc.chosen}
		require.Equal(t, tc.want, v.Texts(noon, true).Headline, tc)
	}
}

func TestAMaskedValueIsNotInTheTexts(t *testing.T) {
	e := scene.Entry{Label: "Code", Typed: "4711", Min: 4, Max: 6, Masked: true}
	got := scene.Scene{Kind: scene.Prompt, Entry: e}.Texts(noon, true)
	require.Equal(t, "••••_", got.Value)
	require.Equal(t, "Digits: 4-6", got.Hint)
	e.Masked = false
	require.Equal(t, "4711_", scene.Scene{Kind: scene.Prompt, Entry: e}.Texts(noon, true).Value)
	e.Max = 4
	got = scene.Scene{Kind: scene.Prompt, Entry: e}.Texts(noon, true)
	require.Equal(t, "4711", got.Value, "no place for another digit")
	require.Equal(t, "Digits: 4", got.Hint)
	e.Min, e.Max, e.Typed, e.Masked = 0, 255, strings.Repeat("1", 200)+"23", true
	got = scene.Scene{Kind: scene.Prompt, Entry: e}.Texts(noon, true)
	require.Equal(t, "…"+strings.Repeat("•", 64)+"_", got.Value)
	require.Equal(t, "Digits: 1-255", got.Hint)
}

func TestAPromptSaysWhatIsWrong(t *testing.T) {
	e := scene.Entry{Label: "Code", Typed: "4", Min: 4, Max: 6}
	hint := func(fault scene.Fault, language string) string {
		e.Fault = fault
		return scene.Scene{Kind: scene.Prompt, Entry: e, Language: language}.Texts(noon, true).Hint
	}
	require.Equal(t, "Too few digits. Digits: 4-6", hint(scene.TooFew, "en"))
	require.Equal(t, "Bitte neu eingeben. Ziffern: 4-6", hint(scene.Again, "de"))
	require.Equal(t, "Digits: 4-6", hint(99, "en"))
	e = scene.Entry{Wanted: scene.Sum, Typed: "0.01 EUR"}
	require.Equal(t, "Amount too small", hint(scene.TooLittle, "en"))
	require.Equal(t, "Betrag zu groß", hint(scene.TooMuch, "de"))
	require.Empty(t, hint(scene.NoFault, "en"))
}

func TestOptionsAreBounded(t *testing.T) {
	v := scene.Scene{Kind: scene.Choice, Options: make([]string, 12)}
	for i := range v.Options {
		v.Options[i] = "\x1b[2Jmethod"
	}
	got := v.Texts(noon, true).Options
	require.Len(t, got, scene.MaxOptions)
	require.Equal(t, "method", got[0])
}

func TestTheNumberOfAnAmountStaysTogether(t *testing.T) {
	for in, want := range map[string]string{
		"12.50 EUR": "12.50 EUR", "1\u00a0234,50 EUR": "1\u00a0234,50 EUR", "1 234 567,50 EUR": "1\u00a0234\u00a0567,50 EUR", "12.50": "12.50", "": "",
		"\x1b[31m9 EUR": "9 EUR",
	} {
		require.Equal(t, want, scene.Scene{Amount: in}.Texts(noon, true).Amount, "%q", in)
	}
}

// TestField2_U9NoTimeOfDayIsOnTheScreen: "valid until 12:03:40" by the box's clock, which may be wrong.
func TestField2_U9NoTimeOfDayIsOnTheScreen(t *testing.T) {
	v := scene.Scene{Kind: scene.Code, Code: code(t), From: noon.Add(-13 * time.Second), Until: noon.Add(27 * time.Second)}
	got := v.Texts(noon, true)
	require.Equal(t, []string{"valid for 27 s", "valid for 999 s"}, []string{got.Valid, got.Room})
	got = v.Texts(noon, false)
	require.Equal(t, []string{"valid", ""}, []string{got.Valid, got.Room})
	part, ok := v.Part(noon)
	require.True(t, ok)
	require.Equal(t, 675, part)
	part, _ = v.Part(noon.Add(-time.Hour))
	require.Equal(t, 1000, part, "a clock that was put back")
	part, _ = v.Part(noon.Add(time.Hour))
	require.Zero(t, part)
	v.From = time.Time{}
	_, ok = v.Part(noon)
	require.False(t, ok)
}

func TestContrast(t *testing.T) {
	white, black := color.RGBA{R: 255, G: 255, B: 255, A: 255}, color.RGBA{A: 255}
	for _, tc := range []struct {
		c    color.RGBA
		want float64 // on white, as the WCAG's own examples have it
	}{
		{black, 21}, {white, 1}, {color.RGBA{R: 0x77, G: 0x77, B: 0x77}, 4.48}, {color.RGBA{R: 0x76, G: 0x76, B: 0x76}, 4.54}, {color.RGBA{R: 0xff}, 4.00}, {color.RGBA{B: 0xff}, 8.59},
	} {
		require.InDelta(t, tc.want, scene.Contrast(tc.c, white), 0.005)
		require.InDelta(t, tc.want, scene.Contrast(white, tc.c), 0.005)
	}
	for r := 0; r < 256; r += 15 {
		for g := 0; g < 256; g += 15 {
			for b := 0; b < 256; b += 15 {
				c := color.RGBA{R: uint8(r), G: uint8(g), B: uint8(b), A: 255}
				require.GreaterOrEqual(t, scene.Contrast(scene.Ink(c), c), 4.5, c)
			}
		}
	}
	require.Equal(t, white, scene.Scene{Background: `url(x)`}.Ground())
	require.Equal(t, color.RGBA{R: 255, B: 238, A: 255}, scene.Scene{Background: "#f0e"}.Ground())
}
