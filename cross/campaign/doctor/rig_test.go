package doctor

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/cross/need"
	"posagent/cross/program"
	"posagent/ecr/ecrtest/lines"
)

// box is one terminal whose fault is to be found.
type box struct {
	t       *testing.T
	bin     string
	dir     string
	backend string // the real one's address
	set     map[string]string
	extra   string // behind the configuration
	env     []string
	uid     int // of doctor and terminal, 0 = of the test
	wrap    []string
	flags   []string // of run
	up      *program.Process

	bare      bool   // doctor is told of no configuration
	elsewhere string // another state directory that doctor is told of
	examiner  string // another program that examines
}

// newBox makes a terminal that is well: its own directories, and the real backend.
func newBox(t *testing.T, bin, backend string) *box {
	b := &box{t: t, bin: bin, dir: t.TempDir(), backend: backend}
	b.set = map[string]string{
		"terminal.bax_id": `"10000001"`, "terminal.terminal_id": `"20000001"`, "terminal.merchant_id": `"demomerchant"`,
		"port.listen": `"127.0.0.1:0"`, "display.console": "false", "ecr.tcp": `"127.0.0.1:0"`,
		"upstream.base": fmt.Sprintf("%q", backend), "upstream.timeout": `"10s"`,
		"upstream.auth.bearer": `"posagent-demo-bearer"`, "upstream.auth.consumer_key": `"demo-consumer"`, "upstream.auth.consumer_secret": `"demo-consumer-secret"`,
	}
	return b
}

func (b *box) config() string  { return filepath.Join(b.dir, "config.toml") }
func (b *box) state() string   { return filepath.Join(b.dir, "state") }
func (b *box) journal() string { return filepath.Join(b.state(), "agent.db") }

// base puts a server in the backend's place.
func (b *box) base(address string) { b.set["upstream.base"] = fmt.Sprintf("%q", address) }

// write writes the configuration.
func (b *box) write() {
	sections := map[string][]string{}
	for key, value := range b.set {
		i := strings.LastIndex(key, ".")
		sections[key[:i]] = append(sections[key[:i]], key[i+1:]+" = "+value)
	}
	var text strings.Builder
	for _, name := range []string{"terminal", "port", "display", "ecr", "methods", "offline", "upstream", "upstream.auth", "store"} {
		if len(sections[name]) > 0 {
			fmt.Fprintf(&text, "[%s]\n%s\n", name, strings.Join(sections[name], "\n"))
		}
	}
	text.WriteString(b.extra)
	require.NoError(b.t, os.WriteFile(b.config(), []byte(text.String()), 0o600))
	b.give(b.dir)
}

// give lets the box's own user own what lies in a directory.
func (b *box) give(dir string) {
	if b.uid == 0 {
		return
	}
	require.NoError(b.t, filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Lchown(path, b.uid, b.uid)
	}))
	for _, up := range []string{dir, filepath.Dir(b.bin)} {
		for ; up != os.TempDir() && up != "/"; up = filepath.Dir(up) {
			require.NoError(b.t, os.Chmod(up, 0o755))
		}
	}
	require.NoError(b.t, os.Chmod(b.config(), 0o600))
}

// command is a verb on this box.
func (b *box) command(ctx context.Context, args ...string) *exec.Cmd {
	args = append([]string{b.bin}, append(args, "--config", b.config(), "--state", b.state())...)
	args = append(append([]string{}, b.wrap...), args...)
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Env = append(os.Environ(), b.env...)
	if b.uid != 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(b.uid), Gid: uint32(b.uid)}}
	}
	return cmd
}

// run starts the terminal, and waits for the first line that begins with said. It returns that line.
func (b *box) run(said string) string {
	b.t.Helper()
	b.write()
	p, line, err := program.Start(b.command(context.Background(), append([]string{"run"}, b.flags...)...), said)
	require.NoError(b.t, err)
	b.up = p
	b.t.Cleanup(b.stop)
	return line
}

// stop ends the terminal.
func (b *box) stop() {
	if b.up != nil {
		_ = b.up.Cmd.Process.Signal(syscall.SIGCONT)
		_ = b.up.Cmd.Process.Signal(syscall.SIGTERM)
		select {
		case <-b.up.Dead:
		case <-time.After(need.Limit()):
			b.up.Kill()
		}
		b.up = nil
	}
}

// must runs a verb that has to succeed, and returns what it printed.
func (b *box) must(args ...string) string {
	b.t.Helper()
	cmd := b.command(context.Background(), args...)
	var talk bytes.Buffer
	cmd.Stderr = &talk
	out, err := cmd.Output()
	require.NoError(b.t, err, "%v: %s", args, talk.String())
	return string(out)
}

