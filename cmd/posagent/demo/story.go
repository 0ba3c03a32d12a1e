package demo

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// Options of a run.
type Options struct {
	Self string    // path of the binary
	Out  io.Writer // the person's window
	Keep bool      // leave the scratch folder behind
	// Verbose shows every message of the register's line, every code and every receipt.
	Verbose bool
	Narrow  bool // Out is a terminal window: long lines are cut
}

type story struct {
	self   string
	env    []string
	dir    string
	out    io.Writer
	mu     sync.Mutex
	window *window
	pace   int // how much slower than a small ARM board this machine starts programs, at least 1
	cable  *cable
	net    *network
	url    string     // of the backend
	port   string     // the terminal's, for the shop's own software
	lines  []*network // to the terminal's register lines over TCP, in the order of its configuration
	agent  *process

	children []int // of this process, as programs
	began    time.Time
	number   int
}

// sale is what `posagent sale list --json` says of one sale.
type sale struct {
	ID        string `json:"id"`
	Phase     string `json:"phase"`
	Result    string `json:"result"`
	Amount    int64  `json:"amount"`
	Currency  string `json:"currency"`
	Receipt   int    `json:"receipt"`
	Reference string `json:"reference"`
	Method    string `json:"method"`
	Code      bool   `json:"codeShown"`
	Undone    bool   `json:"undone"`
	Settled   bool   `json:"settled"`
}

