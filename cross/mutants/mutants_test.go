package mutants

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/cross/need"
	"posagent/cross/program"
)

const workers = 2

// endless times what a test takes without a mutant, and no less than bound, is what never ends: a test that waits for what a mutant has
// taken away waits for longer where the machine is busy, up to twenty minutes.
const endless = 20

// bound is what one run of one test may take.
func bound() time.Duration { return 5 * need.Limit() }

func root(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs(filepath.Join("..", ".."))
	require.NoError(t, err)
	return dir
}

// broken is the texts of the files of a mutant, by name.
func (m mutant) broken(root string) (map[string][]byte, error) {
	files := map[string][]byte{}
	for _, e := range m.edits {
		if files[e.file] == nil {
			data, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(e.file)))
			if err != nil {
				return nil, err
			}
			files[e.file] = data
		}
		if n := bytes.Count(files[e.file], []byte(e.old)); n != 1 {
			return nil, fmt.Errorf("%s: this text stands %d times in it, not once: %s", e.file, n, e.old)
		}
		if e.old == e.new {
			return nil, fmt.Errorf("%s: nothing is changed", e.file)
		}
		files[e.file] = bytes.Replace(files[e.file], []byte(e.old), []byte(e.new), 1)
	}
	return files, nil
}

// TestTableHolds: every text is there, every mutant is Go, every test exists and runs at the level that the table says.
func TestTableHolds(t *testing.T) {
	dir := root(t)
	tests := map[string]map[string]bool{}
	names := map[string]bool{}
	for _, m := range table {
		require.False(t, names[m.name], "two mutants are called %q", m.name)
		names[m.name] = true
		files, err := m.broken(dir)
		if err != nil {
			t.Errorf("%s: %v", m.name, err)
		}
		for name, data := range files {
			if _, err := parser.ParseFile(token.NewFileSet(), name, data, parser.SkipObjectResolution); err != nil {
				t.Errorf("%s: %v", m.name, err)
			}
		}
		if tests[m.pkg] == nil {
			tests[m.pkg] = testsIn(t, filepath.Join(dir, filepath.FromSlash(m.pkg)))
		}
		for one := range strings.SplitSeq(m.run, "|") {
			left, there := tests[m.pkg][one]
			require.True(t, there, "%s: there is no test %s in %s", m.name, one, m.pkg)
			if left && leftToVerify[m.name] == "" {
				t.Errorf("%s: %s is left to make verify: name a test of make test, or list the mutant in leftToVerify", m.name, one)
			}
			if !left && leftToVerify[m.name] != "" && !strings.HasPrefix(m.name, "PostgreSQL: ") { // whose part of a test may be a subtest
				t.Errorf("%s: make test runs %s: take the mutant off leftToVerify", m.name, one)
			}
		}
	}
}

// money is where a breach costs money: its mutants are found in minutes, by make test.
var money = regexp.MustCompile(`^(agent/checkout/|agent/outbox/|schemes/backend/books/|store/sqlite/|store/[^/]*$|ecr/session/|ecr/zvt/|ecr/[^/]*/protocol/)`)

// TestMostAreFoundByMakeTest: at most one mutant of ten is left to make verify, and none that breaks a rule of money.
func TestMostAreFoundByMakeTest(t *testing.T) {
	left := 0
	for _, m := range table {
		if leftToVerify[m.name] == "" {
			continue
		}
		left++
		for _, e := range m.edits {
			require.NotRegexp(t, money, e.file, "%s: name a test of make test that notices it", m.name)
		}
	}
	require.Equal(t, len(leftToVerify), left, "leftToVerify names a mutant that is not in the table")
	require.LessOrEqual(t, 10*left, len(table))
}

