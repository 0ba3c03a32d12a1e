package outbox_test

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent/outbox"
	"posagent/schemes/wire"
	"posagent/store"
	"posagent/store/sqlite"
	"posagent/store/storetest"
)

var errDead = errors.New("power is off")

// flaky is a store that can die or fill up.
type flaky struct {
	store.Store
	dead  atomic.Bool
	reads atomic.Int64
	seen  atomic.Pointer[func()] // is called when a read has its answer
}

func (f *flaky) Read(ctx context.Context, fn func(store.Reader) error) error {
	f.reads.Add(1)
	err := f.Store.Read(ctx, fn)
	if seen := f.seen.Load(); seen != nil {
		(*seen)()
	}
	return err
}

func (f *flaky) Write(ctx context.Context, fn func(store.Tx) error) error {
	if f.dead.Load() {
		return errDead
	}
	return f.Store.Write(ctx, fn)
}

// rig is an outbox over a real store that can be stopped, killed and started again.
type rig struct {
	t       *testing.T
	path    string
	kinds   []outbox.Kind
	opts    outbox.Options
	db      *flaky
	o       *outbox.Outbox
	cancel  context.CancelFunc
	done    chan error
	wallOff atomic.Int64 // nanoseconds
}

func newRig(t *testing.T, kinds ...outbox.Kind) *rig {
	return &rig{t: t, path: filepath.Join(t.TempDir(), "agent.db"), kinds: kinds}
}

func steps() []store.Step {
	return append(outbox.Schema(), store.Step{Name: "test/1", SQL: `CREATE TABLE settled (key TEXT NOT NULL, state TEXT NOT NULL) STRICT`})
}

var blank = storetest.Blank(steps)

func (r *rig) open() {
	blank(r.t, r.path)
	// A kill here loses what was not written, not what was not flushed: the store's own tests prove the flushing.
	db, err := sqlite.Open(r.t.Context(), sqlite.Options{Path: r.path, Steps: steps(), Wrapper: storetest.Wrapper{}, Ballast: -1, Synchronous: "OFF"})
	require.NoError(r.t, err)
	r.db = &flaky{Store: db}
	start := time.Now()
	opts := r.opts
	opts.DB, opts.Kinds = r.db, r.kinds
	opts.Now = func() time.Time { return time.Now().Add(time.Duration(r.wallOff.Load())) }
	if opts.Boot == nil {
		opts.Boot = func() time.Duration { return time.Since(start) }
	}
	r.o = outbox.NewOutbox(opts)
}

func (r *rig) start() {
	if r.db == nil {
		r.open()
	}
	ctx, cancel := context.WithCancel(r.t.Context())
	r.cancel, r.done = cancel, make(chan error, 1)
	o := r.o
	go func() { r.done <- o.Run(ctx) }()
}

// stop ends the run in good order; kill takes the power first.
func (r *rig) stop() {
	if r.cancel != nil {
		r.cancel()
		require.NoError(r.t, <-r.done)
		r.cancel = nil
	}
	if r.db != nil {
		require.NoError(r.t, r.db.Close())
		r.db = nil
	}
}

func (r *rig) kill() {
	if r.db != nil {
		r.db.dead.Store(true)
	}
	r.stop()
}

func (r *rig) accept(ops ...outbox.New) {
	r.t.Helper()
	require.NoError(r.t, r.db.Write(r.t.Context(), func(tx store.Tx) error {
		for _, n := range ops {
			if err := r.o.Accept(tx, n); err != nil {
				return err
			}
		}
		return nil
	}))
	r.o.Wake()
}

func (r *rig) get(key wire.Key) outbox.Op {
	r.t.Helper()
	var op outbox.Op
	require.NoError(r.t, r.db.Read(r.t.Context(), func(rd store.Reader) (err error) {
		op, err = r.o.Get(rd, key)
		return err
	}))
	return op
}

