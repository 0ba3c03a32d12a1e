package check

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const modulePath = "posagent"

// pkg is a package of the module; Path is relative to it.
type pkg struct {
	Path                      string
	Name                      string
	ImportPath                string
	Imports                   []string
	TestImports, XTestImports []string
	CgoFiles                  []string
}

// root is the folder of go.mod.
func root(t testing.TB) string {
	t.Helper()
	dir, err := filepath.Abs("../..")
	require.NoError(t, err)
	require.FileExists(t, filepath.Join(dir, "go.mod"))
	return dir
}

// goTool runs the go command in the module and returns its two outputs.
func goTool(t testing.TB, env []string, args ...string) (stdout, stderr string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", args...)
	cmd.Dir = root(t)
	cmd.Env = append(os.Environ(), env...)
	var out, talk bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &talk
	if err := cmd.Run(); err != nil {
		tail := talk.String()
		require.NoError(t, err, "go %s\n%s", strings.Join(args, " "), tail[max(0, len(tail)-4000):])
	}
	return out.String(), talk.String()
}

// packages lists the module's packages.
func packages(t testing.TB) []pkg {
	t.Helper()
	out, _ := goTool(t, nil, "list", "-e", "-json=Name,ImportPath,Imports,TestImports,XTestImports,CgoFiles", "./...")
	dec := json.NewDecoder(strings.NewReader(out))
	var all []pkg
	for {
		var p pkg
		err := dec.Decode(&p)
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		p.Path = relative(p.ImportPath)
		all = append(all, p)
	}
	require.Greater(t, len(all), 10, "the tree was not found")
	return all
}

// relative is an import path below the module, or "" for a path outside it.
func relative(importPath string) string {
	rest, ok := strings.CutPrefix(importPath, modulePath+"/")
	if !ok {
		return ""
	}
	return rest
}

// standard reports whether an import path is of the standard library.
func standard(importPath string) bool {
	first, _, _ := strings.Cut(importPath, "/")
	return !strings.Contains(first, ".") && first != modulePath
}

// matches applies a pattern to a package; from is the package that the pattern's row is about, for "..".
func matches(pattern, from, p string) bool {
	if pattern == ".." {
		return p == path.Dir(from)
	}
	if below, ok := strings.CutSuffix(pattern, "/..."); ok {
		return p == below || strings.HasPrefix(p, below+"/")
	}
	ok, err := path.Match(pattern, p)
	return err == nil && ok
}

func matchesAny(patterns []string, from, p string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool { return matches(pattern, from, p) })
}

// files walks every file of the tree, besides what git or the build made, with slash paths below the root.
func files(t testing.TB, each func(name string, data []byte)) {
	t.Helper()
	require.NoError(t, visit(os.DirFS(root(t)), func(name string, data []byte) error { each(name, data); return nil }))
}

func visit(dir fs.FS, each func(name string, data []byte) error) error {
	return fs.WalkDir(dir, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if name == ".git" || name == "bin" || name == "out" {
				return fs.SkipDir
			}
			return nil
		}
		if !d.Type().IsRegular() || name == ".git" { // a file in a linked worktree
			return nil
		}
		data, err := fs.ReadFile(dir, name)
		if errors.Is(err, fs.ErrNotExist) {
			return nil // a temporary file that has gone
		}
		if err != nil {
			return err
		}
		return each(name, data)
	})
}