// Run tells the story; an error means that something did not go as told.
func Run(ctx context.Context, o Options) error {
	dir, err := os.MkdirTemp("", "posagent-demo-")
	if err != nil {
		return err
	}
	s := &story{self: o.Self, env: environment(), dir: dir, out: o.Out, began: time.Now()}
	s.window = &window{verbose: o.Verbose, narrow: o.Narrow, say: func(line string) { s.say("%s", line) }}
	if !o.Keep {
		defer os.RemoveAll(dir)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if s.cable, err = newCable(); err != nil {
		return err
	}
	defer s.cable.close()
	if err = s.measure(ctx); err != nil {
		return err
	}
	backend, err := s.opening(ctx)
	if err != nil {
		return err
	}
	defer backend.stop()
	defer s.net.cut()
	defer s.cutLines()
	defer func() { s.agent.stop() }()
	for _, chapter := range []func(context.Context) error{
		s.paid, s.declined, s.aborted, s.languages, s.powerCut, s.lateCommit, s.byLink, s.offline, s.hostedBuild, s.closing,
	} {
		if err := chapter(ctx); err != nil {
			return err
		}
	}
	s.say("\nEverything went as told, in %.0f s.", time.Since(s.began).Seconds())
	return nil
}

func (s *story) say(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	fmt.Fprintf(s.out, format+"\n", args...)
}

func (s *story) chapter(title string) {
	s.number++
	s.say("\n━━ %d. %s %s", s.number, title, strings.Repeat("━", max(3, 68-len([]rune(title)))))
}

func (s *story) teller(who string) func(string) { return s.window.teller(who) }

// measure starts the program once. Where that takes long (an emulated processor, a busy machine), the customer needs
// longer to pay, so codes are valid for longer and every step gets more time.
func (s *story) measure(ctx context.Context) error {
	s.pace = 8 // until it is known
	began := time.Now()
	p, err := s.start(ctx, "version", nil, "version")
	if err != nil {
		return err
	}
	if _, err := p.wait(s.slow()); err != nil {
		return err
	}
	s.pace = int(min(1+time.Since(began)/(500*time.Millisecond), 8))
	return nil
}

// slow bounds every step.
func (s *story) slow() time.Duration { return time.Duration(s.pace) * time.Minute }

// opening starts the backend and the terminal.
func (s *story) opening(ctx context.Context) (*process, error) {
	s.say("A payment terminal, its backend and a cash register on this machine.")
	s.say("Left column: who speaks. The register and the terminal talk ZVT over a real serial line pair.")
	if !s.window.verbose {
		s.say("The first code and the first receipt are shown whole; posagent demo -v shows every message.")
	}
	s.chapter("Backend and terminal start")
	if err := os.WriteFile(s.path("methods.json"), []byte(s.methods()), 0o600); err != nil {
		return nil, err
	}
	backendConfig := "[methods]\ntimeout_unit = \"s\"\n[backend]\nseed = \"" + s.path("methods.json") + "\"\nwallet_delay = \"10m\"\n"
	if err := os.WriteFile(s.path("backend.toml"), []byte(backendConfig), 0o600); err != nil {
		return nil, err
	}
	backend, err := s.start(ctx, "backend", s.teller("backend"), "backend", "--listen", "127.0.0.1:0", "--config", s.path("backend.toml"), "--state", s.path("backend"))
	if err != nil {
		return nil, err
	}
	line, err := backend.await(ctx, "listening on ", s.slow())
	if err != nil {
		return backend, err
	}
	_, s.url, _ = strings.Cut(line, "listening on ")
	s.url = strings.TrimSpace(s.url)
	if s.net, err = newNetwork(strings.TrimPrefix(s.url, "http://")); err != nil {
		return backend, err
	}
	config := fmt.Sprintf(terminalConfig, s.net.url(), s.cable.terminal) + linesConfig()
	if err := os.WriteFile(s.path("config.toml"), []byte(config), 0o600); err != nil {
		return backend, err
	}
	if err := s.startAgent(ctx); err != nil {
		return backend, err
	}
	methods, err := s.start(ctx, "methods", s.teller("technician"), append([]string{"methods"}, s.flags()...)...)
	if err != nil {
		return backend, err
	}
	_, err = methods.wait(s.slow())
	return backend, err
}

func (s *story) startAgent(ctx context.Context) (err error) {
	s.agent, err = s.start(ctx, "terminal", s.teller("terminal"), append([]string{"run"}, s.flags()...)...)
	if err != nil {
		return err
	}
	line, err := s.agent.await(ctx, "ready port", s.slow())
	if err != nil {
		return err
	}
	var at []string
	for _, word := range strings.Fields(line) {
		if port, yes := strings.CutPrefix(word, "port="); yes {
			s.port = port
		}
		if address, yes := strings.CutPrefix(word, "register=tcp:"); yes {
			at = append(at, address)
		}
	}
	return s.plugLines(at)
}

func (s *story) path(name string) string { return filepath.Join(s.dir, name) }

func (s *story) flags() []string {
	return []string{"--config", s.path("config.toml"), "--state", s.path("terminal")}
}

// register starts a register verb on the cable's other end.
func (s *story) register(ctx context.Context, verb string, args ...string) (*process, error) {
	all := append([]string{"register", verb, "--line", s.cable.register}, args...)
	if s.window.verbose {
		all = append(all, "--trace")
	}
	s.say("register  │ $ %s", strings.Join(append([]string{"posagent register", verb}, args...), " "))
	return s.start(ctx, "register", s.teller("register"), all...)
}

// sales asks the terminal's local port for the newest first.
func (s *story) sales(ctx context.Context) ([]sale, error) {
	var v struct {
		Sales []sale `json:"sales"`
	}
	got, err := s.call(ctx, http.MethodGet, "/agent/v1/sales", "", "")
	if err != nil {
		return nil, err
	}
	if got.Status != http.StatusOK {
		return nil, fmt.Errorf("GET /agent/v1/sales: %d %s", got.Status, got.Body)
	}
	return v.Sales, json.Unmarshal(got.Body, &v)
}

// until polls the newest sale until it is as wanted.
func (s *story) until(ctx context.Context, what string, limit time.Duration, ok func(sale) bool) (sale, error) {
	end := time.Now().Add(limit)
	for {
		list, err := s.sales(ctx)
		if err != nil {
			return sale{}, err
		}
		if len(list) > 0 && ok(list[0]) {
			return list[0], nil
		}
		if time.Now().After(end) {
			return sale{}, fmt.Errorf("the newest sale is not %s after %s: %+v", what, limit, list[:min(1, len(list))])
		}
		select {
		case <-ctx.Done():
			return sale{}, ctx.Err()
		case <-time.After(200 * time.Millisecond):
		}
	}
}

// wallet does what the customer does on the page behind the code: a wallet's page, or a payment link's.
func (s *story) wallet(ctx context.Context, verb string, of sale) error {
	s.say("wallet    │ scans the code: %s %s %s", verb, amount(of.Amount), of.Currency)
	for _, page := range []string{"/wallet/", "/pay/"} {
		status, body, err := s.act(ctx, s.url+page+of.Reference+"/"+verb)
		if err != nil {
			return err
		}
		if status == http.StatusOK {
			return nil
		}
		if status != http.StatusNotFound {
			return fmt.Errorf("wallet: %s %s: %d %s", verb, of.Reference, status, body)
		}
	}
	return fmt.Errorf("wallet: the backend does not know %s", of.Reference)
}

// act presses a button of a sandbox page as a program.
func (s *story) act(ctx context.Context, address string) (status int, body []byte, err error) {
	ctx, cancel := context.WithTimeout(ctx, s.slow())
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, address, nil)
	if err != nil {
		return 0, nil, err
	}
	req.Header.Set("Authorization", "Bearer posagent-demo-bearer")
	req.Header.Set("Accept", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer resp.Body.Close()
	body, err = io.ReadAll(io.LimitReader(resp.Body, 64<<10))
	return resp.StatusCode, body, err
}
