package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"posagent/agent/doctor"
	"posagent/agent/ready"
	"posagent/cmd/backend"
	"posagent/ecr/zvt"
	"posagent/ecr/zvt/apdu"
)

func explainCommand() command {
	return command{
		name: "explain", args: "[ID]", short: "what a check of doctor, a cause of status or a result code means, and what to do",
		long: "ID is a check, like PA-NET-003, or the cause that status and doctor show with --json, like line_busy, or the two digits of a\n" +
			"result code that a register shows, like 6C. Without one it lists the checks and causes.",
		json:     []string{"posagent.explain/1", "posagent.explain.list/1"},
		examples: []string{"posagent explain PA-NET-003", "posagent explain PA-NET-003 --language de", "posagent explain line_busy", "posagent explain 6C", "posagent explain"},
		flags: func(fs *flag.FlagSet) any {
			return fs.String("language", "", "`code` of the language (default: that of the terminal, else LANG)")
		},
		run: explain,
	}
}

// explained is what there is to say of one id (posagent.explain/1).
type explained struct {
	Schema   string   `json:"schema"`
	ID       string   `json:"id"`
	Language string   `json:"language"`
	Title    string   `json:"title"`
	Means    string   `json:"means,omitempty"`
	How      string   `json:"how,omitempty"`
	Do       string   `json:"do"`
	Type     string   `json:"type,omitempty"`
	After    []string `json:"dependsOn,omitempty"`
}

func explain(_ context.Context, c *call) error {
	want := languageOf(c)
	if len(c.args) == 0 {
		return explainAll(c, want)
	}
	if len(c.args) > 1 {
		return fail(exitUsage, "explain: one id at a time")
	}
	v, ok := explanation(c, c.args[0], want)
	if !ok {
		return fail(exitUsage, "explain: %q is no check, cause or result code (posagent explain lists checks and causes)", c.args[0])
	}
	if c.json {
		return printJSON(c.out, v)
	}
	if v.Language != want {
		fmt.Fprintf(c.err, "posagent: no text in %q, so it is in %q\n", want, v.Language)
	}
	words := doctor.WordsOf(v.Language)
	fmt.Fprintf(c.out, "%s  %s\n", v.ID, v.Title)
	for _, row := range [][2]string{{words.Means, v.Means}, {words.How, v.How}, {words.Do, v.Do}, {words.Type, v.Type}, {words.After, strings.Join(v.After, " ")}} {
		if row[1] != "" {
			fmt.Fprintf(c.out, "  %-11s %s\n", row[0], row[1])
		}
	}
	return nil
}

// explanation finds a check or a cause.
func explanation(c *call, id, language string) (explained, bool) {
	if check, ok := doctor.Find(strings.ToUpper(id)); ok {
		t, has := doctor.TextOf(check, language)
		fill := strings.NewReplacer("{config}", "FILE", "{flags}", c.flags(), "{state}", c.stateDir(), "{scheme}", "https", "{host}", "HOST", "{name}", "HOST", "{device}", "DEVICE")
		return explained{"posagent.explain/1", check.ID, has, t.Title, t.Means, t.How, fill.Replace(t.Do), fill.Replace(check.Command), check.After}, true
	}
	for _, check := range backend.Checks(backend.Server{}) {
		if check.ID == strings.ToUpper(id) {
			return explainedBackend(c, check), true
		}
	}
	for _, cause := range ready.Causes() {
		if string(cause) == strings.ToLower(id) {
			s := ready.Say(ready.Trouble{Cause: cause, Where: "HOST-OR-DEVICE"}, placeOf(c))
			return explained{Schema: "posagent.explain/1", ID: string(cause), Language: "en", Title: s.Words, Do: s.Remedy}, true
		}
	}
	digits := strings.TrimPrefix(strings.ToLower(id), "zvt:")
	if code, err := strconv.ParseUint(digits, 16, 8); err == nil && len(digits) == 2 && apdu.ResultName(byte(code)) != "" {
		return explained{Schema: "posagent.explain/1", ID: fmt.Sprintf("zvt:%02X", code), Language: "en", Title: apdu.ResultName(byte(code)),
			How: "the register shows it: the result code of ZVT at the end of a request",
			Do:  cmp.Or(zvt.Next(byte(code)), "look at the sale's history, which says why"), Type: "posagent sale list" + c.flags()}, true
	}
	return explained{}, false
}

// explainedBackend is what there is to say of a check of the embedded backend. It is in English.
func explainedBackend(c *call, check backend.Check) explained {
	dir := filepath.Join(c.stateDir(), "backend")
	fill := (&backend.Facts{Program: "posagent backend", Dir: dir, Listen: "HOST:PORT"}).Fill
	return explained{"posagent.explain/1", check.ID, "en", check.Title, check.Means, check.How, fill(check.Do), fill(check.Command), check.After}
}

func explainAll(c *call, language string) error {
	type row struct {
		ID    string `json:"id"`
		Title string `json:"title"`
	}
	var list []row
	for _, check := range doctor.Checks() {
		t, _ := doctor.TextOf(check, language)
		list = append(list, row{check.ID, t.Title})
	}
	for _, check := range backend.Checks(backend.Server{}) {
		list = append(list, row{check.ID, check.Title})
	}
	for _, cause := range ready.Causes() {
		list = append(list, row{string(cause), ready.Say(ready.Trouble{Cause: cause, Where: "HOST-OR-DEVICE"}, placeOf(c)).Words})
	}
	if c.json {
		return printJSON(c.out, struct {
			Schema string `json:"schema"`
			IDs    []row  `json:"ids"`
		}{"posagent.explain.list/1", list})
	}
	for _, r := range list {
		fmt.Fprintf(c.out, "%-17s %s\n", r.ID, r.Title)
	}
	return nil
}

// languageOf is the language of the person: what was asked for, else the terminal's where one is set, else that of the environment.
func languageOf(c *call) string {
	language := *c.opts.(*string)
	if language == "" {
		cfg, err := readConfig(c)
		if err == nil && cfg.Origin()["terminal.language"] != "" {
			language = cfg.Terminal.Language
		}
	}
	for _, name := range []string{"LC_ALL", "LC_MESSAGES", "LANG"} {
		if language == "" {
			language = os.Getenv(name)
		}
	}
	language, _, _ = strings.Cut(strings.ToLower(language), "_")
	language, _, _ = strings.Cut(language, "-")
	language, _, _ = strings.Cut(language, ".")
	if language == "" || language == "c" || language == "posix" {
		return "en"
	}
	return language
}
