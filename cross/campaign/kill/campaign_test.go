package kill

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/cross/campaign/kill/point"
	"posagent/cross/customer"
	"posagent/cross/env"
	"posagent/cross/need"
	"posagent/cross/program"
	"posagent/cross/referee"
	"posagent/ecr/till/zvt"
	"posagent/ecr/zvt/apdu"
	"posagent/schemes/money"
)

const (
	workers = 16 // of each of the two tests; most of a sale is waiting
	// The stale age of meanDelay 1 is 3 s; the time-outs are milliseconds here.
	seed = `[{"priority":1,"paymentProviderId":1,"name":"SWISH_E_COM","label":"Swish","meanDelay":1,"trigger":["QR"],"defaultTrigger":"QR",
 "transactionTypes":["PAYMENT","REFUND","REVERSAL"],"staleTimeOut":300,"finalizeTimeOut":300,"delayedAmount":0},
{"priority":2,"paymentProviderId":2,"name":"GIFT_CARD","label":"Gift card","meanDelay":1,"trigger":["MANUAL"],"defaultTrigger":null,
 "queries":[{"3":{"label":"Gift card number","min":8,"max":20}},{"4":{"label":"Order number","min":1,"max":12}}],
 "txnQueryFlow":[{"transactionType":"PAYMENT","queryIds":[3],"triggers":["MANUAL"]},{"transactionType":"REFUND","queryIds":[4],"triggers":["MANUAL"]}],
 "transactionTypes":["PAYMENT","REFUND","REVERSAL"],"staleTimeOut":300,"finalizeTimeOut":300,"delayedAmount":0}]`
	backendConfig = "[methods]\ntimeout_unit = \"ms\"\n[backend]\nseed = %q\nwallet_delay = \"150ms\"\n"
	agentConfig   = `[terminal]
bax_id = "1000001"
terminal_id = "29001006"
merchant_id = "killmerchant"
merchant_name = "Kill"
[upstream]
base = %q
[upstream.auth]
consumer_key = "demo-consumer"
consumer_secret = "demo-consumer-secret"
instance = "demo"
secret = "demo-secret"
[paylinks]
method = %v
priority = 0
mean_delay = "1s"
[methods]
timeout_unit = "ms"
poll = "30ms"
[display]
console = false
`
	zvtConfig = "[port]\nlisten = \"\"\n[ecr]\ntcp = %q\n"
)

// saleTime is what a sale may take with all its kills.
func saleTime() time.Duration { return 3 * need.Limit() }

// campaign is many terminals against one backend.
type campaign struct {
	t       *testing.T
	bin     string
	dir     string
	backend string // as terminals reach it, and customers
	behind  string // the same behind a gate, which has watched already
	referee *referee.Referee
	port    int // of every terminal, each on an address of its own
	kills   atomic.Int64
}

// told is what one register believes at the end, and under which names the backend knows it.
type told struct {
	name       string
	protocol   string
	references []string
	approved   bool
	amount     money.Minor
	receipt    int         // of an approved one
	back       money.Minor // what it was told is given back
}

// What a campaign of N consists of, in quarters of N.
const (
	killed          = 4 // sales at random moments
	points          = 2 // sales at named points
	killedClients   = 1
	pointsOfClients = 2
)

// share is how many stories a part has; make verify has a fiftieth of the campaign, make test a handful.
func share(part int) int { return max(2, env.Number("N", need.Size(6, 100))*part/4) }

// begin starts the backend of the program, which it builds with points where it is woven. kill -9 leaves the page cache alone, so memory
// is as good as a disk.
func begin(t *testing.T, woven bool) *campaign {
	t.Helper()
	dir := t.TempDir()
	if fast, err := os.MkdirTemp("/dev/shm", "kill-"); err == nil {
		dir = fast
		t.Cleanup(func() { require.NoError(t, os.RemoveAll(fast)) })
	}
	c := &campaign{t: t, dir: dir, port: 20007}
	if woven {
		c.port++
		c.bin = filepath.Join(dir, "posagent")
		require.NoError(t, program.Build(c.bin, []string{"-overlay", overlay(t, dir)}))
	} else {
		c.bin = program.Path(t, "posagent")
	}
	c.startBackend()
	return c
}

