package gateway_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent/gateway"
	"posagent/agent/gateway/offlinetest"
	"posagent/agent/outbox"
	"posagent/cross/need"
	"posagent/store"
	"posagent/store/crashfs"
	"posagent/store/sqlite"
	"posagent/store/storetest"
)

// counter is one terminal's front and outbox over a file.
type counter struct {
	db    store.Journal
	box   *outbox.Outbox
	front *gateway.Front
	end   func() error
}

// migrated is what a newer program would do to the tables.
var migrated = store.Step{Name: "test/9 newer", SQL: `CREATE INDEX outbox_ops_newer ON outbox_ops (created_ms);
ALTER TABLE outbox_ops ADD COLUMN newer INTEGER NOT NULL DEFAULT 0;`}

func openCounter(ctx context.Context, path, vfs, synchronous string, mark func(string, bool) (store.MarkFile, error), b *offlinetest.Bank, within time.Duration, more ...store.Step) (*counter, error) {
	c := &counter{end: func() error { return nil }}
	var err error
	c.db, err = sqlite.Open(ctx, sqlite.Options{
		Path: path, VFS: vfs, Synchronous: synchronous, Steps: append(append(outbox.Schema(), gateway.Schema()...), more...), Wrapper: storetest.Wrapper{},
		Ballast: -1, Readers: 1, CheckpointEvery: 2 * time.Millisecond, CheckpointWrites: 1, Marks: []string{store.MarkPath(path)}, OpenMark: mark,
	})
	if err != nil {
		return nil, err
	}
	bank := b.Services()
	c.front = gateway.NewFront(gateway.Options{
		DB: c.db, Payments: bank.Payments, Tokens: bank.Tokens, Links: bank.Links, Transactions: bank.Transactions, Within: within,
	})
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

// services are what a local client calls.
func (c *counter) services(b *offlinetest.Bank) offlinetest.Services {
	return offlinetest.Services{Payments: c.front.Payments(), Tokens: c.front.Tokens(), Links: c.front.Links(), Transactions: c.front.Transactions(), Customer: b.Pay}
}

func (c *counter) ops(ctx context.Context, by outbox.Filter) (list []outbox.Op, err error) {
	by.Limit = 1000
	err = c.db.Read(ctx, func(r store.Reader) (err error) { list, err = c.box.List(r, by); return err })
	return list, err
}

func (c *counter) unfinished(ctx context.Context) (open int, err error) {
	err = c.db.Read(ctx, func(r store.Reader) (err error) { open, err = outbox.Unfinished(r); return err })
	return open, err
}

// acknowledged is what a power cut must leave of what a client was told: a write, and what it named. An offlinetest.Effect is what the bank
// has done.
type acknowledged struct {
	story offlinetest.Story
	write int
	about string
}

// days are the stories that are recorded together; each day is cut on its own.
var days = [][]string{{"collected", "given-up"}, {"card", "terms", "taken-back"}, {"charged", "let-go"}, {"captured"}}

// recorded is a day's life on a disk.
type recorded struct {
	rec          *crashfs.Recorder
	seed         uint64
	from         int // where the day begins
	told, effect int
	kinds        map[string]int
}

// record has clients write while nobody sends, while everything is sent and answers are lost, over a restart that migrates.
func record(t *testing.T, day []string, synchronous string) *recorded {
	rec, err := crashfs.New()
	require.NoError(t, err)
	r := &recorded{rec: rec, seed: uint64(time.Now().UnixNano()), kinds: map[string]int{}}
	synctest.Test(t, func(t *testing.T) { r.live(t, day, synchronous) }) // so that a slow machine is never late
	require.NoError(t, rec.Close())
	return r
}

// written is a story that is being told, with what its client knows.
type written struct {
	offlinetest.Story
	told []string
}

func (r *recorded) live(t *testing.T, day []string, synchronous string) {
	ctx := t.Context()
	dir, err := crashfs.Scratch()
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })
	b := offlinetest.NewBank(func(e offlinetest.Effect) { r.effect++; r.rec.Ack(e) })
	n, rng := 0, rand.New(rand.NewPCG(r.seed, 1))
	var all []*written
	for run := range 2 {
		var more []store.Step
		if run == 1 {
			more = append(more, migrated)
		}
		c, err := openCounter(ctx, filepath.Join(dir, "agent.db"), r.rec.VFS(), synchronous, r.rec.OpenMark, b, 2*time.Millisecond, more...)
		require.NoError(t, err)
		if run == 0 {
			r.from = r.rec.Len()
		}
		s := c.services(b)
		// goOn writes what can be written of a story; what depends on its customer waits until he has paid.
		goOn := func(w *written, patient bool) {
			for i := len(w.told); i < len(w.Writes); i++ {
				about, ready, err := w.Subject(ctx, s, i, w.told)
				for asked := 0; patient && err == nil && !ready; about, ready, err = w.Subject(ctx, s, i, w.told) {
					asked++
					require.Less(t, asked, 5000, "the link is not made")
					c.box.Online()
					<-time.After(20 * time.Millisecond)
				}
				require.NoError(t, err, "%s %d", w.Name, i)
				if !ready {
					return
				}
				id, _, err := w.Do(ctx, s, i, about)
				require.NoError(t, err, "%s %d", w.Name, i)
				r.rec.Ack(acknowledged{w.Story, i, about})
				r.told++
				r.kinds[w.Writes[i].Kind]++
				w.told = append(w.told, id)
			}
		}
		// Nobody sends, everything is sent, and before the restart nobody sends again.
		for _, sends := range [][]bool{{false, true, false}, {false, true}}[run] {
			if sends {
				b.Lose(2, rng)
				c.run(ctx)
			}
			for _, name := range day {
				n++
				all = append(all, &written{Story: offlinetest.Tell(name, n)})
			}
			for _, w := range all {
				goOn(w, sends)
			}
			if !sends {
				continue
			}
			for open, asked := 1, 0; open > 0; asked++ {
				require.Less(t, asked, 5000, "operations that do not end")
				c.box.Online()
				<-time.After(200 * time.Millisecond)
				open, err = c.unfinished(ctx)
				require.NoError(t, err)
			}
			require.NoError(t, c.end())
			c.end = func() error { return nil }
		}
		require.NoError(t, c.close())
	}
}

