package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"posagent/agent/checkout"
	"posagent/agent/config"
	"posagent/agent/paylink"
	"posagent/agent/view"
	"posagent/ecr/till/zvt"
	"posagent/schemes/backend/aapay"
	"posagent/schemes/methods"
	"posagent/schemes/money"
	"posagent/store"
)

type selftestOptions struct {
	amount, method string
}

func selftestCommand() command {
	return command{
		name: "selftest", short: "play a training sale for every method that this terminal has; no money moves",
		long: "For each method it starts a second terminal of this program in a directory of its own, with the embedded backend and none other,\n" +
			"lets a register pay and reverse over ZVT, and stops it. The terminal that sells notices nothing, and its backend is not asked.\n" +
			"Before the first list of methods it plays those of the sandbox. Exit 0: each that can be sold was; 1: one was not.",
		json:     []string{"posagent.selftest/1"},
		examples: []string{"posagent selftest", "posagent selftest --method SWISH_E_COM --amount 1", "posagent selftest --json"},
		flags: func(fs *flag.FlagSet) any {
			o := &selftestOptions{}
			fs.StringVar(&o.amount, "amount", "1.00", "`amount` of each sale")
			fs.StringVar(&o.method, "method", "", "this `name` alone")
			return o
		},
		run: runSelftest,
	}
}

// selftestView is the whole result (posagent.selftest/1).
type selftestView struct {
	Schema  string       `json:"schema"`
	BuiltIn bool         `json:"builtIn"` // there is no list yet: these are the sandbox's methods
	OK      bool         `json:"ok"`
	Methods []methodTest `json:"methods"`
}

// methodTest is what became of one method's sale.
type methodTest struct {
	Name     string `json:"name"`
	Label    string `json:"label"`
	OK       bool   `json:"ok"`
	Skipped  string `json:"skipped,omitempty"` // why it is not sold
	Text     string `json:"text,omitempty"`    // what went wrong
	PayMS    int64  `json:"payMs,omitempty"`
	UndoneMS int64  `json:"reverseMs,omitempty"`
}

// trainWithin bounds the start of a training terminal: a slow card needs a while.
const trainWithin = 90 * time.Second

func runSelftest(ctx context.Context, c *call) error {
	o := c.opts.(*selftestOptions)
	cfg, err := loadConfig(c)
	if err != nil {
		return err
	}
	currency, ok := money.Lookup(cfg.Terminal.Currency)
	if !ok {
		return fail(exitConfig, "selftest: [terminal] currency %q is not known", cfg.Terminal.Currency)
	}
	amount, err := parseAmount("selftest", o.amount, currency)
	if err != nil {
		return err
	}
	v := selftestView{Schema: "posagent.selftest/1", OK: true, Methods: []methodTest{}}
	defs, err := trainedMethods(ctx, c)
	if err != nil {
		return err
	}
	if v.BuiltIn = len(defs) == 0; v.BuiltIn {
		fmt.Fprintln(c.err, "no list of methods is here yet: those of the sandbox are played")
		if defs, err = sandboxMethods(); err != nil {
			return err
		}
	}
	own := linkMethod(cfg)
	for _, d := range paylink.Offer(defs, own) {
		if o.method != "" && d.Name != o.method {
			continue
		}
		t := methodTest{Name: d.Name, Label: d.Label}
		if own != nil && d.PaymentProviderID == paylink.Provider {
			t.OK, t.Skipped = true, "not played: a customer pays it on a page, and its backend was not asked (posagent net check"+c.flags()+" paylinks)"
		} else if len(checkout.Offer([]methods.Definition{d}, checkout.Wish{Prompter: true})) == 0 {
			t.OK, t.Skipped = true, "a register cannot sell it: it needs PAYMENT with REVERSAL or REFUND"
		} else if len(checkout.Offer([]methods.Definition{d}, checkout.Wish{})) == 0 {
			t.OK, t.Skipped = true, "not played: a person has to type what it asks for, and nobody does here"
		} else if err := train(ctx, cfg, d, amount, &t); err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			t.Text = err.Error()
		}
		v.OK = v.OK && t.OK
		v.Methods = append(v.Methods, t)
		if !c.json {
			t.print(c)
		}
	}
	if len(v.Methods) == 0 {
		return fail(exitUsage, "selftest: no method %q (posagent methods)", o.method)
	}
	if c.json {
		if err := printJSON(c.out, v); err != nil {
			return err
		}
	} else {
		fmt.Fprintln(c.out, "the backend was not asked, so its credentials were not tried: posagent doctor"+c.flags())
	}
	if !v.OK {
		return exitWith(exitFailed, errors.New(""))
	}
	return nil
}

func (t methodTest) print(c *call) {
	switch {
	case t.Skipped != "":
		fmt.Fprintf(c.out, "skip  %-16s %s\n", t.Name, t.Skipped)
	case t.OK:
		fmt.Fprintf(c.out, "ok    %-16s paid in %d ms, reversed in %d ms\n", t.Name, t.PayMS, t.UndoneMS)
	default:
		fmt.Fprintf(c.out, "FAIL  %-16s %s\n", t.Name, t.Text)
	}
}

// trainedMethods are those that the terminal has from its backend; none where it has no list yet.
func trainedMethods(ctx context.Context, c *call) ([]methods.Definition, error) {
	if _, err := os.Stat(agentDB(c)); errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	var list view.Methods
	err := readJournal(ctx, c, func(r store.Reader) (err error) {
		list, err = view.ReadMethods(r, nil, "")
		return err
	})
	return list.Methods, err
}

