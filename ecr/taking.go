package ecr

import (
	"strings"
	"sync"
)

// Takings are the requests that a Desk is deciding about: nobody knows yet whether one begins, also where
// its connection is gone. The zero value is ready. Its methods are safe for concurrent use.
type Takings struct {
	mu   sync.Mutex
	open map[*taking]bool
}

// taking is one of them.
type taking struct {
	line, sequence string
	over           chan struct{} // closed once it was begun or refused
}

// Take notes a request of a line with the register's own id; over ends that, once or more often.
func (t *Takings) Take(line, sequence string) (over func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.open == nil {
		t.open = map[*taking]bool{}
	}
	one := &taking{line, sequence, make(chan struct{})}
	t.open[one] = true
	return sync.OnceFunc(func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		delete(t.open, one)
		close(one.over)
	})
}

// Open returns what ends each request that a question for a line's sale with an id may mean; "" asks for
// the line's last one, and AnyEnd stands for each id that begins so. Who asks waits for all of them: before
// that nobody knows that there is no such sale.
func (t *Takings) Open(line, sequence string) (over []<-chan struct{}) {
	beginning, begins := strings.CutSuffix(sequence, AnyEnd)
	t.mu.Lock()
	defer t.mu.Unlock()
	for one := range t.open {
		if one.line == line && (sequence == "" || one.sequence == sequence || begins && strings.HasPrefix(one.sequence, beginning)) {
			over = append(over, one.over)
		}
	}
	return over
}