// testsIn are the tests of a package, and which of them make test leaves out: by a call at their level, or in a function of the package
// that they call there.
func testsIn(t *testing.T, dir string) map[string]bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	require.NoError(t, err)
	all := map[string]*ast.FuncDecl{}
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil {
				all[f.Name.Name] = f
			}
		}
	}
	tests := map[string]bool{}
	for name, f := range all {
		if strings.HasPrefix(name, "Test") {
			tests[name] = leaves(f, all, map[string]bool{})
		}
	}
	return tests
}

// leaves reports whether a function says need.Verify or need.Tool, or starts PostgreSQL, whatever else it does.
func leaves(f *ast.FuncDecl, all map[string]*ast.FuncDecl, seen map[string]bool) (found bool) {
	seen[f.Name.Name] = true
	for _, s := range f.Body.List {
		switch s.(type) {
		case *ast.ExprStmt, *ast.AssignStmt, *ast.DeclStmt, *ast.ReturnStmt:
		default:
			continue // not on every way
		}
		ast.Inspect(s, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncLit:
				return false
			case *ast.SelectorExpr:
				x, ok := n.X.(*ast.Ident)
				found = found || ok && (x.Name == "need" && (n.Sel.Name == "Verify" || n.Sel.Name == "Tool") || x.Name == "pgtest")
			case *ast.CallExpr:
				if name, ok := n.Fun.(*ast.Ident); ok && !found && all[name.Name] != nil && !seen[name.Name] {
					found = leaves(all[name.Name], all, seen)
				}
			}
			return true
		})
	}
	return found
}

// lab compiles and runs.
type lab struct {
	root, dir string
	mu        sync.Mutex
	sound     map[string]finding // package, pattern and level -> whether it passes without a mutant, and what it takes
	building  sync.Mutex
	deps      map[string]map[string]bool // package, with tests or without -> what it is made of
}

// compile builds the tests of a package, with files replaced; and the programs, where the tests run them.
func (l *lab) compile(pkg, name string, files map[string][]byte) (string, error) {
	dir := filepath.Join(l.dir, name)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	replace := map[string]string{}
	for file, data := range files {
		put := filepath.Join(dir, strings.ReplaceAll(file, "/", "_"))
		if err := os.WriteFile(put, data, 0o600); err != nil {
			return "", err
		}
		replace[filepath.Join(l.root, filepath.FromSlash(file))] = put
	}
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	put := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(put, overlay, 0o600); err != nil {
		return "", err
	}
	bin := filepath.Join(dir, "test")
	if out, err := l.tool("test", "-c", "-vet=off", "-ldflags=-s -w", "-overlay", put, "-o", bin, "./"+pkg); err != nil {
		return "", fmt.Errorf("does not compile: %w\n%s", err, out)
	}
	if !l.has(pkg, true, "cross/program") {
		return bin, nil
	}
	return bin, l.programs(filepath.Join(dir, "programs"), put, files)
}

// programs builds the programs that a mutant is part of; the others are those of the tree, which are built once.
func (l *lab) programs(to, overlay string, files map[string][]byte) error {
	if err := os.MkdirAll(to, 0o700); err != nil {
		return err
	}
	for _, name := range []string{"posagent", "posagent-backend", "posagent-update"} {
		whole, broken := filepath.Join(l.dir, "programs", name), false
		for file := range files {
			broken = broken || l.has("cmd/"+name, false, path.Dir(file))
		}
		if broken {
			if out, err := l.tool("build", "-ldflags=-s -w", "-overlay", overlay, "-o", filepath.Join(to, name), "./cmd/"+name); err != nil {
				return fmt.Errorf("does not build: %w\n%s", err, out)
			}
			continue
		}
		if err := l.once(whole, func() error {
			if out, err := l.tool("build", "-ldflags=-s -w", "-o", whole, "./cmd/"+name); err != nil {
				return fmt.Errorf("build: %w\n%s", err, out)
			}
			return nil
		}); err != nil {
			return err
		}
		if err := os.Symlink(whole, filepath.Join(to, name)); err != nil {
			return err
		}
	}
	return nil
}

