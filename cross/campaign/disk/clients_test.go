package disk

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent/gateway"
	"posagent/agent/gateway/offlinetest"
	"posagent/agent/outbox"
	"posagent/cross/env"
	"posagent/cross/need"
	"posagent/cross/stack"
	"posagent/schemes/wire"
	"posagent/store"
	"posagent/store/crashfs"
	"posagent/store/sqlite"
	"posagent/store/storetest"
)

// till is a terminal's front and outbox over a file.
type till struct {
	db    store.Journal
	box   *outbox.Outbox
	front *gateway.Front
	stop  func() error
}

// newer is what the next version of the program does to the tables.
var newer = store.Step{Name: "test/9 newer", SQL: `CREATE INDEX outbox_ops_newer ON outbox_ops (created_ms);
ALTER TABLE offline_things ADD COLUMN newer INTEGER NOT NULL DEFAULT 0;`}

func openTill(ctx context.Context, dir, vfs string, b *offlinetest.Bank, more ...store.Step) (*till, error) {
	db, err := sqlite.Open(ctx, sqlite.Options{
		Path: filepath.Join(dir, "clients.db"), Steps: append(append(outbox.Schema(), gateway.Schema()...), more...), Wrapper: storetest.Wrapper{}, VFS: vfs, Ballast: -1,
	})
	if err != nil {
		return nil, err
	}
	bank := b.Services()
	x := &till{db: db, front: gateway.NewFront(gateway.Options{
		DB: db, Payments: bank.Payments, Tokens: bank.Tokens, Links: bank.Links, Transactions: bank.Transactions, Within: time.Second,
	})}
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

// clients are the stories of clients that are told together, at each of the three times of a story of the disk.
var clients = [][]string{{"collected", "given-up"}, {"card", "terms", "taken-back"}, {"charged", "let-go"}, {"captured"}}

// written is one write that a client was told of.
type written struct {
	offlinetest.Story
	i     int
	about string
}

// write asks until it is answered.
func (x *till) write(ctx context.Context, s offlinetest.Services, w written) (id string, pending *wire.Pending, err error) {
	for range 600 {
		id, pending, err = w.Do(ctx, s, w.i, w.about)
		if code := wire.CodeOf(err); err == nil || code != wire.Unavailable && code != wire.UnknownOutcome && code != wire.Internal {
			return id, pending, err
		}
		<-time.After(500 * time.Millisecond)
	}
	return "", nil, err
}

// tell has clients tell stories, and remembers what they were told of.
func (x *till) tell(ctx context.Context, s offlinetest.Services, story offlinetest.Story) (all []written, err error) {
	var told []string
	for i := range story.Writes {
		about, ready := "", false
		for asked := 0; !ready; asked++ {
			if about, ready, err = story.Subject(ctx, s, i, told); asked == 1000 {
				return all, fmt.Errorf("its link is not made: %w", err)
			}
			if !ready { // a bank that has lost some answers in a row is left alone for a while
				<-time.After(min(time.Duration(1+asked)*500*time.Millisecond, 10*time.Second))
			}
		}
		w := written{story, i, about}
		id, _, err := x.write(ctx, s, w)
		if err != nil {
			return all, err
		}
		all, told = append(all, w), append(told, id)
	}
	return all, nil
}

// when is the time that the disk fails.
type when string

const (
	whileWritten when = "while clients write"
	atFirst      when = "at the first start"
	atNext       when = "at the start of the next version, over writes that wait" // which changes the tables
)

// clientStory has local clients write before the disk fails, while it does, and after it; then the terminal starts anew.
func clientStory(t *testing.T, o stack.Options, d disk, when when, day []string, seed uint64, keyless, forget bool) (r result) {
	t.Helper()
	wrong := func(format string, args ...any) { r.wrong = append(r.wrong, fmt.Sprintf(format, args...)) }
	synctest.Test(t, func(t *testing.T) {
		ctx := t.Context()
		b := offlinetest.NewBank(nil)
		b.Lose(-1, rand.New(rand.NewPCG(seed, 4)))
		if keyless {
			b.Forget()
		}
		var x *till
		start := func(fails bool, more ...store.Step) {
			if fails {
				d.spoil()
			}
			var err error
			x, err = openTill(ctx, o.Dir, d.vfs(), b, more...)
			if fails {
				r.struck = boolean(d.heal())
			}
			if err != nil && fails {
				x, err = openTill(ctx, o.Dir, d.vfs(), b, more...)
			}
			require.NoError(t, err)
		}
		start(when == atFirst)
		services := func() offlinetest.Services {
			return offlinetest.Services{Payments: x.front.Payments(), Tokens: x.front.Tokens(), Links: x.front.Links(), Transactions: x.front.Transactions(), Customer: b.Pay}
		}
		var all []written
		n := 0
		tell := func() {
			for _, name := range day {
				n++
				told, err := x.tell(ctx, services(), offlinetest.Tell(name, n))
				if all = append(all, told...); err != nil {
					wrong("%s %d, write %d is not answered: %v", name, n, len(told), err)
				}
			}
		}
		end := func() {
			for open, waited := 1, 0; open > 0 && waited < 720; waited++ {
				<-time.After(5 * time.Second)
				require.NoError(t, x.db.Read(ctx, func(rd store.Reader) (err error) { open, err = outbox.Unfinished(rd); return err }))
			}
		}
		tell()
		switch when {
		case atNext:
			tell()
			require.NoError(t, x.stop())
			start(true, newer)
		case whileWritten:
			end() // so that the disk is met by all of the next
			d.spoil()
			over := time.AfterFunc(healed, func() { r.struck = boolean(d.heal()) })
			tell()
			if over.Stop() {
				r.struck = boolean(d.heal())
			}
			r.during++
		}
		<-time.After(30 * time.Second) // the store looks at its disk again by itself
		tell()
		require.NoError(t, x.stop())
		if forget {
			for _, end := range []string{"", "-wal"} {
				_ = os.Remove(filepath.Join(o.Dir, "clients.db"+end)) // the log may be gone already
			}
		}
		start(false, newer)
		end()
		for _, w := range all {
			id, pending, err := x.write(ctx, services(), w)
			if err != nil || pending != nil || id == "" || id[0] == 'L' && id != w.about {
				wrong("%s %d: at the end %q, pending %v, %v", w.Name, w.i, id, pending, err)
			}
		}
		ops, effects := 0, b.Effects()
		require.NoError(t, x.db.Read(ctx, func(rd store.Reader) error {
			list, err := x.box.List(rd, outbox.Filter{Limit: 1000})
			for _, op := range list {
				ops++
				n := effects[op.Key]
				if op.State != outbox.Done || n != 1 {
					wrong("%s %s is %s (%s) with %d effects", op.Kind, op.Key, op.State, op.Reason, n)
				}
				delete(effects, op.Key)
			}
			return err
		}))
		if ops != len(all) || len(effects) != 0 {
			wrong("%d writes, %d operations, %d effects that nobody knows", len(all), ops, len(effects))
		}
		r.stories, r.sales, r.approved = 1, ops, ops
		require.NoError(t, x.stop())
	})
	return r
}

// TestEveryOperationFailsUnderClients: each write, sync and open under the writes of a local client, and of a start, in each way.
func TestEveryOperationFailsUnderClients(t *testing.T) {
	seed := env.Seed()
	type one struct {
		fault crashfs.Fault
		when  when
		day   []string
	}
	var all []one
	for i, day := range clients {
		for _, when := range []when{whileWritten, atNext, atFirst}[:3-min(i, 1)] { // a first start is the same before whatever comes
			h := healthy{first: map[crashfs.Op]int{}, count: map[crashfs.Op]int{}}
			withRecorder(t, func(o stack.Options, rec *crashfs.Recorder) {
				h.rec = rec
				require.Empty(t, clientStory(t, o, h, when, day, seed, false, false).wrong)
			})
			for _, op := range ops() {
				for n := range h.count[op] + 1 {
					for _, errno := range []crashfs.Errno{crashfs.ENOSPC, crashfs.EIO, crashfs.EROFS} {
						for _, times := range []int{1, 3, -1} {
							all = append(all, one{crashfs.Fault{On: op, N: n + 1, Err: errno, Times: times}, when, day})
						}
					}
				}
			}
		}
	}
	rng := rand.New(rand.NewPCG(seed, 3))
	n := drawn(rng, all)
	var sum result
	for _, x := range all[:n] {
		withRecorder(t, func(o stack.Options, rec *crashfs.Recorder) {
			r := clientStory(t, o, faulty{rec, x.fault}, x.when, x.day, rng.Uint64(), false, false)
			for i := range r.wrong {
				r.wrong[i] = fmt.Sprintf("%v, %+v, %s: %s", x.day, x.fault, x.when, r.wrong[i])
			}
			sum.add(r)
		})
	}
	sum.report(t, fmt.Sprintf("%d of %d faults under clients' writes", n, len(all)), seed)
	require.Positive(t, sum.struck)
	if n >= 60 {
		require.Greater(t, sum.struck, sum.stories/2)
	}
}

// A disk that loses what was acknowledged, and a backend that sees no Keys, must be caught.
func TestTeethUnderClients(t *testing.T) {
	need.Verify(t, "judges the judge: a disk that forgets, a backend without Keys")
	for i, day := range clients {
		for _, keyless := range []bool{false, true}[:2-i/2] { // what is done to a transaction needs no Keys
			withRecorder(t, func(o stack.Options, rec *crashfs.Recorder) {
				h := healthy{rec, map[crashfs.Op]int{}, map[crashfs.Op]int{}}
				require.NotEmpty(t, clientStory(t, o, h, whileWritten, day, 1, keyless, !keyless).wrong, "%v, keyless %v", day, keyless)
			})
		}
	}
}
