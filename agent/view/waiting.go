package view

import (
	"context"
	"time"

	"posagent/agent/outbox"
	"posagent/schemes/wire"
	"posagent/store"
)

// Waiting is the operations of one kind, state and currency that are not at their end.
type Waiting struct {
	OpsCount
	Oldest time.Time // when the oldest of this kind and state was accepted
}

// ownAtOnce is how many operations of a client that sees its own alone are read at a time.
const ownAtOnce = 200

// Waiting is what the backend has not answered for good: the caller's own where it reaches no
// others.
func (h *Daemon) Waiting(ctx context.Context) (list []Waiting, err error) {
	caller := wire.CallerOf(ctx)
	err = h.DB.Read(ctx, func(r store.Reader) error {
		list = nil // the read may run again
		if caller.Own {
			f := outbox.Filter{Open: true, Owned: true, Owner: caller.Name, Limit: ownAtOnce}
			for {
				ops, err := h.Outbox.List(r, f)
				for _, op := range ops {
					one := OpsCount{op.Kind, string(op.State), op.Currency, 1, op.AmountMin}
					list, f.After = waitsWith(list, Waiting{one, op.Created}), op.ID
				}
				if err != nil || len(ops) < f.Limit {
					return err
				}
			}
		}
		lines, err := outbox.Report(r)
		if err != nil {
			return err
		}
		for _, l := range lines {
			if l.State.Final() {
				continue
			}
			w := Waiting{OpsCount: OpsCount{l.Kind, string(l.State), l.Currency, l.Count, l.Sum}}
			first, err := h.Outbox.List(r, outbox.Filter{Kind: l.Kind, State: l.State, Limit: 1})
			if err != nil {
				return err
			}
			if len(first) > 0 {
				w.Oldest = first[0].Created
			}
			list = append(list, w)
		}
		return nil
	})
	return list, err
}

// waitsWith adds one to those of its kind, state and currency.
func waitsWith(list []Waiting, one Waiting) []Waiting {
	for i := range list {
		if w := &list[i]; w.Kind == one.Kind && w.State == one.State && w.Currency == one.Currency {
			w.Count, w.Sum = w.Count+one.Count, w.Sum+one.Sum
			return list
		}
	}
	return append(list, one)
}
