package drive

import (
	"context"
	"errors"
	"fmt"
	"time"

	"posagent/agent/checkout"
	"posagent/agent/checkout/drive/journal"
	"posagent/agent/checkout/drive/perform"
	"posagent/ecr"
	"posagent/store"
)

// dayEvery is the time between two looks whether the day of the open batch is over.
const dayEvery = time.Minute

// keepDays closes each day that is over, where no register does (Config.Day).
func (d *Drive) keepDays(ctx context.Context) {
	for {
		switch totals, err := d.closeAlone(ctx); {
		case err != nil && ctx.Err() == nil:
			d.log.Error("day not closed", "err", err)
		case totals.Batch > 0:
			d.log.Info("day closed", "batch", totals.Batch, "count", totals.Count)
		}
		if !perform.Pause(ctx, dayEvery, nil) {
			return
		}
	}
}

// over says whether the open batch is of another day, or uses up its numbers. An empty one never is.
func (d *Drive) over(r store.Reader) (bool, error) {
	first, err := journal.FirstReceipt(r)
	if errors.Is(err, journal.ErrUnknown) {
		return false, nil
	}
	if err != nil || d.cfg.Day(first) != d.cfg.Day(d.now()) {
		return err == nil, err
	}
	n, err := journal.ReceiptsOf(r)
	return n.Few(), err
}

// closeAlone closes the open batch where its day is over and nothing stands in the way. It asks
// nobody to wait: a sale that is open, or an approval that its register may still acknowledge, puts it
// off to the next look. So it undoes nothing, whatever the wall clock says. The zero Totals say that
// the batch stays open.
func (d *Drive) closeAlone(ctx context.Context) (totals ecr.Totals, err error) {
	over := false
	if err := d.db.Read(ctx, func(r store.Reader) (err error) { over, err = d.over(r); return err }); err != nil || !over {
		return totals, err
	}
	d.desk.Lock() // a request that comes now begins in the next batch
	defer d.desk.Unlock()
	if d.resting || d.isClosing() {
		return totals, nil
	}
	var steps []journal.Step
	err = d.db.Write(ctx, func(tx store.Tx) error {
		totals, steps = ecr.Totals{}, nil
		over, err := d.over(tx)
		if err != nil || !over {
			return err
		}
		rows, err := d.j.Active(tx)
		if err != nil {
			return err
		}
		var kept []*journal.Row
		for _, r := range rows {
			switch {
			case r.Quarantined:
			case r.State.Phase == checkout.Unconfirmed && r.State.Till.Kept && !d.sales.Held(r.Key): // its alert is raised
				kept = append(kept, r)
			case blocks(r, nil):
				return nil
			}
		}
		for _, r := range kept {
			s, err := d.j.Transit(tx, r, checkout.Event{Name: checkout.EndOfDay})
			if err != nil {
				return fmt.Errorf("close the day of %s: %w", r.Key, err)
			}
			steps = append(steps, s)
		}
		closed, more, err := d.closeBatch(tx)
		if err != nil {
			return err
		}
		totals, steps = closed, append(steps, more...)
		return nil
	})
	if err != nil {
		return ecr.Totals{}, err
	}
	for _, s := range steps {
		d.p.Do(s)
	}
	return totals, nil
}
