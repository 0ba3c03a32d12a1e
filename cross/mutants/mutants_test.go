package mutants

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const (
	workers   = 2
	testBound = 5 * time.Minute // of one run of one test
)

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

// TestTableHolds: every text is there, every mutant is Go, every test exists.
func TestTableHolds(t *testing.T) {
	dir := root(t)
	tests := map[string][]string{}
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
			require.Contains(t, tests[m.pkg], one, "%s: there is no such test in %s", m.name, m.pkg)
		}
	}
}

var testName = regexp.MustCompile(`(?m)^func (Test\w*)\(`)

func testsIn(t *testing.T, dir string) (names []string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	require.NoError(t, err)
	for _, f := range files {
		data, err := os.ReadFile(f)
		require.NoError(t, err)
		for _, found := range testName.FindAllSubmatch(data, -1) {
			names = append(names, string(found[1]))
		}
	}
	return names
}

// lab compiles and runs.
type lab struct {
	root, dir string
	mu        sync.Mutex
	sound     map[string]error // package and pattern -> whether it passes without a mutant
}

// compile builds the tests of a package, with files replaced.
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
	cmd := exec.Command("go", "test", "-c", "-vet=off", "-ldflags=-s -w", "-overlay", put, "-o", bin, "./"+pkg)
	cmd.Dir, cmd.Env = l.root, append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("does not compile: %w\n%s", err, out)
	}
	return bin, nil
}

var (
	errTimeOut   = errors.New("no result in time")
	errNoTests   = errors.New("no test ran")
	firstFailure = regexp.MustCompile(`(?m)^\s*--- FAIL: (\S+)`)
)

// run runs a test: the name of what failed, "" when all passed.
func (l *lab) run(bin, pkg, pattern string) (failed string, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), testBound)
	defer cancel()
	cmd := exec.CommandContext(ctx, bin, "-test.count=1", "-test.v", "-test.run", "^("+pattern+")$")
	cmd.Dir = filepath.Join(l.root, filepath.FromSlash(pkg))
	if overlay := filepath.Join(filepath.Dir(bin), "overlay.json"); pkg == "cross/kill" || pkg == "cross/update" || pkg == "cross/fleet" || pkg == "cmd/posagent-backend" { // they build the program themselves
		cmd.Env = append(os.Environ(), "GOFLAGS=-overlay="+overlay)
	}
	out, err := cmd.CombinedOutput()
	switch {
	case ctx.Err() != nil:
		return "", errTimeOut
	case !bytes.Contains(out, []byte("=== RUN")):
		return "", errNoTests
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

// passes makes sure, once per test, that it passes without any mutant.
func (l *lab) passes(m mutant) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	id := m.pkg + " " + m.run
	if err, known := l.sound[id]; known {
		return err
	}
	bin := filepath.Join(l.dir, "sound-"+strings.ReplaceAll(m.pkg, "/", "-"), "test")
	_, err := os.Stat(bin)
	if err != nil {
		_, err = l.compile(m.pkg, filepath.Base(filepath.Dir(bin)), nil)
	}
	if err == nil {
		var failed string
		if failed, err = l.run(bin, m.pkg, m.run); failed != "" {
			err = fmt.Errorf("%s fails without a mutant", failed)
		}
	}
	l.sound[id] = err
	return err
}

// finding is what became of one mutant.
type finding struct {
	red  string // the test that failed
	err  error
	took time.Duration
}

func (l *lab) try(i int, m mutant) (f finding) {
	if f.err = l.passes(m); f.err != nil {
		return f
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
	f.red, f.err = l.run(bin, m.pkg, m.run)
	return f
}

// TestMutants runs them all, where it is asked to, and otherwise the one everything else rests on. MUTANT chooses by a
// regular expression.
func TestMutants(t *testing.T) {
	chosen := os.Getenv("MUTANT")
	if os.Getenv("MUTANTS") == "" {
		t.Log("make mutants runs them all")
		chosen = "^synchronous=NORMAL, believed"
	}
	wanted, err := regexp.Compile(chosen)
	require.NoError(t, err)
	l := &lab{root: root(t), dir: t.TempDir(), sound: map[string]error{}}
	found := make([]finding, len(table))
	queue := make(chan int)
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for i := range queue {
				found[i] = l.try(i, table[i])
				t.Log(line(table[i], found[i]))
			}
		})
	}
	ran := 0
	for i, m := range table {
		if wanted.MatchString(m.name) {
			ran++
			queue <- i
		}
	}
	close(queue)
	wg.Wait()
	var out strings.Builder
	red := 0
	for i, m := range table {
		if !wanted.MatchString(m.name) {
			continue
		}
		fmt.Fprintln(&out, line(m, found[i]))
		switch {
		case found[i].err != nil:
			t.Errorf("%s: %v", m.name, found[i].err)
		case found[i].red == "":
			t.Errorf("%s: SURVIVED %s of %s", m.name, m.run, m.pkg)
		default:
			red++
		}
	}
	t.Logf("%d of %d mutants red\n%s", red, ran, out.String())
	require.Positive(t, ran)
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
