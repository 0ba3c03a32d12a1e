package fleet_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/schemes/fleet"
)

// Each text, one setting, and the text that comes of it. The settings of before bring the first text back, but for a section that
// was not there.
func TestApply(t *testing.T) {
	for name, c := range map[string]struct{ key, value, before, after string }{
		"in its place":            {"offline.max_count", "50", "# max_count = 1\n[offline]\nmax_count=20 # few\n[methods]\nmax_count = 7\n", "# max_count = 1\n[offline]\nmax_count=50 # few\n[methods]\nmax_count = 7\n"},
		"in its section":          {"methods.poll", `"3s"`, "[offline]\nmax_count = 20\n[methods] # here\n[keypad]\n", "[offline]\nmax_count = 20\n[methods] # here\npoll = \"3s\"\n[keypad]\n"},
		"a longer section":        {"upstream.base", `"https://b.example"`, "[upstream.auth]\nbase = 1\n[upstream]\nbase = \"https://a.example\"\n", "[upstream.auth]\nbase = 1\n[upstream]\nbase = \"https://b.example\"\n"},
		"a list of several lines": {"offline.max_total", `["EUR 5"]`, "[offline]\nmax_total = [ # two\n  \"EUR # 1\",\n  \"SEK ] 2\",\n]\nmax_count = 3\n", "[offline]\nmax_total = [\"EUR 5\"]\nmax_count = 3\n"},
		"behind a long text":      {"display.page", "true", "[operator]\nname = \"\"\"\n[display]\npage = false\n\\\"\"\"\"\"\n[display]\npage = false\n", "[operator]\nname = \"\"\"\n[display]\npage = false\n\\\"\"\"\"\"\n[display]\npage = true\n"},
		"a literal":               {"display.file", `"/b"`, "[display]\nfile = '/a\\'\nrotate = 90\n", "[display]\nfile = \"/b\"\nrotate = 90\n"},
		"dotted":                  {"offline.max_count", "50", "offline.max_count = 20\n", "offline.max_count = 50\n"},
		"other ends of lines":     {"offline.max_count", "50", "[offline]\r\nmax_count = 20\r\n", "[offline]\r\nmax_count = 50\r\n"},
		"not of the register":     {"ecr.patience", "5", "[[ecr]]\npatience = 1\n[ecr]\n", "[[ecr]]\npatience = 1\n[ecr]\npatience = 5\n"},
	} {
		set := []fleet.Setting{{Key: c.key, Value: c.value}}
		got, was := fleet.Apply(c.before, set)
		require.Equal(t, c.after, got, name)
		back, now := fleet.Apply(got, was)
		require.Equal(t, c.before, back, name)
		require.Equal(t, set, now, name)
	}
	got, was := fleet.Apply("[methods]\npoll = \"2s\"", []fleet.Setting{{Key: "offline.max_count", Value: "50"}, {Key: "offline.max_age", Value: `"1h"`}})
	require.Equal(t, "[methods]\npoll = \"2s\"\n[offline]\nmax_age = \"1h\"\nmax_count = 50\n", got)
	require.Equal(t, []fleet.Setting{{Key: "offline.max_count"}, {Key: "offline.max_age"}}, was)
	back, _ := fleet.Apply(got, was)
	require.Equal(t, "[methods]\npoll = \"2s\"\n[offline]\n", back)
	got, _ = fleet.Apply("", []fleet.Setting{{Key: "upstream.base", Value: `"https://a.example"`}})
	require.Equal(t, "[upstream]\nbase = \"https://a.example\"\n", got)
}

// FuzzApply: a text that is no TOML is given to a terminal, which refuses it; it breaks nothing here.
func FuzzApply(f *testing.F) {
	for _, text := range []string{"", "[", "a = [", "a = \"", "a = '''", "[[x]]\n= 1", "a\n[offline", "[offline]\nmax_count = \"\\", "\r", "offline.max_count ="} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, was := fleet.Apply(text, []fleet.Setting{{Key: "offline.max_count", Value: "50"}})
		require.Contains(t, got, "50")
		require.Len(t, was, 1)
	})
}

// What each terminal has of its own cannot be given to all.
func TestFleetwide(t *testing.T) {
	for _, key := range []string{"offline.max_count", "upstream.base", "terminal.language", "display.file"} {
		require.Empty(t, fleet.Fleetwide(key), key)
	}
	for key, why := range map[string]string{
		"": "section", "max_count": "section", ".a": "section", "a.": "section", "a..b": "section", "A.b": "section", "a.b c": "section", "a.\"b\"": "section",
		"terminal.terminal_id": "its own", "terminal.bax_id": "its own", "ecr.tcp": "its own",
		"upstream.auth.bearer": "a secret", "port.token": "a secret", "port.clients.kiosk": "a secret", "hooks.authorization": "a secret", "backend.credentials.instance": "a secret",
	} {
		require.Contains(t, fleet.Fleetwide(key), why, key)
	}
}

// TestNextRoll is the whole table, written by hand; "-" is refused.
func TestNextRoll(t *testing.T) {
	columns := []fleet.Move{fleet.Pause, fleet.Resume, fleet.TakeBack, fleet.Finish}
	require.Equal(t, columns, fleet.Moves())
	want := map[fleet.RollState][]string{
		fleet.Running: {"PAUSED", "RUNNING", "BACK", "DONE"},
		fleet.Paused:  {"PAUSED", "RUNNING", "BACK", "-"},
		fleet.Done:    {"-", "-", "BACK", "-"},
		fleet.Back:    {"-", "-", "BACK", "-"},
		"ODD":         {"-", "-", "-", "-"},
	}
	require.Len(t, want, len(fleet.RollStates())+1)
	for from, row := range want {
		for i, m := range columns {
			to, ok := fleet.NextRoll(from, m)
			require.Equal(t, row[i] != "-", ok, "%s %s", from, m)
			if ok {
				require.Equal(t, fleet.RollState(row[i]), to, "%s %s", from, m)
			} else {
				require.Equal(t, from, to)
			}
		}
	}
}

func TestReasons(t *testing.T) {
	require.Equal(t, "a b  1", fleet.Reason("a\nb\x1b\x001"))
	require.Equal(t, "the card 411111******1111", fleet.Reason("the card 4111111111111111"))
	require.Equal(t, strings.Repeat("x", 200), fleet.Reason(strings.Repeat("x", 300)))
}
