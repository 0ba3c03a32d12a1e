package kill

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
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

func openGate(to string) (*gate, error) {
	target, err := url.Parse(to)
	if err != nil {
		return nil, err
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	proxy := &httputil.ReverseProxy{
		Rewrite:      func(r *httputil.ProxyRequest) { r.SetURL(target) },
		ErrorHandler: func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) },
	}
	g := &gate{url: "http://" + ln.Addr().String()}
	g.server = &http.Server{ReadHeaderTimeout: 10 * time.Second, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch g.state.Load() {
		case isDown:
			panic(http.ErrAbortHandler)
		case losesAnswers:
			if r.Method == http.MethodPost {
				proxy.ServeHTTP(&deaf{header: http.Header{}}, r)
				panic(http.ErrAbortHandler)
			}
		}
		proxy.ServeHTTP(w, r)
	})}
	go func() { _ = g.server.Serve(ln) }()
	return g, nil
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

// payment is what one local client believes at the end.
type payment struct {
	name, id, capture string
	amount, part      int64
}

// clientTerminal makes a terminal whose port local clients use and whose backend comes and goes.
func (c *campaign) clientTerminal(i int) (*terminal, *gate, error) {
	x, err := c.terminal(i)
	if err != nil {
		return nil, nil, err
	}
	g, err := openGate(c.backend)
	if err != nil {
		return nil, nil, err
	}
	host, _, _ := strings.Cut(x.tcp, ":")
	x.api = "http://" + host + ":" + fmt.Sprint(c.port+100)
	text := fmt.Sprintf(agentConfig, g.url, false, x.tcp)
	text = strings.Replace(text, "listen = \"\"\n", fmt.Sprintf("listen = %q\ntoken = %q\n", strings.TrimPrefix(x.api, "http://"), clientToken), 1)
	text += "[offline]\nmax_amount = [\"* 1000\"]\nmax_total = [\"* 100000\"]\nanswer_within = \"300ms\"\n"
	return x, g, os.WriteFile(filepath.Join(x.dir, "config.toml"), []byte(text), 0o600)
}

// post asks the port once; a terminal that is dead does not answer.
func (x *terminal) post(ctx context.Context, path, key string, body any, out any) (status int, err error) {
	data, err := json.Marshal(body)
	if err != nil {
		return 0, err
	}
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, x.api+"/api/v1/payments"+path, bytes.NewReader(data))
	if err != nil {
		return 0, err
	}
	req.Header.Set("Authorization", "Bearer "+clientToken)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Idempotency-Key", key)
	req.Close = true
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	said, err := io.ReadAll(resp.Body)
	if err != nil {
		return 0, err
	}
	if resp.StatusCode >= 400 {
		return resp.StatusCode, fmt.Errorf("%d: %s", resp.StatusCode, said)
	}
	return resp.StatusCode, json.Unmarshal(said, out)
}

// answered is what the port says of a write.
type answered struct {
	PaymentID      string          `json:"paymentId"`
	TransactionRef string          `json:"transactionRef"`
	Operation      json.RawMessage `json:"operation"`
}

// ask repeats a write under its key until it is acknowledged, at the end until the backend's own answer is there.
func (x *terminal) ask(ctx context.Context, path, key string, body any, final bool) (answered, error) {
	for wait := 20 * time.Millisecond; ; wait = min(2*wait, 500*time.Millisecond) {
		var a answered
		status, err := x.post(ctx, path, key, body, &a)
		switch {
		case err == nil && (status != http.StatusAccepted || !final):
			return a, nil
		case status >= 400 && status < 500 && status != http.StatusTooManyRequests:
			return a, fmt.Errorf("refused: %w", err)
		}
		select {
		case <-ctx.Done():
			return a, fmt.Errorf("%s: no answer: %w, last %d", key, err, status)
		case <-time.After(wait):
		}
	}
}

// write makes a payment and captures a part of it by the id it was told; final waits for the backend's own ids.
func (x *terminal) write(ctx context.Context, p *payment, final bool) error {
	create, err := x.ask(ctx, "", "create", map[string]any{
		"type": "Moto", "amount": p.amount, "currencyCode": "EUR", "processing": "Authorize",
		"cardDetails": map[string]any{"pan": "4111111111111111", "expiryYear": 2099, "expiryMonth": 12},
	}, final)
	if err != nil {
		return err
	}
	if p.id == "" || final {
		if p.name == "" {
			p.name = create.PaymentID // the first id is good for ever
		}
		p.id = create.PaymentID
	}
	capture, err := x.ask(ctx, "/"+p.name+"/capture", "capture", map[string]any{"amount": p.part}, final)
	p.capture = capture.TransactionRef
	return err
}

