package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/agent/config"
	"posagent/cross/need"
	"posagent/schemes/methods"
)

// A training terminal asks no backend but its own, and takes no address that the terminal which sells has, or will have when it starts again.
func TestATrainingTerminalTakesNothingOfTheOther(t *testing.T) {
	real, err := config.Load("", nil)
	require.NoError(t, err)
	file, err := trainingConfig(t.TempDir(), real, methods.Definition{Name: "SWISH_E_COM"})
	require.NoError(t, err)
	cfg, err := config.Load(file, nil)
	require.NoError(t, err)
	require.True(t, cfg.Sandbox())
	require.Equal(t, "127.0.0.1:0", cfg.ECR.TCP)
	require.Equal(t, "127.0.0.1:0", cfg.Backend.Listen)
	require.Empty(t, cfg.Port.Listen, "the local port is the other's")
}

// A training terminal ends with the self test, also where that is killed.
func TestATrainingTerminalDoesNotOutliveTheSelfTest(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	cmd := exec.Command("posagent", "selftest", "--state", filepath.Join(dir, "s"), "--method", "SWISH_E_COM")
	cmd.Env = append(os.Environ(), "TMPDIR="+dir)
	require.NoError(t, cmd.Start())
	killed := func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }
	defer killed()
	var pid int
	need.Until(t, "the training terminal to run", func() bool { pid = runsUnder(t, dir, cmd.Process.Pid); return pid != 0 })
	t.Cleanup(func() { _ = syscall.Kill(pid, syscall.SIGKILL) })
	killed()
	need.Until(t, "the training terminal to end", func() bool { return runsUnder(t, dir, 0) == 0 })
}

// runsUnder is the number of a process that runs a terminal on a state directory below dir, 0 where there is none.
func runsUnder(t *testing.T, dir string, but int) int {
	t.Helper()
	list, err := filepath.Glob("/proc/[0-9]*/cmdline")
	require.NoError(t, err)
	for _, path := range list {
		line, err := os.ReadFile(path)
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		if err == nil && pid != but && strings.Contains(string(line), "\x00run\x00") && strings.Contains(string(line), dir) {
			return pid
		}
	}
	return 0
}

// A line of any length is read, and those behind it.
func TestALongLineOfATerminalIsRead(t *testing.T) {
	var got []string
	eachLine(strings.NewReader("one\n"+strings.Repeat("x", 200_000)+"\n\nlast"), func(line string) { got = append(got, line) })
	require.Len(t, got, 4)
	require.Equal(t, "one", got[0])
	require.Equal(t, strings.Repeat("x", longestSaid), got[1])
	require.Equal(t, []string{"", "last"}, got[2:])
}
