package demo

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

func played(verbose bool, lines [][2]string) (shown []string) {
	w := &window{verbose: verbose, narrow: true, say: func(line string) { shown = append(shown, line) }}
	tellers := map[string]func(string){}
	for _, l := range lines {
		if tellers[l[0]] == nil {
			tellers[l[0]] = w.teller(l[0])
		}
		tellers[l[0]](l[1])
	}
	return shown
}

// TestField_U6TheStoryShowsCodeAndReceiptOnce: the story had 743 lines, most of them repeated codes and hexadecimal digits.
func TestField_U6TheStoryShowsCodeAndReceiptOnce(t *testing.T) {
	sale := [][2]string{
		{"register", "terminal: 0E please wait"}, {"register", "terminal: 0E please wait"},
		{"terminal", "    Swish"}, {"terminal", "    ▄▄▄ ▀▀▀"}, {"terminal", "    valid for 21 s"}, {"terminal", ""}, {"terminal", "    Paid. Thank you."},
		{"register", "  Corner Shop"}, {"register", "  "}, {"register", "  Approved"}, {"register", "approved, 12.50 EUR, receipt 1, Swish"},
	}
	lines := append([][2]string{{"terminal", "ready port=http://127.0.0.1:1"}}, append(sale, sale...)...)
	lines = append(lines, [2]string{"terminal", "ready port=http://127.0.0.1:2"}, [2]string{"sending", "12:00:00 done x"}, [2]string{"sending", "accepted 4"},
		[2]string{"technician", strings.Repeat("x", 200)})
	require.Equal(t, []string{
		"terminal  │ ready port=http://127.0.0.1:1",
		"register  │ terminal: 0E please wait",
		"terminal  │     Swish", "terminal  │     ▄▄▄ ▀▀▀", "terminal  │     valid for 21 s",
		"register  │   Corner Shop", "register  │   Approved",
		"register  │ approved, 12.50 EUR, receipt 1, Swish",
		"register  │ approved, 12.50 EUR, receipt 1, Swish",
		"terminal  │ ready port=http://127.0.0.1:2",
		"sending   │ accepted 4",
		"technician│ " + strings.Repeat("x", width-1) + "…",
	}, played(false, lines))
	require.Len(t, played(true, lines), len(lines), "-v leaves nothing out")
}

// TestField2_U9AFileHasTheStoryWhole: a line was cut at the width of a window also where there was none,
// and an id was shown by its first letters, so that no two lines could be matched.
func TestField2_U9AFileHasTheStoryWhole(t *testing.T) {
	long := strings.Repeat("x", 3*width)
	body := []byte(`{"paymentId": "01a2245a0df07f34b49863cc5b19c8cf", "payPageUrl": "https://pay.example/` + long + `"}`)
	file, narrow := &window{}, &window{narrow: true}
	require.Equal(t, long, file.cut(long))
	require.Len(t, []rune(narrow.cut(long)), width)
	require.Contains(t, file.shorten(body), long)
	require.Contains(t, narrow.shorten(body), "01a2245a0df07f34b49863cc5b19c8cf", "an id has its place in a window, too")
}

// TestField_U12AStartThatHangsIsNamedAndTriedOnceMore: the child that an emulator had forked waited for ever, and so did the story.
func TestField_U12AStartThatHangsIsNamedAndTriedOnceMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{}) // what a hanging start waits for
		launch := func(hang int) (starts int, said string, err error) {
			release = make(chan struct{})
			defer func() { close(release) }() // the second hangs for good
			l := launch{name: "register", limit: 30 * time.Second, kill: func() error { close(release); return nil },
				say: func(format string, args ...any) { said += fmt.Sprintf(format, args...) }}
			_, err = launched(l, func() (int, error) {
				if starts++; starts <= hang {
					<-release
				}
				return starts, nil
			}, func(int) { release = make(chan struct{}) })
			return starts, said, err
		}
		starts, said, err := launch(1)
		require.NoError(t, err)
		require.Equal(t, 2, starts)
		require.Equal(t, "emulator  │ register did not begin within 30s: the emulator deadlocked while forking; started again", said)
		starts, _, err = launch(9)
		require.EqualError(t, err, "start register: did not begin within 30s, twice: the emulator deadlocks while forking")
		require.Equal(t, 2, starts)

		tries := 0
		_, err = launched(launch1(t), func() (int, error) {
			if tries++; tries < 5 {
				return 0, syscall.EFAULT
			}
			return 7, nil
		}, func(int) {})
		require.NoError(t, err)
		require.Equal(t, 5, tries)
	})
}

func launch1(t *testing.T) launch {
	return launch{name: "x", limit: time.Minute, kill: func() error { t.Error("killed"); return nil }, say: t.Logf}
}