// verifyCounter starts on a state beside a bank that has done what it had done, and asks again for everything that was told.
func verifyCounter(ctx context.Context, st crashfs.State) (err error) {
	var past []offlinetest.Effect
	var told []acknowledged
	for _, a := range st.Acked {
		switch a := a.(type) {
		case offlinetest.Effect:
			past = append(past, a)
		case acknowledged:
			told = append(told, a)
		}
	}
	b := offlinetest.NewBank(nil, past...)
	c, err := openCounter(ctx, filepath.Join(st.Dir, "agent.db"), "", "OFF", nil, b, 20*time.Second, migrated)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.close()) }()
	before, err := c.ops(ctx, outbox.Filter{})
	if err != nil {
		return err
	}
	c.run(ctx)
	began := time.Now()
	for open, wait := 1, time.Millisecond; open > 0; wait = min(2*wait, 5*time.Second) {
		if <-time.After(wait); wait == 5*time.Second && time.Since(began) > time.Hour {
			return fmt.Errorf("%d operations do not end", open)
		}
		doubtful, err := c.ops(ctx, outbox.Filter{State: outbox.Doubt})
		if err != nil {
			return err
		}
		for _, op := range doubtful {
			return fmt.Errorf("%s %s is in doubt: %s", op.Kind, op.Key, op.Reason)
		}
		if open, err = c.unfinished(ctx); err != nil {
			return err
		}
	}
	s := c.services(b)
	for _, a := range told {
		id, pending, err := a.story.Do(ctx, s, a.write, a.about)
		if err != nil || pending != nil || id == "" || id[0] == 'L' && id != a.about {
			return fmt.Errorf("%s %d: at the end %q, pending %v, %w", a.story.Name, a.write, id, pending, err)
		}
	}
	after, err := c.ops(ctx, outbox.Filter{})
	if err != nil {
		return err
	}
	if len(after) != len(before) {
		return fmt.Errorf("%d operations were kept, and asked again for what was told there are %d", len(before), len(after))
	}
	effects := b.Effects()
	for _, op := range after {
		if err := c.db.Read(ctx, func(r store.Reader) error { _, err := c.box.Get(r, op.Key); return err }); err != nil {
			return err
		}
		if op.State != outbox.Done || effects[op.Key] != 1 {
			return fmt.Errorf("%s %s is %s (%s) with %d effects", op.Kind, op.Key, op.State, op.Reason, effects[op.Key])
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

// The power fails anywhere in the life of clients' writes of every kind: accepted, sent, settled, folded into the file, migrated. What
// was told is there, is sent under its Key, and has one effect; nothing has an effect that the terminal does not know.
func TestPowerCutOfClientsWrites(t *testing.T) {
	states, kinds := number("POSAGENT_STATES", need.Size(160, 400)), map[string]int{}
	for i, day := range days {
		share := states / len(days)
		if i == 0 {
			share += states % len(days)
		}
		rep, r := cutDay(t, day, "FULL", share, false)
		t.Log(day, rep)
		for _, f := range rep.Failures[:min(5, len(rep.Failures))] {
			t.Errorf("%v: %v: %v", day, f.State, f.Err)
		}
		require.Equal(t, share, rep.States)
		require.Equal(t, r.told+r.effect, rep.Acks)
		for kind, n := range r.kinds {
			kinds[kind] += n
		}
	}
	for _, row := range gateway.Table() {
		switch row.Service {
		case gateway.Payments, gateway.Tokens, gateway.Paylinks:
			require.Positive(t, kinds[row.Kind], row.Kind)
		}
	}
}

// Without syncs what was told is lost, or the harness could not tell.
func TestPowerCutOfClientsWritesHasTeeth(t *testing.T) {
	for _, day := range days {
		rep, _ := cutDay(t, day, "NORMAL", 60, true)
		t.Log(day, rep)
		require.NotEmpty(t, rep.Failures)
	}
}

// cutDay cuts a day at so many states, or, when one failure is enough, up to the first that fails.
func cutDay(t *testing.T, day []string, synchronous string, states int, enough bool) (crashfs.Report, *recorded) {
	r := record(t, day, synchronous)
	dir, err := crashfs.Scratch()
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })
	failed := false
	rep, err := r.rec.Enumerate(crashfs.Plan{States: states, Seed: r.seed, Dir: dir, From: r.from}, func(st crashfs.State) (wrong error) {
		if enough && failed {
			return nil
		}
		defer func() { failed = failed || wrong != nil }()
		synctest.Test(t, func(t *testing.T) { wrong = verifyCounter(t.Context(), st) }) // so that a back-off takes no time
		return wrong
	})
	require.NoError(t, err)
	return rep, r
}