func (c *campaign) startBackend() {
	require.NoError(c.t, os.WriteFile(filepath.Join(c.dir, "methods.json"), []byte(seed), 0o600))
	config := filepath.Join(c.dir, "backend.toml")
	require.NoError(c.t, os.WriteFile(config, fmt.Appendf(nil, backendConfig, filepath.Join(c.dir, "methods.json")), 0o600))
	p, line, err := start(exec.Command(c.bin, "backend", "--listen", "127.0.0.1:0", "--config", config, "--state", filepath.Join(c.dir, "backend")),
		filepath.Join(c.dir, "backend.log"), "listening on ")
	require.NoError(c.t, err)
	c.t.Cleanup(func() { _ = p.Stop() })
	c.watch(strings.TrimPrefix(line, "listening on "))
}

// start starts cmd and returns its first line that begins with prefix. What it complains of goes to a file.
func start(cmd *exec.Cmd, log, prefix string) (*program.Process, string, error) {
	talk, err := os.OpenFile(log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, "", err
	}
	defer talk.Close()
	cmd.Stderr = talk
	return program.Start(cmd, prefix)
}

// terminal is one terminal under test.
type terminal struct {
	*program.Process
	c        *campaign
	dir, tcp string
	api      string             // of the local port; "" = none
	newer    string             // what the next version does to the tables: every start is one of it; "" = there is none
	second   string             // the point the next life ends at
	customer *customer.Customer // at its page; nil = nobody is there
}

// attended lets a person pay at the terminal's page, by a method that asks. It has no other.
func (x *terminal) attended() error {
	at := strings.Replace(x.tcp, fmt.Sprint(":", x.c.port), fmt.Sprint(":", x.c.port+500), 1)
	x.customer = customer.Come(at)
	x.customer.Wishes("", map[string]string{"Gift card number": "60000001", "Order number": "47"})
	path := filepath.Join(x.dir, "config.toml")
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	change := strings.NewReplacer("listen = \"\"", fmt.Sprintf("listen = %q", at), "[methods]\n", "[methods]\nexclude = [1]\n", "console = false\n", "console = false\npage = true\n[keypad]\npage = true\n")
	return os.WriteFile(path, []byte(change.Replace(string(text))), 0o600)
}

