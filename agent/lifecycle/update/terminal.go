package update

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"posagent/agent/control/socket"
)

// condition is how the terminal is.
type condition struct {
	Version  string   `json:"version,omitempty"`
	Serves   bool     `json:"serves"`   // it has a journal open, and answers
	Ready    bool     `json:"ready"`    // a register may ask for a sale
	Answered bool     `json:"answered"` // its backend has answered since its start
	Causes   []string `json:"causes,omitempty"`
	Passing  []string `json:"passing,omitempty"` // of the causes, those of a network or a backend that is away

	pid int
}

// away are the causes of a network or a backend that is away, where all that is worse than before may be their doing; else none.
func (c condition) away(before condition) (causes []string) {
	if !c.Serves || c.worse(before) == "" {
		return nil
	}
	for _, cause := range c.Causes {
		if slices.Contains(c.Passing, cause) {
			causes = append(causes, cause)
		} else if !slices.Contains(before.Causes, cause) {
			return nil
		}
	}
	return causes
}

// worse says in words what of a condition is not as before; "" = nothing.
func (c condition) worse(before condition) string {
	for _, cause := range c.Causes {
		if !slices.Contains(before.Causes, cause) {
			return "it says " + cause + ", which it did not say before"
		}
	}
	switch {
	case before.Serves && !c.Serves:
		return "it does not serve"
	case before.Ready && !c.Ready:
		return "it is not ready"
	case before.Answered && !c.Answered:
		return "its backend has not answered yet"
	}
	return ""
}

// Terminal is the running terminal, as seen from outside.
type Terminal struct {
	Program string // its path
	State   string // its state directory
}

// What the terminal has to answer how it is, a little more than it gives its own loops, and to say that it ends.
const (
	healthWithin  = 12 * time.Second
	restartWithin = 5 * time.Second
)

// errSilent is the answer of a terminal that has no socket, or none that answers.
var errSilent = errors.New("the terminal does not answer")

