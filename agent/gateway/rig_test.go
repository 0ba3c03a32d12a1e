package gateway_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent/gateway"
	"posagent/agent/outbox"
	"posagent/schemes/backend"
	"posagent/schemes/payments"
	"posagent/schemes/tokens"
	"posagent/schemes/wire"
	"posagent/schemes/wire/wiretest"
	"posagent/store"
	"posagent/store/sqlite"
	"posagent/store/storetest"
)

const (
	visa     = "4111111111111111"
	declined = "4000000000000002"
)

// cable is the way to the backend: handlers called over HTTP's types, without a network, so that time can be virtual.
type cable struct {
	to wire.Doer

	mu    sync.Mutex
	cut   bool
	mode  mode // nil = as it is
	sent  []sent
	calls int
}

// mode is how the way is.
type mode func(r *http.Request, answer func() (*http.Response, error)) (*http.Response, error)

// sent is a write that reached the backend.
type sent struct {
	path string
	key  string
}

// Do implements wire.Doer.
func (c *cable) Do(r *http.Request) (*http.Response, error) {
	r.Header.Set("Authorization", "Bearer "+backend.DemoCredentials().Bearer.Reveal())
	c.mu.Lock()
	cut, how := c.cut, c.mode
	c.calls++
	if !cut && r.Method != http.MethodGet {
		c.sent = append(c.sent, sent{r.URL.Path, r.Header.Get(wire.KeyHeader)})
	}
	c.mu.Unlock()
	if cut {
		return nil, &net.OpError{Op: "dial", Err: context.DeadlineExceeded}
	}
	if how != nil {
		return how(r, func() (*http.Response, error) { return c.to.Do(r) })
	}
	return c.to.Do(r)
}

func (c *cable) set(cut bool, how mode) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cut, c.mode = cut, how
}

func (c *cable) writes() []sent {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]sent(nil), c.sent...)
}

// lost lets a request have its effect and loses the answer.
func lost(r *http.Request, answer func() (*http.Response, error)) (*http.Response, error) {
	if r.Method != http.MethodGet {
		if _, err := answer(); err != nil {
			return nil, err
		}
		return nil, &net.OpError{Op: "read", Err: context.DeadlineExceeded}
	}
	return answer()
}

// journal is a journal whose writes a test may stand around.
type journal struct {
	store.Journal
	mu     sync.Mutex
	around func(ctx context.Context, write func() error) error
}

func (j *journal) Write(ctx context.Context, f func(store.Tx) error) error {
	write := func() error { return j.Journal.Write(ctx, f) }
	j.mu.Lock()
	around := j.around
	j.mu.Unlock()
	if around == nil {
		return write()
	}
	return around(ctx, write)
}

func (j *journal) stand(around func(ctx context.Context, write func() error) error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.around = around
}

// shop is a front over an outbox over a cable to the real backend.
type shop struct {
	t       *testing.T
	opts    gateway.Options
	db      *journal
	path    string
	cable   *cable
	backend *backend.Backend
	front   *gateway.Front
	box     *outbox.Outbox
	pay     payments.Service
	tok     tokens.Service
	cancel  context.CancelFunc
	done    chan error

	site      mode          // what a test lets answer in the backend's place; nil = none
	retention time.Duration // 0 = the usual

	key      storetest.Wrapper // the box's
	secret   string            // file of the caller secret; "" = beside the journal
	restored string            // why the journal was restored; "" = it was not
}

func steps() []store.Step { return append(outbox.Schema(), gateway.Schema()...) }

// blank lays a journal in which nothing is yet; empty is the same of the backend.
var (
	blank = storetest.Blank(steps)
	empty = sync.OnceValues(emptyBackend)
)

// emptyBackend is the files of a backend that was never opened, by name.
func emptyBackend() (files map[string][]byte, err error) {
	dir, err := os.MkdirTemp("", "posagent-backend")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	keys, err := backend.OpenKey(dir)
	if err != nil {
		return nil, err
	}
	db, err := sqlite.Open(context.Background(), sqlite.Options{Path: filepath.Join(dir, "backend.db"), Steps: backend.Schema(), Wrapper: keys, Synchronous: "OFF"})
	if err != nil {
		return nil, err
	}
	if err := db.Close(); err != nil {
		return nil, err
	}
	list, err := os.ReadDir(dir)
	files = map[string][]byte{}
	for _, e := range list {
		content, failed := os.ReadFile(filepath.Join(dir, e.Name()))
		err = errors.Join(err, failed)
		files[e.Name()] = content
	}
	return files, err
}

