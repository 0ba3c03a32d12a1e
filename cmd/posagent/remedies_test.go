package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestField_U5NoSuggestionDestroys: no text of the program tells a person to delete a journal or to start beside it. The verb that
// deletes speaks of itself in its own file; a journal that is lost already is the one exception.
func TestField_U5NoSuggestionDestroys(t *testing.T) {
	bad := regexp.MustCompile(`(?i)posagent reset|\brun reset\b|\brm -|(another|new|other|fresh)( \w+)? (with )?--state|starts with --state|(delete|remove|erase) the (journal|state|database|key)`)
	for text, want := range map[string]bool{
		"a new one starts with --state DIR": true, "or use another --state": true, "choose another with --state DIR": true, "posagent reset --yes": true,
		"posagent run --config x --state y": false, "name the backend once: --state DIR": false,
	} {
		require.Equal(t, want, bad.MatchString(text), text)
	}
	read := 0
	for _, room := range []string{"agent", "cmd", "device", "ecr", "schemes", "store"} {
		err := filepath.WalkDir(filepath.Join("..", "..", room), func(path string, d fs.DirEntry, err error) error {
			name := filepath.Base(path)
			if err != nil || d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") || name == "reset.go" {
				return err
			}
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			ast.Inspect(file, func(n ast.Node) bool {
				lit, ok := n.(*ast.BasicLit)
				if !ok || lit.Kind != token.STRING {
					return true
				}
				text, err := strconv.Unquote(lit.Value)
				require.NoError(t, err, path)
				read++
				text = strings.ReplaceAll(text, "posagent reset --lost-journal", "")
				require.Empty(t, bad.FindString(text), "%s: %s", path, text)
				return true
			})
			return nil
		})
		require.NoError(t, err)
	}
	require.Greater(t, read, 2000)
}
