package arm

import (
	"context"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/cross/need"
	"posagent/cross/program"
	"posagent/schemes/wire/rest/openapi/openapitest"
)

// patience is how long one step may take; the emulator and its neighbours share the machine.
const patience = 2 * time.Minute

// verbs are all that the command line has on any target.
var verbs = strings.Split(`run
status
methods
sale list
sale show
sale release
sale close
ops list
ops show
ops send
ops hold
ops release
ops resolve
ops own
ops ack
ops report
audit
config example
config check
config show
config rotate-key
backup
restore
journal accept
reset
register pay
register reverse
register refund
register status
register repeat
register end-of-day
register totals
register abort
register diagnosis
register decode
backend
backend books
backend fleet
backend fleet create
backend fleet import
backend fleet list
backend fleet configure
backend fleet revoke
backend fleet rollout
backend hooks
backend scenarios
backend cards
demo
wallet pay
wallet decline
visit
completion
man
version`, "\n")

// box is a terminal on emulated armv7.
type box struct {
	t                  *testing.T
	qemu, bin          string
	config, state      string
	port, line, served string // addresses
}

// TestField_U5TheTerminalHasEveryVerbAndRoute: a shop's build had neither reset nor config rotate-key, and not the routes of
// disputes, onboarding and hosted build.
func TestField_U5TheTerminalHasEveryVerbAndRoute(t *testing.T) {
	need.Verify(t, "builds for armv7 and emulates it")
	b := newBox(t)
	if b == nil {
		return
	}
	manual := strings.ReplaceAll(b.run("man"), `\-`, "-")
	for _, verb := range verbs {
		require.Regexp(t, `(?m)^\.SS posagent `+verb+`( |$)`, manual)
	}

	stop := b.start()
	require.Equal(t, http.StatusNotFound, b.ask("GET", "/no/such/route"), "so that a missing route is seen")
	hole := regexp.MustCompile(`\{[^}]*\}`)
	for _, r := range append(openapitest.Routes(), openapitest.Route{Method: "POST", Path: "/hooks/notifications"}, openapitest.Route{Method: "POST", Path: "/hooks/webhooks"}) {
		path := hole.ReplaceAllString(strings.Replace(r.Path, "{type}", "purchase", 1), "1")
		switch status := b.ask(r.Method, path); status {
		case http.StatusNotFound, http.StatusMethodNotAllowed:
			t.Errorf("%s %s: status %d", r.Method, path, status)
		}
	}
	require.Contains(t, b.run("register", "status", "--line", "tcp:"+b.line), "status 00")
	stop()

	before := b.key()
	b.run("config", "rotate-key")
	require.NotEqual(t, before, b.key(), "the box's key after config rotate-key")
	stop = b.start() // the journal opens under the new key
	stop()
	b.run("reset", "--yes")
	require.NoFileExists(t, filepath.Join(b.state, "agent.db"))
}

// newBox builds the program and configures a sandbox terminal, or returns nil where no emulator is installed.
func newBox(t *testing.T) *box {
	t.Helper()
	b := &box{t: t, qemu: need.Tool(t, "qemu-arm-static")}
	dir := t.TempDir()
	b.bin, b.config, b.state = filepath.Join(dir, "posagent"), filepath.Join(dir, "config.toml"), filepath.Join(dir, "state")
	require.NoError(t, program.Build(b.bin, []string{"-trimpath", "-tags", "nethttpomithttp2", "-ldflags=-s -w"}, "GOOS=linux", "GOARCH=arm", "GOARM=7"))
	ports := need.Ports(t, 3)
	b.port, b.line, b.served = "127.0.0.1:"+ports[0], "127.0.0.1:"+ports[1], "127.0.0.1:"+ports[2]
	text := "[port]\nlisten = \"" + b.port + "\"\n[ecr]\ntcp = \"" + b.line + "\"\n[backend]\nlisten = \"" + b.served + "\"\n[hooks]\nauthorization = \"0123456789abcdef\"\n"
	require.NoError(t, os.WriteFile(b.config, []byte(text), 0o600))
	return b
}

func (b *box) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, b.qemu, append([]string{b.bin}, args...)...)
	cmd.Env = append(os.Environ(), "POSAGENT_CONFIG="+b.config, "POSAGENT_STATE="+b.state)
	return cmd
}

// run returns what a verb printed, and fails the test where it did not exit with 0.
func (b *box) run(args ...string) string {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.t.Context(), patience)
	defer cancel()
	cmd := b.command(ctx, args...)
	var talk strings.Builder
	cmd.Stderr = &talk
	out, err := cmd.Output()
	require.NoError(b.t, err, "posagent %s\n%s%s", strings.Join(args, " "), out, talk.String())
	return string(out)
}

// start runs the terminal until a register may ask, and returns what stops it.
func (b *box) start() (stop func()) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.t.Context(), 2*patience)
	p, _, err := program.Start(b.command(ctx, "run"), "ready ")
	b.t.Cleanup(cancel)
	require.NoError(b.t, err)
	return func() {
		b.t.Helper()
		require.NoError(b.t, p.Stop())
	}
}

// ask returns the status of a request without any proof: a route that is there refuses it.
func (b *box) ask(method, path string) int {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.t.Context(), patience)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, "http://"+b.port+path, http.NoBody)
	require.NoError(b.t, err)
	res, err := http.DefaultClient.Do(req)
	require.NoError(b.t, err, "%s %s", method, path)
	require.NoError(b.t, res.Body.Close())
	return res.StatusCode
}

// key returns the names and contents of the box's key files.
func (b *box) key() string {
	b.t.Helper()
	var all strings.Builder
	files, err := filepath.Glob(filepath.Join(b.state, "keys", "*"))
	require.NoError(b.t, err)
	require.NotEmpty(b.t, files)
	for _, name := range files {
		data, err := os.ReadFile(name)
		require.NoError(b.t, err)
		all.WriteString(name + "\n" + string(data) + "\n")
	}
	return all.String()
}
