package fleet

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent/lifecycle/enrol"
	"posagent/cross/env"
	"posagent/schemes/backend"
	desk "posagent/schemes/fleet"
	"posagent/schemes/wire"
	"posagent/store"
	"posagent/store/postgres"
	"posagent/store/postgres/pgtest"
)

// before is the configuration that a terminal is enrolled with.
const before = "[terminal]\nbax_id = \"B1\"\n[offline]\nmax_count = 20\n"

// site is a fleet of terminals that are enrolled, and the backends that they ask, in a time of its own.
type site struct {
	t        *testing.T
	db       *cluster
	dir      string
	began    time.Time
	passed   atomic.Int64
	backends []*instance
	boxes    []*box
	rng      *rand.Rand
	failed   atomic.Int64 // questions without an answer
}

// instance is a backend of this process, that ends and begins again.
type instance struct {
	mu  sync.Mutex
	now *backend.Backend // nil = it has ended
}

// box is what a terminal keeps of its enrolment, and how it takes a revision that changes max_count.
type box struct {
	*enrol.Box
	id     string
	habit  habit
	next   time.Time     // of its next question
	since  time.Time     // when it began to work with the revision that it has
	trying int64         // that revision, where it is not proven yet
	taken  map[int64]int // how often it took each revision
}

// habit is what becomes of a terminal with new settings.
type habit int

const (
	works   habit = iota
	refuses       // its trial fails
	dies          // it takes them and is never ready with them
)

var errTrial = errors.New("offline.max_count: 50 is too much for this box")

func (s *site) now() time.Time { return s.began.Add(time.Duration(s.passed.Load())) }

// begin starts a backend, or starts it again.
func (s *site) begin(ctx context.Context, i int) error {
	of, dir := s.backends[i], filepath.Join(s.dir, fmt.Sprint("b", i+1))
	b, err := backend.Open(ctx, backend.Config{
		Dir: dir, Fleet: true, PublicURL: "https://fleet.example", Now: s.now,
		Engine: backend.Engine{
			Shared: true, Held: func(string) (int, bool, error) { return 0, false, nil },
			Open: func(ctx context.Context, opt backend.StoreOptions) (store.Store, error) {
				return postgres.Open(ctx, postgres.Options{URL: s.db.url(), Steps: opt.Steps, Wrapper: opt.Wrapper, Log: opt.Log, Wrote: opt.Wrote, Memory: filepath.Join(dir, "primary.json")})
			},
			Read: func(context.Context, string) (store.Store, error) { return nil, errors.New("nobody reads beside") },
		},
	})
	if err != nil {
		return err
	}
	of.mu.Lock()
	defer of.mu.Unlock()
	of.now = b
	return nil
}

// end ends a backend. What it has begun ends with an error or an effect.
func (s *site) end(i int) error {
	of := s.backends[i]
	of.mu.Lock()
	b := of.now
	of.now = nil
	of.mu.Unlock()
	if b == nil {
		return nil
	}
	return b.Close()
}

// running is nil where the backend has ended.
func (of *instance) running() *backend.Backend {
	of.mu.Lock()
	defer of.mu.Unlock()
	return of.now
}

// any is one of the backends that run, as a balancer chooses it.
func (s *site) any(n int) *backend.Backend {
	for i := range s.backends {
		if b := s.backends[(n+i)%len(s.backends)].running(); b != nil {
			return b
		}
	}
	return nil
}

func (s *site) driver(of *box, n int) enrol.Driver {
	return enrol.Driver{
		Version: "1",
		Service: func(string) (desk.Service, error) {
			b := s.any(n)
			if b == nil {
				return nil, &wire.Error{Code: wire.Unavailable, Op: "fleet", Msg: "no backend runs"}
			}
			return b.Fleet(), nil
		},
		Try: func(_ context.Context, trial enrol.Trial) error {
			if of.habit == refuses && trial.Revision > 1 && trial.Text != before {
				return errTrial
			}
			return nil
		},
	}
}

// poll is what a terminal does once a minute: it asks for a newer configuration, works with it, and says how that goes.
func (s *site) poll(ctx context.Context, of *box, n int) {
	d, now := s.driver(of, n), s.now()
	number, err := of.Refresh(ctx, d)
	if number > 0 {
		of.taken[number]++
		of.trying, of.since = number, now
	}
	if of.trying > 0 {
		is, e := of.Active()
		switch {
		case e != nil:
			s.t.Errorf("%s: %v", of.id, e)
		case of.habit != dies || is.Text == before:
			e = of.Prove(of.id, of.trying)
			of.trying = 0
		case now.Sub(of.since) >= 10*time.Minute:
			_, e = of.GiveUp(of.id, of.trying, "it was not ready in ten minutes")
			of.trying = 0
		}
		if e != nil {
			s.t.Errorf("%s: %v", of.id, e)
		}
	}
	if _, e := of.Report(ctx, d, desk.Outcome{}); errors.Join(err, e) != nil && !errors.Is(err, errTrial) {
		s.failed.Add(1)
	}
}