// ask sends one request. pid is the process that answered, by the kernel.
func (t Terminal) ask(ctx context.Context, within time.Duration, method, path string, into any) (status, pid int, err error) {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	tr := &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		conn, err := socket.Dial(ctx, filepath.Join(t.State, socket.Name))
		if err != nil {
			return nil, err
		}
		cred, err := socket.Peer(conn)
		if err != nil {
			conn.Close()
			return nil, err
		}
		pid = int(cred.Pid)
		return conn, nil
	}}
	req, err := http.NewRequestWithContext(ctx, method, "http://terminal"+path, bytes.NewReader(nil))
	if err != nil {
		return 0, 0, err
	}
	resp, err := tr.RoundTrip(req)
	if err != nil {
		return 0, pid, fmt.Errorf("%w: %w", errSilent, err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(io.LimitReader(resp.Body, 64<<10))
	if err == nil {
		err = json.Unmarshal(data, into)
	}
	if err != nil {
		return 0, pid, fmt.Errorf("%w: %w", errSilent, err)
	}
	return resp.StatusCode, pid, nil
}

// look asks the terminal how it is. It fails where it is silent, where it stands still, and where what answers is not the program in
// place.
func (t Terminal) look(ctx context.Context) (condition, error) {
	var said struct {
		condition
		Schema  string
		Message string
	}
	status, pid, err := t.ask(ctx, healthWithin, http.MethodGet, "/health", &said)
	if err != nil {
		return condition{}, err
	}
	if status != http.StatusOK || said.Schema != "posagent.health/1" {
		return condition{}, fmt.Errorf("%w: %d %s", errSilent, status, strconv.QuoteToASCII(said.Message))
	}
	if same, err := sameFile(exe(pid), t.Program); err != nil || !same {
		return condition{}, fmt.Errorf("%w: process %d is not the program in place", errSilent, pid)
	}
	c := said.condition
	c.Serves, c.pid = true, pid
	for _, list := range [][]string{c.Causes, c.Passing} { // they are shown and kept
		for i, cause := range list {
			list[i] = plain(cause)
		}
	}
	c.Version = plain(c.Version)
	return c, nil
}

// restart asks the terminal to end, which it does where no sale is open. ErrNotNow where one is.
func (t Terminal) restart(ctx context.Context) error {
	var said struct{ Message string }
	status, _, err := t.ask(ctx, restartWithin, http.MethodPost, "/restart", &said)
	switch {
	case err != nil:
		return err
	case status != http.StatusOK:
		return fmt.Errorf("%w: %s", ErrNotNow, plain(said.Message))
	}
	return nil
}

// process is one that runs the terminal.
type process struct {
	pid   int
	newer bool // it runs the file that is in place now
}

// processes finds those of the terminal's account that run the program, whichever file it was when they began.
func (t Terminal) processes() ([]process, error) {
	dirs, err := os.ReadDir("/proc")
	if err != nil {
		return nil, err
	}
	owner := "" // of the terminal's state; "" = anybody
	if info, err := os.Stat(t.State); err == nil {
		owner = strconv.FormatUint(uint64(info.Sys().(*syscall.Stat_t).Uid), 10)
	}
	var list []process
	for _, d := range dirs {
		pid, err := strconv.Atoi(d.Name())
		if err != nil || pid == os.Getpid() {
			continue
		}
		path, err := os.Readlink(exe(pid))
		if err != nil || strings.TrimSuffix(path, " (deleted)") != t.Program {
			continue
		}
		if owner != "" && accountOf(pid) != owner {
			continue
		}
		args, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		if words := bytes.Split(args, []byte{0}); err != nil || len(words) < 2 || string(words[1]) != "run" {
			continue
		}
		same, err := sameFile(exe(pid), t.Program)
		if errors.Is(err, fs.ErrNotExist) {
			continue // it has ended
		}
		list = append(list, process{pid, err == nil && same})
	}
	return list, nil
}

const (
	endWithin = 10 * time.Second // to end by itself where it was asked, and then after SIGTERM
	endLook   = 100 * time.Millisecond
)

// end ends those processes that do not run the file in place: what they have in their journal they take up at their next start. asked
// says that they were asked already. A second SIGTERM would cut their end short.
func (t Terminal) end(ctx context.Context, asked bool) error {
	termAt := time.Now()
	if asked {
		termAt = termAt.Add(endWithin)
	}
	told := map[int]bool{}
	for {
		list, err := t.processes()
		if err != nil {
			return err
		}
		list = slices.DeleteFunc(list, func(p process) bool { return p.newer })
		if len(list) == 0 {
			return nil
		}
		for _, p := range list {
			switch late := time.Since(termAt); {
			case late < 0:
			case !told[p.pid]:
				told[p.pid] = true
				_ = syscall.Kill(p.pid, syscall.SIGTERM) // it may have ended
				_ = syscall.Kill(p.pid, syscall.SIGCONT) // one that was stopped takes no signal
			case late > endWithin:
				_ = syscall.Kill(p.pid, syscall.SIGKILL)
			}
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(endLook):
		}
	}
}

// accountOf is the effective user of a process; "" = it has ended. The owner of its folder does not say: a process without core dumps
// has root there.
func accountOf(pid int) string {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, "Uid:"); ok {
			if words := strings.Fields(rest); len(words) > 1 {
				return words[1]
			}
		}
	}
	return ""
}

func exe(pid int) string { return fmt.Sprintf("/proc/%d/exe", pid) }

// sameFile says whether two paths are one file.
func sameFile(a, b string) (bool, error) {
	x, err := os.Stat(a)
	if err != nil {
		return false, err
	}
	y, err := os.Stat(b)
	if err != nil {
		return false, err
	}
	return os.SameFile(x, y), nil
}

// plain keeps of a text what can be shown anywhere.
func plain(s string) string {
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return '?'
		}
		return r
	}, s)
	return s[:min(len(s), 200)]
}
