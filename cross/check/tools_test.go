package check

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestField_U8ToolsSayWhatTheyInstallFirst: as root on Debian, make test installed ten packages unasked. The machine here has no
// tool at all, and an apt-get that writes down what it is asked for.
func TestField_U8ToolsSayWhatTheyInstallFirst(t *testing.T) {
	bin, asked, told := t.TempDir(), filepath.Join(t.TempDir(), "asked"), filepath.Join(t.TempDir(), "told")
	for _, name := range []string{"sh", "mktemp", "rm", "tail", "timeout"} {
		path, err := exec.LookPath(name)
		require.NoError(t, err)
		require.NoError(t, os.Symlink(path, filepath.Join(bin, name)))
	}
	for name, script := range map[string]string{"id": "echo 0", "apt-get": "echo apt-get is asked >>" + told + "; echo \"$@\" >>" + asked} {
		require.NoError(t, os.WriteFile(filepath.Join(bin, name), []byte("#!"+filepath.Join(bin, "sh")+"\n"+script+"\n"), 0o700))
	}
	run := func(env ...string) string {
		cmd := exec.Command(filepath.Join(bin, "sh"), "cross/tools.sh")
		cmd.Dir, cmd.Env = root(t), append([]string{"PATH=" + bin}, env...)
		out, err := os.OpenFile(told, os.O_CREATE|os.O_TRUNC|os.O_WRONLY|os.O_APPEND, 0o600) // both write into it, in their order
		require.NoError(t, err)
		cmd.Stdout, cmd.Stderr = out, out
		err = errors.Join(cmd.Run(), out.Close())
		text, failed := os.ReadFile(told)
		require.NoError(t, errors.Join(err, failed), "%s", text)
		return string(text)
	}
	said := run("TOOLS=no")
	require.Contains(t, said, "TOOLS=no: nothing is installed")
	require.Contains(t, said, "chromium")
	require.NoFileExists(t, asked)

	said, _, found := strings.Cut(run(), "apt-get is asked")
	require.True(t, found)
	data, err := os.ReadFile(asked)
	require.NoError(t, err)
	line, _, _ := strings.Cut(string(data), "\n")
	_, packages, found := strings.Cut(line, "--no-install-recommends ")
	require.True(t, found, line)
	for _, name := range strings.Fields(packages) {
		require.Regexp(t, `(?m)^tools:   `+name+`: (?:[a-z].+)$`, said, "what it is for")
		require.NotContains(t, said, name+": is used by a test", "its own reason")
	}
	require.Contains(t, said, "TOOLS=no leaves that out")
}
