package drive_test

import (
	"context"

	"posagent/agent/checkout/drive"
	"posagent/store"
)

type answer struct {
	method, consumer string
	prompts          map[int32]string
	amount           int64
}

// prompter answers what a test tells it to.
type prompter struct {
	asked   drive.Question
	answers chan answer
}

func (p *prompter) Ask(ctx context.Context, q drive.Question) (drive.Answer, error) {
	p.asked = q
	select {
	case a := <-p.answers:
		return drive.Answer{Method: a.method, ConsumerID: a.consumer, Answers: a.prompts, Amount: a.amount}, nil
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