// pass lets time pass, in which each terminal asks once a minute, at a moment of its own.
func (s *site) pass(ctx context.Context, d time.Duration) {
	const step = 10 * time.Second
	for range d / step {
		s.passed.Add(int64(step))
		now := s.now()
		var asking sync.WaitGroup
		slots := make(chan struct{}, 16)
		for _, of := range s.boxes {
			if of.next.After(now) {
				continue
			}
			of.next = now.Add(time.Minute*4/5 + rand.N(time.Minute*2/5))
			n := s.rng.IntN(len(s.backends))
			slots <- struct{}{}
			asking.Go(func() {
				s.poll(ctx, of, n)
				<-slots
			})
		}
		asking.Wait()
		s.advance(ctx)
	}
}

// advance is what each backend does by itself. All do it at once here; one whose server is away does it later.
func (s *site) advance(ctx context.Context) {
	var all sync.WaitGroup
	for _, of := range s.backends {
		if b := of.running(); b != nil {
			all.Go(func() { _ = b.Fleet().Advance(ctx) })
		}
	}
	all.Wait()
}

// asks asks the operator's desk, as often as it takes.
func asks[T any](s *site, ctx context.Context, do func(*backend.Backend, wire.Key) (T, error)) (out T) {
	s.t.Helper()
	key := wire.NewKey()
	require.NoError(s.t, until(ctx, within(), func() (err error) {
		b := s.any(0)
		if b == nil {
			return errors.New("no backend runs")
		}
		out, err = do(b, key)
		return err
	}))
	return out
}

func (s *site) start(ctx context.Context) desk.Roll {
	return asks(s, ctx, func(b *backend.Backend, key wire.Key) (desk.Roll, error) {
		return b.Fleet().Start(ctx, key, desk.StartRequest{
			Settings: []desk.Setting{{Key: "offline.max_count", Value: "50"}}, Stages: []int32{1, 10, 50, 100}, Enough: 90, SoakSeconds: 600, SilenceSeconds: 3600,
		})
	})
}

func (s *site) roll(ctx context.Context, id string) (found desk.Roll) {
	list := asks(s, ctx, func(b *backend.Backend, _ wire.Key) (desk.RollsReply, error) { return b.Fleet().Rolls(ctx) })
	for _, r := range list.Rolls {
		if r.ID == id {
			found = r
		}
	}
	return found
}

// revisions counts the terminals by the text and the number that they work with.
func (s *site) revisions() map[string]int {
	count := map[string]int{}
	for _, of := range s.boxes {
		is, err := of.Active()
		require.NoError(s.t, err)
		word := "new"
		if is.Text == before {
			word = "old"
		}
		count[fmt.Sprint(word, " ", is.Revision)]++
	}
	return count
}

func newSite(t *testing.T, terminals int, seed uint64) *site {
	t.Helper()
	s := &site{t: t, dir: t.TempDir(), began: time.UnixMilli(1_900_000_000_000), rng: rand.New(rand.NewPCG(seed, 2))}
	parent, err := os.MkdirTemp("", "rollout")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(parent)) })
	require.NoError(t, os.Chmod(parent, 0o755)) // the servers are of another user
	s.db, err = openCluster(t.Context(), parent, 3, false, true)
	t.Cleanup(func() { require.NoError(t, s.db.close()) })
	require.NoError(t, err)
	for i := range 3 {
		s.backends = append(s.backends, &instance{})
		dir := filepath.Join(s.dir, fmt.Sprint("b", i+1))
		require.NoError(t, os.Mkdir(dir, 0o700))
		if i > 0 {
			key, err := os.ReadFile(filepath.Join(s.dir, "b1", backend.KeyName))
			require.NoError(t, err)
			require.NoError(t, os.WriteFile(filepath.Join(dir, backend.KeyName), key, 0o600))
		}
		require.NoError(t, until(t.Context(), within(), func() error { return s.begin(t.Context(), i) }))
		t.Cleanup(func() { require.NoError(t, s.end(i)) })
	}
	for i := range terminals {
		of := &box{Box: enrol.At(filepath.Join(s.dir, fmt.Sprint("t", i), "enrolment"), s.now), taken: map[int64]int{}, next: s.began.Add(rand.N(time.Minute))}
		ticket := asks(s, t.Context(), func(b *backend.Backend, key wire.Key) (desk.CodeReply, error) {
			return b.Fleet().Create(t.Context(), key, desk.CodeRequest{Slot: desk.Slot{MerchantID: "M", TerminalID: fmt.Sprint("T", i), BaxID: "B1"}, Configuration: before})
		})
		of.id = ticket.Enrolment.ID
		require.NoError(t, of.Begin(desk.Ticket{URL: ticket.URL, Code: ticket.Code, Fingerprint: ticket.Fingerprint}, fmt.Sprint("PA-", i)))
		require.NoError(t, of.Resume(t.Context(), s.driver(of, i)))
		s.boxes = append(s.boxes, of)
	}
	return s
}

