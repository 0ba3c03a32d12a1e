package payments

import (
	"context"

	"posagent/schemes/backend/room"
	"posagent/store"
)

// New makes Cards; it starts nothing.
func New(opt Options) (*Cards, error) {
	r, err := room.NewPaged("cards", opt.Options)
	if err != nil {
		return nil, err
	}
	c := &Cards{Room: r, opt: opt}
	if c.opt.Hold <= 0 {
		c.opt.Hold = holdTime
	}
	c.Sweeps(c.sweep)
	return c, nil
}

// sweep advances every payment that is due, and gives the next due moment, 0 = none.
func (c *Cards) sweep(ctx context.Context) (next int64, err error) {
	return room.Sweep(ctx, c.Room, room.Due[string]{
		What: "payments", Name: func(id string) string { return id },
		List: `SELECT id FROM cards_payment WHERE next_ms IS NOT NULL AND next_ms <= ? ORDER BY next_ms LIMIT 1000`,
		Next: nextDue,
		Advance: func(tx store.Tx, id string, now int64) error {
			_, err := c.load(tx, "cards.sweep", id, now)
			return err
		},
	})
}

// nextDue reads when the next payment will move by time alone, 0 = never.
const nextDue = `SELECT COALESCE(MIN(next_ms), 0) FROM cards_payment WHERE next_ms IS NOT NULL`

// Due reads the moment (unix ms) at which the next of the payments is to move by time alone, 0 = none.
func Due(r store.Reader) (ms int64, err error) {
	err = r.QueryRow(nextDue).Scan(&ms)
	return ms, err
}
