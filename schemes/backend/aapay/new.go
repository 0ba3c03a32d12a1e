package aapay

import (
	"context"
	"errors"
	"strconv"

	"posagent/schemes/backend/room"
	"posagent/store"
)

// New makes Wallets; it starts nothing.
func New(opt Options) (*Wallets, error) {
	if opt.DB == nil || len(opt.Seed.Methods) == 0 {
		return nil, errors.New("wallets: a store and a seed with methods are needed")
	}
	r, err := room.NewPaged("wallets", opt.Options)
	if err != nil {
		return nil, err
	}
	w := &Wallets{Room: r, seed: opt.Seed, unit: opt.Unit, delay: opt.Delay}
	w.Sweeps(w.sweep)
	return w, nil
}

// sweep advances everything that is due and gives the next due moment, 0 = none.
func (w *Wallets) sweep(ctx context.Context) (next int64, err error) {
	return room.Sweep(ctx, w.Room, room.Due[int64]{
		What: "transactions", Name: func(id int64) string { return strconv.FormatInt(id, 10) },
		List: `SELECT id FROM wallets_txn WHERE next_ms IS NOT NULL AND next_ms <= ? ORDER BY next_ms, id`,
		Next: nextDue,
		Advance: func(tx store.Tx, id, now int64) error {
			t, err := one(tx, byID, id)
			if err != nil || t == nil {
				return err
			}
			return w.advance(tx, t, now)
		},
	})
}

// nextDue reads when the next transaction will move by time alone, 0 = never.
const nextDue = `SELECT COALESCE(MIN(next_ms), 0) FROM wallets_txn WHERE next_ms IS NOT NULL`

// Due reads the moment (unix ms) at which the next of the transactions is to move by time alone, 0 = none.
func Due(r store.Reader) (ms int64, err error) {
	err = r.QueryRow(nextDue).Scan(&ms)
	return ms, err
}
