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

	"posagent/agent/doctor"
)

// TestField_U5NoSuggestionDestroys: no text of the program tells a person to delete a journal or to start beside it. The verb that
// deletes speaks of itself in its own file; a journal that is lost already is the one exception. The same holds for the guides.
func TestField_U5NoSuggestionDestroys(t *testing.T) {
	t.Parallel()
	bad := regexp.MustCompile(`(?i)posagent reset|\brun reset\b|\brm -|(another|new|other|fresh)( \w+)? (with )?--state|starts with --state|(delete|remove|erase) the (journal|state|database|key)`)
	for text, want := range map[string]bool{
		"a new one starts with --state DIR": true, "or use another --state": true, "choose another with --state DIR": true, "posagent reset --yes": true,
		"posagent run --config x --state y": false, "name the backend once: --state DIR": false,
	} {
		require.Equal(t, want, bad.MatchString(text), text)
	}
	read := eachText(t, func(path, text string) {
		if filepath.Base(path) != "reset.go" {
			text = strings.ReplaceAll(text, "posagent reset --lost-journal", "")
			require.Empty(t, bad.FindString(text), "%s: %s", path, text)
		}
	})
	require.Greater(t, read, 2000)
	for _, name := range append([]string{"cmd/posagent/visit.txt"}, guides...) {
		require.Empty(t, bad.FindString(strings.ReplaceAll(guide(t, name), "posagent reset --lost-journal", "")), name)
	}
}

// TestField_W1NoRemedyPlaysTheRegister: the register's tool confirms to the terminal a sale that the shop's register never heard of.
// So no text tells a person to type it, but its own help, the demo, and an example of what support records. The doctor's texts and the
// guide of a visit hold to it, too.
func TestField_W1NoRemedyPlaysTheRegister(t *testing.T) {
	bad := regexp.MustCompile(`(?i)\b(posagent register|register repeat)\b`)
	require.True(t, bad.MatchString("1 sale(s) the register has not acknowledged: posagent register repeat"))
	require.False(t, bad.MatchString("the register asks again by itself (repeat receipt, 06 20)"))
	own := regexp.MustCompile(`/cmd/posagent/(register(_line|_report|_spoken)?\.go|record\.go|demo/\w+\.go)$`)
	read := eachText(t, func(path, text string) {
		if !own.MatchString(filepath.ToSlash(path)) {
			text = strings.NewReplacer("posagent register certificate", "", "posagent register schema", "").Replace(text) // they print, and play no register
			require.Empty(t, bad.FindString(text), "%s: %s", path, text)
		}
	})
	require.Greater(t, read, 2000)
	for _, c := range doctor.Checks() {
		for _, language := range []string{"en", "de"} {
			text, _ := doctor.TextOf(c, language)
			require.Empty(t, bad.FindString(text.Title+"\n"+text.Means+"\n"+text.How+"\n"+text.Do+"\n"+c.Command), c.ID)
		}
	}
	require.Empty(t, bad.FindString(guide(t, "cmd/posagent/visit.txt")))
}

// eachText calls look with every text of the program's source, and counts them.
func eachText(t *testing.T, look func(path, text string)) (read int) {
	for _, room := range []string{"agent", "cmd", "device", "ecr", "schemes", "store"} {
		err := filepath.WalkDir(filepath.Join("..", "..", room), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
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
				look(path, text)
				return true
			})
			return nil
		})
		require.NoError(t, err)
	}
	return read
}
