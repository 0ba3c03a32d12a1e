package aapay

import (
	"context"
	"time"

	"posagent/schemes/aapay"
	"posagent/schemes/backend/room"
	"posagent/schemes/methods"
	"posagent/schemes/wire"
)

// Options are what Wallets needs.
type Options struct {
	room.Options
	Seed  Seed
	Unit  string         // of the definitions' time-outs: "m" (default), "s", "ms"
	Delay *time.Duration // until a wallet pays; nil = the method's mean delay, negative = never by itself
}

// Wallets are the simulated providers: the transaction and definition services over one store.
type Wallets struct {
	*room.Room
	seed  Seed
	unit  string
	delay *time.Duration
}

var (
	_ aapay.Service   = (*Wallets)(nil)
	_ methods.Service = (*Wallets)(nil)
)

// List implements methods.Service.
func (w *Wallets) List(ctx context.Context, q methods.Query) ([]methods.Definition, error) {
	if bax := room.CallerOf(ctx).Bax; bax != "" && bax != q.BaxID {
		return nil, wire.Errorf(wire.NotFound, "methods.list", "no method found for the merchant")
	}
	return w.seed.list(q)
}
