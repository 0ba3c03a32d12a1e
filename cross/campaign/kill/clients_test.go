package kill

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"posagent/agent/gateway/offlinetest"
	"posagent/cross/need"
	"posagent/schemes/paylinks"
	"posagent/schemes/payments"
	"posagent/schemes/tokens"
	"posagent/schemes/wire"
)

const clientToken = "kill-port-token-0123"

// gate stands between one terminal and the backend, which comes and goes: it lets requests through, none at all, or their answers die.
type gate struct {
	server *http.Server
	url    string
	state  atomic.Int32 // of the list below
}

const (
	isUp int32 = iota
	isDown
	losesAnswers
)

func (c *campaign) openGate() (*gate, error) {
	proxy, err := forward(c.behind)
	if err != nil {
		return nil, err
	}
	g := &gate{}
	g.server, g.url, err = serve(c.referee.Terminal(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch g.state.Load() {
		case isDown:
			panic(http.ErrAbortHandler)
		case losesAnswers:
			if r.Method != http.MethodGet {
				proxy.ServeHTTP(&deaf{header: http.Header{}}, r)
				panic(http.ErrAbortHandler)
			}
		}
		proxy.ServeHTTP(w, r)
	})))
	return g, err
}

// deaf is where answers get lost.
type deaf struct{ header http.Header }

func (d *deaf) Header() http.Header         { return d.header }
func (d *deaf) Write(p []byte) (int, error) { return len(p), nil }
func (d *deaf) WriteHeader(int)             {}

// flap lets the backend come and go until ctx ends.
func (g *gate) flap(ctx context.Context, rng *rand.Rand) {
	for {
		g.state.Store([]int32{isUp, isUp, isDown, losesAnswers}[rng.IntN(4)])
		select {
		case <-time.After(time.Duration(20+rng.IntN(400)) * time.Millisecond):
		case <-ctx.Done():
			g.state.Store(isUp)
			return
		}
	}
}

// client is what one local client believes at the end of its story.
type client struct {
	offlinetest.Story
	first, about, id []string // of each write: what it was told first, what it is about, the backend's own id
}

// clientTerminal makes a terminal whose port local clients use and whose backend comes and goes.
func (c *campaign) clientTerminal(i int) (*terminal, *gate, error) {
	x, err := c.terminal(i)
	if err != nil {
		return nil, nil, err
	}
	g, err := c.openGate()
	if err != nil {
		return nil, nil, err
	}
	host, _, _ := strings.Cut(x.tcp, ":")
	x.api = "http://" + host + ":" + fmt.Sprint(c.port+100)
	text := fmt.Sprintf(agentConfig+zvtConfig, g.url, false, x.tcp)
	text = strings.Replace(text, "listen = \"\"\n", fmt.Sprintf("listen = %q\ntoken = %q\n", strings.TrimPrefix(x.api, "http://"), clientToken), 1)
	text += "[offline]\nmax_amount = [\"* 1000\"]\nmax_total = [\"* 100000\"]\nanswer_within = \"300ms\"\n"
	return x, g, os.WriteFile(filepath.Join(x.dir, "config.toml"), []byte(text), 0o600)
}

// caller is the way to the port of one terminal; a terminal that is dead does not answer.
type caller struct{ x *terminal }

// Do implements wire.Doer.
func (c caller) Do(r *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithTimeout(r.Context(), need.Limit())
	defer cancel()
	r = r.WithContext(ctx)
	r.Close = true
	if !strings.HasPrefix(r.URL.Path, paylinks.Prefix) && !strings.HasPrefix(r.URL.Path, paylinks.ShortPrefix) { // those are signed
		r.Header.Set("Authorization", "Bearer "+clientToken)
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	said, err := io.ReadAll(resp.Body)
	resp.Body = io.NopCloser(bytes.NewReader(said))
	return resp, err
}

// services are what a local client calls.
func (x *terminal) services() offlinetest.Services {
	links := &paylinks.Client{BaseURL: x.api, Instance: "demo", Secret: clientToken, Doer: caller{x}}
	return offlinetest.Services{
		Payments: &payments.Client{BaseURL: x.api, Doer: caller{x}}, Tokens: &tokens.Client{BaseURL: x.api, Doer: caller{x}},
		Links: links.Links(), Transactions: named{links.Transactions()}, Customer: x.c.customer,
	}
}

// customer pays a link. He has a network of his own.
func (c *campaign) customer(ctx context.Context, hash string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.backend+"/pay/"+hash+"/pay", http.NoBody)
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer posagent-demo-bearer")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if _, err := io.Copy(io.Discard, resp.Body); err != nil || resp.StatusCode == http.StatusOK {
		return err
	}
	return fmt.Errorf("the customer is told %s", resp.Status)
}

