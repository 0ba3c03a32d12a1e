package need_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/cross/need"
)

// probe stands for a test that asks for a tool.
type probe struct {
	testing.TB
	failed bool
}

func (p *probe) Helper()               {}
func (p *probe) Name() string          { return "TestProbe" }
func (p *probe) Logf(string, ...any)   {}
func (p *probe) Fatalf(string, ...any) { p.failed = true }
func (p *probe) Errorf(string, ...any) { p.failed = true }

const noSuchTool = "posagent-no-such-tool"

func TestToolThatIsThere(t *testing.T) {
	t.Setenv(need.EnvRequireAll, "1")
	p := &probe{TB: t}
	require.NotEmpty(t, need.Tool(p, "go"))
	require.False(t, p.failed)
}

func TestMissingToolIsListed(t *testing.T) {
	list := filepath.Join(t.TempDir(), "list")
	t.Setenv(need.EnvRequireAll, "")
	t.Setenv(need.EnvNotRun, list)
	p := &probe{TB: t}
	require.Empty(t, need.Tool(p, noSuchTool))
	require.Empty(t, need.Tool(p, noSuchTool))
	require.False(t, p.failed)
	got, err := os.ReadFile(list)
	require.NoError(t, err)
	line := "not run: TestProbe needs " + noSuchTool + " (install: apt-get install " + noSuchTool + ")\n"
	require.Equal(t, line+line, string(got))
}

func TestMissingToolFailsWhenAllIsRequired(t *testing.T) {
	t.Setenv(need.EnvRequireAll, "1")
	p := &probe{TB: t}
	require.Empty(t, need.Tool(p, noSuchTool))
	require.True(t, p.failed)
}
