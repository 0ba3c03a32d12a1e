package disk

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent/offline"
	"posagent/agent/outbox"
	"posagent/cross/stack"
	"posagent/schemes/payments"
	"posagent/schemes/wire"
	"posagent/store"
	"posagent/store/crashfs"
	"posagent/store/storetest"
)

// bank is a payment service that honours Keys and counts effects.
type bank struct {
	payments.Service // what is not here is not called

	mu      sync.Mutex
	effects map[wire.Key]int
	keyless bool // a tooth
	calls   int
}

// do loses every third answer.
func (b *bank) do(key wire.Key) (string, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.keyless || b.effects[key] == 0 {
		b.effects[key]++
	}
	if b.calls++; b.calls%3 == 0 {
		return "", wire.Errorf(wire.UnknownOutcome, "t", "no reply")
	}
	return "B" + string(key), nil
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

// till is a terminal's front and outbox over a file.
type till struct {
	db    *store.Store
	box   *outbox.Outbox
	front *offline.Front
	stop  func() error
}

func openTill(ctx context.Context, dir, vfs string, b *bank) (*till, error) {
	db, err := store.Open(ctx, store.Options{
		Path: filepath.Join(dir, "clients.db"), Steps: append(outbox.Schema(), offline.Schema()...), Wrapper: storetest.Wrapper{}, VFS: vfs, Ballast: -1,
	})
	if err != nil {
		return nil, err
	}
	x := &till{db: db, front: offline.NewFront(offline.Options{DB: db, Payments: b, Within: time.Second})}
	x.box = outbox.NewOutbox(outbox.Options{DB: db, Kinds: x.front.Kinds(), Watch: x.front.Watch})
	x.front.Attach(x.box)
	running, cancel := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() { // a box that cannot read its tables starts again, as the terminal does
		for {
			if err := x.box.Run(running); err == nil || running.Err() != nil {
				done <- nil
				return
			}
			<-time.After(time.Second)
		}
	}()
	x.stop = func() error { cancel(); return errors.Join(<-done, db.Close()) }
	return x, nil
}

// write asks under a key of its own until it is answered; it gives the answer's id and whether that is only pending.
func (x *till) write(ctx context.Context, n int, about string) (id string, pending bool, err error) {
	svc, part := x.front.Payments(), int32(100+n)
	for range 600 {
		if about != "" {
			var d payments.Done
			d, err = svc.Capture(ctx, wire.Key(fmt.Sprint("write-", n)), about, payments.CaptureRequest{Amount: &part})
			id, pending = d.TransactionRef, d.Operation != nil
		} else {
			var c payments.Created
			c, err = svc.Create(ctx, wire.Key(fmt.Sprint("write-", n)), payments.CreateRequest{
				Type: payments.Moto, Amount: int32(1000 + n), CurrencyCode: "EUR", Processing: payments.ProcessAuthorize,
				CardDetails: &payments.CardDetails{PAN: wire.NewPAN("4111111111111111"), ExpiryYear: 2099, ExpiryMonth: 12},
			})
			id, pending = c.PaymentID, c.Operation != nil
		}
		if code := wire.CodeOf(err); err == nil || code != wire.Unavailable && code != wire.UnknownOutcome && code != wire.Internal {
			return id, pending, err
		}
		<-time.After(500 * time.Millisecond)
	}
	return "", false, err
}

// clientStory has a local client write before the disk fails, while it does, and after it; then the terminal starts anew.
func clientStory(t *testing.T, o stack.Options, d disk, early bool, keyless, forget bool) (r result) {
	t.Helper()
	wrong := func(format string, args ...any) { r.wrong = append(r.wrong, fmt.Sprintf(format, args...)) }
	synctest.Test(t, func(t *testing.T) {
		ctx := t.Context()
		b := &bank{effects: map[wire.Key]int{}, keyless: keyless}
		if early {
			d.spoil()
		}
		x, err := openTill(ctx, o.Dir, d.vfs(), b)
		if early {
			r.struck = boolean(d.heal())
		}
		if err != nil {
			x, err = openTill(ctx, o.Dir, d.vfs(), b)
		}
		require.NoError(t, err)
		var ids []string
		pair := func() {
			n := 2 * len(ids)
			id, _, err := x.write(ctx, n, "")
			if err == nil {
				_, _, err = x.write(ctx, n+1, id)
			}
			if err != nil {
				wrong("write %d is not answered: %v", n, err)
			}
			ids = append(ids, id)
		}
		pair()
		if !early {
			d.spoil()
			over := time.AfterFunc(healed, func() { r.struck = boolean(d.heal()) })
			pair()
			if over.Stop() {
				r.struck = boolean(d.heal())
			}
			r.during++
		}
		<-time.After(30 * time.Second) // the store looks at its disk again by itself
		pair()
		require.NoError(t, x.stop())
		if forget {
			for _, end := range []string{"", "-wal"} {
				_ = os.Remove(filepath.Join(o.Dir, "clients.db"+end)) // the log may be gone already
			}
		}
		x, err = openTill(ctx, o.Dir, d.vfs(), b)
		require.NoError(t, err)
		open := 1
		for waited := 0; open > 0 && waited < 720; waited++ {
			<-time.After(5 * time.Second)
			require.NoError(t, x.db.Read(ctx, func(rd store.Reader) (err error) { open, err = outbox.Unfinished(rd); return err }))
		}
		for i, about := range ids {
			for n, of := range []string{"", about} {
				id, pending, err := x.write(ctx, 2*i+n, of)
				if err != nil || pending || !strings.HasPrefix(id, "B") {
					wrong("write %d: at the end %q, pending %v, %v", 2*i+n, id, pending, err)
				}
			}
		}
		ops := 0
		require.NoError(t, x.db.Read(ctx, func(rd store.Reader) error {
			list, err := x.box.List(rd, outbox.Filter{Limit: 1000})
			for _, op := range list {
				ops++
				if n := b.effects[op.Key]; op.State != outbox.Done || n != 1 {
					wrong("%s is %s (%s) with %d effects", op.Key, op.State, op.Reason, n)
				}
			}
			return err
		}))
		if ops != 2*len(ids) || len(b.effects) != ops {
			wrong("%d writes, %d operations, %d effects", 2*len(ids), ops, len(b.effects))
		}
		r.stories, r.sales, r.approved = 1, ops, ops
		require.NoError(t, x.stop())
	})
	return r
}

// TestEveryOperationFailsUnderClients: each write, sync and open under the writes of a local client, and of a start, in each way.
func TestEveryOperationFailsUnderClients(t *testing.T) {
	seed := seedOf()
	type one struct {
		fault crashfs.Fault
		early bool
	}
	var all []one
	for _, early := range []bool{false, true} {
		h := healthy{first: map[crashfs.Op]int{}, count: map[crashfs.Op]int{}}
		withRecorder(t, func(o stack.Options, rec *crashfs.Recorder) {
			h.rec = rec
			require.Empty(t, clientStory(t, o, h, early, false, false).wrong)
		})
		for _, op := range ops() {
			for n := range h.count[op] + 1 {
				for _, errno := range []crashfs.Errno{crashfs.ENOSPC, crashfs.EIO, crashfs.EROFS} {
					for _, times := range []int{1, 3, -1} {
						all = append(all, one{crashfs.Fault{On: op, N: n + 1, Err: errno, Times: times}, early})
					}
				}
			}
		}
	}
	rng := rand.New(rand.NewPCG(seed, 3))
	rng.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	n := min(len(all), number("N", 60))
	var sum result
	for _, x := range all[:n] {
		withRecorder(t, func(o stack.Options, rec *crashfs.Recorder) {
			r := clientStory(t, o, faulty{rec, x.fault}, x.early, false, false)
			for i := range r.wrong {
				r.wrong[i] = fmt.Sprintf("%+v, at the start %v: %s", x.fault, x.early, r.wrong[i])
			}
			sum.add(r)
		})
	}
	sum.report(t, fmt.Sprintf("%d of %d faults under clients' writes", n, len(all)), seed)
	require.Greater(t, sum.struck, sum.stories/2)
}

// A disk that loses what was acknowledged, and a backend that sees no Keys, must be caught.
func TestTeethUnderClients(t *testing.T) {
	for _, keyless := range []bool{false, true} {
		withRecorder(t, func(o stack.Options, rec *crashfs.Recorder) {
			h := healthy{rec, map[crashfs.Op]int{}, map[crashfs.Op]int{}}
			require.NotEmpty(t, clientStory(t, o, h, false, keyless, !keyless).wrong)
		})
	}
}
