package offline_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent/offline"
	"posagent/agent/outbox"
	"posagent/schemes/payments"
	"posagent/schemes/wire"
	"posagent/store"
	"posagent/store/crashfs"
	"posagent/store/storetest"
)

// bank is a payment service that honours Keys; it tells of every effect as it happens.
type bank struct {
	payments.Service // what is not here is not called
	effect           func(key wire.Key)

	mu    sync.Mutex
	made  map[wire.Key]string // what came of a Key
	loses int                 // answers yet to be lost
	calls int
}

func newBank(effect func(wire.Key)) *bank { return &bank{effect: effect, made: map[wire.Key]string{}} }

// do has one effect for a Key, and loses every third answer while it loses any.
func (b *bank) do(key wire.Key) (string, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.made[key] == "" {
		b.made[key] = "B" + string(key)
		b.effect(key)
	}
	if b.calls++; b.loses > 0 && b.calls%3 == 0 {
		b.loses--
		return "", wire.Errorf(wire.UnknownOutcome, "t", "no reply")
	}
	return b.made[key], nil
}

func (b *bank) Create(_ context.Context, key wire.Key, _ payments.CreateRequest) (payments.Created, error) {
	id, err := b.do(key)
	return payments.Created{PaymentID: id}, err
}

func (b *bank) Capture(_ context.Context, key wire.Key, id string, _ payments.CaptureRequest) (payments.Done, error) {
	ref, err := b.do(key)
	return payments.Done{PaymentID: id, TransactionRef: ref}, err
}

func (b *bank) Read(context.Context, string) (payments.Payment, error) {
	return payments.Payment{}, wire.Errorf(wire.NotFound, "t", "no such payment")
}

// counter is one terminal's front and outbox over a file.
type counter struct {
	db    *store.Store
	box   *outbox.Outbox
	front *offline.Front
	end   func() error
}

// migrated is what a newer program would do to the tables.
var migrated = store.Step{Name: "test/9 newer", SQL: `CREATE INDEX outbox_ops_newer ON outbox_ops (created_ms);
ALTER TABLE outbox_ops ADD COLUMN newer INTEGER NOT NULL DEFAULT 0;`}

func openCounter(ctx context.Context, path, vfs, synchronous string, b *bank, within time.Duration, more ...store.Step) (*counter, error) {
	c := &counter{end: func() error { return nil }}
	var err error
	c.db, err = store.Open(ctx, store.Options{
		Path: path, VFS: vfs, Synchronous: synchronous, Steps: append(append(outbox.Schema(), offline.Schema()...), more...), Wrapper: storetest.Wrapper{},
		Ballast: -1, Readers: 1, CheckpointEvery: 2 * time.Millisecond, CheckpointCommits: 1,
	})
	if err != nil {
		return nil, err
	}
	c.front = offline.NewFront(offline.Options{DB: c.db, Payments: b, Within: within})
	c.box = outbox.NewOutbox(outbox.Options{DB: c.db, Kinds: c.front.Kinds(), Watch: c.front.Watch})
	c.front.Attach(c.box)
	return c, nil
}

func (c *counter) run(ctx context.Context) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() { done <- c.box.Run(ctx) }()
	c.end = func() error { cancel(); return <-done }
}

func (c *counter) close() error { return errors.Join(c.end(), c.db.Close()) }

// write is a client's, under its own Idempotency-Key; it gives what was answered.
func (c *counter) write(ctx context.Context, k string) (id string, pending bool, err error) {
	n, about, isCapture := 0, "", false
	if _, err := fmt.Sscanf(k, "create-%d", &n); err != nil {
		_, err = fmt.Sscanf(k, "capture-%d-%s", &n, &about)
		if isCapture = true; err != nil {
			return "", false, err
		}
	}
	if isCapture {
		d, err := c.front.Payments().Capture(ctx, wire.Key(fmt.Sprintf("capture-%d", n)), about, payments.CaptureRequest{Amount: some(int32(100 + n))})
		return d.TransactionRef, d.Operation != nil, err
	}
	p, err := c.front.Payments().Create(ctx, wire.Key(k), moto(payments.ProcessAuthorize, int32(1000+n)))
	return p.PaymentID, p.Operation != nil, err
}

// What a power cut must leave: what a client was told (its key), and what the bank has done.
type (
	acknowledged struct{ write string }
	effected     struct{ key wire.Key }
)

