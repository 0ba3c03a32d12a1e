package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestField2_D10AReleaseIsMadeWithTheNamedGo: packages are refused where the Go at hand is older than the toolchain of go.mod, or none is
// named, and the refusal says how to get it.
func TestField2_D10AReleaseIsMadeWithTheNamedGo(t *testing.T) {
	t.Setenv("GOTOOLCHAIN", "local")
	for name, tc := range map[string]struct{ line, says string }{
		"the Go at hand":      {"toolchain go1.26.0", ""},
		"a newer one":         {"toolchain go1.99.3", "go.mod names go1.99.3, in which more is mended: make releases with that one (GOTOOLCHAIN=go1.99.3)"},
		"none":                {"", "go.mod names no toolchain"},
		"what go.mod has now": {"", ""},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if name == "what go.mod has now" {
				dir = "../../.."
			} else {
				require.NoError(t, os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module x\n\ngo 1.26.0\n\n"+tc.line+"\n"), 0o644))
			}
			err := current(dir)
			if tc.says == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, tc.says)
		})
	}
}
