package config

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Each setting that a document names for a terminal stands in the example, so that a person finds it, and is known. The kind: the TOML
// of a document with its sections, and the tables of settings of the register protocols' documents.
func TestField2_R10_DocumentsNameSettingsThatExist(t *testing.T) {
	known, section := map[string]bool{}, ""
	name := regexp.MustCompile(`^(?:# )?([a-z][a-z0-9_]*) +=`)
	head := regexp.MustCompile(`^(?:# )?\[+([a-z0-9_.A-Z]+)\]+`)
	read := func(line string) (key string) {
		if m := head.FindStringSubmatch(line); m != nil {
			section = m[1]
		} else if m := name.FindStringSubmatch(strings.TrimSpace(line)); m != nil {
			return section + "." + m[1]
		}
		return ""
	}
	for line := range strings.Lines(Example()) {
		known[read(line)] = true
	}
	require.True(t, known["ecr.identified"] && known["upstream.base"] && known["printer.device"])
	row := regexp.MustCompile("^\\| `?([a-z][a-z0-9_]*)(?: = [^`]*)?`? \\|")
	named := 0
	root := filepath.Join("..", "..")
	require.NoError(t, filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".md" || strings.Contains(path, "posagent-backend") || strings.Contains(path, "posagent-update") || strings.Contains(path, filepath.Join("schemes", "backend")) || strings.Contains(path, "cross") {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		toml, settings := false, false
		for line := range strings.Lines(string(data)) {
			key := ""
			switch {
			case strings.HasPrefix(line, "```"):
				toml, section = strings.HasPrefix(line, "```toml"), ""
			case toml:
				key = read(line)
			case strings.HasPrefix(line, "| setting |"), strings.HasPrefix(line, "| key |") && strings.Contains(path, "ecr"):
				settings = true
			case settings && strings.HasPrefix(line, "|"):
				if m := row.FindStringSubmatch(line); m != nil && strings.Contains(path, "ecr") {
					key = "ecr." + m[1]
				}
			default:
				settings = false
			}
			if key != "" {
				named++
				require.True(t, known[key] || strings.HasPrefix(key, "port.clients."), "%s names %s, which posagent config example lacks", path, key)
			}
		}
		return nil
	}))
	require.Greater(t, named, 10)
}