// patience is how long a client waits for the end of a write before somebody helps it on.
const patience = 1500 * time.Millisecond

// nudge is a technician who will not wait until it is time to look what became of a lost answer. A terminal that is dead is not helped.
func (x *terminal) nudge(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, need.Limit())
	defer cancel()
	_ = exec.CommandContext(ctx, x.c.bin, "ops", "send", "--all", "--config", filepath.Join(x.dir, "config.toml"), "--state", x.dir).Run()
}

// ask repeats a write under its key until it is acknowledged, at the end until the backend's own answer is there.
func (x *terminal) ask(ctx context.Context, c *client, i int, final bool) (string, error) {
	asked := time.Now()
	for wait := 20 * time.Millisecond; ; wait = min(2*wait, 500*time.Millisecond) {
		if final && time.Since(asked) > patience {
			x.nudge(ctx)
			asked = time.Now()
		}
		id, pending, err := c.Do(ctx, x.services(), i, c.about[i])
		switch code := wire.CodeOf(err); {
		case err == nil && (pending == nil || !final):
			return id, nil
		case err == nil && strings.Contains(pending.Note, "in doubt"):
			return id, fmt.Errorf("%s %d of %q is in doubt: operation %s", c.Name, i, c.about[i], pending.Key)
		case code == wire.Invalid || code == wire.NotFound || code == wire.Conflict || code == wire.KeyReused:
			return id, fmt.Errorf("%s %d of %q: refused: %w", c.Name, i, c.about[i], err)
		}
		select {
		case <-ctx.Done():
			return id, fmt.Errorf("%s %d of %q: no answer: %w, last %w, pending %+v", c.Name, i, c.about[i], ctx.Err(), err, pending)
		case <-time.After(wait):
		}
	}
}

// write tells the story, each write on what was made before it by the id that was told first; final waits for the backend's own ids.
func (x *terminal) write(ctx context.Context, c *client, final bool) error {
	for i := range c.Writes {
		for i == len(c.about) {
			about, ready, err := c.Subject(ctx, x.services(), i, c.first)
			if code := wire.CodeOf(err); code == wire.NotFound || code == wire.Invalid {
				return fmt.Errorf("%s: what write %d is about: %w", c.Name, i, err)
			}
			if err == nil && ready {
				c.about = append(c.about, about)
				break
			}
			select {
			case <-ctx.Done():
				return fmt.Errorf("%s: write %d waits for its customer: %w", c.Name, i, errors.Join(err, ctx.Err()))
			case <-time.After(50 * time.Millisecond):
			}
		}
		id, err := x.ask(ctx, c, i, final)
		if err != nil {
			return err
		}
		if i == len(c.first) {
			c.first = append(c.first, id)
		}
		if final {
			c.id = append(c.id, id)
		}
	}
	return nil
}

// client is one client's story: it writes while kills are dealt out, then asks for the end of it.
func (x *terminal) client(g *gate, rng *rand.Rand, c *client, kills func() error) error {
	ctx, cancel := context.WithTimeout(context.Background(), saleTime())
	defer cancel()
	flapping, calm := context.WithCancel(ctx)
	defer calm()
	over := make(chan struct{})
	go func() { g.flap(flapping, rng); close(over) }()
	wrote := make(chan error, 1)
	go func() { wrote <- x.write(ctx, c, false) }()
	if err := kills(); err != nil {
		return err
	}
	// Whoever wrote has an answer now, or gets one from the last life.
	for done := false; !done; {
		select {
		case err := <-wrote:
			if err != nil {
				return err
			}
			done = true
		case <-time.After(50 * time.Millisecond):
			if err := x.revive(); err != nil {
				return err
			}
		}
	}
	calm()
	<-over
	ended := make(chan error, 1)
	go func() { ended <- x.write(ctx, c, true) }()
	for {
		select {
		case err := <-ended:
			return err
		case <-time.After(50 * time.Millisecond):
			if err := x.revive(); err != nil {
				return err
			}
		}
	}
}

// named gives each charge a reference of its own: this backend goes on to tell what was reserved, so nothing else shows whose
// collection it was where the answer is lost.
type named struct{ paylinks.Transactions }

func (t named) Charge(ctx context.Context, key wire.Key, id int64, req paylinks.ChargeRequest) (paylinks.Done, error) {
	req.ReferenceID = "charge-" + string(key)
	return t.Transactions.Charge(ctx, key, id, req)
}