func (r *rig) list(f outbox.Filter) []outbox.Op {
	r.t.Helper()
	var list []outbox.Op
	require.NoError(r.t, r.db.Read(r.t.Context(), func(rd store.Reader) (err error) {
		list, err = r.o.List(rd, f)
		return err
	}))
	return list
}

// backend honours keys: one effect per key, whatever comes how often.
type backend struct {
	mu      sync.Mutex
	mode    func(op outbox.Op) outbox.Verdict // nil = accept; State "" = accept and lose nothing
	calls   []outbox.Op
	effects []wire.Key // in order
	running map[string]int
	most    int
	total   int
	overlap bool
}

// effect books an operation once.
func (b *backend) effect(key wire.Key) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !slices.Contains(b.effects, key) {
		b.effects = append(b.effects, key)
	}
}

func (b *backend) count() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.calls)
}

func (b *backend) set(mode func(outbox.Op) outbox.Verdict) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.mode = mode
}

func (b *backend) send(ctx context.Context, op outbox.Op) outbox.Verdict {
	b.mu.Lock()
	if b.running == nil {
		b.running = map[string]int{}
	}
	b.running[op.Aggregate]++
	b.total++
	b.overlap = b.overlap || b.running[op.Aggregate] > 1
	b.most = max(b.most, b.total)
	b.calls = append(b.calls, op)
	mode := b.mode
	b.mu.Unlock()
	defer func() {
		b.mu.Lock()
		b.running[op.Aggregate]--
		b.total--
		b.mu.Unlock()
	}()
	select {
	case <-ctx.Done():
	case <-time.After(time.Duration(1+op.ID%7) * 10 * time.Millisecond):
	}
	if mode != nil {
		if v := mode(op); v.State != "" {
			return v
		}
	}
	b.effect(op.Key)
	return outbox.Verdict{State: outbox.Done, Result: []byte("ok"), Reason: "accepted"}
}

func (b *backend) kind(name string) outbox.Kind {
	return outbox.Kind{Name: name, Replay: outbox.SameKey, Send: b.send, Settled: record}
}

// record is a Settled hook that writes a row.
func record(tx store.Tx, op outbox.Op) error {
	_, err := tx.Exec(`INSERT INTO settled (key, state) VALUES (?, ?)`, string(op.Key), string(op.State))
	return err
}

func (r *rig) settled(key wire.Key) []string {
	r.t.Helper()
	var states []string
	require.NoError(r.t, r.db.Read(r.t.Context(), func(rd store.Reader) (err error) {
		states, err = store.Column[string](rd, `SELECT state FROM settled WHERE key = ? ORDER BY rowid`, string(key))
		return err
	}))
	return states
}

func newOp(kind, aggregate string) outbox.New {
	return outbox.New{Key: wire.NewKey(), Kind: kind, Aggregate: aggregate, Payload: []byte("pay " + aggregate), AmountMin: 1250, Currency: "EUR"}
}

// lost is the verdict of an adapter that got no reply.
func lost(op outbox.Op) outbox.Verdict {
	return outbox.FromError(op, outbox.SameKey, wire.Errorf(wire.UnknownOutcome, "t", "no reply"))
}

func unreachable(op outbox.Op) outbox.Verdict {
	return outbox.FromError(op, outbox.SameKey, wire.Errorf(wire.Unavailable, "t", "no connection"))
}

// bubble runs fn in virtual time over a fresh rig.
func bubble(t *testing.T, kinds []outbox.Kind, fn func(t *testing.T, r *rig)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, kinds...)
		defer r.stop()
		r.open()
		fn(t, r)
	})
}

// sending runs a test on an outbox of one kind that has accepted an operation, and has begun to send.
func sending(t *testing.T, k outbox.Kind, fn func(t *testing.T, r *rig, n outbox.New)) {
	t.Helper()
	bubble(t, []outbox.Kind{k}, func(t *testing.T, r *rig) {
		n := newOp(k.Name, "a")
		r.accept(n)
		r.start()
		fn(t, r, n)
	})
}

// pass lets virtual time go by.
func pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}
