package update

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/cross/need"
	"posagent/cross/program"
	"posagent/ecr/ecrtest/lines"
)

// programs are built once; the updater is the run's.
type programs struct{ first, second, updater string }

const (
	firstVersion  = "1.0.0"
	secondVersion = "2.0.0"
	// step is one that the second program has more, and that lets the first one go on with the journal.
	step = "agent/9 of the second program"
)

// fault makes the second program go wrong as the file beside it says: that is what an update has to notice.
const fault = `package main

import (
	"os"
	"strings"
	"syscall"
	"time"
)

func init() {
	if len(os.Args) < 2 || os.Args[1] != "run" {
		return
	}
	exe, err := os.Executable()
	if err != nil {
		return
	}
	what, err := os.ReadFile(exe + ".fault")
	if err != nil {
		return
	}
	after := func(do func()) { go func() { time.Sleep(3 * time.Second); do() }() }
	switch strings.TrimSpace(string(what)) {
	case "crash":
		after(func() { os.Exit(3) })
	case "hang":
		after(func() { _ = syscall.Kill(os.Getpid(), syscall.SIGSTOP) })
	case "network":
		os.Setenv("POSAGENT_UPSTREAM_PROXY", "http://127.0.0.1:1")
	case "line":
		os.Setenv("POSAGENT_ECR_SERIAL", "/dev/posagent-none")
	}
}
`

// folder is where they are built; TestMain removes it.
var folder = sync.OnceValues(func() (string, error) { return os.MkdirTemp("", "posagent-update") })

var built = sync.OnceValues(func() (p programs, err error) {
	dir, err := folder()
	if err != nil {
		return p, err
	}
	p = programs{first: filepath.Join(dir, "first"), second: filepath.Join(dir, "second")}
	root, err := filepath.Abs(filepath.Join("..", "..", ".."))
	if err != nil {
		return p, err
	}
	name := filepath.Join(root, "agent", "readiness.go")
	text, err := os.ReadFile(name)
	if err != nil {
		return p, err
	}
	const old = `[]store.Step{{Name: "agent/2 proof", SQL: `
	if strings.Count(string(text), old) != 1 {
		return p, errors.New("the step to put another one behind is not there")
	}
	changed := strings.Replace(string(text), old, `[]store.Step{{Name: "`+step+`", SQL: "CREATE TABLE agent_second (id INTEGER PRIMARY KEY) STRICT;", Open: true}, {Name: "agent/2 proof", SQL: `, 1)
	overlay, err := json.Marshal(map[string]any{"Replace": map[string]string{
		name: filepath.Join(dir, "readiness.go"), filepath.Join(root, "cmd", "posagent", "fault.go"): filepath.Join(dir, "fault.go"),
	}})
	if err != nil {
		return p, err
	}
	for file, text := range map[string]string{"readiness.go": changed, "fault.go": fault, "overlay.json": string(overlay)} {
		if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600); err != nil {
			return p, err
		}
	}
	if err := program.Build(p.first, []string{"-ldflags", "-X main.linked=" + firstVersion}); err != nil {
		return p, err
	}
	if err := program.Build(p.second, []string{"-ldflags", "-X main.linked=" + secondVersion, "-overlay", filepath.Join(dir, "overlay.json")}); err != nil {
		return p, err
	}
	return p, nil
})

func TestMain(m *testing.M) {
	code := m.Run()
	if dir, err := folder(); err == nil {
		_ = os.RemoveAll(dir) // a folder for temporary files
	}
	os.Exit(code)
}

// key writes a new key as openssl does, and returns its path.
func key(t *testing.T, dir, name string) string {
	t.Helper()
	_, private, err := ed25519.GenerateKey(rand.Reader)
	require.NoError(t, err)
	der, err := x509.MarshalPKCS8PrivateKey(private)
	require.NoError(t, err)
	path := filepath.Join(dir, name+".key")
	require.NoError(t, os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), 0o600))
	return path
}

// desk is where releases are made: a repository and its keys.
type desk struct {
	t    *testing.T
	p    programs
	dir  string
	keys []string // flags
}

