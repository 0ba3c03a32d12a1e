package usage

import (
	"context"
	"strings"
)

// Printer is what a verb is given that prints a text or a document.
type Printer interface {
	Arguments() []string
	// Print writes a result: v as JSON where that was asked for, else text.
	Print(v any, text string) error
}

// Texts are the verbs of every program that print what it says of itself: completion, man and version. schema begins the names of
// their documents: "posagent.update-".
func Texts[C Printer](schema string, program func() Program) []Command[C] {
	p := program
	own := func(name string) string { return schema + name + "/1" }
	text := func(c C, name, text string) error {
		return c.Print(struct {
			Schema string `json:"schema"`
			Text   string `json:"text"`
		}{own(name), text}, strings.TrimSuffix(text, "\n"))
	}
	name := strings.ReplaceAll(strings.TrimSuffix(schema, "-"), ".", "-")
	return []Command[C]{
		{
			Verb: Verb{
				Name: "completion", Args: strings.Join(Shells(), "|"), Short: "print the completion of verbs and flags for a shell", JSON: []string{own("completion")},
				Examples: []string{name + " completion bash > /etc/bash_completion.d/" + name},
			},
			Run: func(_ context.Context, c C) error {
				var script strings.Builder
				if args := c.Arguments(); len(args) != 1 || !p().Completion(&script, args[0]) {
					return Fail(ExitUsage, "completion: for which shell? bash, zsh or fish")
				}
				return text(c, "completion", script.String())
			},
		},
		{
			Verb: Verb{
				Name: "man", Short: "print the manual page, made from the table of verbs", JSON: []string{own("man")},
				Examples: []string{name + " man > " + name + ".1; man ./" + name + ".1"},
			},
			Run: func(_ context.Context, c C) error {
				var page strings.Builder
				p().Manual(&page)
				return text(c, "man", page.String())
			},
		},
		{
			Verb: Verb{
				Name: "version", Short: "print the version of this program", JSON: []string{own("version")},
				Examples: []string{name + " version", name + " version --json"},
			},
			Run: func(_ context.Context, c C) error {
				return c.Print(struct {
					Schema  string `json:"schema"`
					Version string `json:"version"`
				}{own("version"), p().Version}, name+" "+p().Version)
			},
		},
	}
}
