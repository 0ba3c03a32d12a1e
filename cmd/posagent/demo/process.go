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
	err := persist(func() (err error) {
		p.cmd = exec.CommandContext(ctx, s.self, args...)
		p.cmd.Env = s.env
		if out, err = p.cmd.StdoutPipe(); err != nil {
			return err
		}
		if talk, err = p.cmd.StderrPipe(); err != nil {
			return err
		}
		return p.cmd.Start()
	})
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
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
	case <-time.After(10 * time.Second):
		p.kill()
	}
}

// ask runs the binary to its end and decodes the JSON it prints.
func (s *story) ask(ctx context.Context, into any, args ...string) error {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	var talk strings.Builder
	var out []byte
	err := persist(func() (err error) {
		cmd := exec.CommandContext(ctx, s.self, args...)
		cmd.Env, cmd.Stderr = s.env, &talk
		out, err = cmd.Output()
		return err
	})
	if err != nil {
		return fmt.Errorf("posagent %s: %w\n%s%s", strings.Join(args, " "), err, out, talk.String())
	}
	if into == nil {
		return nil
	}
	if err := json.Unmarshal(out, into); err != nil {
		return fmt.Errorf("posagent %s: %w\n%s", strings.Join(args, " "), err, out)
	}
	return nil
}

// persist starts a process again when the emulator under it failed to (EFAULT): some of those that translate execve do so
// now and then. No kernel does.
func persist(start func() error) error {
	for try := 1; ; try++ {
		if err := start(); !errors.Is(err, syscall.EFAULT) || try == 20 {
			return err
		}
	}
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
