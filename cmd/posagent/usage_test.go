package main

import (
	"flag"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/cmd/usage"
	"posagent/cmd/usage/usagetest"
	"posagent/cross/need"
)

// TestEveryVerbIsExplained: help, manual page and completion have every verb and every flag; the shells themselves are asked.
func TestEveryVerbIsExplained(t *testing.T) {
	usagetest.Run(t, usagetest.Subject{
		Program: usageOf(commands()), Tool: need.Tool,
		Call: func(args ...string) (code int, out, talk string) { return ask(t, args...) },
		NoJSON: map[string]string{
			"posagent run": "it says ready or not ready, a line each", "posagent backend": "it says its address", "posagent demo": "it tells a story",
			"posagent backend books": "a list, as programs have always read it", "posagent register schema": "it prints a schema",
		},
	})
}

// meanings are the flags that several verbs word for themselves, with the one meaning they share. A verb
// whose flag means another thing takes another name.
var meanings = map[string]string{
	"all":           "every one of those that the verb is about",
	"amount":        "an amount of money",
	"backend":       "the address of a running backend",
	"baud":          "the speed of a serial line",
	"currency":      "an ISO 4217 code",
	"force":         "a word for what is refused otherwise",
	"limit":         "no more than so many, the newest",
	"listen":        "the address that a backend listens on",
	"no-log":        "the log is left out",
	"note":          "a person's words, kept with the decision",
	"out":           "the file that is written",
	"reason":        "a person's words, kept with the decision",
	"serial-number": "the number of a box",
	"since":         "from this time on",
	"stop-bits":     "of a serial line",
	"tolerate":      "a danger to take",
	"ttl":           "how long what is made is good for",
	"url":           "the address that a terminal is led to",
	"wait":          "how long to wait for an end",
}

// TestField2_U8AFlagMeansOneThing: over all verbs of the table, a flag takes a value of one kind or none.
// Where two verbs word it differently, its meaning is listed here, and a third wording has to be compared
// with it. An old spelling sets the flag that has replaced it, and no help has it.
func TestField2_U8AFlagMeansOneThing(t *testing.T) {
	type use struct{ path, help string }
	values, uses := map[string]string{}, map[string][]use{}
	var wrong []string
	for _, r := range usageOf(commands()).Rows() {
		for _, f := range usage.FlagsOf(r.Verb.Flags) {
			was, seen := values[f.Name]
			if seen && was != f.Value {
				wrong = append(wrong, fmt.Sprintf("%s: --%s %s, elsewhere --%s %s", r.Path, f.Name, f.Value, f.Name, was))
			}
			values[f.Name] = f.Value
			if !slices.ContainsFunc(uses[f.Name], func(u use) bool { return u.help == f.Help }) {
				uses[f.Name] = append(uses[f.Name], use{r.Path, f.Help})
			}
		}
	}
	for name, list := range uses {
		if len(list) > 1 && name != "json" {
			if _, listed := meanings[name]; !listed {
				wrong = append(wrong, fmt.Sprintf("--%s: %q", name, list))
			}
		}
	}
	require.Empty(t, wrong, strings.Join(wrong, "\n"))
	for name := range meanings {
		require.Greater(t, len(uses[name]), 1, "--%s is worded once", name)
	}
	old := map[string]string{}
	for _, r := range usageOf(commands()).Rows() {
		if r.Verb.Flags == nil {
			continue
		}
		fs := flag.NewFlagSet("", flag.ContinueOnError)
		r.Verb.Flags(fs)
		fs.VisitAll(func(f *flag.Flag) {
			if usage.IsOld(f) {
				old[r.Path+" --"+f.Name] = f.Usage[strings.LastIndex(f.Usage, "--"):]
			}
		})
	}
	require.Equal(t, map[string]string{
		"posagent reset --export": "--backup", "posagent audit --check": "--verify", "posagent update --check": "--offered", "posagent update --from": "--folder",
		"posagent enroll --serial": "--serial-number", "posagent reconcile --line": "--journal-line", "posagent backend fleet create --serial": "--serial-number",
		"posagent backend fleet bundle --serial": "--serial-number", "posagent backend fleet list --serial": "--serial-number", "posagent backend fleet create --qr": "--draw-qr",
	}, old)
}

// TestField2_U9APlaceholderSaysWhatIsTyped: "--drain long" was the first word of a sentence.
func TestField2_U9APlaceholderSaysWhatIsTyped(t *testing.T) {
	for _, r := range usageOf(commands()).Rows() {
		for _, f := range usage.FlagsOf(r.Verb.Flags) {
			require.NotContains(t, []string{"long", "far", "why", "value", "string"}, f.Value, "%s --%s", r.Path, f.Name)
		}
	}
}

// TestField2_U8AVariableYieldsToAFlag: POSAGENT_STATE stands for --state, and kept --backend from being
// used at all. What is typed goes before it.
func TestField2_U8AVariableYieldsToAFlag(t *testing.T) {
	nobody := "http://" + need.ClosedPort(t)
	for _, verb := range [][]string{{"backend", "fleet", "list"}, {"backend", "hooks", "resume", "http://127.0.0.1:1/"}} {
		args := append(slices.Clone(verb), "--backend", nobody)
		t.Setenv("POSAGENT_STATE", t.TempDir())
		code, _, talk := ask(t, args...)
		require.Equal(t, exitNoBackend, code, talk)
		t.Setenv("POSAGENT_STATE", "")
		code, _, talk = ask(t, append(args, "--state", t.TempDir())...)
		require.Equal(t, exitUsage, code, talk)
		require.Contains(t, talk, "name the backend once")
	}
}
