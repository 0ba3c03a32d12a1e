package session

import (
	"context"
	"strings"
	"sync"

	"posagent/ecr"
)

// takings are the requests that the desk is deciding about: whether one is begun is not known yet, also
// where its connection is gone.
type takings struct {
	mu   sync.Mutex
	open map[*taking]bool
}

// taking is one of them.
type taking struct {
	line, sequence string
	over           chan struct{} // closed once it was begun or refused
}

// take notes a request; over ends that.
func (t *takings) take(line, sequence string) (over func()) {
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

// decided waits until nothing is open that a question for a line's sale with an id may mean, "" = for its
// last one. It returns false when ctx ends first.
func (t *takings) decided(ctx context.Context, line, sequence string) bool {
	beginning, begins := strings.CutSuffix(sequence, ecr.AnyEnd)
	t.mu.Lock()
	var list []*taking
	for one := range t.open {
		if one.line == line && (sequence == "" || one.sequence == sequence || begins && strings.HasPrefix(one.sequence, beginning)) {
			list = append(list, one)
		}
	}
	t.mu.Unlock()
	for _, one := range list {
		select {
		case <-one.over:
		case <-ctx.Done():
			return false
		}
	}
	return true
}
