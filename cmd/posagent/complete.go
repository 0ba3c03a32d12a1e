package main

import (
	"context"
	"strings"

	"posagent/cmd/usage"
)

func completionCommand() command {
	return command{
		name: "completion", args: strings.Join(usage.Shells(), "|"), short: "print the completion of verbs and flags for a shell",
		examples: []string{
			"posagent completion bash > /etc/bash_completion.d/posagent", "posagent completion zsh > /usr/share/zsh/vendor-completions/_posagent",
			"posagent completion fish > ~/.config/fish/completions/posagent.fish",
		},
		json: []string{"posagent.completion/1"},
		run: func(_ context.Context, c *call) error {
			var script strings.Builder
			if len(c.args) != 1 || !usageOf(c.table).Completion(&script, c.args[0]) {
				return fail(exitUsage, "%s: for which shell? bash, zsh or fish", c.path)
			}
			return printText(c, "posagent.completion/1", script.String())
		},
	}
}
