package lossy

import (
	"bytes"
	"context"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"sync"
	"time"

	"posagent/cross/referee"
	"posagent/schemes/backend"
	"posagent/schemes/wire"
)

// Chances of a request, of a hundred.
const (
	loses   = 30 // the answer, behind the effect
	lates   = 10
	doubles = 5
)

// link is the way to the backend.
type link struct {
	to      wire.Doer
	referee *referee.Referee
	keyless bool // a tooth: the backend never sees a Key

	mu   sync.Mutex
	rng  *rand.Rand
	good bool // as it should be
	up   bool
	wg   sync.WaitGroup

	calls, refused, lost, late, doubled int
}

// fate is what becomes of one request.
type fate struct {
	down, lost bool
	late       time.Duration // the request arrives after it
	double     time.Duration // and again after this; 0 = once
	back       time.Duration // the answer's way
}

func (l *link) fate() (f fate) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.calls++
	ms := func(n int) time.Duration { return time.Duration(1+l.rng.IntN(n)) * time.Millisecond }
	f.back = ms(150)
	if l.good {
		return f
	}
	if f.down = !l.up; f.down {
		l.refused++
		return f
	}
	switch p := l.rng.IntN(100); {
	case p < loses:
		f.lost = true
		l.lost++
	case p < loses+lates:
		f.late = ms(90_000) // the terminal waits for 40 s
		l.late++
	}
	if l.rng.IntN(100) < doubles {
		f.double = ms(120_000)
		l.doubled++
	}
	return f
}

// flap takes the link up and down until ctx ends.
func (l *link) flap(ctx context.Context) {
	for {
		l.mu.Lock()
		l.up = !l.up
		wait := time.Duration(1+l.rng.IntN(20_000)) * time.Millisecond
		if l.rng.IntN(200) == 0 {
			wait *= 60
		}
		l.mu.Unlock()
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return
		}
	}
}

func (l *link) mend() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.good = true
}

// Do implements wire.Doer. What has left arrives, whether or not its sender still waits.
func (l *link) Do(r *http.Request) (*http.Response, error) {
	var body []byte
	if r.Body != nil {
		var err error
		if body, err = io.ReadAll(r.Body); err != nil {
			return nil, err
		}
	}
	drop, single := bared(r, body)
	deliver := func() (*http.Response, error) {
		again := r.Clone(context.WithoutCancel(r.Context()))
		again.Body = io.NopCloser(bytes.NewReader(body))
		again.Header.Set("Authorization", "Bearer "+backend.DemoCredentials().Bearer.Reveal())
		if drop || l.keyless {
			again.Header.Del(wire.KeyHeader)
		}
		return l.to.Do(again)
	}
	f := l.fate()
	if f.down {
		return nil, &net.OpError{Op: "dial", Err: context.DeadlineExceeded}
	}
	l.referee.Left(r, body)
	if f.double > 0 && !single {
		l.wg.Go(func() {
			<-time.After(f.double)
			_, _ = deliver() // nobody waits for this answer
		})
	}
	type answer struct {
		resp *http.Response
		err  error
	}
	came := make(chan answer, 1)
	l.wg.Go(func() {
		if f.late > 0 {
			<-time.After(f.late)
		}
		resp, err := deliver()
		<-time.After(f.back)
		came <- answer{resp, err}
	})
	select {
	case a := <-came:
		if f.lost {
			return nil, &net.OpError{Op: "read", Err: context.DeadlineExceeded}
		}
		return a.resp, a.err
	case <-r.Context().Done():
		return nil, r.Context().Err()
	}
}
