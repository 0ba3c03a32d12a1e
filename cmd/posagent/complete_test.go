package main

import (
	"bytes"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/cross/need"
)

// TestField_U7CompletionInBash: what bash offers after what has been typed, asked of bash itself.
func TestField_U7CompletionInBash(t *testing.T) {
	bash := need.Tool(t, "bash")
	var script bytes.Buffer
	require.True(t, usageOf(commands()).Completion(&script, "bash"))
	for typed, want := range map[string]string{
		"posagent sta":                             "status",
		"posagent config ":                         "example check show",
		"posagent config ch":                       "check",
		"posagent --config /etc/x.toml status --c": "--check --config",
		"posagent sale sh":                         "show",
		"posagent ops list --op":                   "--open",
		"posagent sale show abc --js":              "--json",
		"posagent completion --j":                  "--json",
	} {
		words := strings.Split(typed, " ")
		ask := script.String() + "\nCOMP_WORDS=(" + strings.Join(words[:len(words)-1], " ") + " '" + words[len(words)-1] + "')\nCOMP_CWORD=$((${#COMP_WORDS[@]}-1))\n_posagent\necho \"${COMPREPLY[*]}\"\n"
		cmd := exec.Command(bash, "--norc", "--noprofile")
		cmd.Stdin = strings.NewReader(ask)
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s: %s", typed, out)
		require.True(t, strings.HasPrefix(string(out), want), "%s: %s", typed, out)
	}
}

// TestField_U7Version: a build says what it was told, else which commit it was made of; never a word for no version.
func TestField_U7Version(t *testing.T) {
	built := func(main string, settings ...debug.BuildSetting) func() (*debug.BuildInfo, bool) {
		return func() (*debug.BuildInfo, bool) {
			return &debug.BuildInfo{Main: debug.Module{Version: main}, Settings: settings}, true
		}
	}
	commit := debug.BuildSetting{Key: "vcs.revision", Value: "0123456789abcdef0123"}
	require.Equal(t, "1.2.3", versionOf("1.2.3", built("(devel)")))
	require.Equal(t, "v1.2.3", versionOf("", built("v1.2.3")))
	require.Equal(t, "0123456789ab", versionOf("", built("(devel)", commit)))
	require.Equal(t, "0123456789ab+changed", versionOf("", built("", commit, debug.BuildSetting{Key: "vcs.modified", Value: "true"})))
	require.Equal(t, "unknown", versionOf("", func() (*debug.BuildInfo, bool) { return nil, false }))

	need.Tool(t, "git")
	cmd := exec.Command("sh", "cross/version.sh")
	cmd.Dir = filepath.Join("..", "..")
	out, err := cmd.Output()
	require.NoError(t, err)
	if len(out) > 0 { // a tree outside version control has none
		require.Regexp(t, `^([0-9]+\.|[0-9]{4}\.[0-9]{2}\.[0-9]{2}-[0-9a-f]{12})`, string(out))
	}
}
