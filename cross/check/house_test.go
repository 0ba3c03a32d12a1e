package check

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// source is one parsed Go file.
type source struct {
	name string // slash path below the root
	test bool   // a test file, or part of a conformance suite
	file *ast.File
	at   func(ast.Node) token.Position
}

// sources is every Go file of the tree, parsed once. The tests only read them.
func sources(t testing.TB) []source {
	t.Helper()
	all, err := parsed()
	require.NoError(t, err)
	require.Greater(t, len(all), 20)
	return all
}

var parsed = sync.OnceValues(func() (all []source, _ error) {
	set, dir := token.NewFileSet(), filepath.Join("..", "..")
	return all, visit(os.DirFS(dir), func(name string, data []byte) error {
		if !strings.HasSuffix(name, ".go") {
			return nil
		}
		f, err := parser.ParseFile(set, name, data, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		dir := path.Dir(name)
		all = append(all, source{name: name, file: f,
			test: strings.HasSuffix(name, "_test.go") || matchesAny(suites, dir, dir),
			at:   func(n ast.Node) token.Position { return set.Position(n.Pos()) }})
		return nil
	})
})

func TestEveryPackageSaysWhatItGuarantees(t *testing.T) {
	docs := map[string]bool{}
	for _, s := range sources(t) {
		dir := path.Dir(s.name)
		if path.Base(s.name) != "doc.go" {
			if !docs[dir] {
				docs[dir] = false // noted, and not found yet
			}
			continue
		}
		docs[dir] = true
		text := s.file.Doc.Text()
		if !strings.HasPrefix(text, "Package "+s.file.Name.Name+" ") && !(s.file.Name.Name == "main" && strings.HasPrefix(text, "Command ")) {
			t.Errorf("%s does not begin with a comment on its package", s.name)
		}
		if strings.Count(text, "\n") < 3 {
			t.Errorf("%s: a package says what it owns, what it guarantees and what it must not import", s.name)
		}
	}
	for dir, ok := range docs {
		if !ok {
			t.Errorf("%s has no doc.go", dir)
		}
	}
}

func TestNames(t *testing.T) {
	forbidden := []string{"util", "utils", "common", "helper", "helpers", "pkg", "misc", "base", "lib"}
	for _, p := range packages(t) {
		if slices.Contains(forbidden, p.Name) || slices.Contains(forbidden, path.Base(p.Path)) {
			t.Errorf("%s: a package is named after the thing inside", p.Path)
		}
	}
}

func TestFileSizes(t *testing.T) {
	long := map[string]bool{}
	files(t, func(name string, data []byte) {
		if !strings.HasSuffix(name, ".go") {
			return
		}
		limit := maxLines
		if strings.HasSuffix(name, "_test.go") {
			limit = maxTestLines
		}
		lines := bytes.Count(data, []byte("\n"))
		if lines <= limit {
			return
		}
		long[name] = true
		if longFiles[name] == "" {
			t.Errorf("%s has %d lines, limit %d: split it, or give a reason in longFiles", name, lines, limit)
		}
	})
	for name := range longFiles {
		if !long[name] {
			t.Errorf("%s is not over the limit any more: remove it from longFiles", name)
		}
	}
}

// call is the package (or receiver) and the name of a call like time.Sleep(...), with empty strings for other calls.
func call(n ast.Node) (x, name string) {
	c, ok := n.(*ast.CallExpr)
	if !ok {
		return "", ""
	}
	return selector(c.Fun)
}

func selector(n ast.Node) (x, name string) {
	s, ok := n.(*ast.SelectorExpr)
	if !ok {
		return "", ""
	}
	id, ok := s.X.(*ast.Ident)
	if !ok {
		return "", ""
	}
	return id.Name, s.Sel.Name
}

func TestNoSleepOutsideABubble(t *testing.T) {
	sleeps := map[string]bool{}
	for _, s := range sources(t) {
		outside(s.file, func(n ast.Node) {
			if x, name := call(n); x != "time" || name != "Sleep" {
				return
			}
			sleeps[s.name] = true
			if sleepers[s.name] == "" {
				t.Errorf("%v: time.Sleep outside a synctest bubble", s.at(n))
			}
		})
	}
	for name := range sleepers {
		if !sleeps[name] {
			t.Errorf("%s does not sleep any more: remove it from sleepers", name)
		}
	}
}

// outside visits every node that is not written inside a call of synctest.Test.
func outside(f *ast.File, visit func(ast.Node)) {
	ast.Inspect(f, func(n ast.Node) bool {
		if x, name := call(n); x == "synctest" && name == "Test" {
			return false
		}
		if n != nil {
			visit(n)
		}
		return true
	})
}

// TestOnlyNeedSkips: with a level or a tool as the reason, and REQUIRE_ALL=1 turns the second into a failure.
func TestOnlyNeedSkips(t *testing.T) {
	receivers := []string{"t", "tb", "b", "f", "rt"}
	names := []string{"Skip", "Skipf", "SkipNow"}
	for _, s := range sources(t) {
		if !s.test || path.Dir(s.name) == "cross/need" {
			continue
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			x, name := call(n)
			if slices.Contains(receivers, x) && slices.Contains(names, name) || x == "testing" && name == "Short" {
				t.Errorf("%v: which level runs a test, and what a missing tool means, is a matter for cross/need", s.at(n))
			}
			return true
		})
	}
}

