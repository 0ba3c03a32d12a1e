package need_test

import (
	"flag"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/cross/need"
)

// probe stands for a test that asks. It ends as a test does.
type probe struct {
	testing.TB
	failed, skipped bool
}

func (p *probe) Helper()               {}
func (p *probe) Name() string          { return "TestProbe" }
func (p *probe) Logf(string, ...any)   {}
func (p *probe) Fatalf(string, ...any) { p.failed = true; runtime.Goexit() }
func (p *probe) Skipf(string, ...any)  { p.skipped = true; runtime.Goexit() }

// try runs a test to its end.
func try(test func(testing.TB)) *probe {
	p, ended := &probe{}, make(chan struct{})
	go func() {
		defer close(ended)
		test(p)
	}()
	<-ended
	return p
}

// level sets -short for a test.
func level(t *testing.T, short string) {
	before := flag.Lookup("test.short").Value.String()
	require.NoError(t, flag.Set("test.short", short))
	t.Cleanup(func() { require.NoError(t, flag.Set("test.short", before)) })
}

const noSuchTool = "posagent-no-such-tool"

func TestToolThatIsThere(t *testing.T) {
	level(t, "false")
	t.Setenv(need.EnvRequireAll, "1")
	path := ""
	p := try(func(t testing.TB) { path = need.Tool(t, "go") })
	require.NotEmpty(t, path)
	require.False(t, p.failed || p.skipped)
}

func TestMissingToolIsListed(t *testing.T) {
	level(t, "false")
	list := filepath.Join(t.TempDir(), "list")
	t.Setenv(need.EnvRequireAll, "")
	t.Setenv(need.EnvNotRun, list)
	for range 2 {
		p := try(func(t testing.TB) { need.Tool(t, noSuchTool) })
		require.True(t, p.skipped)
		require.False(t, p.failed)
	}
	got, err := os.ReadFile(list)
	require.NoError(t, err)
	line := "not run: TestProbe needs " + noSuchTool + " (install: apt-get install " + noSuchTool + ")\n"
	require.Equal(t, line+line, string(got))
}

func TestMissingToolFailsWhenAllIsRequired(t *testing.T) {
	level(t, "false")
	t.Setenv(need.EnvRequireAll, "1")
	p := try(func(t testing.TB) { need.Tool(t, noSuchTool) })
	require.True(t, p.failed)
}

// TestShortLeavesToolsOut: make test is the same on every machine, also where all is required and installed.
func TestShortLeavesToolsOut(t *testing.T) {
	level(t, "true")
	t.Setenv(need.EnvRequireAll, "1")
	for _, tool := range []string{"go", noSuchTool} {
		p := try(func(t testing.TB) { need.Tool(t, tool) })
		require.True(t, p.skipped, tool)
		require.False(t, p.failed, tool)
	}
	require.Equal(t, 3, need.Size(3, 300))
	level(t, "false")
	require.Equal(t, 300, need.Size(3, 300))
}

func TestWaits(t *testing.T) {
	require.GreaterOrEqual(t, need.Limit(), time.Minute)
	asked := 0
	need.Until(t, "the third question", func() bool { asked++; return asked == 3 })
	ch := make(chan int, 1)
	ch <- 7
	require.Equal(t, 7, need.Receive(t, "a number", ch))
}

// TestWaitsEnd: what never comes fails the test, in virtual time.
func TestWaitsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		require.True(t, try(func(t testing.TB) { need.Until(t, "never", func() bool { return false }) }).failed)
		require.True(t, try(func(t testing.TB) { need.Receive(t, "never", make(chan int)) }).failed)
		require.GreaterOrEqual(t, time.Since(start), 2*need.Limit())
	})
}

// Two scripts that run beside each other once had one port: the second met the first one's terminal.
func TestAPortIsOneTestsUntilItEnds(t *testing.T) {
	met := map[string]bool{}
	for _, port := range append(need.Ports(t, 300), need.Ports(t, 300)...) {
		require.NotContains(t, met, port)
		met[port] = true
	}
}
