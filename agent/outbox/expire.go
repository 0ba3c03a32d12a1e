package outbox

import (
	"context"
	"fmt"

	"posagent/store"
)

// expire ends unsent operations of a kind past their age, a hundred per commit.
func (o *Outbox) expire(ctx context.Context, k *Kind) error {
	for {
		var ended []Op
		err := o.db.Write(ctx, func(tx store.Tx) error {
			ended = ended[:0]
			ids, err := o.old(tx, k)
			if err != nil {
				return err
			}
			for _, id := range ids {
				more, err := o.expireOne(tx, id)
				if err != nil {
					return err
				}
				ended = append(ended, more...)
			}
			return nil
		})
		if err != nil {
			return fmt.Errorf("expire %s: %w", k.Name, err)
		}
		if len(ended) == 0 {
			return nil
		}
		o.after(ended)
	}
}

func (o *Outbox) old(r store.Reader, k *Kind) ([]int64, error) {
	return store.Column[int64](r, `SELECT id FROM outbox_ops WHERE state = 'PENDING' AND kind = ?1 AND accepted_run < ?2 AND revived_run < ?2
		ORDER BY accepted_run LIMIT 100`, k.Name, o.clock.run()-k.MaxAge.Milliseconds())
}

func (o *Outbox) expireOne(tx store.Tx, id int64) ([]Op, error) {
	r, err := byID(tx, id)
	if err != nil {
		return nil, err
	}
	if err := o.verify(&r); err != nil {
		r.reason = err.Error()
		return o.apply(tx, &r, event{verb: distrust})
	}
	r.reason = "never sent, too old"
	return o.apply(tx, &r, event{verb: expire})
}
