package wire

import (
	"context"
	"sync"
)

// Answers collects what has to be done once the answer to a call has reached its caller. It is for the one who writes the answer.
type Answers struct {
	mu   sync.Mutex
	list []func()
}

type answersKey struct{}

// WithAnswers returns a context of a call, and what OnHeard collects in it.
func WithAnswers(ctx context.Context) (context.Context, *Answers) {
	a := &Answers{}
	return context.WithValue(ctx, answersKey{}, a), a
}

// OnHeard does something once the caller of a call is known to have its answer. Where nobody writes one, as between two packages of one
// program, the caller has it as soon as its context has not ended.
func OnHeard(ctx context.Context, do func()) {
	a, ok := ctx.Value(answersKey{}).(*Answers)
	if !ok {
		if ctx.Err() == nil {
			do()
		}
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.list = append(a.list, do)
}

// Heard does what was collected, if heard says so. heard is asked only where something was collected.
func (a *Answers) Heard(heard func() bool) {
	a.mu.Lock()
	list := a.list
	a.list = nil
	a.mu.Unlock()
	if len(list) == 0 || !heard() {
		return
	}
	for _, do := range list {
		do()
	}
}