// watched waits until the person, if there is one, sees the page.
func (x *terminal) watched(ctx context.Context) {
	if x.customer == nil {
		return
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func(dead <-chan struct{}) { // it may die meanwhile
		select {
		case <-dead:
			cancel()
		case <-ctx.Done():
		}
	}(x.Dead)
	_ = x.customer.Watches(ctx)
}

// terminal makes the configuration of the ith terminal; LINKS of a hundred sell by payment links. Each has an address of its own below 127, so that nobody takes its port
// while it is down.
func (c *campaign) terminal(i int) (*terminal, error) {
	return c.terminalWith(i, func(addr string) string { return fmt.Sprintf(zvtConfig, addr) })
}

// terminalWith makes one whose register line is configured by line.
func (c *campaign) terminalWith(i int, line func(addr string) string) (*terminal, error) {
	x := &terminal{c: c, dir: filepath.Join(c.dir, fmt.Sprintf("terminal%d", i))}
	x.tcp = fmt.Sprintf("127.%d.%d.%d:%d", 64+os.Getpid()%128, 1+i/250%250, 1+i%250, c.port)
	return x, errors.Join(os.MkdirAll(x.dir, 0o700),
		os.WriteFile(filepath.Join(x.dir, "config.toml"), fmt.Appendf(nil, agentConfig+"%s", c.backend, i%100 < env.Number("LINKS", 0), line(x.tcp)), 0o600))
}

// program is the program on this terminal; at, where it is not "", is the point to die at.
func (x *terminal) program(at string) *exec.Cmd {
	cmd := exec.Command(x.c.bin, "run", "--config", filepath.Join(x.dir, "config.toml"), "--state", x.dir)
	cmd.Env = append(os.Environ(), point.Log+"="+filepath.Join(x.dir, "points"))
	if at != "" {
		cmd.Env = append(cmd.Env, point.KillAt+"="+at)
	}
	if x.newer != "" {
		cmd.Env = append(cmd.Env, point.Next+"="+x.newer)
	}
	return cmd
}

// start starts the program and waits until it is ready.
func (x *terminal) start(at string) (err error) {
	x.Process, _, err = start(x.program(at), filepath.Join(x.dir, "log"), "ready")
	return err
}

func (x *terminal) kill() {
	x.Kill()
	x.c.kills.Add(1)
}

// finish ends a terminal that has nothing left to do; what it leaves is removed, or said where something went wrong.
func (x *terminal) finish(err error) error {
	if x.Process != nil {
		x.Kill()
	}
	if x.customer != nil {
		err = errors.Join(err, x.customer.Leave())
	}
	if err == nil {
		return os.RemoveAll(x.dir)
	}
	log, _ := os.ReadFile(filepath.Join(x.dir, "log"))
	sales, _ := exec.Command(x.c.bin, "sale", "list", "--json", "--config", filepath.Join(x.dir, "config.toml"), "--state", x.dir).CombinedOutput()
	return fmt.Errorf("%w\nlog: %s\njournal: %s", err, log[max(0, len(log)-3000):], sales)
}

// command runs one register command on a new connection. react nil answers as it should be.
func (x *terminal) command(ctx context.Context, react zvt.React, do func(*zvt.Register) (zvt.Result, error)) (zvt.Result, error) {
	r, err := zvt.Dial(ctx, "tcp:"+x.tcp, zvt.Options{T4: need.Limit(), React: react})
	if err != nil {
		return zvt.Result{}, err
	}
	defer r.Close()
	return do(r)
}

// answer is what a register heard of its payment.
type answer struct {
	zvt.Result
	definite bool
}

// pay asks for a payment, and stops it after a while where abort says so. deaf loses the line when the outcome comes.
func (x *terminal) pay(ctx context.Context, amount money.Minor, abort time.Duration, deaf bool) <-chan answer {
	asked := make(chan answer, 1)
	var react zvt.React
	if deaf {
		react = zvt.On(apdu.StatusInfo, zvt.Reaction{Disconnect: true})
	}
	go func() {
		res, err := x.command(ctx, react, func(r *zvt.Register) (zvt.Result, error) {
			if abort > 0 {
				stop := time.AfterFunc(abort, func() { _, _ = r.Abort(ctx) })
				defer stop.Stop()
			}
			return r.Pay(ctx, amount, "EUR", zvt.PayOptions{})
		})
		asked <- answer{res, err == nil && !res.Refused}
	}()
	return asked
}

// again repeats 06 20 until the terminal gives a definite answer. A terminal that has died by its second point is started again.
func (x *terminal) again(ctx context.Context) (zvt.Result, error) {
	for wait := 50 * time.Millisecond; ; wait = min(2*wait, 400*time.Millisecond) {
		if err := x.revive(); err != nil {
			return zvt.Result{}, err
		}
		r, err := x.command(ctx, nil, func(r *zvt.Register) (zvt.Result, error) { return r.Repeat(ctx, zvt.RepeatStatus) })
		busy := r.Refused && (r.Code == zvt.CodeBusy || r.Code == zvt.CodeWait)
		if err == nil && !busy {
			return r, nil
		}
		select {
		case <-ctx.Done():
			return r, fmt.Errorf("no definite answer: %w, last %+v", err, r)
		case <-time.After(wait):
		}
	}
}

// revive starts a terminal that killed itself at a point. Any other death is a violation.
func (x *terminal) revive() error {
	if x.Alive() {
		return nil
	}
	if x.diedAt() == "" {
		return fmt.Errorf("the terminal died: %s", x.Cmd.ProcessState)
	}
	x.c.kills.Add(1)
	at := x.second
	x.second = ""
	_, before := x.lives()
	err := x.start(at)
	if _, deaths := x.lives(); len(deaths) > len(before) {
		return nil // it died again before it was ready
	}
	return err
}

// diedAt is the point a dead terminal died at, "" for none.
func (x *terminal) diedAt() string {
	log, err := os.ReadFile(filepath.Join(x.dir, "points"))
	if err != nil {
		return ""
	}
	lines := strings.Split(strings.TrimRight(string(log), "\n"), "\n")
	name, ok := strings.CutPrefix(lines[len(lines)-1], point.Killed)
	if !ok {
		return ""
	}
	return name
}

// sale is what another process reads in a terminal's journal.
type sale struct {
	Reference string `json:"reference"`
	Amount    int64  `json:"amount"`
	Result    string `json:"result"`
	Told      string `json:"told"`
	Phase     string `json:"phase"`
	Settled   bool   `json:"settled"`
}

func (x *terminal) journal() (sales []sale, err error) {
	out, err := exec.Command(x.c.bin, "sale", "list", "--json", "--limit", "1000", "--config", filepath.Join(x.dir, "config.toml"), "--state", x.dir).Output()
	if err != nil {
		return nil, fmt.Errorf("sale list: %w", err)
	}
	var v struct {
		Sales json.RawMessage `json:"sales"`
	}
	if err := json.Unmarshal(out, &v); err != nil {
		return nil, err
	}
	return sales, json.Unmarshal(v.Sales, &sales)
}

// settled waits until nothing can happen to any sale by itself, or until the terminal has died.
func (x *terminal) settled(ctx context.Context) (sales []sale, dead bool, err error) {
	for wait := 100 * time.Millisecond; ; wait = min(2*wait, 800*time.Millisecond) {
		sales, err := x.journal()
		if err != nil {
			return nil, false, err
		}
		open := 0
		for _, s := range sales {
			if !s.Settled {
				open++
			}
		}
		if open == 0 {
			return sales, !x.Alive(), nil
		}
		select {
		case <-x.Dead:
			return sales, true, nil
		case <-ctx.Done():
			return nil, false, fmt.Errorf("not settled: %+v", sales)
		case <-time.After(wait):
		}
	}
}

// conclude asks the terminal what became of the sale, waits until it has settled, and holds what it says against what it said.
func (x *terminal) conclude(ctx context.Context, res *told, first answer) error {
	again, err := x.again(ctx)
	if err != nil {
		return err
	}
	res.receipt = again.Receipt
	switch res.approved = again.Approved; {
	case first.definite && first.Approved != again.Approved:
		return fmt.Errorf("told one thing (%+v), then another (%+v)", first, again)
	case again.Approved && again.Amount != res.amount:
		return fmt.Errorf("approved %d, asked for %d", again.Amount, res.amount)
	}
	for {
		sales, dead, err := x.settled(ctx)
		if err != nil {
			return err
		}
		if dead {
			if err := x.revive(); err != nil {
				return err
			}
			continue
		}
		for _, s := range sales {
			res.references = append(res.references, s.Reference)
		}
		return nil
	}
}

// giveBack asks once for a part of an approved payment, whose method asks the person first. Where the answer is lost it asks what became of
// it, and takes back no word that it heard.
func (x *terminal) giveBack(ctx context.Context, res *told, part money.Minor) error {
	if err := x.revive(); err != nil {
		return err
	}
	x.watched(ctx)
	first, err := x.command(ctx, nil, func(r *zvt.Register) (zvt.Result, error) {
		return r.Refund(ctx, part, "EUR", fmt.Sprint("R", res.receipt))
	})
	definite := err == nil && !first.Refused && first.Code != zvt.CodeWait
	for {
		last, err := x.again(ctx)
		if err != nil {
			return err
		}
		if last.Code == zvt.CodeWait { // in progress
			select {
			case <-ctx.Done():
				return fmt.Errorf("the refund is in progress for ever: %+v", last)
			case <-time.After(50 * time.Millisecond):
			}
			continue
		}
		done := last.Approved && last.Receipt != res.receipt // else it hears of the payment: the refund was never accepted
		if definite && first.Approved != done {
			return fmt.Errorf("told one thing of a refund (%+v), then another (%+v)", first, last)
		}
		if done {
			res.back = part
		}
		break
	}
	for {
		if _, dead, err := x.settled(ctx); err != nil || !dead {
			return err
		}
		if err := x.revive(); err != nil {
			return err
		}
	}
}

// moved reads the books of a service, "" = of all: what each reference moved for the merchant, and how often.
func (c *campaign) moved(service string) (net map[string]int64, moves map[string]int) {
	books := c.books()
	reference := map[string]string{}
	net, moves = map[string]int64{}, map[string]int{}
	for _, b := range books {
		reference[b.ID] = b.Reference
	}
	for _, b := range books {
		ref := b.Reference
		if b.Original != "" {
			ref = reference[b.Original]
		}
		for _, p := range b.Postings {
			if p.Account == "merchant" && (service == "" || service == b.Service) {
				net[ref] += p.Amount
				moves[ref]++
			}
		}
	}
	return net, moves
}

// books reads the backend's books.
func (c *campaign) books() []program.Entry {
	list, err := program.Books(c.bin, filepath.Join(c.dir, "backend"))
	require.NoError(c.t, err)
	return list
}

// count is what the sales of one protocol came to.
type count struct{ sales, approved, violations int }

// check holds what the registers believe against the books.
func (c *campaign) check(results []told) {
	c.verdict()
	net, moves := c.moved("")
	violations, approved, moved, back, refunded := 0, 0, 0, 0, 0
	of := map[string]*count{}
	for _, r := range results {
		if of[r.protocol] == nil {
			of[r.protocol] = &count{}
		}
		of[r.protocol].sales++
		got, want := int64(0), int64(0)
		for _, ref := range r.references {
			got += net[ref]
			if net[ref] == 0 && moves[ref] > 0 {
				back++
			}
		}
		if r.approved {
			approved++
			of[r.protocol].approved++
			want = int64(r.amount - r.back)
		}
		if r.back != 0 {
			refunded++
		}
		if got != want {
			violations++
			of[r.protocol].violations++
			c.t.Errorf("%s: told approved=%v for %d and %d given back, but the books have %d: %v", r.name, r.approved, r.amount, r.back, got, r.references)
		}
	}
	for _, n := range net {
		if n != 0 {
			moved++
		}
	}
	require.Equal(c.t, approved, moved, "payments with money moved, told approved or not")
	for _, name := range slices.Sorted(maps.Keys(of)) {
		if o := of[name]; name != "" {
			c.t.Logf("%-10s %d sales, %d approved, %d violations: at most %.5f a sale at 95 %%", name, o.sales, o.approved, o.violations, 3/float64(o.sales))
		}
	}
	n := float64(max(1, len(results)))
	c.t.Logf("%d sales, %d kills, %d approved, %d paid and given back, %d refunded in part, %d violations: at most %.5f a sale, %.5f a kill at 95 %%",
		len(results), c.kills.Load(), approved, back, refunded, violations, 3/n, 3/float64(max(1, c.kills.Load())))
	require.Positive(c.t, approved, "a campaign that approves nothing proves nothing")
	require.Less(c.t, approved, len(results), "a campaign that approves everything proves nothing")
}

// all tells n stories, some at a time, until one fails.
func (c *campaign) all(n int, one func(i int) error) {
	var next atomic.Int64
	done := make(chan error)
	for range min(workers, n) {
		go func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= n || c.t.Failed() {
					break
				}
				if err := one(i); err != nil {
					c.t.Errorf("%d: %v", i, err)
				}
			}
			done <- nil
		}()
	}
	for range min(workers, n) {
		<-done
	}
}