// once makes a file that is not there.
func (l *lab) once(file string, build func() error) error {
	l.building.Lock()
	defer l.building.Unlock()
	if _, err := os.Stat(file); err == nil {
		return nil
	}
	return build()
}

func (l *lab) tool(args ...string) ([]byte, error) {
	cmd := exec.Command("go", args...)
	cmd.Dir, cmd.Env = l.root, append(os.Environ(), "CGO_ENABLED=0")
	return cmd.CombinedOutput()
}

// has reports whether a package, with its tests or without, has another one in it.
func (l *lab) has(pkg string, tests bool, other string) bool {
	l.building.Lock()
	defer l.building.Unlock()
	id := fmt.Sprint(pkg, " ", tests)
	if l.deps[id] == nil {
		l.deps[id] = map[string]bool{}
		out, _ := l.tool("list", "-deps", fmt.Sprint("-test=", tests), "-f", "{{.ImportPath}}", "./"+pkg) // what is not there does not compile, either
		for dep := range strings.FieldsSeq(string(out)) {
			l.deps[id][strings.TrimPrefix(dep, "posagent/")] = true
		}
	}
	return l.deps[id][other]
}

var (
	errTimeOut   = errors.New("no result in time")
	errNoTests   = errors.New("no test ran")
	errSkipped   = errors.New("make test skips it: name another test, or list the mutant in leftToVerify")
	firstFailure = regexp.MustCompile(`(?m)^\s*--- FAIL: (\S+)`)
	passed       = regexp.MustCompile(`(?m)^--- PASS: `)
)

// run runs the test of a mutant as make test does, or as make verify: the name of what failed, "" when all passed. sound is what the test
// takes without a mutant, 0 = that is not known yet.
func (l *lab) run(bin string, m mutant, sound time.Duration) (failed string, err error) {
	within := max(bound(), endless*sound)
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	verify := leftToVerify[m.name] != ""
	cmd := exec.CommandContext(ctx, bin, "-test.count=1", "-test.v", fmt.Sprint("-test.short=", !verify), "-test.run", "^("+m.run+")$")
	cmd.Dir = filepath.Join(l.root, filepath.FromSlash(m.pkg))
	cmd.Env = os.Environ()
	if programs := filepath.Join(filepath.Dir(bin), "programs"); l.has(m.pkg, true, "cross/program") {
		cmd.Env = append(cmd.Env, program.Env+"="+programs)
	}
	if verify { // it may build a program of its own
		cmd.Env = append(cmd.Env, "GOFLAGS=-overlay="+filepath.Join(filepath.Dir(bin), "overlay.json"))
	}
	out, err := cmd.CombinedOutput()
	switch {
	case ctx.Err() != nil && sound > 0:
		return "no end in " + within.Round(time.Second).String(), nil
	case ctx.Err() != nil:
		return "", errTimeOut
	case !bytes.Contains(out, []byte("=== RUN")):
		return "", errNoTests
	case err == nil && !passed.Match(out):
		return "", errSkipped
	case err == nil:
		return "", nil
	}
	if m := firstFailure.FindSubmatch(out); m != nil {
		return string(m[1]), nil
	}
	if bytes.Contains(out, []byte("panic: ")) {
		return "panic", nil
	}
	return "", fmt.Errorf("ended otherwise: %w\n%s", err, out)
}

// passes makes sure, once per test and level, that it passes without any mutant, and returns what it takes.
func (l *lab) passes(m mutant) (took time.Duration, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	id := fmt.Sprint(m.pkg, " ", m.run, " ", leftToVerify[m.name] != "")
	if was, known := l.sound[id]; known {
		return was.took, was.err
	}
	bin := filepath.Join(l.dir, "sound-"+strings.ReplaceAll(m.pkg, "/", "-"), "test")
	if _, err = os.Stat(bin); err != nil {
		_, err = l.compile(m.pkg, filepath.Base(filepath.Dir(bin)), nil)
	}
	if err == nil {
		var failed string
		start := time.Now()
		if failed, err = l.run(bin, m, 0); failed != "" {
			err = fmt.Errorf("%s fails without a mutant", failed)
		}
		took = time.Since(start)
	}
	l.sound[id] = finding{err: err, took: took}
	return took, err
}

