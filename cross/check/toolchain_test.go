package check

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestField2_D10TheToolchainIsNamed: go.mod names the patch release that releases are built with, and its go line stays one that any 1.26 builds.
func TestField2_D10TheToolchainIsNamed(t *testing.T) {
	data, err := os.ReadFile(filepath.Join(root(t), "go.mod"))
	require.NoError(t, err)
	of := regexp.MustCompile(`(?m)^go (\d+\.\d+)\.0$`).FindSubmatch(data)
	require.NotNil(t, of, "a go line that every patch release builds")
	require.Regexp(t, `(?m)^toolchain go`+regexp.QuoteMeta(string(of[1]))+`\.[1-9]\d*$`, string(data))
}

// TestField2_D10KnownWeaknessesAreLookedFor: a weakness fails make vuln, none passes, and a database or tool that is out of reach is said: it
// is no result, and fails where everything is required. CONTRIBUTING names it for each release.
func TestField2_D10KnownWeaknessesAreLookedFor(t *testing.T) {
	for name, tc := range map[string]struct {
		tool string
		env  []string
		code int
		says string
	}{
		"none":                    {"echo 'No vulnerabilities found.'", nil, 0, "No vulnerabilities found."},
		"one":                     {"echo 'Vulnerability #1: GO-2026-0001'; echo 'exit status 3' >&2; exit 1", nil, 1, "GO-2026-0001"},
		"no database":             {"echo 'govulncheck: fetching vulnerabilities: Get \"https://vuln.go.dev\": no such host' >&2; exit 1", nil, 0, "not run: "},
		"no database, all wanted": {"echo 'govulncheck: fetching vulnerabilities: no such host' >&2; exit 1", []string{"REQUIRE_ALL=1"}, 1, "not run: "},
		"no tool":                 {"echo \"go: $2: module lookup disabled\" >&2; exit 1", nil, 0, "not run: "},
	} {
		t.Run(name, func(t *testing.T) {
			fake := filepath.Join(t.TempDir(), "go")
			require.NoError(t, os.WriteFile(fake, []byte("#!/bin/sh\n"+tc.tool+"\n"), 0o700))
			cmd := exec.Command("sh", "cross/vuln.sh")
			cmd.Dir, cmd.Env = root(t), append(os.Environ(), append([]string{"GO=" + fake, "REQUIRE_ALL=", "NOT_RUN="}, tc.env...)...)
			out, err := cmd.CombinedOutput()
			if tc.code == 0 {
				require.NoError(t, err, string(out))
			} else {
				var failed *exec.ExitError
				require.ErrorAs(t, err, &failed)
				require.Equal(t, tc.code, failed.ExitCode())
			}
			require.Contains(t, string(out), tc.says)
		})
	}
	page, err := os.ReadFile(filepath.Join(root(t), ".github/CONTRIBUTING.md"))
	require.NoError(t, err)
	require.Regexp(t, "(?s)## Before a release.*`make vuln`", string(page))
}
