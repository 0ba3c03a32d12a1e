package line

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/cross/env"
	"posagent/cross/need"
	"posagent/cross/stack"
	"posagent/ecr/zvt/frame"
)

// weather is one kind of damage.
type weather struct {
	name string
	d    stack.Damage
}

// weathers is the table of what a cable does.
func weathers() []weather {
	all := []weather{
		{"clean", stack.Damage{}},
		{"one byte at a time", stack.Damage{ByByte: true}},
		{"bytes dropped", stack.Damage{Drop: 0.01}},
		{"bytes doubled", stack.Damage{Double: 0.01}},
		{"bytes swapped", stack.Damage{Swap: 0.01}},
		{"bytes inserted", stack.Damage{Insert: 0.01}},
		{"noise between blocks", stack.Damage{Noise: 0.3}},
		{"storms of NAK", stack.Damage{Storm: 0.3}},
		{"answers lost", stack.Damage{LoseAck: 0.4}},
		{"answers late", stack.Damage{LateAck: 0.3, Late: time.Second}},
		{"answers after the repetition", stack.Damage{LateAck: 0.3, Late: 6 * time.Second}},
		{"everything", stack.Damage{Flip: 1e-4, Drop: 0.002, Double: 0.002, Swap: 0.002, Insert: 0.002, Noise: 0.05, Storm: 0.05, LoseAck: 0.1,
			LateAck: 0.1, Late: 3 * time.Second, ByByte: true}},
	}
	for _, p := range []float64{1e-6, 1e-5, 1e-4, 1e-3, 1e-2} {
		all = append(all, weather{fmt.Sprintf("bits flipped at %g", p), stack.Damage{Flip: p}})
	}
	return all
}

// tally is what a life of two links came to.
type tally struct {
	counts     stack.Counts
	sent       int // blocks handed to a link
	acked      int
	delivered  int
	collisions int // delivered, and nobody sent it: the checksum agreed by chance
	doubled    int // delivered twice: a violation
	again      int // a step that was told again after we had gone on: no receiver can tell it from a new one
	example    string
}

func (t *tally) add(o tally) {
	t.counts.Blocks += o.counts.Blocks
	t.counts.Harmed += o.counts.Harmed
	t.counts.Answers += o.counts.Answers
	t.counts.Spoilt += o.counts.Spoilt
	t.sent, t.acked, t.delivered, t.collisions = t.sent+o.sent, t.acked+o.acked, t.delivered+o.delivered, t.collisions+o.collisions
	t.doubled, t.again = t.doubled+o.doubled, t.again+o.again
	if o.example != "" {
		t.example = o.example
	}
}

// side is one link with what it says and hears.
type side struct {
	link *frame.Link
	head [2]byte // command of what it sends
	step bool    // and whether that is a step, which may come again once the other side has gone on

	mu    sync.Mutex
	sends int       // begun
	began time.Time // the last of them
	said  map[string]bool
}

// body is a block of its own: number, then bytes a receiver may stumble over.
func (s *side) body(rng *rand.Rand, n int) []byte {
	data := binary.BigEndian.AppendUint32([]byte{s.head[0], s.head[1], 0}, uint32(n))
	for range rng.IntN(40) {
		data = append(data, stack.Garbage(rng))
	}
	data[2] = byte(len(data) - 3)
	return data
}

func (s *side) talk(ctx context.Context, rng *rand.Rand, blocks int, t *tally) {
	for n := range blocks {
		data := s.body(rng, n)
		s.mu.Lock()
		s.said[string(data)] = true
		s.sends++
		s.began = time.Now()
		t.sent++
		s.mu.Unlock()
		if s.link.Send(ctx, data) == nil {
			s.mu.Lock()
			t.acked++
			s.mu.Unlock()
		}
	}
}

// hear judges what arrives from the other side.
func (s *side) hear(from *side, t *tally) {
	type first struct {
		sends int // of ours, begun before it was heard
		at    time.Time
	}
	heard := map[string]first{}
	for data := range s.link.Recv() {
		s.mu.Lock()
		now := first{s.sends, time.Now()}
		began := s.began
		s.mu.Unlock()
		from.mu.Lock()
		t.delivered++
		before, twice := heard[string(data)]
		switch {
		case !from.said[string(data)]:
			t.collisions++
			clear(heard) // what follows a block of nobody may repeat the one before it
		case twice && from.step && (now.sends > before.sends || !began.Before(before.at)): // what begins in the instant may have come after
			t.again++
		case twice:
			t.doubled++
			t.example = fmt.Sprintf("% X", data)
		default:
			heard[string(data)] = now
		}
		from.mu.Unlock()
	}
}

// links runs two links against each other in one kind of weather.
func links(t *testing.T, seed uint64, w weather, blocks int, terminal frame.Config) (all tally) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		ctx := context.Background()
		c := stack.NewCable(seed, 0)
		c.Spoil(w.d, w.d)
		a, err := c.Register().Open(ctx)
		require.NoError(t, err)
		b, err := c.Terminal().Open(ctx)
		require.NoError(t, err)
		register := &side{link: frame.New(a, frame.Config{}), head: [2]byte{0x06, 0x01}, said: map[string]bool{}}
		term := &side{link: frame.New(b, terminal), head: [2]byte{0x04, 0xFF}, step: true, said: map[string]bool{}}
		var up, down tally // guarded by their sender's lock
		var talking, hearing sync.WaitGroup
		hearing.Go(func() { term.hear(register, &up) })
		hearing.Go(func() { register.hear(term, &down) })
		talking.Go(func() { register.talk(ctx, rand.New(rand.NewPCG(seed, 3)), blocks, &up) })
		talking.Go(func() { term.talk(ctx, rand.New(rand.NewPCG(seed, 4)), blocks, &down) })
		talking.Wait()
		c.Spoil(stack.Damage{}, stack.Damage{})
		<-time.After(10 * time.Second)
		require.NoError(t, register.link.Close())
		require.NoError(t, term.link.Close())
		hearing.Wait()
		all.add(up)
		all.add(down)
		all.counts = c.Counts()
	})
	return all
}

