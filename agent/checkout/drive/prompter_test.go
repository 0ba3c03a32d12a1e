package drive_test

import (
	"context"
	"sync/atomic"

	"posagent/agent/checkout/drive"
	"posagent/schemes/methods"
	"posagent/store"
)

type answer struct {
	method, consumer string
	trigger          methods.Trigger
	prompts          map[int32]string
	amount           int64
	err              error
}

// prompter answers what a test tells it to.
type prompter struct {
	asked   drive.Question
	answers chan answer
	away    atomic.Bool // nobody can answer
	asks    atomic.Int32
}

func (p *prompter) Ready() bool { return !p.away.Load() }

func (p *prompter) Ask(ctx context.Context, q drive.Question) (drive.Answer, error) {
	p.asked = q
	p.asks.Add(1)
	select {
	case a := <-p.answers:
		return drive.Answer{Method: a.method, Trigger: a.trigger, ConsumerID: a.consumer, Answers: a.prompts, Amount: a.amount}, a.err
	case <-ctx.Done():
		return drive.Answer{}, ctx.Err()
	}
}

func rawExec(query string) func(store.Tx) error {
	return func(tx store.Tx) error {
		_, err := tx.Exec(query)
		return err
	}
}
