package wiretest

import (
	"maps"
	"os"
	"os/exec"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// bugVariable names, in a child process, the bug that the suite is run with.
const bugVariable = "SUITE_BUG"

// FindsBugs fails unless a conformance suite fails on each bug, and passes with none. A bug wraps a
// sound service S so that it errs in the way that its name says; the bug "" is the wrapper alone.
// suite runs the conformance suite on what wrong makes of a fresh service. A failed suite fails its
// test, so each bug gets a child process, which runs the calling test alone.
func FindsBugs[S any](t *testing.T, bugs map[string]func(S) S, suite func(t *testing.T, wrong func(S) S)) {
	if bug := os.Getenv(bugVariable); bug != "" {
		suite(t, bugs[bug])
		return
	}
	parent := t.Name()
	t.Run("no bug", func(t *testing.T) { suite(t, bugs[""]) })
	for _, bug := range slices.Sorted(maps.Keys(bugs)) {
		if bug == "" {
			continue
		}
		t.Run(bug, func(t *testing.T) {
			t.Parallel()
			cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+parent+"$", "-test.failfast")
			cmd.Env = append(os.Environ(), bugVariable+"="+bug)
			out, err := cmd.CombinedOutput()
			var exit *exec.ExitError
			require.ErrorAs(t, err, &exit, "the suite is green with a service that %s", bug)
			require.Contains(t, string(out), "--- FAIL: "+parent+"/", "a case of the suite fails")
			require.NotContains(t, string(out), "panic: ")
		})
	}
}
