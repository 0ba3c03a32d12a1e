package catalog

import (
	"context"
	"slices"

	"posagent/schemes/methods"
	"posagent/schemes/wire"
	"posagent/store"
)

// Holding gives the answers of next, and while that does not answer the stored list of own's terminal; wire.Held tells its age.
func Holding(db store.DB, own methods.Query, next methods.Service) methods.Service {
	return holding{db, own, next}
}

type holding struct {
	db   store.DB
	own  methods.Query
	next methods.Service
}

var _ methods.Service = holding{}

// List implements methods.Service. The error of next where no list is held for the terminal that is asked about.
func (h holding) List(ctx context.Context, q methods.Query) ([]methods.Definition, error) {
	defs, err := h.next.List(ctx, q)
	if wire.CodeOf(err) != wire.Unavailable || q.BaxID != h.own.BaxID || q.TerminalID != h.own.TerminalID {
		return defs, err
	}
	c := New(Options{DB: h.db, Query: h.own})
	if c.Load(ctx) != nil {
		return nil, err
	}
	held, fetched, _ := c.Current()
	if len(held) == 0 {
		return nil, err
	}
	wire.Held(ctx, fetched)
	return slices.DeleteFunc(held, func(d methods.Definition) bool { return slices.Contains(q.Exclude, d.PaymentProviderID) }), nil
}
