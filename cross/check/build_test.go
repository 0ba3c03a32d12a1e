package check

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/cross/need"
)

// TestLibcPin: a libc that is not the one the SQLite engine was made with passes every test here and crashes on 32-bit ARM.
func TestLibcPin(t *testing.T) {
	const pin = "v1.77.1"
	out, _ := goTool(t, nil, "list", "-m", "-f", "{{.Version}}", "modernc.org/libc")
	require.Equal(t, pin, strings.TrimSpace(out), "modernc.org/libc as this module selects it")
	out, _ = goTool(t, nil, "list", "-m", "-f", "{{.GoMod}}", "modernc.org/sqlite")
	gomod, err := os.ReadFile(strings.TrimSpace(out))
	require.NoError(t, err)
	want := regexp.MustCompile(`(?m)^\s*(?:require\s+)?modernc\.org/libc\s+(v\S+)`).FindSubmatch(gomod)
	require.NotNil(t, want, "sqlite's go.mod names its libc")
	require.Equal(t, pin, string(want[1]), "modernc.org/libc as modernc.org/sqlite wants it")
}

// TestGoModHoldsNoTools: tools join the version selection and would move libc.
func TestGoModHoldsNoTools(t *testing.T) {
	data, err := os.ReadFile(filepath.Join(root(t), "go.mod"))
	require.NoError(t, err)
	for _, word := range []string{"tool", "replace", "exclude"} {
		require.NotRegexp(t, `(?m)^`+word+`\b`, string(data))
	}
}

const program = "./cmd/posagent"

func TestNotLinked(t *testing.T) {
	forbidden := map[string]string{
		"text/template": "switches off dead-code elimination, 2 MB",
		"html/template": "switches off dead-code elimination, 2 MB",
		"testing":       "test code in the product",
		"plugin":        "switches off dead-code elimination",
		"net/rpc":       "calls methods by name",
		"expvar":        "publishes the command line",
	}
	out, _ := goTool(t, []string{"CGO_ENABLED=0"}, "list", "-deps", program)
	deps := strings.Fields(out)
	require.Contains(t, deps, modulePath+"/agent")
	for _, dep := range deps {
		if why, ok := forbidden[dep]; ok {
			t.Errorf("%s is linked: %s", dep, why)
		}
	}
}

// TestReflectGuard: one reachable call of reflect's MethodByName keeps every exported method of every type in the binary.
func TestReflectGuard(t *testing.T) {
	need.Verify(t, "links the program again")
	_, dump := goTool(t, []string{"CGO_ENABLED=0"}, "build", "-ldflags=-dumpdep", "-o", filepath.Join(t.TempDir(), "posagent"), program)
	require.Contains(t, dump, "main.main", "the linker printed its graph")
	lines := slices.DeleteFunc(strings.Split(dump, "\n"), func(l string) bool { return !strings.Contains(l, "<ReflectMethod>") })
	require.Empty(t, lines)
}

// TestSizeIsTold: the figures and the README tell the size of the stripped armv7 program, built as cross.sh builds it, to the half MiB. No code is bent for it; a
// program that grows says so where people choose it.
func TestSizeIsTold(t *testing.T) {
	need.Verify(t, "compiles everything for ARM")
	readme, err := os.ReadFile(filepath.Join(root(t), "README.md"))
	require.NoError(t, err)
	figures, err := os.ReadFile(filepath.Join(root(t), "cross", "README.md"))
	require.NoError(t, err)
	said := regexp.MustCompile(`(?m)^\| the whole program for armv7 \| ([0-9.]+) MiB \|`).FindSubmatch(figures)
	require.NotNil(t, said, "the size of the armv7 program is among the figures")
	require.Contains(t, strings.Join(strings.Fields(string(readme)), " "), string(said[1])+" MiB for armv7")
	told, err := strconv.ParseFloat(string(said[1]), 64)
	require.NoError(t, err)
	bin := filepath.Join(t.TempDir(), "posagent")
	args := slices.Concat([]string{"build"}, sizeFlags, []string{"-o", bin, program})
	goTool(t, []string{"CGO_ENABLED=0", "GOOS=linux", "GOARCH=arm", "GOARM=7"}, args...)
	info, err := os.Stat(bin)
	require.NoError(t, err)
	t.Logf("armv7: %d bytes", info.Size())
	require.InDelta(t, told, float64(info.Size())/(1<<20), 0.5, "MiB: the figures and the program built now")
}

// TestSizeFlagsAgree: what is measured is what is shipped, booted and benched, and no compiler switch is among it.
func TestSizeFlagsAgree(t *testing.T) {
	for _, file := range []string{"cross/cross.sh", "cross/guest.sh", "cross/bench/bench.go", "cross/build/packages/build.go"} {
		text, err := os.ReadFile(filepath.Join(root(t), file))
		require.NoError(t, err)
		for _, flag := range []string{"-trimpath", "-tags", "nethttpomithttp2", "-ldflags", "-s -w"} {
			require.Contains(t, string(text), flag, file)
		}
		require.NotContains(t, string(text), "-gcflags", file)
	}
}

// TestOneBinary: no build tag leaves a part of the product out. What a shop gets is what a developer runs.
func TestOneBinary(t *testing.T) {
	const every = `{{$p := .}}{{range .IgnoredGoFiles}}{{$p.ImportPath}}/{{.}}{{"\n"}}{{end}}`
	out, _ := goTool(t, []string{"CGO_ENABLED=0", "GOOS=linux"}, "list", "-f", every, "./...")
	require.Empty(t, strings.Fields(out), "files that a build for Linux leaves out")
}