// recordCounter has clients write while nobody sends, while everything is sent and answers are lost, over a restart that migrates.
func recordCounter(t *testing.T, rec *crashfs.Recorder, synchronous string) (from, acks int) {
	dir, err := crashfs.Scratch()
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })
	b := newBank(func(key wire.Key) { rec.Ack(effected{key}) })
	n := 0
	for run := range 2 {
		var more []store.Step
		if run == 1 {
			more = append(more, migrated)
		}
		c, err := openCounter(t.Context(), filepath.Join(dir, "agent.db"), rec.VFS(), synchronous, b, 2*time.Millisecond, more...)
		require.NoError(t, err)
		if run == 0 {
			from = rec.Len()
		}
		var all []string
		tell := func(k string) string {
			id, _, err := c.write(t.Context(), k)
			require.NoError(t, err, k)
			rec.Ack(acknowledged{k})
			all = append(all, k)
			return id
		}
		for half := range 2 {
			if half == 1 {
				b.loses = 2
				c.run(t.Context())
			}
			for range 2 {
				n += 2
				id := tell(fmt.Sprintf("create-%d", n))
				tell(fmt.Sprintf("capture-%d-%s", n+1, id))
			}
		}
		acks += len(all)
		for open := 1; open > 0; {
			c.box.Online()
			<-time.After(5 * time.Millisecond)
			require.NoError(t, c.db.Read(t.Context(), func(r store.Reader) (err error) { open, err = outbox.Unfinished(r); return err }))
		}
		require.NoError(t, c.close())
	}
	require.NoError(t, rec.Close())
	return from, acks
}

// verifyCounter starts on a state beside a bank that has done what it had done, and asks again for everything that was told.
func verifyCounter(ctx context.Context, st crashfs.State) (err error) {
	effects := map[wire.Key]int{}
	b := newBank(func(key wire.Key) { effects[key]++ })
	var told []string
	for _, a := range st.Acked {
		switch a := a.(type) {
		case effected:
			b.made[a.key] = "B" + string(a.key)
			effects[a.key]++
		case acknowledged:
			told = append(told, a.write)
		}
	}
	c, err := openCounter(ctx, filepath.Join(st.Dir, "agent.db"), "", "OFF", b, 20*time.Second, migrated)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.close()) }()
	known := func() (ops []outbox.Op, err error) {
		err = c.db.Read(ctx, func(r store.Reader) (err error) { ops, err = c.box.List(r, outbox.Filter{Limit: 1000}); return err })
		return ops, err
	}
	before, err := known()
	if err != nil {
		return err
	}
	c.run(ctx)
	for _, k := range told {
		if id, pending, err := c.write(ctx, k); err != nil || pending || id[0] != 'B' {
			return fmt.Errorf("%s: at the end %q, pending %v, %w", k, id, pending, err)
		}
	}
	for open := 1; open > 0; <-time.After(100 * time.Microsecond) {
		if err := c.db.Read(ctx, func(r store.Reader) (err error) { open, err = outbox.Unfinished(r); return err }); err != nil {
			return err
		}
	}
	after, err := known()
	if err != nil {
		return err
	}
	if len(after) != len(before) {
		return fmt.Errorf("%d operations were kept, and asked again for what was told there are %d", len(before), len(after))
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, op := range after {
		if err := c.db.Read(ctx, func(r store.Reader) error { _, err := c.box.Get(r, op.Key); return err }); err != nil {
			return err
		}
		if op.State != outbox.Done || effects[op.Key] != 1 {
			return fmt.Errorf("%s is %s (%s) with %d effects", op.Key, op.State, op.Reason, effects[op.Key])
		}
		delete(effects, op.Key)
	}
	if len(effects) != 0 {
		return fmt.Errorf("%d effects of operations that nobody knows", len(effects))
	}
	return nil
}

func number(name string, otherwise int) int {
	if n, err := strconv.Atoi(os.Getenv(name)); err == nil && n > 0 {
		return n
	}
	return otherwise
}

// The power fails anywhere in the life of clients' writes: accepted, sent, settled, folded into the file, migrated. What was told
// is there, is sent under its Key, and has one effect; nothing has an effect that the terminal does not know.
func TestPowerCutOfClientsWrites(t *testing.T) {
	states := number("POSAGENT_STATES", 400)
	rep, acks := cutCounter(t, "FULL", states)
	t.Log(rep)
	for _, f := range rep.Failures[:min(5, len(rep.Failures))] {
		t.Errorf("%v: %v", f.State, f.Err)
	}
	require.Equal(t, states, rep.States)
	require.Equal(t, 2*acks, rep.Acks, "each write was told once, and had one effect")
}

// Without syncs what was told is lost, or the harness could not tell.
func TestPowerCutOfClientsWritesHasTeeth(t *testing.T) {
	rep, _ := cutCounter(t, "NORMAL", 60)
	t.Log(rep)
	require.NotEmpty(t, rep.Failures)
}

func cutCounter(t *testing.T, synchronous string, states int) (crashfs.Report, int) {
	rec, err := crashfs.New()
	require.NoError(t, err)
	var from, acks int
	synctest.Test(t, func(t *testing.T) { from, acks = recordCounter(t, rec, synchronous) }) // so that a slow machine is never late
	dir, err := crashfs.Scratch()
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })
	rep, err := rec.Enumerate(crashfs.Plan{States: states, Seed: uint64(time.Now().UnixNano()), Dir: dir, From: from}, func(st crashfs.State) (wrong error) {
		synctest.Test(t, func(t *testing.T) { wrong = verifyCounter(t.Context(), st) }) // so that a back-off takes no time
		return wrong
	})
	require.NoError(t, err)
	return rep, acks
}
