package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"

	"posagent/agent/ready"
	"posagent/cmd/usage"
)

// guides are the texts that tell a person what to type.
var guides = []string{"README.md", "cmd/posagent/README.md", "ecr/README.md", ".github/CONTRIBUTING.md", ".github/SECURITY.md", "cross/README.md", "agent/port/README.md", "agent/port/salesapi/README.md", "schemes/backend/README.md"}

func guide(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", filepath.FromSlash(name)))
	require.NoError(t, err)
	return string(data)
}

// TestGuidesNameCommandsThatExist: each command that a guide or the page for a visit names is a row of the table, with flags that it has.
func TestGuidesNameCommandsThatExist(t *testing.T) {
	table := commands()
	for text, wrong := range map[string]bool{
		"    posagent status --check     # the first line": false, "    posagent stauts": true, "    bin/posagent status": false, "    posagent status now": true,
		"    posagent ops list --opne": true, "    posagent ops lst": true, "    posagent ops": false, "    posagent ops show KEY": false,
		"`posagent\nops lst` shows": true, "`posagent VERB --help`": false, "`posagent help reset`": false, "`posagent help rest`": true,
		"`ops release`": false, "`ops relese`": true, "`sale` and `config.toml`": false, "`backend --flet`": true, "posagent makes a terminal": false,
		"```\nposagent enrol CODE\n```": true, "    posagent register pay 12.50 --card-type 900 | tee x --y": false, "    posagent audit --limit": false, "    posagent demo -v": false, "    posagent demo -w": true,
	} {
		found := false
		for _, typed := range typedIn(text, table) {
			found = found || unknown(typed, table) != ""
		}
		require.Equal(t, wrong, found, "%q", text)
	}
	for _, name := range guides {
		list := typedIn(guide(t, name), table)
		for _, typed := range list {
			require.Empty(t, unknown(typed, table), "%s: %s", name, typed)
		}
		if name == "cmd/posagent/README.md" {
			require.Greater(t, len(list), 50, "commands of the technician's guide")
		}
	}
}

var (
	span    = regexp.MustCompile("`([^`]+)`")
	comment = regexp.MustCompile(`(^|\s)#.*$`)
	further = regexp.MustCompile(`[|;&>].*$`) // what the shell does with it
)

// typedIn returns the commands of this program in a guide: a line of code each, and what stands in a sentence as code.
func typedIn(text string, table []command) (list []string) {
	var prose strings.Builder
	code := false
	for line := range strings.Lines(text) {
		switch {
		case strings.HasPrefix(line, "```"):
			code = !code
		case code, strings.HasPrefix(line, "    "):
			line = strings.TrimPrefix(strings.TrimSpace(line), "bin/")
			if strings.HasPrefix(line, "posagent ") {
				list = append(list, further.ReplaceAllString(comment.ReplaceAllString(line, ""), ""))
			}
		default:
			prose.WriteString(line)
		}
	}
	for _, m := range span.FindAllStringSubmatch(prose.String(), -1) {
		words := strings.Fields(strings.TrimPrefix(m[1], "bin/"))
		if len(words) < 2 || words[1] == "=" { // a setting
			continue
		}
		if i := slices.IndexFunc(table, func(c command) bool { return c.name == words[0] && c.sub != nil }); i >= 0 {
			words = append([]string{"posagent"}, words...)
		}
		if words[0] == "posagent" {
			list = append(list, strings.Join(words, " "))
		}
	}
	return list
}

// unknown says what of a command does not exist, "" = it is all there. A word in capitals stands for a verb or a value.
func unknown(typed string, table []command) string {
	words := strings.Fields(typed)[1:]
	help := words[0] == "help"
	if help {
		words = words[1:]
	}
	var cmd *command
	for list := table; len(words) > 0 && list != nil && !strings.HasPrefix(words[0], "-"); words = words[1:] {
		if words[0] == strings.ToUpper(words[0]) && cmd == nil {
			return ""
		}
		i := slices.IndexFunc(list, func(c command) bool { return c.name == words[0] })
		if i < 0 && cmd != nil && cmd.args != "" {
			break
		}
		if i < 0 {
			return fmt.Sprintf("no verb %q", words[0])
		}
		cmd, list = &list[i], list[i].sub
	}
	if cmd == nil || help {
		return ""
	}
	flags := usage.FlagsOf(cmd.verb().Flags)
	for ; len(words) > 0; words = words[1:] {
		name := strings.TrimLeft(words[0], "-")
		if name == words[0] {
			if cmd.args == "" {
				return fmt.Sprintf("it takes no argument %q", words[0])
			}
			continue
		}
		name, _, _ = strings.Cut(name, "=")
		i := slices.IndexFunc(flags, func(f usage.Flag) bool { return f.Name == name })
		switch {
		case name == "help":
		case i < 0:
			return "no flag --" + name
		case flags[i].Value != "" && len(words) > 1:
			words = words[1:]
		}
	}
	return ""
}