// client is one client's story: it writes while kills are dealt out, then asks for the end of it.
func (x *terminal) client(g *gate, rng *rand.Rand, p *payment, kills func() error) error {
	ctx, cancel := context.WithTimeout(context.Background(), saleTime)
	defer cancel()
	flapping, calm := context.WithCancel(ctx)
	defer calm()
	over := make(chan struct{})
	go func() { g.flap(flapping, rng); close(over) }()
	wrote := make(chan error, 1)
	go func() { wrote <- x.write(ctx, p, false) }()
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
	go func() { ended <- x.write(ctx, p, true) }()
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

// checkClients holds what clients were told against the books.
func (c *campaign) checkClients(all []payment) {
	out, err := exec.Command(c.bin, "backend", "books", "--json", "--state", filepath.Join(c.dir, "backend")).Output()
	require.NoError(c.t, err)
	var books []struct {
		Service, ID, Original, Type string
		Amount                      int64
	}
	require.NoError(c.t, json.Unmarshal(out, &books))
	type line struct {
		payment, kind string
		amount        int64
	}
	entries, ofPayment, made := map[string]line{}, map[string][]string{}, 0
	for _, b := range books {
		switch {
		case b.Service != "payments":
			continue
		case b.Original == "":
			made++
		default:
			ofPayment[b.Original] = append(ofPayment[b.Original], b.Type)
		}
		entries[b.ID] = line{b.Original, b.Type, b.Amount}
	}
	violations, seen := 0, map[string]bool{}
	wrong := func(format string, args ...any) { violations++; c.t.Errorf(format, args...) }
	for i, p := range all {
		kinds := ofPayment[p.id]
		slices.Sort(kinds)
		switch {
		case p.id == "" || seen[p.id]:
			wrong("client %d: payment %q was told twice, or not at all", i, p.id)
		case entries[p.id].amount != p.amount || !slices.Equal(kinds, []string{"authorize", "capture"}):
			wrong("client %d: told of payment %s of %d, one reservation and one capture; the books have %+v %v", i, p.id, p.amount, entries[p.id], kinds)
		case entries[p.capture] != (line{p.id, "capture", p.part}):
			wrong("client %d: told of capture %s of %d, the books have %+v", i, p.capture, p.part, entries[p.capture])
		}
		seen[p.id] = true
	}
	if made != len(all) {
		wrong("%d payments in the books, clients were told of %d", made, len(all))
	}
	c.t.Logf("%d clients' payments and captures, %d kills, %d violations: at most %.5f a client, %.5f a kill at 95 %%",
		len(all), c.kills.Load(), violations, 3/float64(max(1, len(all))), 3/float64(max(1, c.kills.Load())))
}

// share is the part of a campaign's count that clients' writes have.
const share = 4

// TestKillClients: N/4 terminals are killed at random moments while a local client writes and the backend comes and goes.
func TestKillClients(t *testing.T) {
	t.Parallel()
	n, seedNo := max(4, number("N", 40)/share), uint64(number("SEED", int(time.Now().UnixNano()&0xffffff)))
	t.Logf("seed %d, %d clients", seedNo, n)
	c := begin(t, false)
	c.port += 2 // the sales of the other campaigns run beside these
	all := make([]payment, n)
	c.all(n, func(i int) error {
		rng := rand.New(rand.NewPCG(seedNo, uint64(i)))
		all[i] = payment{amount: int64(1000 + i), part: int64(1 + rng.IntN(900))}
		x, g, err := c.clientTerminal(i)
		if err != nil {
			return err
		}
		defer g.server.Close()
		err = x.start("")
		if err == nil {
			err = x.client(g, rand.New(rand.NewPCG(seedNo, uint64(i)+1<<32)), &all[i], func() error {
				for range 1 + rng.IntN(4) {
					<-time.After(moment(rng))
					x.kill()
					if err := x.start(""); err != nil {
						return err
					}
				}
				return nil
			})
		}
		return x.finish(err)
	})
	c.checkClients(all)
}

// TestPointsOfClients: N/4 terminals die at the named points of a client's write, each point in its turn.
func TestPointsOfClients(t *testing.T) {
	t.Parallel()
	n, seedNo := max(4, number("N", 12)/share), uint64(number("SEED", int(time.Now().UnixNano()&0xffffff)))
	c := begin(t, true)
	c.port += 2
	l := &ledger{reached: map[string]int{}, resumed: map[string]int{}, died: map[string]int{}, missed: map[string]int{}}
	all := make([]payment, n+1)
	var mu sync.Mutex
	tell := func(i int, at string) (*terminal, error) {
		rng := rand.New(rand.NewPCG(seedNo, uint64(i)))
		p := payment{amount: int64(1000 + i), part: int64(1 + rng.IntN(900))}
		x, g, err := c.clientTerminal(i)
		if err != nil {
			return nil, err
		}
		defer g.server.Close()
		if err = x.start(at); err != nil && (x.process == nil || x.diedAt() == "") {
			return x, err
		}
		err = x.client(g, rng, &p, func() error { return nil })
		mu.Lock()
		defer mu.Unlock()
		all[i] = p
		return x, err
	}
	x, err := tell(n, "")
	require.NoError(t, err)
	lives, _ := x.lives()
	l.lived(lives, nil)
	var points []target
	for _, name := range slices.Sorted(maps.Keys(lives[0])) {
		for nth := range min(lives[0][name], 3) {
			points = append(points, target{at: name, nth: nth + 1})
		}
	}
	rng := rand.New(rand.NewPCG(seedNo, 0))
	rng.Shuffle(len(points), func(i, j int) { points[i], points[j] = points[j], points[i] })
	points = order(points)
	require.NoError(t, x.finish(nil))
	t.Logf("seed %d, %d points, %d places to die at, %d deaths asked for", seedNo, len(l.reached), len(points), n)
	c.all(n, func(i int) error {
		g := points[i%len(points)]
		x, err := tell(i, fmt.Sprintf("%s:%d", g.at, g.nth))
		if x == nil {
			return err
		}
		lives, deaths := x.lives()
		l.lived(lives, deaths)
		if len(deaths) == 0 {
			l.note(l.missed, g.at)
		}
		return x.finish(err)
	})
	c.checkClients(all)
	l.report(t, false)
	for _, g := range points {
		require.False(t, n >= 2*len(points) && l.died[g.at] == 0, "nobody died at %q", g.at)
	}
}