func newDesk(t *testing.T) *desk {
	p, err := built()
	require.NoError(t, err)
	p.updater = program.Path(t, "posagent-update")
	d := &desk{t: t, p: p, dir: t.TempDir()}
	at := t.TempDir()
	for _, name := range []string{"targets-key", "targets-key", "online-key"} {
		d.keys = append(d.keys, "--"+name, key(t, at, fmt.Sprint(name, len(d.keys))))
	}
	init := append([]string{"repository", "init", "--repository", d.repository()}, d.keys...)
	d.must(append(init, "--root-key", key(t, at, "root1"), "--root-key", key(t, at, "root2"))...)
	return d
}

func (d *desk) repository() string { return filepath.Join(d.dir, "repository") }

// must runs a verb of the updater that has to succeed.
func (d *desk) must(args ...string) string {
	d.t.Helper()
	out, err := exec.Command(d.p.updater, args...).CombinedOutput()
	require.NoError(d.t, err, "%v: %s", args, out)
	return string(out)
}

// offer puts a program into the repository.
func (d *desk) offer(file, version string, more ...string) {
	d.t.Helper()
	named := filepath.Join(d.dir, "posagent-test")
	data, err := os.ReadFile(file)
	require.NoError(d.t, err)
	require.NoError(d.t, os.WriteFile(named, data, 0o700))
	args := append([]string{"repository", "add", "--repository", d.repository(), "--version", version}, d.keys...)
	d.must(append(append(args, more...), named)...)
}

// box is a terminal with its program in a place of its own, which an init system starts again whenever it ends.
type box struct {
	t       *testing.T
	d       *desk
	dir     string
	backend string // its address
	books   string // its state
	cable   *lines.Cable
	up      *program.Process
	down    func()

	mu     sync.Mutex
	ended  bool
	starts int
	run    *exec.Cmd
}

// full says that everything is played; else what `make verify` has time for.
var full = os.Getenv("UPDATE") == "full"

const token = "the-register-of-the-shop"

// newBox makes a box whose terminal is ready; nil where this is not root, who alone sees which program a terminal runs.
func newBox(t *testing.T, d *desk) *box {
	b := unpacked(t, d)
	if b == nil {
		return nil
	}
	config := fmt.Sprintf(program.Demo, "http://"+b.backend) + fmt.Sprintf("[port]\nlisten = \"127.0.0.1:0\"\ntoken = %q\n", token)
	config = strings.Replace(config, "[ecr]\n", fmt.Sprintf("[ecr]\nserial = %q\n", b.cable.Name), 1)
	config += "[terminal]\nbax_id = \"10000001\"\nterminal_id = \"20000001\"\nmerchant_id = \"demomerchant\"\n"
	config = strings.Replace(config, "[upstream.auth]\n", "[upstream.auth]\nbearer = \"posagent-demo-bearer\"\n", 1)
	require.NoError(t, os.WriteFile(b.file("config.toml"), []byte(config), 0o600))
	b.supervise()
	b.waitFor("the terminal is ready", func() bool { return strings.HasPrefix(b.status(), "READY") })
	return b
}

// unpacked is a box with its program, a line and a backend with more flags, without a configuration; nil where this is not root.
func unpacked(t *testing.T, d *desk, flags ...string) *box {
	if os.Geteuid() != 0 {
		need.Missing(t, "root", "run it as root")
		return nil
	}
	b := &box{t: t, d: d, dir: t.TempDir()}
	b.books = filepath.Join(b.dir, "backend")
	b.backend = "127.0.0.1:" + need.Ports(t, 1)[0]
	b.startBackend(flags...)
	require.NoError(t, os.Mkdir(filepath.Dir(b.program()), 0o755))
	data, err := os.ReadFile(d.p.first)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(b.program(), data, 0o755))
	b.cable, err = lines.Plug(b.dir)
	require.NoError(t, err)
	t.Cleanup(b.cable.Pull)
	return b
}

func (b *box) file(name string) string { return filepath.Join(b.dir, name) }
func (b *box) program() string         { return b.file("bin/posagent") }
func (b *box) state() string           { return b.file("state") }

