package main

import (
	"context"
	"fmt"
	"strings"

	"posagent/cmd/backend"
	"posagent/cmd/usage"
)

const (
	explainSchema  = "posagent.explain/1"
	explainsSchema = "posagent.explain.list/1"
)

func explainVerb() usage.Command[*call] {
	return usage.Command[*call]{
		Verb: usage.Verb{
			Name: "explain", Args: "[ID]", Short: "what a check of doctor means, how it is found, and what to do", JSON: []string{explainSchema, explainsSchema},
			Examples: []string{name + " explain PA-BKS-003", name + " explain"},
		},
		Run: explain,
	}
}

// explained is what there is to say of one check (posagent.explain/1).
type explained struct {
	Schema   string   `json:"schema"`
	ID       string   `json:"id"`
	Language string   `json:"language"`
	Title    string   `json:"title"`
	Means    string   `json:"means"`
	How      string   `json:"how"`
	Do       string   `json:"do"`
	Type     string   `json:"type"`
	After    []string `json:"dependsOn"`
}

func explain(_ context.Context, c *call) error {
	checks := backend.Checks((&call{}).server())
	switch len(c.Args) {
	case 0:
		type row struct {
			ID    string `json:"id"`
			Title string `json:"title"`
		}
		list := make([]row, 0, len(checks))
		var text strings.Builder
		for _, check := range checks {
			list = append(list, row{check.ID, check.Title})
			fmt.Fprintf(&text, "%-12s %s\n", check.ID, check.Title)
		}
		return c.Print(struct {
			Schema string `json:"schema"`
			IDs    []row  `json:"ids"`
		}{explainsSchema, list}, strings.TrimSuffix(text.String(), "\n"))
	case 1:
	default:
		return usage.Fail(usage.ExitUsage, "explain: one id at a time")
	}
	fill := (&backend.Facts{Program: name, Dir: c.dir(), Listen: "HOST:PORT"}).Fill
	for _, check := range checks {
		if check.ID != strings.ToUpper(c.Args[0]) {
			continue
		}
		v := explained{explainSchema, check.ID, "en", check.Title, check.Means, check.How, fill(check.Do), fill(check.Command), append([]string{}, check.After...)}
		return c.Print(v, fmt.Sprintf("%s  %s\n  means       %s\n  found       %s\n  do          %s\n  type        %s\n  depends on  %s",
			v.ID, v.Title, v.Means, v.How, v.Do, v.Type, strings.Join(v.After, " ")))
	}
	return usage.Fail(usage.ExitUsage, "explain: no check %q (%s explain lists them)", c.Args[0], name)
}
