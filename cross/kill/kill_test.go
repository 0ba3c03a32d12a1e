package kill

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/ecr/register"
	"posagent/schemes/money"
)

const (
	workers = 10
	// The stale age of meanDelay 1 is 3 s; the time-outs are milliseconds here.
	seed = `[{"priority":1,"paymentProviderId":1,"name":"SWISH_E_COM","label":"Swish","meanDelay":1,"trigger":["QR"],"defaultTrigger":"QR",
 "transactionTypes":["PAYMENT","REFUND","REVERSAL"],"staleTimeOut":300,"finalizeTimeOut":300,"delayedAmount":0}]`
	backendConfig = "[methods]\ntimeout_unit = \"ms\"\n[backend]\nseed = %q\nwallet_delay = \"150ms\"\n"
	agentConfig   = `[terminal]
bax_id = "1000001"
terminal_id = "29001006"
merchant_id = "killmerchant"
merchant_name = "Kill"
[port]
listen = ""
[upstream]
base = %q
[upstream.auth]
consumer_key = "demo-consumer"
consumer_secret = "demo-consumer-secret"
[methods]
timeout_unit = "ms"
poll = "30ms"
[ecr]
tcp = %q
[display]
console = false
`
)

// amounts is what the registers ask for: mostly plain sales, some of the backend's scenarios (900.xx).
var amounts = []money.Minor{0, 0, 0, 0, 90003, 90010, 90012, 90013, 90016, 90021, 90022, 90023}

type campaign struct {
	t       *testing.T
	bin     string
	dir     string
	backend string
	kills   atomic.Int64
}

// told is what one register believes at the end.
type told struct {
	terminal string // state directory
	approved bool
	amount   money.Minor
}

func number(name string, otherwise int) int {
	if n, err := strconv.Atoi(os.Getenv(name)); err == nil && n > 0 {
		return n
	}
	return otherwise
}

// TestKill: N terminals, one sale and at least one kill each.
func TestKill(t *testing.T) {
	n, seedNo := number("N", 40), uint64(number("SEED", int(time.Now().UnixNano()&0xffffff)))
	t.Logf("seed %d, %d sales, %d terminals at a time", seedNo, n, workers)
	c := &campaign{t: t, dir: t.TempDir(), bin: filepath.Join(t.TempDir(), "posagent")}
	build := exec.Command("go", "build", "-o", c.bin, "posagent/cmd/posagent")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	out, err := build.CombinedOutput()
	require.NoError(t, err, "%s", out)
	stop := c.startBackend()
	defer stop()

	results := make([]told, n)
	next := atomic.Int64{}
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= n || t.Failed() {
					return
				}
				r, err := c.one(i, rand.New(rand.NewPCG(seedNo, uint64(i))))
				if err != nil {
					t.Errorf("sale %d of seed %d: %v", i, seedNo, err)
				}
				results[i] = r
			}
		})
	}
	wg.Wait()
	c.check(results)
}

func (c *campaign) startBackend() func() {
	require.NoError(c.t, os.WriteFile(filepath.Join(c.dir, "methods.json"), []byte(seed), 0o600))
	config := filepath.Join(c.dir, "backend.toml")
	require.NoError(c.t, os.WriteFile(config, fmt.Appendf(nil, backendConfig, filepath.Join(c.dir, "methods.json")), 0o600))
	cmd := exec.Command(c.bin, "backend", "--listen", "127.0.0.1:0", "--config", config, "--state", filepath.Join(c.dir, "backend"))
	cmd.Stderr = os.Stderr
	line, err := startAndRead(cmd, "listening on ")
	require.NoError(c.t, err)
	c.backend = strings.TrimPrefix(line, "listening on ")
	return func() { _ = cmd.Process.Signal(syscall.SIGTERM); _ = cmd.Wait() }
}

// startAndRead starts cmd and returns its first line that begins with prefix.
func startAndRead(cmd *exec.Cmd, prefix string) (string, error) {
	out, err := cmd.StdoutPipe()
	if err != nil {
		return "", err
	}
	if err := cmd.Start(); err != nil {
		return "", err
	}
	found := make(chan string, 1)
	go func() {
		sc := bufio.NewScanner(out)
		for sc.Scan() {
			if strings.HasPrefix(sc.Text(), prefix) {
				found <- sc.Text()
			}
		}
		close(found)
	}()
	select {
	case line, ok := <-found:
		if ok {
			return line, nil
		}
		err = fmt.Errorf("ended before %q: %w", prefix, cmd.Wait())
	case <-time.After(60 * time.Second):
		_ = cmd.Process.Kill()
		err = errors.Join(fmt.Errorf("no %q in 60 s", prefix), cmd.Wait())
	}
	return "", err
}

// terminal is one terminal under test.
type terminal struct {
	c        *campaign
	dir, tcp string
	cmd      *exec.Cmd
}