// finding is what became of one mutant.
type finding struct {
	red  string // the test that failed
	err  error
	took time.Duration
}

func (l *lab) try(i int, m mutant) (f finding) {
	sound, err := l.passes(m)
	if err != nil {
		return finding{err: err}
	}
	start := time.Now()
	defer func() { f.took = time.Since(start) }()
	files, err := m.broken(l.root)
	if err != nil {
		return finding{err: err}
	}
	name := fmt.Sprintf("mutant%d", i)
	defer func() { _ = os.RemoveAll(filepath.Join(l.dir, name)) }()
	bin, err := l.compile(m.pkg, name, files)
	if err != nil {
		return finding{err: err}
	}
	f.red, f.err = l.run(bin, m, sound)
	return f
}

// TestMutants runs them all, where it is asked to, and otherwise the one everything else rests on. MUTANT chooses by a
// regular expression; MUTANTS_SHARD=1/4 takes the first of every four.
func TestMutants(t *testing.T) {
	chosen := os.Getenv("MUTANT")
	if os.Getenv("MUTANTS") == "" {
		need.Verify(t, "compiles a mutant")
		t.Log("make mutants runs them all")
		chosen = "^synchronous=NORMAL, believed"
	}
	wanted, err := regexp.Compile(chosen)
	require.NoError(t, err)
	part, parts := shard(t)
	var list []mutant
	for i, m := range table {
		if wanted.MatchString(m.name) && i%parts == part-1 {
			list = append(list, m)
		}
	}
	require.NotEmpty(t, list)
	l := &lab{root: root(t), dir: t.TempDir(), sound: map[string]finding{}, deps: map[string]map[string]bool{}}
	found := make([]finding, len(list))
	queue := make(chan int)
	var done atomic.Int64
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for i := range queue {
				found[i] = l.try(i, list[i])
				t.Logf("%d of %d: %s", done.Add(1), len(list), line(list[i], found[i]))
			}
		})
	}
	for i := range list {
		queue <- i
	}
	close(queue)
	wg.Wait()
	var out strings.Builder
	var took time.Duration
	red := 0
	for i, m := range list {
		fmt.Fprintln(&out, line(m, found[i]))
		took += found[i].took
		switch {
		case found[i].err != nil:
			t.Errorf("%s: %v", m.name, found[i].err)
		case found[i].red == "":
			t.Errorf("%s: SURVIVED %s of %s", m.name, m.run, m.pkg)
		default:
			red++
		}
	}
	t.Logf("%d of %d mutants red, %.1f s each\n%s", red, len(list), took.Seconds()/float64(len(list)), out.String())
}

// shard is the part that MUTANTS_SHARD names, from 1 on, and of how many.
func shard(t *testing.T) (part, parts int) {
	t.Helper()
	text := os.Getenv("MUTANTS_SHARD")
	if text == "" {
		return 1, 1
	}
	n, err := fmt.Sscanf(text, "%d/%d", &part, &parts)
	require.NoError(t, err, "MUTANTS_SHARD=%s: write it as 1/4", text)
	require.True(t, n == 2 && part >= 1 && part <= parts, "MUTANTS_SHARD=%s: write it as 1/4", text)
	return part, parts
}

func line(m mutant, f finding) string {
	word, killer := "red", m.pkg+" "+f.red
	switch {
	case f.err != nil:
		word, killer = "ERROR", m.pkg+" "+m.run
	case f.red == "":
		word, killer = "SURVIVED", m.pkg+" "+m.run
	}
	return fmt.Sprintf("%-55s %-8s %5.1f s  %s", m.name, word, f.took.Seconds(), killer)
}
