package usagetest

import (
	"bytes"
	"flag"
	"fmt"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/cmd/usage"
)

// Subject is a program under test.
type Subject struct {
	Program usage.Program
	Call    func(args ...string) (code int, out, talk string) // runs it
	Tool    func(t testing.TB, name string) string            // path of an installed program, "" = it is missing, and that is listed
	NoJSON  map[string]string                                 // verbs without a schema, by their path, with the reason
}

// Run plays the suite.
func Run(t *testing.T, s Subject) {
	require.NotEmpty(t, s.Program.Rows())
	t.Run("help", s.help)
	t.Run("json", s.json)
	t.Run("manual", s.manual)
	for shell, ask := range map[string]func(*testing.T, string, string, []typed) []string{"bash": inBash, "zsh": inZsh, "fish": inFish} {
		t.Run(shell, func(t *testing.T) { s.complete(t, shell, ask) })
	}
}

// flags are what a verb registers, each with whether it takes a value: what the flag itself says, not how its help is worded.
func flags(register func(*flag.FlagSet)) map[string]bool {
	valued := map[string]bool{}
	if register == nil {
		return valued
	}
	fs := flag.NewFlagSet("", flag.ContinueOnError)
	register(fs)
	fs.VisitAll(func(f *flag.Flag) {
		if usage.IsOld(f) {
			return
		}
		b, is := f.Value.(interface{ IsBoolFlag() bool })
		valued[f.Name] = !is || !b.IsBoolFlag()
	})
	return valued
}

// plainName is a name that no shell and no page reads otherwise.
var plainName = regexp.MustCompile(`^[a-z][a-z0-9-]*$`)

// help: examples first, on the data stream; then what it is, its sub-verbs, and each flag. Without a verb: all verbs and exit codes.
func (s Subject) help(t *testing.T) {
	for _, r := range s.Program.Rows() {
		words := strings.Fields(r.Path)
		require.Regexp(t, plainName, r.Name, r.Path)
		require.NotEmpty(t, r.Short, r.Path)
		require.NotEmpty(t, r.Examples, r.Path)
		require.True(t, slices.ContainsFunc(r.Examples, func(e string) bool { return strings.Contains(e+" ", r.Path+" ") }), "%s: no example calls it", r.Path)

		code, out, talk := s.Call(append(words[1:], "--help")...)
		require.Zero(t, code, "%s: %s", r.Path, talk)
		require.Empty(t, talk, r.Path)
		first := ""
		for _, e := range r.Examples {
			first += "  " + e + "\n"
		}
		require.True(t, strings.HasPrefix(out, first+"\n"+r.Path+": "+r.Short+"\n"), "%s begins with examples:\n%s", r.Path, out)
		require.Contains(t, out, r.Long, r.Path)
		for _, sub := range r.Sub {
			require.Regexp(t, `(?m)^  `+regexp.QuoteMeta(strings.TrimSpace(sub.Name+" "+sub.Args))+` +`+regexp.QuoteMeta(sub.Short)+`$`, out, r.Path)
		}
		for name, valued := range flags(r.Verb.Flags) {
			require.Regexp(t, plainName, name, r.Path)
			value := ""
			if valued {
				value = ` [^ ]+`
			}
			require.Regexp(t, `(?m)^  --`+name+value+` +[^ ]`, out, r.Path)
		}
		code, again, talk := s.Call(append([]string{"help"}, words[1:]...)...)
		require.Zero(t, code, talk)
		require.Equal(t, out, again, r.Path)
	}
	code, out, talk := s.Call("--help")
	require.Zero(t, code, talk)
	for _, v := range s.Program.Verbs {
		require.Regexp(t, `(?m)^  (`+s.Program.Name+` )?`+v.Name+` `, out)
	}
	require.Contains(t, out, s.Program.CodeLine())
	code, out, talk = s.Call()
	require.Equal(t, usage.ExitUsage, code)
	require.Empty(t, out)
	require.Contains(t, talk, s.Program.CodeLine())
}