func openBackend(t *testing.T) *backend.Backend {
	t.Helper()
	dir, never := t.TempDir(), -time.Second
	files, err := empty()
	require.NoError(t, err)
	for name, content := range files {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), content, 0o600))
	}
	b, err := backend.Open(t.Context(), backend.Config{Dir: dir, Synchronous: "OFF", WalletDelay: &never, PublicURL: "http://127.0.0.1:1", Hosts: []string{"backend.test"}})
	require.NoError(t, err)
	return b
}

// inShop runs f in a bubble with a shop whose link is up and whose services are proven.
func inShop(t *testing.T, opts gateway.Options, f func(t *testing.T, s *shop)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := newShop(t, opts)
		defer s.close() // also where the test fails: nothing may be left in the bubble
		f(t, s)
	})
}

func newShop(t *testing.T, opts gateway.Options) *shop {
	b := openBackend(t)
	s := &shop{t: t, opts: opts, backend: b, cable: &cable{to: wiretest.Direct(b.Handler())}, path: filepath.Join(t.TempDir(), "agent.db")}
	s.start()
	s.pass(time.Second)
	return s
}

func (s *shop) start() {
	if s.key == (storetest.Wrapper{}) {
		blank(s.t, s.path)
	}
	db, err := sqlite.Open(s.t.Context(), sqlite.Options{Path: s.path, Steps: steps(), Wrapper: s.key, Ballast: -1, Synchronous: "OFF"})
	require.NoError(s.t, err)
	s.db = &journal{Journal: db}
	o := s.opts
	o.DB = s.db
	if s.secret == "" {
		s.secret = filepath.Join(filepath.Dir(s.path), "callers.secret")
	}
	o.CallerSecret, err = s.db.Secret(s.t.Context(), "callers", s.secret)
	require.NoError(s.t, err)
	o.Payments = &payments.Client{BaseURL: "http://backend.test", Doer: s.cable}
	o.Tokens = &tokens.Client{BaseURL: "http://backend.test", Doer: s.cable}
	links := linkClient("http://backend.test", s.cable)
	if o.Links = links.Links(); o.Transactions == nil {
		o.Transactions = links.Transactions()
	}
	s.front = gateway.NewFront(o)
	begin := time.Now()
	s.box = outbox.NewOutbox(outbox.Options{DB: s.db, Kinds: s.front.Kinds(), Watch: s.front.Watch, Retention: s.retention, Boot: func() time.Duration { return time.Since(begin) }})
	s.front.Attach(s.box)
	if s.restored != "" {
		_, err := s.box.HoldRestored(s.t.Context(), s.restored)
		require.NoError(s.t, err)
		s.restored = ""
	}
	s.pay, s.tok = s.front.Payments(), s.front.Tokens()
	ctx, cancel := context.WithCancel(s.t.Context())
	s.cancel, s.done = cancel, make(chan error, 2)
	box, front := s.box, s.front
	go func() { s.done <- box.Run(ctx) }()
	go func() { s.done <- front.Run(ctx) }()
}

func (s *shop) stop() {
	if s.cancel == nil {
		return
	}
	s.cancel()
	s.cancel = nil
	require.NoError(s.t, <-s.done)
	require.NoError(s.t, <-s.done)
	require.NoError(s.t, s.db.Close())
}

func (s *shop) close() {
	s.stop()
	require.NoError(s.t, s.backend.Close())
}

// off leaves the terminal without power for a while.
func (s *shop) off(d time.Duration) {
	s.stop()
	s.pass(d)
	s.start()
	s.pass(time.Second)
}

// pass lets virtual time go by.
func (s *shop) pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

func (s *shop) cut()  { s.cable.set(true, nil) }
func (s *shop) mend() { s.cable.set(false, nil); s.box.Online() }

func (s *shop) op(key wire.Key) (op outbox.Op) {
	s.t.Helper()
	require.NoError(s.t, s.db.Read(s.t.Context(), func(r store.Reader) (err error) { op, err = s.box.Get(r, key); return err }))
	return op
}

func (s *shop) ops() (list []outbox.Op) {
	s.t.Helper()
	require.NoError(s.t, s.db.Read(s.t.Context(), func(r store.Reader) (err error) { list, err = s.box.List(r, outbox.Filter{}); return err }))
	return list
}

func moto(processing string, amount int32) payments.CreateRequest {
	return payments.CreateRequest{
		Type: payments.Moto, Amount: amount, CurrencyCode: "EUR", Processing: processing, PaymentNumber: "A1",
		CardDetails: &payments.CardDetails{PAN: wire.NewPAN(visa), ExpiryYear: 2099, ExpiryMonth: 12},
	}
}

func some(n int32) *int32 { return &n }
