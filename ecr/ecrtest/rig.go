package ecrtest

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/ecr"
	"posagent/ecr/ecrtest/desk"
	"posagent/ecr/ecrtest/lines"
	"posagent/ecr/session"
	"posagent/schemes/money"
)

// limit is how long one question of a register may take, in made-up time.
const limit = 10 * time.Minute

// rig is a terminal with a desk and the lines of one case.
type rig struct {
	t    *testing.T
	ctx  context.Context
	f    Fixture
	kind Kind
	desk *desk.Desk
	stop []func()
}

// line is a register line of the terminal.
type line struct {
	r       *rig
	name    string
	pipes   *lines.Pipes
	session *session.Session
	wire    *wire    // of the last register
	cabled  Register // of a serial line
	stop    func()   // ends the session
}

// inTime plays a case in made-up time. It fails on any goroutine that is left behind.
func inTime(t *testing.T, f Fixture, kind Kind, play func(r *rig)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		r := &rig{t: t, ctx: t.Context(), f: f, kind: kind, desk: desk.New()}
		defer func() {
			for i := len(r.stop) - 1; i >= 0; i-- {
				r.stop[i]()
			}
		}()
		play(r)
	})
}

// line starts a line of the terminal.
func (r *rig) line(name string) *line {
	l := &line{r: r, name: name, pipes: lines.NewPipes()}
	l.session = session.New(session.Options{Line: name, Desk: r.desk, Till: r.desk, Memory: r.desk, Protocol: r.f.Protocol})
	ctx, cancel := context.WithCancel(r.ctx)
	ended := make(chan error, 1)
	go func() {
		if r.kind == Serial {
			ended <- l.session.ServeSerial(ctx, l.pipes)
		} else {
			ended <- l.session.ServeTCP(ctx, l.pipes)
		}
	}()
	l.stop = sync.OnceFunc(func() {
		cancel()
		require.ErrorIs(r.t, <-ended, context.Canceled)
	})
	r.stop = append(r.stop, l.stop)
	return l
}

// register connects a register: anew on TCP; a serial line has one cable, and one register at its
// end.
func (l *line) register(name string) Register {
	r := l.r
	r.t.Helper()
	if l.cabled != nil {
		return l.cabled
	}
	if r.f.Can.Once {
		return newOnce(func() (Register, error) { return l.connect(name) })
	}
	one, err := l.connect(name)
	require.NoError(r.t, err)
	return one
}

// connect makes a register on a new wire.
func (l *line) connect(name string) (Register, error) {
	r := l.r
	l.wire = newWire(r.kind)
	l.pipes.Connect(l.wire.end(1))
	one, err := r.f.Connect(r.ctx, r.kind, l.wire.end(0), name)
	if err != nil {
		return nil, err
	}
	r.stop = append(r.stop, func() { _ = one.Close() })
	if r.kind == Serial {
		l.cabled = one
	}
	return one, nil
}

// answer is what a register heard, and whether it heard anything.
type answer struct {
	Answer
	heard bool
}

func (r *rig) ask(what func(ctx context.Context) (Answer, error)) answer {
	ctx, cancel := context.WithTimeout(r.ctx, limit)
	defer cancel()
	a, err := what(ctx)
	return answer{a, err == nil || a.Said != Nothing}
}

// pay asks for a payment and waits for its answer.
func (r *rig) pay(by Register, amount int64, id string) answer {
	return r.ask(func(ctx context.Context) (Answer, error) { return by.Pay(ctx, minor(amount), id) })
}

// again asks once more in the protocol's own way.
func (r *rig) again(by Register, amount int64, id string) answer {
	return r.ask(func(ctx context.Context) (Answer, error) { return by.Again(ctx, minor(amount), id) })
}

// begin asks for a payment that stays open, and returns when the desk has it.
func (r *rig) begin(by Register, id string) <-chan answer {
	r.t.Helper()
	out := make(chan answer, 1)
	go func() { out <- r.pay(by, desk.StaysOpen, id) }()
	r.until("a sale that runs", func() bool {
		n := len(r.desk.Sales)
		return n > 0 && r.desk.Sales[n-1].Open
	})
	synctest.Wait() // and the register knows
	return out
}

// until waits for a condition on the desk.
func (r *rig) until(what string, ok func() bool) {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(r.ctx, limit)
	defer cancel()
	require.NoError(r.t, r.desk.Until(ctx, what, ok))
}

// hears is an answer that was heard.
func (r *rig) hears(want Said, amount int64, got answer, what string) {
	r.t.Helper()
	require.True(r.t, got.heard, what)
	require.Equal(r.t, Answer{want, minor(amount)}, got.Answer, what)
}

// begun is how many sales the desk has begun.
func (r *rig) begun() int {
	r.desk.Mu.Lock()
	defer r.desk.Mu.Unlock()
	return len(r.desk.Begun)
}

// told reports whether the desk believes that the register holds the outcome of a sale.
func (r *rig) told(sale int) bool {
	r.desk.Mu.Lock()
	defer r.desk.Mu.Unlock()
	return len(r.desk.Sales) >= sale && r.desk.Sales[sale-1].Told
}

// settle waits until nothing is on its way to the desk, and until the telling of all sales is
// recorded.
func (r *rig) settle() {
	r.t.Helper()
	<-time.After(time.Minute)
	synctest.Wait()
	r.until("what became of the tellings", func() bool {
		for _, s := range r.desk.Sales {
			if !s.Open && !contains(r.desk.Deliveries, s.ID) {
				return false
			}
		}
		return true
	})
}

func contains(deliveries []string, sale string) bool {
	for _, d := range deliveries {
		for _, word := range []ecr.Delivery{ecr.Told, ecr.Lost, ecr.Refused} {
			if d == string(word)+" "+sale {
				return true
			}
		}
	}
	return false
}

func minor(n int64) money.Minor { return money.Minor(n) }
