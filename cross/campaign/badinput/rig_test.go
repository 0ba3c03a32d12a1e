package badinput

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"posagent/cross/need"
	"posagent/cross/program"
	"posagent/ecr/till/zvt"
	"posagent/schemes/money"
)

// What must never be seen in what a terminal writes.
const (
	payerCanary  = "46701740605"
	cookieCanary = "cookie-canary-77310"
	keyCanary    = "ckey-canary-51907"
	secretCanary = "csecret-canary-88264"
)

// answerIn bounds a definite answer: 20 s on an idle machine, where the stale age takes 3 s, time-outs 0.6 s, one last read 5 s.
func answerIn() time.Duration { return need.Limit() / 3 }

// rssLimit bounds a terminal's memory, binary pages and a method list at its limit included.
const rssLimit = 80 << 20

// talk collects what a process writes.
type talk struct {
	mu    sync.Mutex
	text  bytes.Buffer
	ready chan string
}

func (t *talk) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text.Write(p)
	if t.ready != nil {
		if i := bytes.Index(t.text.Bytes(), []byte("serving ")); i >= 0 {
			if line, _, whole := bytes.Cut(t.text.Bytes()[i:], []byte("\n")); whole {
				t.ready <- string(line)
				t.ready = nil
			}
		}
	}
	return len(p), nil
}

func (t *talk) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.text.String()
}

// options are what a scene's terminal is made with.
type options struct {
	tls    *tlsFront
	roots  string
	pins   []string
	serial string // path of the device
	ecr    string // more lines of [ecr]
}

const config = `[terminal]
bax_id = "1000001"
terminal_id = "29001006"
merchant_id = "badmerchant"
merchant_name = "Bad Input"
[port]
listen = "127.0.0.1:0"
[upstream]
base = %q
timeout = "1500ms"
%s
[upstream.auth]
consumer_key = %q
consumer_secret = %q
[methods]
timeout_unit = "ms"
poll = "30ms"
[ecr]
tcp = "127.0.0.1:0"
grace = "2s"
patience = "20s"
%s
[display]
console = true
`

// rig is one terminal under attack, with its backend and what its registers believe.
type rig struct {
	bin, dir string
	full     bool
	patient  bool // the backend asked for so much time that an undo may still be owed at the end
	be       *backend
	process  *program.Process
	out      *talk

	tcp, port string // addresses
	peakRSS   int64

	mu       sync.Mutex
	last     money.Minor
	told     map[money.Minor]zvt.Result
	lost     map[money.Minor]bool // commands without a definite answer, as part of an attack
	problems []string
}

func (x *rig) bad(format string, args ...any) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.problems = append(x.problems, fmt.Sprintf(format, args...))
}

func newRig(bin, dir string, full bool, o options) (*rig, error) {
	x := &rig{bin: bin, dir: dir, full: full, out: &talk{}, told: map[money.Minor]zvt.Result{}, lost: map[money.Minor]bool{}, last: 1000}
	auth := "Bearer " + base64.StdEncoding.EncodeToString([]byte(keyCanary+":"+secretCanary))
	var err error
	if x.be, err = newBackend(filepath.Base(dir), auth, o.tls); err != nil {
		return nil, err
	}
	upstream, ecr := "", o.ecr
	if o.roots != "" {
		upstream += fmt.Sprintf("roots_file = %q\n", o.roots)
	}
	if len(o.pins) > 0 {
		upstream += fmt.Sprintf("pins = [\"%s\"]\n", strings.Join(o.pins, `", "`))
	}
	if o.serial != "" {
		ecr += fmt.Sprintf("\nserial = %q", o.serial)
	}
	text := fmt.Sprintf(config, x.be.url(), upstream, keyCanary, secretCanary, ecr)
	if err := errors.Join(os.MkdirAll(x.state(), 0o700), os.WriteFile(filepath.Join(dir, "config.toml"), []byte(text), 0o600)); err != nil {
		return nil, err
	}
	return x, nil
}

func (x *rig) state() string { return filepath.Join(x.dir, "state") }

func (x *rig) verb(args ...string) *exec.Cmd {
	return exec.Command(x.bin, append(args, "--config", filepath.Join(x.dir, "config.toml"), "--state", x.state())...)
}

func (x *rig) start() error {
	cmd := x.verb("run")
	ready := make(chan string, 1)
	x.out.ready = ready
	cmd.Stdout, cmd.Stderr = x.out, x.out
	var err error
	if x.process, err = program.Run(cmd); err != nil {
		return err
	}
	select {
	case line := <-ready:
		x.port, x.tcp = program.Said(line, "port=http://"), program.Said(line, "register=tcp:")
		return x.register()
	case <-x.process.Dead:
		return fmt.Errorf("ended before ready: %s", x.out)
	case <-time.After(need.Limit()):
		x.process.Kill()
		return fmt.Errorf("not ready in %v: %s", need.Limit(), x.out)
	}
}

