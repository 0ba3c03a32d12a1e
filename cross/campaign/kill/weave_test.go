package kill

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// thread is one text of a source with the calls that are woven in before and behind it.
type thread struct{ file, text, before, after string }

// threads is where a terminal touches the world: its journal, the backend, the register; and where its next version begins.
var threads = []thread{
	{"store/sqlite/writer.go", "\tstart := time.Now()\n\tif err := s.w.exec(\"COMMIT\"); err != nil {\n",
		"\tfor _, r := range live {\n\t\tpoint.Hit(\"before commit \" + point.Func(r.fn))\n\t}\n", ""},
	{"store/sqlite/writer.go", "\ts.commits.Add(1)\n",
		"\tfor _, r := range live {\n\t\tpoint.Hit(\"after commit \" + point.Func(r.fn))\n\t}\n", ""},
	{"agent/upstream/upstream.go", "\tctx, cancel := context.WithTimeout(req.Context(), c.timeout)\n",
		"\tpoint.Hit(\"before \" + point.Route(req.Method, req.URL.Path))\n", ""},
	{"agent/upstream/upstream.go", "\tc.judge(req.Context(), resp, err)\n",
		"\tpoint.Hit(\"after \" + point.Route(req.Method, req.URL.Path))\n", ""},
	{"store/sqlite/end.go", "\t\tif s.marks.Commit(next) {\n\t\t\ts.warnOfMarks()\n\t\t}\n", "\t\tpoint.Hit(\"before mark\")\n", "\t\tpoint.Hit(\"after mark\")\n"},
	{"store/sqlite/migrate.go", "\tif err := tx.Commit(); err != nil {\n", "\tpoint.Hit(\"before commit of a migration\")\n", ""},
	{"store/sqlite/migrate.go", "\t\tif err := s.applyStep(ctx, l.conn, st, version); err != nil {\n\t\t\treturn 0, fmt.Errorf(\"migrate %q: %w\", st.Name, err)\n\t\t}\n",
		"", "\t\tpoint.Hit(\"after commit of a migration\")\n"},
	{"store/sqlite/checkpoint.go", "\tframes, folded, _, err = l.checkpoint(\"PASSIVE\")\n", "\tpoint.Hit(\"before checkpoint\")\n", "\tpoint.Hit(\"after checkpoint\")\n"},
	{"store/sqlite/checkpoint.go", "\tcheckpointWrites = 384", "", " / 48"}, // a story writes too little to be worth folding
	{"agent/schema.go", "// Schema is the ordered", "func next() (steps []store.Step) {\n\tif sql := os.Getenv(point.Next); sql != \"\" {\n" +
		"\t\tsteps = append(steps, store.Step{Name: \"next/1\", SQL: sql})\n\t}\n\treturn steps\n}\n\n", ""},
	{"agent/schema.go", "inbox.BuildSchema()", "", ", next()"},
	{"ecr/session/dialog.go", "\t\t\terr := d.send(way, one.Data)\n",
		"\t\t\tpoint.Hit(fmt.Sprintf(\"before APDU % 02X\", one.Data[:2]))\n",
		"\t\t\tpoint.Hit(fmt.Sprintf(\"after APDU % 02X\", one.Data[:2]))\n"},
}

const pointPackage = "posagent/cross/campaign/kill/point"

// weave gives the changed texts of the sources, by file name.
func weave(root string) (map[string][]byte, error) {
	woven := map[string][]byte{}
	for _, th := range threads {
		if woven[th.file] == nil {
			data, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(th.file)))
			if err != nil {
				return nil, err
			}
			imports := "import (\n\t\"" + pointPackage + "\"\n"
			if strings.Contains(th.before, "os.") && !bytes.Contains(data, []byte("\t\"os\"\n")) {
				imports += "\t\"os\"\n"
			}
			if strings.Contains(th.before, "fmt.") && !bytes.Contains(data, []byte("\t\"fmt\"\n")) {
				imports += "\t\"fmt\"\n"
			}
			if woven[th.file], err = once(th.file, data, "import (\n", imports); err != nil {
				return nil, err
			}
		}
		var err error
		if woven[th.file], err = once(th.file, woven[th.file], th.text, th.before+th.text+th.after); err != nil {
			return nil, err
		}
	}
	return woven, nil
}

func once(file string, data []byte, old, replacement string) ([]byte, error) {
	if n := bytes.Count(data, []byte(old)); n != 1 {
		return nil, fmt.Errorf("%s: the text to weave a point into stands %d times in it, not once: %q", file, n, old)
	}
	return bytes.Replace(data, []byte(old), []byte(replacement), 1), nil
}

// overlay writes the woven sources to dir and returns the file for go build -overlay.
func overlay(t *testing.T, dir string) string {
	t.Helper()
	root, err := filepath.Abs(filepath.Join("..", "..", ".."))
	require.NoError(t, err)
	woven, err := weave(root)
	require.NoError(t, err)
	replace := map[string]string{}
	for file, data := range woven {
		put := filepath.Join(dir, strings.ReplaceAll(file, "/", "_"))
		require.NoError(t, os.WriteFile(put, data, 0o600))
		replace[filepath.Join(root, filepath.FromSlash(file))] = put
	}
	broken, err := mutated()
	require.NoError(t, err)
	for file, put := range broken {
		require.Empty(t, replace[file], "a mutant of a woven source")
		replace[file] = put
	}
	list, err := json.Marshal(map[string]any{"Replace": replace})
	require.NoError(t, err)
	put := filepath.Join(dir, "overlay.json")
	require.NoError(t, os.WriteFile(put, list, 0o600))
	return put
}

// mutated is the overlay that this test itself was built with, where it is to notice a mutant.
func mutated() (map[string]string, error) {
	for flag := range strings.FieldsSeq(os.Getenv("GOFLAGS")) {
		path, ok := strings.CutPrefix(flag, "-overlay=")
		if !ok {
			continue
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		var list struct{ Replace map[string]string }
		err = json.Unmarshal(data, &list)
		return list.Replace, err
	}
	return nil, nil
}

func TestWeave(t *testing.T) {
	woven, err := weave(filepath.Join("..", "..", ".."))
	require.NoError(t, err)
	require.Len(t, woven, 7)
	for file, data := range woven {
		_, err := parser.ParseFile(token.NewFileSet(), file, data, parser.SkipObjectResolution)
		require.NoError(t, err)
	}
	_, err = once("x.go", []byte("a a"), "a", "b")
	require.ErrorContains(t, err, "2 times")
}
