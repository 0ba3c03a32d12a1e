package paylinks

import (
	"context"
	"time"

	"posagent/schemes/backend/room"
	"posagent/schemes/wire"
	"posagent/store"
)

// Options are what Links needs.
type Options struct {
	room.Options
	Delay    *time.Duration                            // until a customer at a counter pays; nil = 10 s, negative = never by himself
	Deliver  Emitter                                   // nil = no webhooks
	SignKey  wire.Secret                               // signs webhooks
	Instance string                                    // account name said in webhooks
	QR       func(text string) (png []byte, err error) // draws a link's code; nil = there are none
}

// usualDelay is how long a customer needs where nothing else is said.
const usualDelay = 10 * time.Second

// New makes Links; it starts nothing.
func New(opt Options) (*Links, error) {
	r, err := room.NewPaged("links", opt.Options)
	if err != nil {
		return nil, err
	}
	s := &Links{Room: r, instance: opt.Instance, delay: usualDelay, deliver: opt.Deliver, qr: opt.QR, key: opt.SignKey}
	if opt.Delay != nil {
		s.delay = *opt.Delay
	}
	s.Sweeps(s.sweep)
	return s, nil
}

// sweep advances every link that is due and gives the next due moment, 0 = none.
func (s *Links) sweep(ctx context.Context) (next int64, err error) {
	return room.Sweep(ctx, s.Room, room.Due[int64]{
		What: "links", Name: func(id int64) string { return "link " + number(id) },
		List: `SELECT id FROM links_link WHERE next_ms <= ? UNION SELECT link FROM links_txn WHERE next_ms <= ? ORDER BY 1`,
		Next: nextDue,
		Advance: func(tx store.Tx, id, now int64) error {
			l, err := linkWhere(tx, byID, id)
			if err != nil || l == nil {
				return err
			}
			return s.advance(tx, l, now)
		},
	})
}

// nextDue reads when the next link will move by time alone, 0 = never.
const nextDue = `SELECT COALESCE(MIN(next_ms), 0) FROM (SELECT next_ms FROM links_link WHERE next_ms IS NOT NULL
	UNION ALL SELECT next_ms FROM links_txn WHERE next_ms IS NOT NULL) AS due`

// Due reads the moment (unix ms) at which the next of the links is to move by time alone, 0 = none.
func Due(r store.Reader) (ms int64, err error) {
	err = r.QueryRow(nextDue).Scan(&ms)
	return ms, err
}
