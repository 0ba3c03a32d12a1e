package main

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestReleases(t *testing.T) {
	got := releases("# Changes\n\nNot this.\n- nor this\n\n## 2026.11.22\n\n### Added\n\n- one\n- two, which goes\n  on here\n\n### Fixed\n\n- three\n\n## 2026.11.21\n\n### Security\n\n- four\n")
	require.Equal(t, []release{
		{"2026.11.22", []change{{"added", "one"}, {"added", "two, which goes on here"}, {"fixed", "three"}}},
		{"2026.11.21", []change{{"security", "four"}}},
	}, got)
}

// TestChangelogIsReadAsAWhole: a line that the reader does not understand would be missing from --json.
func TestChangelogIsReadAsAWhole(t *testing.T) {
	list := releases(changelog)
	require.NotEmpty(t, list)
	version, count := regexp.MustCompile(`^\d{4}\.\d{2}\.\d{2}$`), 0
	for i, r := range list {
		require.Regexp(t, version, r.Version)
		if i > 0 {
			require.Less(t, r.Version, list[i-1].Version, "the newest first")
		}
		require.NotEmpty(t, r.Changes, r.Version)
		for _, c := range r.Changes {
			require.Contains(t, []string{"added", "changed", "fixed", "removed", "security"}, c.Kind, c.Text)
			require.True(t, strings.HasSuffix(c.Text, "."), c.Text)
		}
		count += len(r.Changes)
	}
	require.Equal(t, strings.Count(changelog, "\n- "), count)
}
