package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// posagent journal moved, typed without its service, ended with a panic: it is typed where a terminal does not start. The kind: each verb
// that wants an argument, called without one.
func TestField5_AVerbWithoutItsArgumentSaysWhichItWants(t *testing.T) {
	t.Parallel()
	state, verbs := t.TempDir(), 0
	var each func(list []command, path []string)
	each = func(list []command, path []string) {
		for _, c := range list {
			path := append(path[:len(path):len(path)], c.name)
			each(c.sub, path)
			if c.run == nil || c.args == "" || strings.HasPrefix(c.args, "[") {
				continue
			}
			verbs++
			code, out, talk := ask(t, append(path, "--state", state)...)
			require.Equal(t, exitUsage, code, "%v: %s%s", path, out, talk)
			require.Contains(t, talk, strings.Join(path, " "))
		}
	}
	each(commands(), nil)
	require.Greater(t, verbs, 12)
}