// json: the help of each verb that runs names the schemas of what it prints.
func (s Subject) json(t *testing.T) {
	schema := regexp.MustCompile(`^posagent\.[a-z-]+(\.[a-z-]+)*/[1-9][0-9]*$`)
	without := map[string]bool{}
	for _, r := range s.Program.Rows() {
		if r.Verb.Flags == nil {
			require.Empty(t, r.JSON, "%s does nothing itself", r.Path)
			continue
		}
		if s.NoJSON[r.Path] != "" {
			without[r.Path] = true
			continue
		}
		require.NotEmpty(t, r.JSON, "%s: the schema of what --json prints", r.Path)
		_, out, _ := s.Call(append(strings.Fields(r.Path)[1:], "--help")...)
		line := regexp.MustCompile(`(?m)^  --json .*$`).FindString(out)
		for _, name := range r.JSON {
			require.Regexp(t, schema, name, r.Path)
			require.Contains(t, line, name, r.Path)
		}
	}
	for path := range s.NoJSON {
		require.True(t, without[path], "%s is no verb any more", path)
	}
}

// manual: each verb, flag, example and exit code, in a page that groff has nothing to say against.
func (s Subject) manual(t *testing.T) {
	code, page, talk := s.Call("man")
	require.Zero(t, code, talk)
	for line := range strings.Lines(page) {
		if strings.HasPrefix(line, ".") {
			require.Regexp(t, `^\.(TH|SH|SS|B|BR|I|RI|PP|TP|nf|fi)\b`, line)
		}
		require.False(t, strings.HasPrefix(line, "'"), line)
	}
	read := strings.NewReplacer(`\-`, "-", `\e`, `\`, `\(ga`, "`", `\fB`, "", `\fI`, "", `\fR`, "", `\&`, "").Replace(page)
	_, verbs, found := strings.Cut(read, ".SH VERBS\n")
	require.True(t, found)
	for _, r := range s.Program.Rows() {
		_, part, found := strings.Cut(verbs, ".SS "+ascii(strings.TrimSpace(r.Path+" "+r.Args))+"\n")
		require.True(t, found, r.Path)
		part, _, _ = strings.Cut(part, "\n.SS ")
		require.True(t, strings.HasPrefix(part, r.Short+".\n"), "%s: %s", r.Path, part)
		require.Contains(t, part, ascii(r.Long), r.Path)
		for _, e := range r.Examples {
			require.Contains(t, part, "    "+ascii(e)+"\n", r.Path)
		}
		every := flags(s.Program.Flags)
		for name := range flags(r.Verb.Flags) {
			if _, is := every[name]; is && name != "json" {
				continue
			}
			require.Regexp(t, `(?m)^--`+name+`( |$)`, part, r.Path)
		}
		for _, schema := range r.JSON {
			require.Contains(t, part, schema, r.Path)
		}
	}
	_, end, _ := strings.Cut(read, ".SH EXIT STATUS\n")
	want := ""
	for _, c := range s.Program.Codes {
		want += fmt.Sprintf(".TP\n%d\n%s\n", c.Number, c.Means)
	}
	require.True(t, strings.HasPrefix(end, want), end)

	groff := s.Tool(t, "groff")
	if groff == "" {
		return
	}
	cmd := exec.Command(groff, "-man", "-Tascii", "-ww", "-rLL=900n")
	cmd.Stdin = strings.NewReader(page)
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	require.NoError(t, cmd.Run())
	require.Empty(t, said.String())
	shown := regexp.MustCompile("\x1b\\[[0-9;]*m|.\b").ReplaceAllString(out.String(), "")
	for _, r := range s.Program.Rows() {
		require.Regexp(t, `(?m)^ +`+regexp.QuoteMeta(strings.TrimSpace(r.Path+" "+ascii(r.Args)))+`$`, shown)
	}
}

// ascii is a text with the one letter replaced that pages have no sign for.
func ascii(s string) string { return strings.ReplaceAll(s, "…", "...") }