// sandboxMethods are those of the embedded backend.
func sandboxMethods() (list []methods.Definition, err error) {
	seed, err := aapay.ParseSeed(nil)
	for _, p := range seed.Methods {
		list = append(list, p.Definition)
	}
	return list, err
}

// train plays one method's sale and its reversal.
func train(ctx context.Context, cfg config.Config, d methods.Definition, amount money.Minor, t *methodTest) error {
	dir, err := os.MkdirTemp("", "posagent-selftest-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	file, err := trainingConfig(dir, cfg, d)
	if err != nil {
		return err
	}
	line, stop, err := trainingTerminal(ctx, file, filepath.Join(dir, "state"))
	if err != nil {
		return err
	}
	defer stop()
	r, err := zvt.Dial(ctx, "tcp:"+line, zvt.Options{Currency: cfg.Terminal.Currency, T4: trainWithin})
	if err != nil {
		return err
	}
	defer r.Close()
	if res, err := r.Register(ctx); err != nil || !res.OK() {
		return fmt.Errorf("registration: %w", cmp.Or(err, errors.New(res.CodeText)))
	}
	began := time.Now()
	paid, err := r.Pay(ctx, amount, cfg.Terminal.Currency, zvt.PayOptions{})
	if err != nil || !paid.Approved {
		return fmt.Errorf("payment: %w", cmp.Or(err, errors.New(cmp.Or(paid.Text, paid.CodeText, "declined"))))
	}
	t.PayMS = time.Since(began).Milliseconds()
	began = time.Now()
	undone, err := r.Reverse(ctx, paid.Receipt, 0)
	if err != nil || !undone.OK() {
		return fmt.Errorf("reversal: %w", cmp.Or(err, errors.New(cmp.Or(undone.Text, undone.CodeText, "declined"))))
	}
	t.OK, t.UndoneMS = true, time.Since(began).Milliseconds()
	return nil
}

// trainingConfig writes a configuration without [upstream]: such a terminal has no backend but the embedded one. It has no local port,
// whose usual address is the other terminal's.
func trainingConfig(dir string, cfg config.Config, d methods.Definition) (file string, err error) {
	seed, err := json.Marshal([]methods.Definition{d})
	if err != nil {
		return "", err
	}
	text := fmt.Sprintf("[terminal]\ncurrency = %q\n[ecr]\ntcp = \"127.0.0.1:0\"\n[methods]\npoll = \"200ms\"\ntimeout_unit = %q\n[display]\nconsole = false\n[port]\nlisten = \"\"\n"+
		"[backend]\nlisten = \"127.0.0.1:0\"\nwallet_delay = \"200ms\"\nseed = %q\n", cfg.Terminal.Currency, cfg.Methods.TimeoutUnit, filepath.Join(dir, "methods.json"))
	file = filepath.Join(dir, "config.toml")
	return file, errors.Join(os.WriteFile(filepath.Join(dir, "methods.json"), seed, 0o600), os.WriteFile(file, []byte(text), 0o600))
}

// saidReady is the line of a terminal that is ready in the sandbox: the address of its register's line.
var saidReady = regexp.MustCompile(`^ready .*register=tcp:(\S+) .*SANDBOX`)

// trainingTerminal starts this program as a terminal of its own, and waits until it is ready. No variable of this process reaches it that
// could name a backend.
func trainingTerminal(ctx context.Context, file, state string) (line string, stop func(), err error) {
	self, err := os.Executable()
	if err != nil {
		return "", nil, err
	}
	running, cancel := context.WithCancel(ctx)
	cmd := exec.CommandContext(running, self, "run", "--config", file, "--state", state)
	cmd.Env = slices.DeleteFunc(os.Environ(), func(s string) bool {
		return strings.HasPrefix(s, "POSAGENT_") || strings.HasPrefix(s, "NOTIFY_SOCKET=")
	})
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 20 * time.Second
	var talk bytes.Buffer
	cmd.Stderr = &talk
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = startTied(running, cmd)
	}
	if err != nil {
		cancel()
		return "", nil, err
	}
	said := make(chan string, 1)
	go func() {
		defer close(said)
		eachLine(out, func(line string) {
			if m := saidReady.FindStringSubmatch(line); m != nil {
				select {
				case said <- m[1]:
				default:
				}
			}
		})
	}()
	stop = func() {
		cancel()
		_ = cmd.Wait() // what it came to was seen at its line
	}
	timer := time.NewTimer(trainWithin)
	defer timer.Stop()
	select {
	case line, ok := <-said:
		if ok {
			return line, stop, nil
		}
		stop()
		return "", nil, fmt.Errorf("the training terminal ended: %s", strings.TrimSpace(talk.String()))
	case <-timer.C:
		stop()
		return "", nil, fmt.Errorf("the training terminal was not ready in %s", trainWithin)
	case <-ctx.Done():
		stop()
		return "", nil, ctx.Err()
	}
}

// startTied starts a program that does not outlive this one, whatever ends this one. The kernel ends it with the thread that has started
// it, so that thread lives until ctx ends.
func startTied(ctx context.Context, cmd *exec.Cmd) error {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	started := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			<-ctx.Done()
			<-time.After(cmd.WaitDelay) // it ends by itself meanwhile
		}
	}()
	return <-started
}

// longestSaid is how much of a line of a program is looked at, in bytes.
const longestSaid = 4 << 10

// eachLine reads to the end, and calls fn with each line. Of a longer line it gives the beginning.
func eachLine(from io.Reader, fn func(line string)) {
	r := bufio.NewReaderSize(from, longestSaid)
	for {
		line, long, err := r.ReadLine()
		if err != nil {
			return
		}
		text := string(line)
		for long && err == nil {
			_, long, err = r.ReadLine()
		}
		fn(text)
	}
}
