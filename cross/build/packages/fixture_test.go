package main

import (
	"bufio"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/cross/need"
	"posagent/cross/program"
)

// made are the packages of two versions for this machine. The second knows one step of the journal's schema more.
type made struct {
	first, second string // folders
	older, newer  string // binaries
	again         string // the first version once more, made in a copy of the tree
}

// deb and ipk name a package in a folder.
func deb(t *testing.T, dir string) string { return one(t, dir, "posagent_*.deb") }
func ipk(t *testing.T, dir string) string { return one(t, dir, "posagent_*.ipk") }

func one(t *testing.T, dir, pattern string) string {
	t.Helper()
	list, err := filepath.Glob(filepath.Join(dir, pattern))
	require.NoError(t, err)
	require.Len(t, list, 1, "%s in %s", pattern, dir)
	return list[0]
}

const epoch = 1_795_000_000 // 2026-11-18

// makeAll builds the packages; nil where a tool is missing.
func makeAll(t *testing.T) *made {
	t.Helper()
	root, err := filepath.Abs("../../..")
	require.NoError(t, err)
	if _, err := command(root, []string{"CGO_ENABLED=0", "GOFLAGS=-trimpath"}, "go", "run", nfpm, "--version"); err != nil {
		t.Log(err)
		need.Missing(t, "nfpm", "the network, for its first build: go run "+nfpm)
		return nil
	}
	unpack := need.Tool(t, "dpkg-deb")
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	m := &made{first: at("first"), second: at("second"), again: at("again"), newer: at("posagent-2")}
	t.Setenv("VERSION", "1.0.0")
	t.Setenv("SOURCE_DATE_EPOCH", "1795000000")
	o, err := asked(root, m.first, []target{here()})
	require.NoError(t, err)
	require.EqualValues(t, epoch, o.epoch)
	o.commit = ""
	require.NoError(t, build(o))
	code, said := ran(t, nil, unpack, "-x", deb(t, m.first), at("tree"))
	require.Zero(t, code, said)
	m.older = at("tree/usr/bin/posagent")

	o.out, o.root = m.again, at("elsewhere/tree")
	copyTree(t, root, o.root)
	require.NoError(t, build(o))

	o.root = root
	o.version, o.version, o.out = "2.0.0", "2.0.0", m.second
	require.NoError(t, compile(o, here(), terminal, m.newer, "-overlay", oneStepMore(t, root, at("overlay"))))
	o.made = map[string]string{here().name: m.newer}
	require.NoError(t, build(o))
	return m
}

// oneStepMore writes an overlay in which the journal has one table more, and returns its file.
func oneStepMore(t *testing.T, root, dir string) string {
	t.Helper()
	const old = `[]store.Step{{Name: "agent/2 proof", SQL: `
	name := filepath.Join(root, "agent", "readiness.go")
	text, err := os.ReadFile(name)
	require.NoError(t, err)
	require.Equal(t, 1, strings.Count(string(text), old))
	changed := strings.Replace(string(text), old, `[]store.Step{{Name: "agent/9 of a newer program", SQL: "CREATE TABLE agent_newer (id INTEGER PRIMARY KEY) STRICT;"}, {Name: "agent/2 proof", SQL: `, 1)
	require.NoError(t, os.MkdirAll(dir, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "readiness.go"), []byte(changed), 0o644))
	overlay, err := json.Marshal(map[string]any{"Replace": map[string]string{name: filepath.Join(dir, "readiness.go")}})
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "overlay.json"), overlay, 0o644))
	return filepath.Join(dir, "overlay.json")
}

// copyTree copies a tree without what git and the build made.
func copyTree(t *testing.T, from, to string) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		if d.IsDir() {
			if slices.Contains([]string{".git", "bin", "out"}, name) {
				return fs.SkipDir
			}
			return os.MkdirAll(filepath.Join(to, name), 0o755)
		}
		if !d.Type().IsRegular() || name == ".git" {
			return nil
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(to, name), data, 0o644)
	}))
}

// read returns the text of a file.
func read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(data)
}

// ran runs a program and returns its exit code and all that it printed.
func ran(t *testing.T, env []string, name string, args ...string) (code int, said string) {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Env = append(os.Environ(), env...)
	out, err := cmd.CombinedOutput()
	var failed *exec.ExitError
	if !errors.As(err, &failed) {
		require.NoError(t, err, "%s %v: %s", name, args, out)
	}
	return cmd.ProcessState.ExitCode(), string(out)
}

// waiting starts a program that goes on, returns the first line that it prints, and stops it.
func waiting(t *testing.T, name string, args ...string) string {
	t.Helper()
	cmd := exec.Command(name, args...)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, cmd.Process.Signal(syscall.SIGTERM))
	_, _ = io.Copy(io.Discard, out)
	require.NoError(t, err)
	require.NoError(t, cmd.Wait(), "it stops as it was asked to")
	return line
}

// sandbox is the configuration of a terminal whose wallets pay at once.
const sandbox = `[port]
listen = "127.0.0.1:0"
[ecr]
tcp = "127.0.0.1:0"
[methods]
poll = "20ms"
[display]
console = false
[backend]
listen = "127.0.0.1:0"
wallet_delay = "1ms"
`

// sandboxFile writes it.
func sandboxFile(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "sandbox.toml")
	require.NoError(t, os.WriteFile(path, []byte(sandbox), 0o600))
	return path
}

// sells runs a sandbox on a state directory for one settled sale. With open set a second one is killed while its customer is asked.
func sells(t *testing.T, binary, state string, open bool) {
	t.Helper()
	config := sandboxFile(t)
	p, line, err := program.Start(exec.Command(binary, "run", "--config", config, "--state", state), "ready ")
	require.NoError(t, err)
	defer p.Kill()
	register := program.Said(line, "register=")
	code, said := ran(t, nil, binary, "register", "pay", "12.50", "--line", register, "--config", config)
	require.Zero(t, code, said)
	if !open {
		require.NoError(t, p.Stop())
		return
	}
	paying, err := program.Run(exec.Command(binary, "register", "pay", "900.08", "--abort-after", "10m", "--line", register, "--config", config))
	require.NoError(t, err)
	defer paying.Kill()
	for late := need.Deadline(); ; {
		_, said := ran(t, nil, binary, "sale", "list", "--json", "--state", state)
		if strings.Contains(said, `"phase": "WAITING"`) {
			return
		}
		require.True(t, time.Now().Before(late), "never waited: %s", said)
		<-time.After(20 * time.Millisecond)
	}
}

// replace puts a copy of one file or directory in the place of another, with its owner and modes.
func replace(t *testing.T, from, to string) {
	t.Helper()
	require.NoError(t, os.RemoveAll(to))
	code, said := ran(t, nil, "cp", "-a", from, to)
	require.Zero(t, code, said)
}

// journal is what a state directory holds of the journal: the digests of its files that are not empty.
func journal(t *testing.T, state string) (all string) {
	t.Helper()
	for _, name := range []string{"agent.db", "agent.db-wal", "agent.db.mark"} {
		f, err := os.Open(filepath.Join(state, name))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		require.NoError(t, err)
		data, err := io.ReadAll(f)
		require.NoError(t, errors.Join(err, f.Close()))
		if len(data) > 0 { // who reads it leaves an empty log
			all += fmt.Sprintf("%s %x\n", name, sha256.Sum256(data))
		}
	}
	require.NotEmpty(t, all, "a journal in %s", state)
	return all
}