// register makes the register one that gets 04 FF; the terminal remembers it for the line.
func (x *rig) register() error {
	ctx, cancel := context.WithTimeout(context.Background(), answerIn())
	defer cancel()
	r, err := x.dial(ctx, zvt.Options{})
	if err != nil {
		return err
	}
	defer r.Close()
	_, err = r.Register(ctx)
	return err
}

func (x *rig) alive() bool { return x.process.Alive() }

// rss notes the peak of the process's memory so far.
func (x *rig) rss() {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", x.process.Cmd.Process.Pid))
	if err != nil {
		return
	}
	if g := regexp.MustCompile(`VmHWM:\s+(\d+) kB`).FindSubmatch(data); g != nil {
		n, _ := strconv.ParseInt(string(g[1]), 10, 64)
		x.peakRSS = max(x.peakRSS, n<<10)
	}
}

// stop ends the terminal as an init system would.
func (x *rig) stop() {
	if x.process == nil {
		return
	}
	x.rss()
	late := time.AfterFunc(need.Limit(), func() {
		x.bad("did not end on SIGTERM")
		_ = x.process.Cmd.Process.Kill()
	})
	if err := x.process.Stop(); err != nil {
		x.bad("%v", err)
	}
	late.Stop()
	x.be.close()
}

func wait(d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	<-t.C
}

// until waits for a condition; it is asked every 10 ms.
func until(limit time.Duration, ok func() bool) bool {
	for end := time.Now().Add(limit); ; wait(10 * time.Millisecond) {
		if ok() {
			return true
		}
		if time.Now().After(end) {
			return false
		}
	}
}

// amount is one that no other command of this terminal has, so that told and journalled can be joined.
func (x *rig) amount() money.Minor {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.last++
	return x.last
}

func (x *rig) dial(ctx context.Context, o zvt.Options) (*zvt.Register, error) {
	if o.T4 == 0 {
		o.T4 = answerIn()
	}
	return zvt.Dial(ctx, "tcp:"+x.tcp, o)
}

// connect gives a register a line for a time; false: there is none, which is a fault.
func (x *rig) connect(within time.Duration, o zvt.Options) (ctx context.Context, r *zvt.Register, end func(), ok bool) {
	ctx, cancel := context.WithTimeout(context.Background(), within)
	r, err := x.dial(ctx, o)
	if err != nil {
		cancel()
		x.bad("register line: %v", err)
		return ctx, nil, nil, false
	}
	return ctx, r, func() { r.Close(); cancel() }, true
}

// note keeps what a register was told.
func (x *rig) note(amount money.Minor, r zvt.Result, err error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if err != nil {
		x.lost[amount] = true
		return
	}
	x.told[amount] = r
}

// definite says what a register was told in one word, or what is wrong with that.
func definite(r zvt.Result, err error) string {
	switch {
	case err != nil:
		return "NO ANSWER: " + err.Error()
	case r.Refused:
		return fmt.Sprintf("refused %02X", r.Code)
	case r.Approved:
		return "approved"
	case r.Aborted, r.Code != 0:
		return fmt.Sprintf("not approved %02X", r.Code)
	case r.Completed:
		return "completed"
	}
	return fmt.Sprintf("UNCLEAR %+v", r)
}

// pay asks for one sale over TCP and insists on a definite answer.
func (x *rig) pay(o zvt.PayOptions) zvt.Result {
	ctx, cancel := context.WithTimeout(context.Background(), need.Limit())
	defer cancel()
	amount := x.amount()
	began := time.Now()
	r, err := x.dial(ctx, zvt.Options{})
	if err != nil {
		x.bad("register line: %v", err)
		return zvt.Result{}
	}
	defer r.Close()
	res, err := r.Pay(ctx, amount, "EUR", o)
	x.note(amount, res, err)
	if word := definite(res, err); strings.ToLower(word[:2]) != word[:2] || time.Since(began) > answerIn() {
		x.bad("sale of %d: %s after %v", amount, word, time.Since(began).Round(time.Millisecond))
	}
	return res
}

// normal is a sale that must be approved, on a backend that is honest again. The circuit may be open for a while.
func (x *rig) normal(pay func(o zvt.PayOptions) zvt.Result) {
	x.be.turn(nil)
	x.be.pays(20 * time.Millisecond)
	var res zvt.Result
	for end := need.Deadline(); x.alive(); wait(150 * time.Millisecond) {
		if res = pay(zvt.PayOptions{}); res.Approved {
			return
		}
		if time.Now().After(end) {
			break
		}
		if x.be.count(onInitialize) == 0 || res.Code == 0xC5 { // no method list yet
			x.diagnose()
		}
	}
	x.bad("a normal sale is not approved afterwards: %s", definite(res, nil))
}

// diagnose makes the terminal ask for its method list at once.
func (x *rig) diagnose() {
	ctx, r, end, ok := x.connect(answerIn(), zvt.Options{})
	if !ok {
		return
	}
	defer end()
	if _, err := r.Diagnosis(ctx); err != nil {
		x.bad("diagnosis: %v", err)
	}
}
