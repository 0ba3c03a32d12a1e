package demo

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// Options of a run.
type Options struct {
	Self string    // path of the binary
	Out  io.Writer // the terminal window
	Keep bool      // leave the scratch folder behind
}

type story struct {
	self   string
	env    []string
	dir    string
	out    io.Writer
	mu     sync.Mutex
	cable  *cable
	net    *network
	url    string // of the backend
	port   string // the terminal's, for the shop's own software
	agent  *process
	began  time.Time
	number int
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
	if !o.Keep {
		defer os.RemoveAll(dir)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if s.cable, err = newCable(); err != nil {
		return err
	}
	defer s.cable.close()
	backend, err := s.opening(ctx)
	if err != nil {
		return err
	}
	defer backend.stop()
	defer s.net.cut()
	defer func() { s.agent.stop() }()
	for _, chapter := range []func(context.Context) error{
		s.paid, s.declined, s.aborted, s.pulled, s.powerCut, s.lateCommit, s.byLink, s.offline, s.hostedBuild, s.closing,
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

func (s *story) teller(who string) func(string) {
	return func(line string) { s.say("%-10s│ %s", who, line) }
}

// opening starts the backend and the terminal.
func (s *story) opening(ctx context.Context) (*process, error) {
	s.say("A payment terminal, its backend and a cash register on this machine.")
	s.say("Left column: who speaks. The register and the terminal talk ZVT over a real serial line pair.")
	s.chapter("Backend and terminal start")
	if err := os.WriteFile(s.path("methods.json"), []byte(methodSeed), 0o600); err != nil {
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
	line, err := backend.await(ctx, "listening on ", 30*time.Second)
	if err != nil {
		return backend, err
	}
	_, s.url, _ = strings.Cut(line, "listening on ")
	s.url = strings.TrimSpace(s.url)
	if s.net, err = newNetwork(strings.TrimPrefix(s.url, "http://")); err != nil {
		return backend, err
	}
	config := fmt.Sprintf(terminalConfig, s.net.url(), s.cable.terminal)
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
	_, err = methods.wait(20 * time.Second)
	return backend, err
}

func (s *story) startAgent(ctx context.Context) (err error) {
	s.agent, err = s.start(ctx, "terminal", s.teller("terminal"), append([]string{"run"}, s.flags()...)...)
	if err != nil {
		return err
	}
	line, err := s.agent.await(ctx, "ready", 30*time.Second)
	for _, word := range strings.Fields(line) {
		if at, yes := strings.CutPrefix(word, "port="); yes {
			s.port = at
		}
	}
	return err
}

func (s *story) path(name string) string { return filepath.Join(s.dir, name) }

func (s *story) flags() []string {
	return []string{"--config", s.path("config.toml"), "--state", s.path("terminal")}
}

// register starts a register verb on the cable's other end.
func (s *story) register(ctx context.Context, verb string, args ...string) (*process, error) {
	all := append([]string{"register", verb, "--line", s.cable.register, "--trace"}, args...)
	s.say("register  │ $ posagent register %s %s", verb, strings.Join(args, " "))
	return s.start(ctx, "register", s.teller("register"), all...)
}

// sales lists the newest first.
func (s *story) sales(ctx context.Context) ([]sale, error) {
	var v struct {
		Sales []sale `json:"sales"`
	}
	err := s.ask(ctx, &v, append([]string{"sale", "list", "--json"}, s.flags()...)...)
	return v.Sales, err
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

func (s *story) wallet(ctx context.Context, verb string, of sale) error {
	s.say("wallet    │ $ posagent wallet %s %s", verb, of.Reference)
	return s.ask(ctx, nil, "wallet", verb, of.Reference, "--backend", s.url)
}

const slow = 60 * time.Second // generous: an emulated processor is slow