// TestLinks: FRAMES blocks go over the cable, in every kind of weather.
func TestLinks(t *testing.T) {
	frames, seed := env.Number("FRAMES", need.Size(1000, 4000)), env.Seed()
	var all tally
	table := weathers()
	for life := 0; all.counts.Blocks < frames; life++ {
		w := table[life%len(table)]
		one := links(t, seed+uint64(life), w, 25, frame.Config{})
		all.add(one)
		if one.doubled > 0 {
			t.Errorf("seed %d, %s: %d blocks delivered twice, e.g. %s", seed+uint64(life), w.name, one.doubled, one.example)
		}
	}
	expected := float64(all.counts.Harmed) / 65536
	t.Logf("seed %d: %d blocks on the cable, %d damaged; %d of %d answers spoilt; %d sent, %d acknowledged, %d delivered", seed,
		all.counts.Blocks, all.counts.Harmed, all.counts.Spoilt, all.counts.Answers, all.sent, all.acked, all.delivered)
	t.Logf("%d damaged blocks delivered (the checksum lets %.1f of these through), %d steps told again, %d delivered twice in %d: at most %.1e at 95 %%",
		all.collisions, expected, all.again, all.doubled, all.delivered, 3/float64(all.delivered))
	require.LessOrEqual(t, float64(all.collisions), 3+4*expected)
	require.Greater(t, all.delivered, all.sent/2, "a cable that carries nothing proves nothing")
	require.Greater(t, all.counts.Harmed, all.counts.Blocks/50)
}

// A link that forgets too early what it has received delivers a repeated command twice; the campaign has to see it.
func TestTeethLinkThatForgets(t *testing.T) {
	all := links(t, 7, weather{"answers lost", stack.Damage{LoseAck: 0.4}}, 60, frame.Config{T2: 100 * time.Millisecond})
	require.Positive(t, all.doubled)
}

// A second after noise of any kind the next block arrives.
func TestInStepAfterNoise(t *testing.T) {
	seed := env.Seed()
	rng := rand.New(rand.NewPCG(seed, 5))
	runs, worst := max(200, env.Number("FRAMES", need.Size(1000, 4000))/20), time.Duration(0)
	for n := range runs {
		synctest.Test(t, func(t *testing.T) {
			ctx := context.Background()
			c := stack.NewCable(seed+uint64(n), 0)
			a, err := c.Register().Open(ctx)
			require.NoError(t, err)
			b, err := c.Terminal().Open(ctx)
			require.NoError(t, err)
			register, terminal := frame.New(a, frame.Config{}), frame.New(b, frame.Config{})
			defer register.Close()
			defer terminal.Close()
			noise := noise(rng, n)
			for i := 0; i < len(noise); i += 64 {
				c.Shout(stack.ToTerminal, noise[i:min(i+64, len(noise))])
				if rng.IntN(4) == 0 {
					<-time.After(time.Duration(rng.IntN(300)) * time.Millisecond)
				}
			}
			ended := time.Now()
			sent := make(chan error, 1)
			want := []byte{0x06, 0x01, 0x02, 0x10, 0x15}
			go func() { sent <- register.Send(ctx, want) }()
			for {
				got, err := terminal.Receive(ctx)
				require.NoError(t, err)
				if string(got) == string(want) { // noise may hold a whole block
					break
				}
			}
			took := time.Since(ended)
			worst = max(worst, took)
			require.Less(t, took, time.Second, "seed %d, run %d, noise % X", seed, n, noise[max(0, len(noise)-40):])
			require.NoError(t, <-sent)
		})
	}
	t.Logf("seed %d: in step after %d kinds of noise, at the latest after %v", seed, runs, worst)
}

// noise is garbage with an end that leaves the receiver in the worst of moods.
func noise(rng *rand.Rand, n int) []byte {
	var out []byte
	size := rng.IntN(300)
	if n%50 == 0 {
		size = 100_000 // a block that never ends
		out = append(out, 0x10, 0x02)
	}
	for range size {
		b := stack.Garbage(rng)
		if n%50 == 0 && b == 0x10 {
			b = 0x20
		}
		out = append(out, b)
	}
	ends := [][]byte{{}, {0x10}, {0x10, 0x02}, {0x10, 0x02, 0x06, 0x01, 0x10}, {0x10, 0x02, 0x06, 0x01, 0x00, 0x10, 0x03}, {0x10, 0x03, 0x00}, {0x10, 0x10},
		{0x10, 0x02, 0x10, 0x03}, {0x10, 0x02, 0x10, 0x03, 0x55}, {0x10, 0x02, 0x06, 0xFF}, {0x06}, {0x15}, {0x10, 0x02, 0x10, 0x10}}
	return append(out, ends[rng.IntN(len(ends))]...)
}