func (b *box) startBackend(flags ...string) {
	p, _, err := program.Start(exec.Command(b.d.p.first, append([]string{"backend", "--listen", b.backend, "--state", b.books}, flags...)...), "listening on ")
	require.NoError(b.t, err)
	b.up = p
	b.t.Cleanup(p.Kill)
}

// supervise is the box's init system.
func (b *box) supervise() {
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			b.mu.Lock()
			if b.ended {
				b.mu.Unlock()
				return
			}
			log, err := os.OpenFile(b.file("log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
			if err != nil {
				panic(err)
			}
			b.run = exec.Command(b.program(), "run", "--config", b.file("config.toml"), "--state", b.state())
			b.run.Stdout, b.run.Stderr = log, log
			err = b.run.Start()
			b.starts++
			cmd := b.run
			b.mu.Unlock()
			if err == nil {
				_ = cmd.Wait()
			}
			_ = log.Close()
			time.Sleep(200 * time.Millisecond)
		}
	}()
	b.t.Cleanup(func() {
		b.mu.Lock()
		b.ended = true
		if b.run.Process != nil {
			_ = b.run.Process.Signal(syscall.SIGCONT)
			_ = b.run.Process.Signal(syscall.SIGTERM)
		}
		b.mu.Unlock()
		<-done
		if b.t.Failed() {
			log, _ := os.ReadFile(b.file("log"))
			b.t.Logf("the terminal said:\n%s", log)
		}
	})
}

func (b *box) waitFor(what string, is func() bool) {
	b.t.Helper()
	for until := need.Deadline(); !is(); time.Sleep(100 * time.Millisecond) {
		require.True(b.t, time.Now().Before(until), "%s: %s", what, b.status())
	}
}

// verb runs a verb of the program in place and returns what it printed.
func (b *box) verb(args ...string) string {
	out, _ := exec.Command(b.program(), append(args, "--config", b.file("config.toml"), "--state", b.state())...).CombinedOutput()
	return string(out)
}

func (b *box) status() string { return b.verb("status") }

func (b *box) version() string {
	out, err := exec.Command(b.program(), "version").Output()
	require.NoError(b.t, err)
	return strings.Fields(string(out))[1]
}

// updates runs a verb of the updater on the box.
func (b *box) updates(verb string, more ...string) (code int, said string) {
	b.t.Helper()
	args := []string{verb, "--program", b.program(), "--terminal", b.state(), "--dir", b.file("updates"), "--target", "posagent-test",
		"--root", filepath.Join(b.d.repository(), "1.root.json"), "--steady", "3s", "--trial", "45s"}
	if verb == "update" || verb == "check" {
		args = append(args, "--from", b.d.repository())
	}
	cmd := exec.Command(b.d.p.updater, append(args, more...)...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		require.ErrorAs(b.t, err, new(*exec.ExitError), "%s", out)
	}
	return cmd.ProcessState.ExitCode(), string(out)
}

// pay asks the local port for a payment, and returns the status.
func (b *box) pay(key string) int {
	b.t.Helper()
	log, err := os.ReadFile(b.file("log"))
	require.NoError(b.t, err)
	address := ""
	for line := range strings.Lines(string(log)) {
		if at := program.Said(line, "port="); at != "" {
			address = at
		}
	}
	require.NotEmpty(b.t, address, string(log))
	req, err := http.NewRequest(http.MethodPost, address+"/api/v1/payments", bytes.NewReader([]byte(`{"type":"NetsHostedEcom","amount":1250,"currencyCode":"EUR"}`)))
	require.NoError(b.t, err)
	req.Header.Set("Authorization", "Bearer "+token)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Idempotency-Key", key)
	resp, err := http.DefaultClient.Do(req)
	require.NoError(b.t, err)
	defer resp.Body.Close()
	_, err = io.Copy(io.Discard, resp.Body)
	require.NoError(b.t, err)
	return resp.StatusCode
}

// pending counts what is open in the journal.
func (b *box) pending() (n int) {
	out := b.verb("journal", "pending", "--json")
	var v struct{ Sales, Operations int }
	require.NoError(b.t, json.NewDecoder(strings.NewReader(out[strings.IndexByte(out, '{'):])).Decode(&v), out)
	return v.Sales + v.Operations
}
