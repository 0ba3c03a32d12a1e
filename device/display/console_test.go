package display_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"posagent/device/display"
	"posagent/device/display/scene"
)

func TestField_L13GermanScreen(t *testing.T) {
	v := sale(t)
	v.Language = "de"
	var out bytes.Buffer
	require.NoError(t, display.NewConsole(&out, display.Options{Plain: true, Now: at(noon)}).Show(v))
	require.Contains(t, out.String(), "SANDBOX - kein echtes Geld")
	require.Contains(t, out.String(), "gültig noch 27 s")
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

func TestConsoleSaysEveryScene(t *testing.T) {
	for name, want := range map[string][]string{
		"idle": {"Corner Shop", "Ready"}, "choice": {"12.50 EUR", "Please choose how to pay", "1  MobilePay", "4  Blik"},
		"prompt": {"Ihre Mobilnummer", "_", "Digits: 8-12"}, "code": {"MobilePay", "12.50 EUR", "▀", "valid for 27 s"},
		"waiting": {"Please confirm in your app"}, "paid": {"Paid. Thank you."}, "not-paid": {"Not paid.", "Declined."},
		"no-connection": {"No connection", "No payment is possible now."}, "not-ready": {"Not ready", "The journal was cut: see posagent status"},
		"message": {"Please ask the staff."}, "code-over": {"This code is no longer valid."}, "prompt-masked": {"_"},
	} {
		for _, s := range samples(t, "en") {
			if s.name != name {
				continue
			}
			var out bytes.Buffer
			require.NoError(t, display.NewConsole(&out, display.Options{Plain: true, Now: at(noon)}).Show(s.view))
			for _, text := range want {
				require.Contains(t, out.String(), text, name)
			}
			require.Equal(t, s.view.Sandbox, strings.Contains(out.String(), "*** SANDBOX - no real money ***"), name)
			require.NotContains(t, out.String(), "777", name)
			require.NotContains(t, out.String(), "0170", name)
			out.Reset()
			require.NoError(t, display.NewConsole(&out, display.Options{Now: at(noon)}).Show(s.view))
			require.Equal(t, name == "prompt", strings.Contains(out.String(), "0170123_"), "a person reads what is typed")
			require.Equal(t, name == "prompt-masked", strings.Contains(out.String(), "••••••"))
		}
	}
}

// TestConsoleOfAnySize: nothing is longer or higher than the window, however small that is; what does not fit is said.
// TestALogDoesNotKeepWhatIsTyped: a plain console says that something is typed, once.
func TestALogDoesNotKeepWhatIsTyped(t *testing.T) {
	var out strings.Builder
	c := display.NewConsole(&out, display.Options{Plain: true})
	v := display.View{Kind: scene.Prompt, Title: "Easy", Language: "en", Entry: scene.Entry{Label: "Mobile number", Min: 8, Max: 15}}
	for _, typed := range []string{"", "4", "46", "467"} {
		v.Entry.Typed = typed
		require.NoError(t, c.Show(v))
	}
	require.Equal(t, 1, strings.Count(out.String(), "Mobile number"), out.String())
	require.NotContains(t, out.String(), "467")
}

func TestConsoleOfAnySize(t *testing.T) {
	for _, s := range samples(t, "de") {
		for _, width := range []int{1, 7, 20, 40, 80, 200} {
			for height := 1; height < 60; height += 3 {
				var out bytes.Buffer
				err := display.NewConsole(&out, display.Options{Width: width, Height: height, Now: at(noon)}).Show(s.view)
				if err != nil {
					require.ErrorIs(t, err, display.ErrTooSmall)
				}
				lines := strings.Split(strings.TrimPrefix(out.String(), "\x1b[2J\x1b[H"), "\n")
				require.LessOrEqual(t, len(lines), max(2, height), "%s in %d x %d", s.name, width, height)
				for _, l := range lines {
					require.LessOrEqual(t, utf8.RuneCountInString(l), width, "%s in %d x %d: %q", s.name, width, height, l)
				}
				whole := strings.Contains(out.String(), "▀")
				require.True(t, err != nil || whole == (s.view.At(noon).Code != nil), "%s in %d x %d", s.name, width, height)
			}
		}
	}
}

func TestConsoleOfFewLinesPutsMethodsBesideEachOther(t *testing.T) {
	v := display.View{Kind: scene.Choice, Amount: "12.50 EUR"}
	for i := range 9 {
		v.Options = append(v.Options, fmt.Sprintf("Method %d", i+1))
	}
	var out bytes.Buffer
	require.NoError(t, display.NewConsole(&out, display.Options{Width: 40, Height: 6, Now: at(noon)}).Show(v))
	for i := range 9 {
		require.Contains(t, out.String(), fmt.Sprintf("%d\u00a0Method\u00a0%d", i+1, i+1))
	}
	require.Contains(t, out.String(), "12.50 EUR")
}
