package main

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/cross/need"
	"posagent/cross/program"
)

// unit: systemd finds nothing wrong with it, and scores its exposure at 1.5 at most. No systemd runs it here.
func unit(t *testing.T, m *made) {
	analyze := need.Tool(t, "systemd-analyze")
	tree := t.TempDir()
	code, said := ran(t, nil, "dpkg-deb", "-x", deb(t, m.first), tree)
	require.Zero(t, code, said)
	own := filepath.Join(tree, "usr/lib/systemd/system")
	for _, name := range []string{"sysinit", "basic", "network", "multi-user", "shutdown", "umount"} {
		text := "[Unit]\nDescription=a stand-in\nDefaultDependencies=no\n"
		require.NoError(t, os.WriteFile(filepath.Join(own, name+".target"), []byte(text), 0o644))
	}
	verify := func() (int, string) {
		return ran(t, nil, analyze, "verify", "--man=no", "--root="+tree, "posagent.service")
	}
	code, said = verify()
	require.Zero(t, code, said)
	require.Empty(t, said)
	path := filepath.Join(own, "posagent.service")
	sound := read(t, path)
	code, said = ran(t, nil, analyze, "security", "--offline=true", "--threshold=15", "--no-pager", path)
	require.Zero(t, code, said)
	t.Log(strings.TrimSpace(said[strings.LastIndex(strings.TrimSpace(said), "\n")+1:]))

	// Both judges see a fault.
	require.NoError(t, os.WriteFile(path, []byte(strings.Replace(sound, "UMask=", "Umask=", 1)), 0o644))
	_, said = verify()
	require.Contains(t, said, "Unknown key")
	require.NoError(t, os.WriteFile(path, []byte(strings.Replace(sound, "NoNewPrivileges=yes", "NoNewPrivileges=no", 1)), 0o644))
	code, said = ran(t, nil, analyze, "security", "--offline=true", "--threshold=15", "--no-pager", path)
	require.NotZero(t, code, said)
}

// systemCalls: what a start, a sale and a stop ask of the kernel is what the unit lets through.
func systemCalls(t *testing.T, m *made) {
	analyze, strace := need.Tool(t, "systemd-analyze"), need.Tool(t, "strace")
	allowed := syscalls(t, analyze, "@system-service")
	for _, set := range []string{"@privileged", "@resources"} {
		for name := range syscalls(t, analyze, set) {
			delete(allowed, name)
		}
	}
	require.Greater(t, len(allowed), 100)
	require.NotContains(t, allowed, "setrlimit")

	dir, err := os.MkdirTemp("", "calls") // which another account reaches
	require.NoError(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	binary, config, counts := filepath.Join(dir, "posagent"), filepath.Join(dir, "config.toml"), filepath.Join(dir, "counts")
	replace(t, m.older, binary)
	require.NoError(t, os.WriteFile(config, []byte(sandbox), 0o644))
	cmd := exec.Command(strace, "-f", "-c", "-o", counts, binary, "run", "--config", config, "--state", filepath.Join(dir, "s"))
	if os.Geteuid() == 0 { // the unit has an account of its own: SQLite gives files away as root alone
		const nobody = 65534
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
		require.NoError(t, os.Chown(dir, nobody, nobody))
	}
	p, line, err := program.Start(cmd, "ready ")
	require.NoError(t, err)
	t.Cleanup(p.Kill)
	code, said := ran(t, nil, m.older, "register", "pay", "12.50", "--line", program.Said(line, "register="), "--config", config)
	require.Zero(t, code, said)
	children := read(t, fmt.Sprintf("/proc/%d/task/%[1]d/children", p.Cmd.Process.Pid))
	code, said = ran(t, nil, "kill", "-TERM", strings.TrimSpace(children))
	require.Zero(t, code, said)
	<-p.Dead
	used := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^ +\d+\.\d+ .* ([a-z0-9_]+)$`).FindAllStringSubmatch(read(t, counts), -1) {
		used[m[1]] = m[1] != "total"
	}
	require.True(t, used["fsync"] || used["fdatasync"], "a sale was made: %v", used)
	for name, is := range used {
		if is && !allowed[name] && name != "execve" { // which systemd itself does, and lets through
			t.Errorf("%s is used, and the unit does not let it through", name)
		}
	}
	t.Logf("%d kinds of system calls, all let through: %v", len(used), slices.Sorted(maps.Keys(used)))
}

// syscalls expands a set of system calls as systemd does.
func syscalls(t *testing.T, analyze, set string) map[string]bool {
	t.Helper()
	code, said := ran(t, nil, analyze, "syscall-filter", "--no-pager", set)
	require.Zero(t, code, said)
	all := map[string]bool{}
	for line := range strings.Lines(said) {
		word := strings.TrimSpace(line)
		switch {
		case word == "" || word == set || strings.HasPrefix(word, "#"):
		case strings.HasPrefix(word, "@"):
			maps.Copy(all, syscalls(t, analyze, word))
		default:
			all[word] = true
		}
	}
	return all
}
