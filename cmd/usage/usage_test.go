package usage_test

import (
	"errors"
	"flag"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/cmd/usage"
	"posagent/cmd/usage/usagetest"
	"posagent/cross/need"
)

// toy is a program whose texts would be read as something else by a page or a shell that got them as they are.
func toy() usage.Program {
	every := func(fs *flag.FlagSet) { fs.Bool("json", false, "print `JSON`") }
	verb := func(schema string, own func(*flag.FlagSet)) (flags func(*flag.FlagSet), schemas []string) {
		return func(fs *flag.FlagSet) {
			every(fs)
			fs.Lookup("json").Usage = usage.JSONHelp([]string{schema})
			own(fs)
		}, []string{schema}
	}
	put, puts := verb("posagent.toy.put/1", func(fs *flag.FlagSet) {
		fs.String("to", "it's here", "a `place`, like \"here\" or `there`: $(false) \\n %s")
		fs.Bool("dry-run", false, "say `what` would be done")
		fs.Func("also", ".more\n'and more'", func(string) error { return nil })
	})
	take, takes := verb("posagent.toy.take/1", func(fs *flag.FlagSet) { fs.Bool("to", false, "take to what there is") })
	man, mans := verb("posagent.toy.man/1", func(*flag.FlagSet) {})
	return usage.Program{
		Name: "toy-box", Version: "1.0-2", What: "a box - of toys", About: "It is a toy.\n", Flags: every, First: []string{"help", "--help", "--json"},
		Codes: []usage.Code{{Number: usage.ExitOK, Means: "ok"}, {Number: usage.ExitUsage, Means: "usage"}},
		Verbs: []usage.Verb{
			{Name: "put", Args: "TOY…", Short: "put 'a toy' \\ into \"it\"",
				Long: ".SH not a section\n'nor this; nor $(this) `or this`", Examples: []string{"toy-box put 'a bear' --to \"$HOME\"", "sudo toy-box put \\*"},
				JSON: puts, Flags: put},
			{Name: "take", Short: "take one out", Examples: []string{"toy-box take --to"}, JSON: takes, Flags: take, Sub: []usage.Verb{
				{Name: "all", Short: "take all", Examples: []string{"toy-box take all"}, JSON: takes, Flags: take},
			}},
			{Name: "for", Short: "a verb with sub-verbs alone", Examples: []string{"toy-box for sale"}, Sub: []usage.Verb{
				{Name: "sale", Args: "PRICE", Short: "sell it", Examples: []string{"toy-box for sale 1"}, JSON: puts, Flags: put},
			}},
			{Name: "man", Short: "the page", Examples: []string{"toy-box man"}, JSON: mans, Flags: man},
			{Name: "completion", Args: "SHELL", Short: "for a shell", Examples: []string{"toy-box completion bash"}, JSON: mans, Flags: man},
		},
	}
}

// call runs the toy, as far as it can do something.
func call(args ...string) (code int, out, talk string) {
	p := toy()
	var b strings.Builder
	overview := func(w io.Writer) {
		for _, v := range p.Verbs {
			_, _ = io.WriteString(w, "  "+v.Name+"  \n") // into memory
		}
		_, _ = io.WriteString(w, p.CodeLine()) // into memory
	}
	switch typed := strings.TrimPrefix(strings.TrimSuffix(strings.Join(args, " "), " --help"), "help "); {
	case typed == "":
		overview(&b)
		return usage.ExitUsage, "", b.String()
	case typed == "--help":
		overview(&b)
	case typed == "man":
		if len(args) == 1 {
			p.Manual(&b)
			break
		}
		fallthrough
	default:
		if shell, is := strings.CutPrefix(typed, "completion "); is {
			return map[bool]int{true: usage.ExitOK, false: usage.ExitUsage}[p.Completion(&b, shell)], b.String(), ""
		}
		for _, r := range p.Rows() {
			if r.Path == p.Name+" "+typed {
				usage.Help(&b, r.Path, r.Verb)
				return usage.ExitOK, b.String(), ""
			}
		}
		return usage.ExitUsage, "", "no verb " + typed
	}
	return usage.ExitOK, b.String(), ""
}

// TestToy: quotes, dots, dollars and backslashes of a table stay letters, and a flag's name may take a value in one verb and none in another.
func TestToy(t *testing.T) {
	usagetest.Run(t, usagetest.Subject{
		Program: toy(), Tool: need.Tool, NoJSON: nil,
		Call: func(args ...string) (int, string, string) { return call(args...) },
	})
	code, out, _ := call("completion", "tcsh")
	require.Equal(t, usage.ExitUsage, code)
	require.Empty(t, out)
}

// TestParse: flags stand anywhere, and behind -- nothing is one.
func TestParse(t *testing.T) {
	for typed, want := range map[string]struct {
		rest   string
		before int
		deep   int
	}{
		"":                       {"", -1, 0},
		"a --deep 2 b":           {"a b", -1, 2},
		"--deep=3 a":             {"a", -1, 3},
		"a -- --deep 2":          {"a --deep 2", 1, 0},
		"--deep 2 -- b":          {"b", 0, 2},
		"a --deep 2 b -- c -- d": {"a b c -- d", 2, 2},
	} {
		fs := flag.NewFlagSet("", flag.ContinueOnError)
		deep := fs.Int("deep", 0, "")
		rest, before, err := usage.Parse(fs, strings.Fields(typed))
		require.NoError(t, err, typed)
		require.Equal(t, want.rest, strings.Join(rest, " "), typed)
		require.Equal(t, want.before, before, typed)
		require.Equal(t, want.deep, *deep, typed)
	}
	fs := flag.NewFlagSet("", flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	_, _, err := usage.Parse(fs, []string{"a", "--help"})
	require.True(t, errors.Is(err, flag.ErrHelp))
	_, _, err = usage.Parse(fs, []string{"a", "--none"})
	require.Error(t, err)
}

// TestNearest: what was mistyped, and what is something else.
func TestNearest(t *testing.T) {
	for typed, want := range map[string]string{
		"stauts": "status", "shw": "show", "shwo": "show", "status": "status", "x": "", "": "", "repository": "",
		"test": "", "rest": "reset", "shot": "show", "start": "", "stat": "", "ale": "sale", "tale": "sale", "seal": "", "upstrem": "upstream", "upsteram": "upstream",
		"usptraem": "upstream", "upward": "", "show" + strings.Repeat("w", 1<<20): "", "\xff\xfe": "",
	} {
		require.Equal(t, want, usage.Nearest(typed, []string{"show", "status", "sale", "reset", "upstream"}), "%.40s", typed)
	}
}