func (x *terminal) start() error {
	x.cmd = exec.Command(x.c.bin, "run", "--config", filepath.Join(x.dir, "config.toml"), "--state", x.dir)
	talk, err := os.OpenFile(filepath.Join(x.dir, "log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer talk.Close()
	x.cmd.Stderr = talk
	_, err = startAndRead(x.cmd, "ready")
	return err
}

func (x *terminal) kill() {
	_ = x.cmd.Process.Kill()
	_ = x.cmd.Wait()
	x.c.kills.Add(1)
}

// one tells the story of one sale.
func (c *campaign) one(i int, rng *rand.Rand) (told, error) {
	x := &terminal{c: c, dir: filepath.Join(c.dir, fmt.Sprintf("terminal%d", i))}
	amount := amounts[rng.IntN(len(amounts))]
	if amount == 0 {
		amount = money.Minor(1000 + i)
	}
	res := told{terminal: x.dir, amount: amount}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return res, err
	}
	x.tcp = ln.Addr().String()
	if err := errors.Join(ln.Close(), os.MkdirAll(x.dir, 0o700),
		os.WriteFile(filepath.Join(x.dir, "config.toml"), fmt.Appendf(nil, agentConfig, c.backend, x.tcp), 0o600)); err != nil {
		return res, err
	}
	if err := x.start(); err != nil {
		return res, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), 90*time.Second)
	defer cancel()
	asked := make(chan register.Result, 1)
	go func() {
		r, _ := c.command(ctx, x, func(r *register.Register) (register.Result, error) {
			return r.Pay(ctx, amount, "EUR", register.PayOptions{})
		})
		asked <- r
	}()
	<-time.After(moment(rng))
	x.kill()
	first := <-asked
	for range rng.IntN(3) { // killed again while it picks up the pieces
		if err := x.start(); err != nil {
			return res, err
		}
		<-time.After(moment(rng) / 2)
		x.kill()
	}
	if err := x.start(); err != nil {
		return res, err
	}
	defer func() { _ = x.cmd.Process.Signal(syscall.SIGTERM); _ = x.cmd.Wait() }()
	again, err := c.again(ctx, x)
	if err != nil {
		return res, err
	}
	if first.Approved && !again.Approved {
		return res, fmt.Errorf("told approved (%+v), then told otherwise (%+v)", first, again)
	}
	res.approved = again.Approved
	if again.Approved && again.Amount != amount {
		return res, fmt.Errorf("approved %d, asked for %d", again.Amount, amount)
	}
	return res, x.settled(ctx)
}

// moment is a random time within a sale's life, early ones as likely as late ones.
func moment(rng *rand.Rand) time.Duration {
	if rng.IntN(2) == 0 {
		return time.Duration(rng.IntN(60_000)) * time.Microsecond
	}
	return time.Duration(rng.IntN(600)) * time.Millisecond
}

// command runs one register command on a new connection.
func (c *campaign) command(ctx context.Context, x *terminal, do func(*register.Register) (register.Result, error)) (register.Result, error) {
	r, err := register.Dial(ctx, "tcp:"+x.tcp, register.Options{T4: 30 * time.Second})
	if err != nil {
		return register.Result{}, err
	}
	defer r.Close()
	return do(r)
}

// again repeats 06 20 until the terminal gives a definite answer.
func (c *campaign) again(ctx context.Context, x *terminal) (register.Result, error) {
	for {
		r, err := c.command(ctx, x, func(r *register.Register) (register.Result, error) { return r.Repeat(ctx, register.RepeatStatus) })
		busy := r.Refused && (r.Code == register.CodeBusy || r.Code == register.CodeWait)
		if err == nil && !busy {
			return r, nil
		}
		select {
		case <-ctx.Done():
			return r, fmt.Errorf("no definite answer: %w, last %+v", err, r)
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// journal is what another process reads in a terminal's journal.
func (c *campaign) journal(dir string) (sales []struct {
	Reference string `json:"reference"`
	Amount    int64  `json:"amount"`
	Result    string `json:"result"`
	Phase     string `json:"phase"`
	Settled   bool   `json:"settled"`
}, err error) {
	out, err := exec.Command(c.bin, "sale", "list", "--json", "--config", filepath.Join(dir, "config.toml"), "--state", dir).Output()
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

// settled waits until nothing can happen to any sale by itself.
func (x *terminal) settled(ctx context.Context) error {
	for {
		sales, err := x.c.journal(x.dir)
		if err != nil {
			return err
		}
		open := 0
		for _, s := range sales {
			if !s.Settled {
				open++
			}
		}
		if open == 0 {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("not settled: %+v", sales)
		case <-time.After(200 * time.Millisecond):
		}
	}
}

// check holds what the registers believe against the books.
func (c *campaign) check(results []told) {
	out, err := exec.Command(c.bin, "backend", "books", "--json", "--state", filepath.Join(c.dir, "backend")).Output()
	require.NoError(c.t, err)
	var books []struct {
		ID, Reference, Original string
		Postings                []struct {
			Account string
			Amount  int64
		}
	}
	require.NoError(c.t, json.Unmarshal(out, &books))
	reference, net, sum := map[string]string{}, map[string]int64{}, int64(0)
	for _, b := range books {
		reference[b.ID] = b.Reference
	}
	for _, b := range books {
		ref := b.Reference
		if b.Original != "" {
			ref = reference[b.Original]
		}
		for _, p := range b.Postings {
			sum += p.Amount
			if p.Account == "merchant" {
				net[ref] += p.Amount
			}
		}
	}
	violations, approved, moved := 0, 0, 0
	for _, r := range results {
		sales, err := c.journal(r.terminal)
		require.NoError(c.t, err)
		got := int64(0)
		for _, s := range sales {
			got += net[s.Reference]
		}
		want := int64(0)
		if r.approved {
			approved++
			want = int64(r.amount)
		}
		if got != want {
			violations++
			c.t.Errorf("%s: told approved=%v for %d, but the books have %d: %+v", r.terminal, r.approved, r.amount, got, sales)
		}
	}
	for _, n := range net {
		if n != 0 {
			moved++
		}
	}
	require.Zero(c.t, sum, "postings sum to zero")
	require.Equal(c.t, approved, moved, "payments with money moved, told approved or not")
	c.t.Logf("%d sales, %d kills, %d approved, %d violations: at most %.4f at 95 %%", len(results), c.kills.Load(), approved, violations,
		3/float64(len(results)))
	require.Positive(c.t, approved, "a campaign that approves nothing proves nothing")
	require.Less(c.t, approved, len(results), "a campaign that approves everything proves nothing")
}
