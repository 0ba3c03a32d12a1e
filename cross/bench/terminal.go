package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"posagent/ecr/ecrtest/lines"
	"posagent/ecr/till/zvt"
	"posagent/store/sqlite"
)

// tillToken is what a local client shows that asks now and then.
const tillToken = "bench-till-token-0123"

// shopConfig is what every terminal says of its shop.
const shopConfig = `[terminal]
bax_id = "1000001"
terminal_id = "29001006"
merchant_id = "benchmerchant"
merchant_name = "Bench"
`

const config = shopConfig + `[port]
listen = "127.0.0.1:0"
[port.clients]
till = "` + tillToken + `"
[upstream]
base = %q
[upstream.auth]
consumer_key = "demo-consumer"
consumer_secret = "demo-consumer-secret"
[methods]
poll = %q
[ecr]
tcp = "127.0.0.1:0"
serial = %q
baud = 115200
[display]
console = false
file = %q
`

// terminal is the program, as a shop runs it.
type terminal struct {
	dir    string
	stub   *stub
	cable  *os.File // the far end of the serial line
	cmd    *exec.Cmd
	pid    string
	line   string // where a register connects
	local  string // where a local client does
	lasted time.Duration
}

// withTerminal returns a part that measures a terminal of its own, whose backend is a stub.
func (b *bench) withTerminal(name string, measure func(t *terminal) error) func() error {
	return func() error {
		s, err := newStub(b.ctx)
		if err != nil {
			return err
		}
		defer s.close()
		t, err := b.terminal(name, s)
		if err != nil {
			return err
		}
		return errors.Join(measure(t), t.close())
	}
}

// terminal prepares a state directory with its configuration.
func (b *bench) terminal(name string, s *stub) (*terminal, error) {
	t := &terminal{dir: filepath.Join(b.dir, name), stub: s}
	cable, path, err := lines.PTY()
	if err != nil {
		return nil, err
	}
	t.cable = cable
	go func() { _, _ = io.Copy(io.Discard, cable) }()
	text := fmt.Sprintf(config, s.url, b.poll.String(), path, filepath.Join(t.dir, "screen.svg"))
	return t, errors.Join(os.MkdirAll(t.dir, 0o700), os.WriteFile(t.config(), []byte(text), 0o600))
}

func (t *terminal) config() string { return filepath.Join(t.dir, "config.toml") }

func (t *terminal) database() string { return filepath.Join(t.dir, "agent.db") }

// args run the terminal.
func (t *terminal) args(b *bench) []string {
	return []string{b.bin, "run", "--config", t.config(), "--state", t.dir}
}

func (b *bench) command(t *terminal) *exec.Cmd {
	args := t.args(b)
	return exec.CommandContext(b.ctx, args[0], args[1:]...)
}

// settle waits until the log is folded into the file.
func (b *bench) settle() {
	select {
	case <-time.After(b.pause):
	case <-b.ctx.Done():
	}
}

// forget makes the state directory new.
func (t *terminal) forget() error {
	entries, err := os.ReadDir(t.dir)
	for _, e := range entries {
		if e.Name() != filepath.Base(t.config()) {
			err = errors.Join(err, os.RemoveAll(filepath.Join(t.dir, e.Name())))
		}
	}
	return err
}

// start runs cmd until it says that it is ready.
func (t *terminal) start(cmd *exec.Cmd) error {
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	var talk strings.Builder
	cmd.Stderr = &talk
	began := time.Now()
	if err := cmd.Start(); err != nil {
		return err
	}
	t.cmd = cmd
	late := time.AfterFunc(time.Minute, func() { _ = cmd.Process.Kill() })
	defer late.Stop()
	lines := bufio.NewReader(out)
	ready, err := lines.ReadString('\n')
	for err == nil && strings.HasPrefix(ready, "not ready: ") { // the backend's first answer may take a while
		ready, err = lines.ReadString('\n')
	}
	t.lasted = time.Since(began)
	if err != nil || !strings.HasPrefix(ready, "ready ") {
		_ = cmd.Process.Kill()
		return fmt.Errorf("not ready: %q: %w\n%s", ready, errors.Join(err, cmd.Wait()), talk.String())
	}
	go func() { _, _ = io.Copy(io.Discard, lines) }()
	for word := range strings.FieldsSeq(ready) {
		if line, ok := strings.CutPrefix(word, "register=tcp:"); ok {
			t.line = "tcp:" + line
		}
		if url, ok := strings.CutPrefix(word, "port="); ok {
			t.local = url
		}
	}
	pid, running, err := sqlite.Owner(t.database())
	if err != nil || !running {
		return fmt.Errorf("runs without its journal: %w", err)
	}
	t.pid = strconv.Itoa(pid)
	return nil
}

// stop ends the program; under strace that is not the process that was started.
func (t *terminal) stop() error {
	if t.cmd == nil {
		return nil
	}
	pid, err := strconv.Atoi(t.pid)
	if err == nil {
		err = syscall.Kill(pid, syscall.SIGTERM)
	}
	if err != nil {
		_ = t.cmd.Process.Kill()
	}
	err = errors.Join(err, t.cmd.Wait())
	t.cmd = nil
	return err
}

// close stops the program and takes the cable away.
func (t *terminal) close() error { return errors.Join(t.stop(), t.cable.Close()) }

// sold is when what of one sale happened.
type sold struct {
	first time.Duration // 06 01 on the wire until the first byte at the backend
	last  time.Duration // COMMIT written by the backend until 04 0F is here
}

// sell makes n sales on one connection.
func (t *terminal) sell(ctx context.Context, n int, after func() error) ([]sold, error) {
	var asked, told time.Time // one command at a time: the tap runs before Pay returns
	r, err := zvt.Dial(ctx, t.line, zvt.Options{Tap: func(direction string, data []byte) {
		switch {
		case direction == "out" && len(data) > 1 && data[0] == 0x06 && data[1] == 0x01:
			asked = time.Now()
		case direction == "in" && len(data) > 1 && data[0] == 0x04 && data[1] == 0x0F:
			told = time.Now()
		}
	}})
	if err != nil {
		return nil, err
	}
	defer r.Close()
	var all []sold
	for i := range n {
		res, err := r.Pay(ctx, 1000, "EUR", zvt.PayOptions{})
		for again := 0; err == nil && res.Refused && res.Code == zvt.CodeBusy && again < 100; again++ { // the last one is being written
			select {
			case <-time.After(10 * time.Millisecond):
			case <-ctx.Done():
				return nil, ctx.Err()
			}
			res, err = r.Pay(ctx, 1000, "EUR", zvt.PayOptions{})
		}
		if err != nil || !res.Approved {
			return nil, fmt.Errorf("sale %d: %w, %+v", i, err, res)
		}
		came, said := t.stub.times()
		all = append(all, sold{came.Sub(asked), told.Sub(said)})
		if after != nil {
			if err := after(); err != nil {
				return nil, err
			}
		}
	}
	return all, nil
}
