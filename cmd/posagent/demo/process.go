package demo

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// process is one running copy of our own binary.
type process struct {
	name  string
	cmd   *exec.Cmd
	mu    sync.Mutex
	lines []string
	seen  chan struct{} // closed and replaced at every new line
	done  chan struct{}
	err   error
}

// start runs the binary with args; every line of its output goes to show (nil = nowhere) and is kept.
func (s *story) start(ctx context.Context, name string, show func(string), args ...string) (*process, error) {
	p := &process{name: name, seen: make(chan struct{}), done: make(chan struct{})}
	var out, talk io.ReadCloser
	err := s.begin(name, func() (cmd *exec.Cmd, err error) {
		cmd = exec.CommandContext(ctx, s.self, args...)
		cmd.Env = s.env
		if out, err = cmd.StdoutPipe(); err != nil {
			return nil, err
		}
		talk, err = cmd.StderrPipe()
		p.cmd = cmd
		return cmd, err
	})
	if err != nil {
		return nil, err
	}
	var readers sync.WaitGroup
	for _, r := range []io.Reader{out, talk} {
		readers.Go(func() {
			sc := bufio.NewScanner(r)
			sc.Buffer(make([]byte, 64<<10), 1<<20)
			for sc.Scan() {
				p.line(sc.Text(), show)
			}
		})
	}
	go func() {
		readers.Wait()
		p.err = p.cmd.Wait()
		close(p.done)
	}()
	return p, nil
}

func (p *process) line(text string, show func(string)) {
	if show != nil {
		show(text)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.lines = append(p.lines, text)
	close(p.seen)
	p.seen = make(chan struct{})
}

// await returns the first line from on that contains word.
func (p *process) await(ctx context.Context, word string, limit time.Duration) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	for i := 0; ; {
		p.mu.Lock()
		for ; i < len(p.lines); i++ {
			if strings.Contains(p.lines[i], word) {
				defer p.mu.Unlock()
				return p.lines[i], nil
			}
		}
		seen := p.seen
		p.mu.Unlock()
		select {
		case <-seen:
		case <-p.done:
			return "", fmt.Errorf("%s ended before it said %q:\n%s", p.name, word, p.tail())
		case <-ctx.Done():
			return "", fmt.Errorf("%s did not say %q within %s:\n%s", p.name, word, limit, p.tail())
		}
	}
}

func (p *process) tail() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return strings.Join(p.lines[max(0, len(p.lines)-15):], "\n")
}

// wait returns the exit code.
func (p *process) wait(limit time.Duration) (int, error) {
	select {
	case <-p.done:
	case <-time.After(limit):
		p.kill()
		return -1, fmt.Errorf("%s still runs after %s:\n%s", p.name, limit, p.tail())
	}
	var e *exec.ExitError
	if p.err != nil && !errors.As(p.err, &e) {
		return -1, p.err
	}
	return p.cmd.ProcessState.ExitCode(), nil
}

func (p *process) kill() {
	_ = p.cmd.Process.Signal(syscall.SIGKILL) // it may be gone already
	<-p.done
}

func (p *process) stop() {
	_ = p.cmd.Process.Signal(syscall.SIGTERM) // it may be gone already
	select {
	case <-p.done:
	case <-time.After(30 * time.Second):
		p.kill()
	}
}

// ask runs the binary to its end and decodes the JSON it prints.
func (s *story) ask(ctx context.Context, into any, args ...string) error {
	p, err := s.start(ctx, args[0], nil, args...)
	if err != nil {
		return err
	}
	code, err := p.wait(s.slow())
	p.mu.Lock()
	defer p.mu.Unlock()
	out := strings.Join(p.lines, "\n")
	if err != nil || code != 0 {
		return fmt.Errorf("posagent %s: exit %d, %v\n%s", strings.Join(args, " "), code, err, out)
	}
	if err := json.Unmarshal([]byte(out), into); err != nil {
		return fmt.Errorf("posagent %s: %w\n%s", strings.Join(args, " "), err, out)
	}
	return nil
}

// forking is how long the start of a program may take until it runs; with pace.
const forking = 30 * time.Second

// begin starts what prepare makes and notes its process.
func (s *story) begin(name string, prepare func() (*exec.Cmd, error)) error {
	l := launch{name: name, limit: time.Duration(s.pace) * forking, kill: s.killUnstarted, say: s.say}
	cmd, err := launched(l, func() (*exec.Cmd, error) {
		cmd, err := prepare()
		if err == nil {
			err = cmd.Start()
		}
		return cmd, err
	}, func(cmd *exec.Cmd) { _ = cmd.Wait() }) // of a child that was killed before it ran
	if err == nil {
		s.children = append(s.children, cmd.Process.Pid)
	}
	return err
}

// launch is one start of a program.
type launch struct {
	name  string
	limit time.Duration
	kill  func() error // ends the child of a start that hangs
	say   func(format string, args ...any)
}

// launched returns what start has started. No kernel needs a second try; emulators do: some fail to start a program
// (EFAULT), and a forked child of some waits for ever, so that the parent waits too. Such a child is killed, named, and the
// program started again, once; over is given what was killed.
func launched[P any](l launch, start func() (P, error), over func(P)) (P, error) {
	type result struct {
		p   P
		err error
	}
	for try, stuck := 1, 0; ; try++ {
		started := make(chan result, 1)
		go func() {
			p, err := start()
			started <- result{p, err}
		}()
		var r result
		select {
		case r = <-started:
		case <-time.After(l.limit):
			if stuck++; stuck > 1 {
				return r.p, fmt.Errorf("start %s: did not begin within %s, twice: the emulator deadlocks while forking", l.name, l.limit)
			}
			l.say("emulator  │ %s did not begin within %s: the emulator deadlocked while forking; started again", l.name, l.limit)
			if err := l.kill(); err != nil {
				return r.p, fmt.Errorf("start %s: %w", l.name, err)
			}
			if r = <-started; r.err == nil {
				over(r.p)
			}
			continue
		}
		if !errors.Is(r.err, syscall.EFAULT) || try == 20 {
			if r.err != nil {
				r.err = fmt.Errorf("start %s: %w", l.name, r.err)
			}
			return r.p, r.err
		}
	}
}

// killUnstarted kills the children of this process that never became a program.
func (s *story) killUnstarted() error {
	lists, err := filepath.Glob("/proc/self/task/*/children")
	if err != nil || len(lists) == 0 {
		return errors.New("the kernel does not name the children of a process")
	}
	killed := 0
	for _, list := range lists {
		data, _ := os.ReadFile(list) // the thread may have ended
		for _, word := range strings.Fields(string(data)) {
			if pid, err := strconv.Atoi(word); err == nil && !slices.Contains(s.children, pid) {
				_ = syscall.Kill(pid, syscall.SIGKILL) // it may be gone
				killed++
			}
		}
	}
	if killed == 0 {
		return errors.New("no child to kill")
	}
	return nil
}

// environment leaves out what would configure the children behind the story's back.
func environment() (env []string) {
	for _, kv := range os.Environ() {
		if !strings.HasPrefix(kv, "POSAGENT_") {
			env = append(env, kv)
		}
	}
	return env
}
