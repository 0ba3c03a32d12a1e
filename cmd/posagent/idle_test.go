package main

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/cross/need"
)

// memory is what a process holds, in KiB: all of it, and what is no file's.
func memory(t *testing.T, pid int) (all, anonymous int) {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	require.NoError(t, err)
	for line := range strings.Lines(string(text)) {
		fields := strings.Fields(line)
		if len(fields) < 2 {
			continue
		}
		n, _ := strconv.Atoi(fields[1]) // other lines
		switch fields[0] {
		case "VmRSS:":
			all = n
		case "RssAnon:":
			anonymous = n
		}
	}
	require.NotZero(t, all)
	return all, anonymous
}

// After many sales (POSAGENT_SALES, else 150) a terminal that is idle again holds at most 1.2 times the memory it held at its start, and has given
// back what it held while it was busy.
func TestField_J11IdleMemoryAfterManySales(t *testing.T) {
	need.Verify(t, "waits until a process has given its memory back")
	sales := 150
	if text := os.Getenv("POSAGENT_SALES"); text != "" {
		n, err := strconv.Atoi(text)
		require.NoError(t, err)
		sales = n
	}
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "b.toml"), []byte("[backend]\nwallet_delay = \"1ms\"\n"), 0o600))
	backend := exec.Command("posagent", "backend", "--listen", "127.0.0.1:0", "--state", filepath.Join(dir, "b"), "--config", filepath.Join(dir, "b.toml"))
	out, err := backend.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, backend.Start())
	t.Cleanup(func() { _ = backend.Process.Signal(syscall.SIGTERM); _ = backend.Wait() })
	lines := bufio.NewScanner(out)
	require.True(t, lines.Scan())
	base, ok := strings.CutPrefix(lines.Text(), "listening on ")
	require.True(t, ok, lines.Text())

	x := runIn(t, terminalOn(t, base, "", "tcp = \"127.0.0.1:0\"\n[methods]\npoll = \"20ms\""))
	var register string
	for register == "" {
		for word := range strings.FieldsSeq(x.until("^ready ")) {
			if at, ok := strings.CutPrefix(word, "register=tcp:"); ok {
				register = at
			}
		}
	}
	start, _ := memory(t, x.cmd.Process.Pid)
	busy := 0
	for i := range sales {
		code, _, talk := ask(t, "register", "pay", "12.50", "--currency", "EUR", "--line", "tcp:"+register, "--state", filepath.Join(dir, "r"))
		require.Equal(t, exitOK, code, "sale %d: %s", i, talk)
		_, anonymous := memory(t, x.cmd.Process.Pid)
		busy = max(busy, anonymous)
	}
	var idle, anonymous int
	need.Until(t, "the memory to be given back", func() bool {
		idle, anonymous = memory(t, x.cmd.Process.Pid)
		return idle*10 <= start*12 && anonymous*10 <= busy*9
	})
	t.Logf("%d sales: %d KiB at the start, %d KiB idle again; of its own %d KiB while busy, %d KiB idle", sales, start, idle, busy, anonymous)
}