// TestRollOut: settings go to a fleet in stages while its servers and backends die. The terminals are the product's own enrolment, and time
// is the test's. Settings that work reach each terminal once, and no stage begins before the one before it was healthy. Settings that one
// terminal in three cannot use stop at a stage that is small, and are taken back. TERMINALS (30) says how many there are.
func TestRollOut(t *testing.T) {
	pgtest.Need(t)
	ctx, terminals, seed := t.Context(), env.Number("TERMINALS", 30), env.Seed()
	s := newSite(t, terminals, seed)
	t.Logf("seed %d: %d terminals are enrolled", seed, terminals)
	s.pass(ctx, 2*time.Minute)
	require.Equal(t, map[string]int{"old 1": terminals}, s.revisions())

	// They work. In each stage the primary dies, and a backend ends.
	made := s.start(ctx)
	parts := map[int32]int{1: 1, 2: 10, 3: 50, 4: 100}
	died := int32(0)
	for range 240 {
		now := s.roll(ctx, made.ID)
		require.LessOrEqual(t, int(now.Given), (terminals*parts[now.Stage]+99)/100, "seed %d: %+v", seed, now)
		if now.State != desk.Running {
			break
		}
		if died < now.Stage {
			died = now.Stage
			old, err := s.db.failover(ctx)
			require.NoError(t, err)
			require.NoError(t, s.end(int(died)%len(s.backends)))
			s.pass(ctx, time.Minute)
			require.NoError(t, s.db.rebuild(ctx, old))
			require.NoError(t, until(ctx, within(), func() error { return s.begin(ctx, int(died)%len(s.backends)) }))
		}
		s.pass(ctx, time.Minute)
	}
	now := s.roll(ctx, made.ID)
	require.Equal(t, desk.Done, now.State, "seed %d: %+v", seed, now)
	s.pass(ctx, 5*time.Minute) // the last ones
	require.Equal(t, map[string]int{"new 2": terminals}, s.revisions(), "seed %d", seed)
	for _, of := range s.boxes {
		require.Equal(t, map[int64]int{2: 1}, of.taken, "seed %d: %s takes it once", seed, of.id)
	}
	took := s.now().Sub(s.began)

	// Taken back, all have what they had, by a newer number.
	asks(s, ctx, func(b *backend.Backend, key wire.Key) (desk.Roll, error) {
		return b.Fleet().Move(ctx, key, desk.MoveRequest{ID: made.ID, Move: desk.TakeBack})
	})
	s.pass(ctx, 10*time.Minute)
	require.Equal(t, map[string]int{"old 3": terminals}, s.revisions(), "seed %d", seed)

	// One terminal in three cannot use them: it refuses them, or is never ready with them.
	for i, of := range s.boxes {
		if i%3 == 0 {
			of.habit = refuses + habit(i/3%2)
		}
	}
	made = s.start(ctx)
	s.pass(ctx, time.Hour)
	now = s.roll(ctx, made.ID)
	require.Equal(t, desk.Paused, now.State, "seed %d: %+v", seed, now)
	t.Logf("paused with %d of %d terminals given: %s", now.Given, terminals, now.Reason)
	require.Less(t, int(now.Stage), 4)
	require.LessOrEqual(t, int(now.Given), (terminals*50+99)/100, "seed %d", seed)
	asks(s, ctx, func(b *backend.Backend, key wire.Key) (desk.Roll, error) {
		return b.Fleet().Move(ctx, key, desk.MoveRequest{ID: made.ID, Move: desk.TakeBack})
	})
	s.pass(ctx, 20*time.Minute)
	require.Equal(t, map[string]int{"old 3": terminals - int(now.Given), "old 5": int(now.Given)}, s.revisions(), "seed %d", seed)
	t.Logf("rolled out in %v of the terminals' time; %d questions without an answer", took, s.failed.Load())
}