// TestThePageForAVisit: it fits on a sheet and into every printer's letters. Its commands, exit codes and faults are those of the program.
func TestThePageForAVisit(t *testing.T) {
	const lines, columns = 60, 78
	require.LessOrEqual(t, strings.Count(visitPage, "\n"), lines)
	require.True(t, strings.HasSuffix(visitPage, "\n"))
	for line := range strings.Lines(visitPage) {
		line = strings.TrimSuffix(line, "\n")
		require.LessOrEqual(t, len(line), columns, line)
		require.Equal(t, strings.TrimRight(line, " "), line)
		require.Negative(t, strings.IndexFunc(line, func(r rune) bool { return r > unicode.MaxASCII || r < ' ' }), line)
	}

	table := commands()
	var typed []string
	for _, m := range regexp.MustCompile(`(?m)(?:^|  )(posagent .*?)(?:  |$)`).FindAllStringSubmatch(visitPage, -1) {
		typed = append(typed, m[1])
		require.Empty(t, unknown(m[1], table), m[1])
	}
	for _, m := range regexp.MustCompile(`(?m)(?:^|[ (])posagent (?:help )?([a-z-]+)`).FindAllStringSubmatch(visitPage, -1) {
		require.Contains(t, append(names(table), "help"), m[1], "in a sentence")
	}
	// The way to READY is that of the README, of make visit and of the script visit.txtar, in this order.
	way := []string{"posagent config check", "posagent enroll CODE --url URL", "posagent enroll --qr -", "posagent enroll", "posagent status", "posagent selftest", "posagent sale list"}
	at := -1
	for _, command := range way {
		next := slices.Index(typed, command)
		require.Greater(t, next, at, command)
		at = next
	}

	var codes []string
	for _, e := range exitCodes() {
		codes = append(codes, fmt.Sprintf("%d %s", e.Number, e.Means))
	}
	_, exits, found := strings.Cut(visitPage, "\nEXIT ")
	require.True(t, found)
	require.Equal(t, strings.Join(codes, ", "), strings.Join(strings.Fields(exits), " "))

	said := ""
	for _, cause := range ready.Causes() {
		said += ready.Say(ready.Trouble{Cause: cause, Where: "HOST"}, ready.Place{}).Words + "\n"
	}
	faults := regexp.MustCompile(`(?m)^  (\S.*?)(?:  |$)`).FindAllStringSubmatch(visitPage, -1)
	require.Len(t, faults, 8)
	for _, m := range faults {
		for words := range strings.SplitSeq(m[1], ", ") {
			require.Contains(t, said, words)
		}
	}
}

// pictured compares the picture of a sale in the README with a sale: pictured TRACE SCREEN, what the register's --trace printed and what
// the terminal showed.
func pictured(trace, screen, readme string) error {
	_, picture, _ := strings.Cut(readme, "\nA sale, as `make demo` plays it:\n\n```\n")
	picture, _, found := strings.Cut(picture, "```")
	if !found {
		return fmt.Errorf("the README has no picture of a sale")
	}
	want := regexp.MustCompile(`\|(--|<-) ([0-9A-F]{2}) ([0-9A-F]{2})[ -]`).FindAllStringSubmatch(picture, -1)
	if len(want) < 7 {
		return fmt.Errorf("the picture has %d messages", len(want))
	}
	drawn := map[string]bool{}
	for _, m := range want {
		drawn[m[1]+m[2]+m[3]] = true
	}
	next, begun := 0, false
	for _, m := range regexp.MustCompile(`(?m)^(register → terminal|terminal → register)  ([0-9A-F]{4})`).FindAllStringSubmatch(trace, -1) {
		message := map[string]string{"register → terminal": "--", "terminal → register": "<-"}[m[1]] + m[2]
		if begun = begun || message == "--0601"; !begun {
			continue // the registration
		}
		if !drawn[message] {
			return fmt.Errorf("the picture has no message like %s", message)
		}
		if next < len(want) && message == want[next][1]+want[next][2]+want[next][3] {
			next++
		}
	}
	if next < len(want) {
		return fmt.Errorf("the sale had no %s at its place", want[next][0])
	}
	for words, text := range map[string]string{"12.50 EUR": screen, "Paid. Thank you.": screen, "please wait": trace} {
		if !strings.Contains(picture, words) || !strings.Contains(text, words) {
			return fmt.Errorf("%q is not in the picture, or was not shown", words)
		}
	}
	return nil
}