func TestCoresHaveNoClock(t *testing.T) {
	clocks := []string{"Now", "Since", "Until", "After", "AfterFunc", "NewTimer", "NewTicker", "Tick", "Sleep"}
	for _, s := range sources(t) {
		if s.test || !slices.Contains(cores, path.Dir(s.name)) {
			continue
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			if x, name := selector(n); x == "time" && slices.Contains(clocks, name) {
				t.Errorf("%v: a CORE is told the time, it does not read time.%s", s.at(n), name)
			}
			if g, ok := n.(*ast.GoStmt); ok {
				t.Errorf("%v: a CORE starts no goroutine", s.at(g))
			}
			return true
		})
	}
}

func TestNoInit(t *testing.T) {
	for _, s := range sources(t) {
		for _, d := range s.file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil && f.Name.Name == "init" {
				t.Errorf("%v: no init: constructors and tables are called by name", s.at(f))
			}
		}
	}
}

// TestNoPathOfAMachine keeps the folders of whoever built this out of the tree.
func TestNoPathOfAMachine(t *testing.T) {
	paths := []string{"/" + "work/", "/" + "root/", "/" + "Users/", "/tmp/" + "plan", "/tmp/" + "bash_jobs"}
	files(t, func(name string, data []byte) {
		if bytes.IndexByte(data, 0) >= 0 {
			return
		}
		for i, line := range bytes.Split(data, []byte("\n")) {
			for _, p := range paths {
				if bytes.Contains(line, []byte(p)) {
					t.Errorf("%s:%d names a path of somebody's machine: %s", name, i+1, p)
				}
			}
		}
	})
}

// TestTopLevel: what lies beside the rooms is agreed. A program that was built there once was committed with its 26 MB.
func TestTopLevel(t *testing.T) {
	agreed := strings.Fields("cmd agent device ecr schemes store cross Makefile go.mod go.sum README.md LICENSE")
	ignored := strings.Fields("bin out posagent") // .gitignore
	entries, err := os.ReadDir(root(t))
	require.NoError(t, err)
	for _, e := range entries {
		name := e.Name()
		require.True(t, strings.HasPrefix(name, ".") || slices.Contains(agreed, name) || slices.Contains(ignored, name), "%s is at the top level", name)
	}
	for _, name := range []string{".github/SECURITY.md", ".github/CONTRIBUTING.md"} {
		require.FileExists(t, filepath.Join(root(t), filepath.FromSlash(name)))
	}
	text, err := os.ReadFile(filepath.Join(root(t), ".gitignore"))
	require.NoError(t, err)
	for _, name := range ignored {
		require.Regexp(t, `(?m)^/`+name+`/?$`, string(text))
	}
}
