package program

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Patience is what a program has to say its first line: the machine may have much else to do.
const Patience = 2 * time.Minute

// Build builds the program with more flags, and with more variables in the environment.
func Build(to string, flags []string, env ...string) error {
	build := exec.Command("go", slices.Concat([]string{"build", "-o", to}, flags, []string{"posagent/cmd/posagent"})...)
	build.Env = slices.Concat(os.Environ(), []string{"CGO_ENABLED=0"}, env)
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("build: %w\n%s", err, out)
	}
	return nil
}

// Env names the folder of the programs that a run has built for all its tests. cross/programs.sh makes it; its name holds
// the digest of what is inside, so that a cached result belongs to one program.
const Env = "PROGRAMS"

// Path returns the path of one of the product's programs (posagent, posagent-backend, posagent-update): the run's, or one
// that it builds into out/programs of the tree. It fails the test where the program does not build.
func Path(t failing, name string) string {
	t.Helper()
	if dir := os.Getenv(Env); dir != "" {
		return filepath.Join(dir, name)
	}
	path, err := built(name)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// failing is what Path needs of a test.
type failing interface {
	Helper()
	Fatal(args ...any)
}

var building sync.Map // name -> func() (string, error)

func built(name string) (string, error) {
	once, _ := building.LoadOrStore(name, sync.OnceValues(func() (string, error) {
		out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}").Output()
		if err != nil {
			return "", fmt.Errorf("find the tree: %w", err)
		}
		dir := filepath.Join(strings.TrimSpace(string(out)), "out", "programs", "own")
		path := filepath.Join(dir, name)
		fresh := fmt.Sprintf("%s.%d", path, os.Getpid())
		build := exec.Command("go", "build", "-o", fresh, "posagent/cmd/"+name)
		build.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := build.CombinedOutput(); err != nil {
			return "", fmt.Errorf("build %s: %w\n%s", name, err, out)
		}
		return path, os.Rename(fresh, path) // whoever runs the one before keeps it
	}))
	return once.(func() (string, error))()
}

// Demo is how a terminal reaches an embedded backend, whose address it wants; its register line is any port, and it has no screen.
const Demo = `[upstream]
base = %q
[upstream.auth]
consumer_key = "demo-consumer"
consumer_secret = "demo-consumer-secret"
[ecr]
tcp = "127.0.0.1:0"
[display]
console = false
`

// Process is a running program.
type Process struct {
	Cmd  *exec.Cmd
	Dead chan struct{} // closed once it has ended
}

// Run starts a command.
func Run(cmd *exec.Cmd) (*Process, error) {
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	p := &Process{cmd, make(chan struct{})}
	go func() {
		defer close(p.Dead)
		_ = cmd.Wait() // how it ended stands in cmd.ProcessState
	}()
	return p, nil
}

// Start starts a command and returns its first line that begins with prefix. It fails where the program ends before that, or is
// silent for too long; the process is then dead.
func Start(cmd *exec.Cmd, prefix string) (*Process, string, error) {
	said, talk := &lines{prefix: prefix, found: make(chan string, 1)}, &Talk{}
	cmd.Stdout = said
	if cmd.Stderr == nil {
		cmd.Stderr = talk
	}
	p, err := Run(cmd)
	if err != nil {
		return nil, "", err
	}
	select {
	case line := <-said.found:
		return p, line, nil
	case <-p.Dead:
		return p, "", fmt.Errorf("ended before %q: %s\n%s", prefix, cmd.ProcessState, talk)
	case <-time.After(Patience):
		p.Kill()
		return p, "", fmt.Errorf("no %q in %s\n%s", prefix, Patience, talk)
	}
}

// Alive reports whether the program runs.
func (p *Process) Alive() bool {
	select {
	case <-p.Dead:
		return false
	default:
		return true
	}
}

// Kill ends the program with -9 and waits for its end.
func (p *Process) Kill() {
	_ = p.Cmd.Process.Kill() // it may have ended
	<-p.Dead
}

// Stop ends the program as an init system does. It fails where the exit is not 0.
func (p *Process) Stop() error {
	if err := p.Cmd.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	<-p.Dead
	if code := p.Cmd.ProcessState.ExitCode(); code != 0 {
		return fmt.Errorf("exit %d", code)
	}
	return nil
}

// Said returns what a line has behind a word: the address behind "port=", or "".
func Said(line, word string) string {
	for field := range strings.FieldsSeq(line) {
		if at, ok := strings.CutPrefix(field, word); ok {
			return at
		}
	}
	return ""
}

// lines finds the first line that begins with a prefix.
type lines struct {
	prefix string
	found  chan string
	rest   []byte
}

func (l *lines) Write(p []byte) (int, error) {
	l.rest = append(l.rest, p...)
	for {
		line, rest, whole := bytes.Cut(l.rest, []byte("\n"))
		if !whole {
			return len(p), nil
		}
		l.rest = rest
		if strings.HasPrefix(string(line), l.prefix) {
			select {
			case l.found <- string(line):
			default:
			}
		}
	}
}

// Talk is text that is read while it is written: what a program says, or a log.
type Talk struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write implements io.Writer.
func (t *Talk) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.text.Write(p)
}

// String returns what was written so far.
func (t *Talk) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.text.String()
}