// until repeats a look at the box until it is so.
func (b *box) until(what string, is func() bool) {
	b.t.Helper()
	late := need.Deadline()
	for !is() {
		require.True(b.t, time.Now().Before(late), "%s", what)
		<-time.After(50 * time.Millisecond)
	}
}

// finding is what doctor says of one check.
type finding struct {
	ID       string            `json:"id"`
	Status   string            `json:"status"`
	Evidence map[string]string `json:"evidence"`
	Remedy   struct{ Text, Command string }
}

// examined is one examination.
type examined struct {
	checks []finding
	code   int
	took   time.Duration
	text   string
}

// fails lists the ids that failed, in the order of the table.
func (e examined) fails() (ids []string) {
	for _, f := range e.checks {
		if f.Status == "fail" {
			ids = append(ids, f.ID)
		}
	}
	return ids
}

// examine runs doctor as it is installed.
func (b *box) examine() (e examined) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), need.Limit())
	defer cancel()
	cmd := b.command(ctx, "doctor", "--json")
	if b.elsewhere != "" {
		cmd.Args = append(cmd.Args, "--state", b.elsewhere)
	}
	if b.examiner != "" {
		cmd.Path = b.examiner
	}
	if b.bare {
		cmd.Args = []string{b.bin, "doctor", "--json", "--state", b.state()}
	}
	var talk bytes.Buffer
	cmd.Stderr = &talk
	began := time.Now()
	out, err := cmd.Output()
	e.took = time.Since(began)
	if err != nil {
		var failed *exec.ExitError
		require.ErrorAs(b.t, err, &failed)
		e.code = failed.ExitCode()
	}
	var v struct {
		Schema string
		Checks []finding
	}
	require.NoError(b.t, json.Unmarshal(out, &v), "%s%s", out, talk.String())
	require.Equal(b.t, "posagent.doctor/1", v.Schema)
	e.checks, e.text = v.Checks, string(out)
	return e
}

// status is the screen of this box.
func (b *box) status() string {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), need.Limit())
	defer cancel()
	cmd := b.command(ctx, "status")
	if b.elsewhere != "" {
		cmd.Args = append(cmd.Args, "--state", b.elsewhere)
	}
	if b.examiner != "" {
		cmd.Path = b.examiner
	}
	if b.bare {
		cmd.Args = []string{b.bin, "status", "--state", b.state()}
	}
	out, err := cmd.Output()
	var failed *exec.ExitError
	if err != nil {
		require.ErrorAs(b.t, err, &failed)
	}
	return string(out)
}

// realBackend starts the program's own backend, for as long as the test runs.
func realBackend(t *testing.T, bin string) string {
	t.Helper()
	cmd := exec.Command(bin, "backend", "--listen", "127.0.0.1:0", "--state", filepath.Join(t.TempDir(), "backend"))
	p, line, err := program.Start(cmd, "listening on ")
	require.NoError(t, err)
	t.Cleanup(func() { _ = p.Cmd.Process.Signal(syscall.SIGTERM); <-p.Dead })
	return strings.TrimPrefix(line, "listening on ")
}

// through is the real backend behind a server that may err in one way: err answers a request, and returns whether it did.
func (b *box) through(err func(w http.ResponseWriter, r *http.Request) bool) http.HandlerFunc {
	to, e := url.Parse(b.backend)
	require.NoError(b.t, e)
	proxy := httputil.NewSingleHostReverseProxy(to)
	proxy.ErrorLog = log.New(io.Discard, "", 0)
	director := proxy.Director
	proxy.Director = func(r *http.Request) { director(r); r.Host = to.Host }
	return func(w http.ResponseWriter, r *http.Request) {
		if err == nil || !err(w, r) {
			proxy.ServeHTTP(w, r)
		}
	}
}

// serve puts a server in the backend's place.
func (b *box) serve(h http.HandlerFunc) {
	srv := httptest.NewServer(h)
	srv.Config.ErrorLog = log.New(io.Discard, "", 0)
	b.t.Cleanup(func() { srv.CloseClientConnections(); srv.Close() })
	b.base(srv.URL)
}

// answers is a server that gives every request one reply.
func answers(status int, kind, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", kind)
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

// cable gives the terminal a serial line.
func (b *box) cable() *lines.Cable {
	c, err := lines.Plug(b.dir)
	require.NoError(b.t, err)
	b.t.Cleanup(c.Pull)
	b.set["ecr.serial"] = fmt.Sprintf("%q", c.Name)
	delete(b.set, "ecr.tcp")
	return c
}
