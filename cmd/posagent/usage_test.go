package main

import (
	"testing"

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
