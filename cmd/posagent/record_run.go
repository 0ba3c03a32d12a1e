package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"

	"posagent/agent/support/bundle"
)

// ranView is the command of a recording and how it ended.
type ranView struct {
	Args    []string `json:"args"`
	Exit    int      `json:"exit"`             // 128 + the signal that ended it
	Signal  string   `json:"signal,omitempty"` // that ended it
	Seconds float64  `json:"seconds"`
	Error   string   `json:"error,omitempty"` // why it could not be run
}

// ran is a command that has ended, with what it printed.
type ran struct {
	view           ranView
	stdout, stderr *clipped
}

// The time that a command has to end once the recording is interrupted: the terminal window tells it, too.
const (
	endsByItself = 3 * time.Second
	endsWhenTold = 10 * time.Second
)

// run runs the command until it ends. Where ctx ends, it is told to end.
func (t *tape) run(ctx context.Context, argv []string, clean *bundle.Cleaner) ran {
	r := ran{view: ranView{Args: argv}, stdout: &clipped{}, stderr: &clipped{}}
	path, err := exec.LookPath(argv[0])
	if err != nil && argv[0] == "posagent" {
		path, err = os.Executable()
	}
	if err != nil {
		r.view.Exit, r.view.Error = exitFailed, err.Error()
		fmt.Fprintln(t.c.err, shown(clean.Text(err.Error())))
		return r
	}
	told, tell := context.WithCancel(context.WithoutCancel(ctx))
	defer tell()
	defer context.AfterFunc(ctx, func() { time.AfterFunc(endsByItself, tell) })()
	cmd := exec.CommandContext(told, path, argv[1:]...)
	cmd.Args[0] = argv[0]
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGINT) }
	cmd.WaitDelay = endsWhenTold
	cmd.Stdin = t.c.in
	echo := &echo{to: t.c.err, clean: clean}
	cmd.Stdout, cmd.Stderr = io.MultiWriter(r.stdout, echo.stream()), io.MultiWriter(r.stderr, echo.stream())
	began := time.Now()
	err = cmd.Run()
	r.view.Seconds = time.Since(began).Seconds()
	var failed *exec.ExitError
	switch {
	case err == nil, errors.Is(err, exec.ErrWaitDelay): // it left another process behind, which holds its output
	case errors.As(err, &failed):
		r.view.Exit = failed.ExitCode()
		if status, ok := failed.Sys().(syscall.WaitStatus); ok && status.Signaled() {
			r.view.Exit, r.view.Signal = 128+int(status.Signal()), status.Signal().String()
		}
	default:
		r.view.Exit, r.view.Error = exitFailed, err.Error()
	}
	return r
}

// echo shows a person what the command prints, line by line and without secrets.
type echo struct {
	mu    sync.Mutex
	to    io.Writer
	clean *bundle.Cleaner
}

// stream returns a writer for one stream of the command.
func (e *echo) stream() io.Writer { return &echoed{of: e} }

type echoed struct {
	of   *echo
	rest []byte // of a line that is not at its end
}

// echoMost is the longest line that is shown whole.
const echoMost = 4 << 10

// Write implements io.Writer. It never fails: the recording goes on where nobody looks.
func (w *echoed) Write(p []byte) (int, error) {
	w.rest = append(w.rest, p...)
	for {
		line, rest, found := bytes.Cut(w.rest, []byte("\n"))
		if !found && len(w.rest) < echoMost {
			return len(p), nil
		}
		if !found {
			line, rest = w.rest, nil
		}
		w.of.mu.Lock()
		fmt.Fprintln(w.of.to, "|", shown(w.of.clean.Text(string(line))))
		w.of.mu.Unlock()
		w.rest = bytes.Clone(rest)
	}
}

// clipped keeps the beginning and the end of what is written to it.
type clipped struct {
	head, tail []byte
	left       int // bytes between them
}

// clipMost is how much of the beginning and of the end is kept, in bytes.
const clipMost = 128 << 10

// Write implements io.Writer. It never fails.
func (c *clipped) Write(p []byte) (int, error) {
	n := min(len(p), clipMost-len(c.head))
	c.head = append(c.head, p[:n]...)
	c.tail = append(c.tail, p[n:]...)
	if over := len(c.tail) - clipMost; over > 0 {
		c.tail = append(c.tail[:0], c.tail[over:]...)
		c.left += over
	}
	return len(p), nil
}

// bytes returns what was kept. Where something was left out, no line is there in part: half a secret would not be masked.
func (c *clipped) bytes() []byte {
	switch {
	case c == nil:
		return nil
	case c.left == 0:
		return append(bytes.Clone(c.head), c.tail...)
	}
	head, tail := c.head[:bytes.LastIndexByte(c.head, '\n')+1], []byte(nil)
	if i := bytes.IndexByte(c.tail, '\n'); i >= 0 {
		tail = c.tail[i+1:]
	}
	left := c.left + len(c.head) - len(head) + len(c.tail) - len(tail)
	return fmt.Appendf(bytes.Clone(head), "[%d bytes are left out]\n%s", left, tail)
}
