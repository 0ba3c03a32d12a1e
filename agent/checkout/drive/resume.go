package drive

import (
	"context"
	"errors"
	"fmt"

	"posagent/agent/checkout"
	"posagent/agent/checkout/drive/journal"
	"posagent/agent/checkout/drive/perform"
	"posagent/agent/intent"
	"posagent/schemes/wire"
	"posagent/store"
)

// resume takes every sale of the journal up again. It asks nothing outside the terminal: a dead
// network does not keep the terminal from starting.
func (d *Drive) resume(ctx context.Context) error {
	if err := d.db.Write(ctx, journal.KeepIDs); err != nil { // without it an id of an older program stays known for ever
		d.log.Error("age of ids not noted", "error", err)
	}
	if err := d.db.Write(ctx, d.j.KeepNames); err != nil { // the next start keeps them
		d.log.Error("card numbers in names of callers not masked", "error", err)
	}
	var rows []*journal.Row
	if err := d.db.Read(ctx, func(r store.Reader) error {
		var err error
		rows, err = d.j.Active(r)
		return err
	}); err != nil {
		return fmt.Errorf("resume: %w", err)
	}
	for _, r := range rows {
		take := func() error { return d.resumeOne(ctx, r.Key) }
		if r.Quarantined {
			take = func() error { return d.quarantine(ctx, r) }
		}
		if r.Quarantined && r.Aside != "" {
			take = func() error { return d.holdOlder(ctx, r) }
		}
		for err := take(); err != nil; err = take() { // a full disk keeps the terminal waiting, not away
			if journal.IsPermanent(err) || ctx.Err() != nil {
				return fmt.Errorf("resume %s: %w", r.Key, err)
			}
			d.log.Error("sale not resumed yet", "sale", r.Key, "error", err)
			perform.Pause(ctx, perform.StoreRetry, nil)
		}
	}
	if err := d.db.Write(ctx, d.j.UnheardBefore); err != nil { // the next start raises them
		d.log.Error("untold ends are no alerts yet", "error", err)
	}
	return nil
}

// resumeOne counts the attempt durably before it does anything with the sale: one that brings the
// program down is left alone after 20 starts.
func (d *Drive) resumeOne(ctx context.Context, key wire.Key) error {
	var s journal.Step
	parked := false
	err := d.db.Write(ctx, func(tx store.Tx) error {
		row, err := d.j.ByKey(tx, key)
		if err != nil {
			return err
		}
		tries := row.Resumes + 1
		parked = tries > maxResumes
		s = journal.Step{Row: row}
		e := checkout.Event{Name: checkout.Restarted, NewBoot: row.Boot != d.bootID}
		if parked {
			if tries == maxResumes+1 {
				if err := d.j.Parked(tx, row); err != nil {
					return err
				}
			}
			if row.Resumes = tries; !checkout.Open(row.State) {
				return d.j.Update(tx, row)
			}
			e.NewBoot = true // must not block the terminal: to its undo
		}
		if s, err = d.j.Transit(tx, row, e); err != nil {
			return err
		}
		row.Resumes = tries
		return d.j.Update(tx, row)
	})
	switch {
	case err != nil:
		return err
	case parked:
		d.log.Error("sale left alone", "sale", key, "phase", s.Row.State.Phase)
		return nil
	}
	d.p.Do(s)
	switch row := s.Row; {
	case row.State.Phase == checkout.Forward:
		d.p.Later(func(ctx context.Context) { d.p.Withdrawal(ctx, key) })
	case checkout.Open(row.State): // its register may ask for the outcome again, and then waits as before
		d.p.Later(func(ctx context.Context) { d.p.AnswerInTime(ctx, row) })
	}
	return nil
}

// stands forgets the resumes once a start has lasted: a box that is switched off every night does
// not loop.
func (d *Drive) stands(ctx context.Context) {
	for wait := standsAfter; perform.Pause(ctx, wait, nil); wait = perform.StoreRetry {
		err := d.db.Write(ctx, func(tx store.Tx) error {
			rows, err := d.j.Active(tx)
			if err != nil {
				return err
			}
			for _, r := range rows {
				if r.Quarantined || r.Resumes == 0 || r.Resumes > maxResumes {
					continue
				}
				r.Resumes = 0
				if err := d.j.Update(tx, r); err != nil {
					return err
				}
			}
			return nil
		})
		if err == nil || journal.IsPermanent(err) {
			return
		}
		d.log.Error("resumes not forgotten yet", "error", err)
	}
}

// changed tells the merchant of the rows of sales, closed batches included, that do not verify. Those
// that are open were told of before. It tells again after an error.
func (d *Drive) changed(ctx context.Context) {
	var rows []*journal.Row
	err := d.db.Read(ctx, func(r store.Reader) (err error) { rows, err = d.j.Changed(r); return err })
	for _, r := range rows {
		err = errors.Join(err, d.quarantine(ctx, r))
	}
	if err != nil && ctx.Err() == nil {
		d.log.Error("rows of sales not verified", "error", err)
	}
}

// holdOlder holds a sale that an earlier program set aside, and takes it up.
func (d *Drive) holdOlder(ctx context.Context, r *journal.Row) error {
	err := d.db.Write(ctx, func(tx store.Tx) error {
		was := *r // the write may run again
		err := d.j.HoldOlder(tx, &was)
		return err
	})
	if err == nil {
		err = d.resumeOne(ctx, r.Key)
	}
	if errors.Is(err, journal.ErrQuarantined) { // it is altered, too
		return nil
	}
	return err
}

// quarantine tells the merchant once about a row that does not verify.
func (d *Drive) quarantine(ctx context.Context, r *journal.Row) error {
	d.log.Error("sale is quarantined", "sale", r.Key)
	err := d.db.Write(ctx, func(tx store.Tx) error {
		return d.j.Quarantine(tx, r)
	})
	if err != nil {
		return fmt.Errorf("quarantine %s: %w", r.Key, err)
	}
	return nil
}

// Load implements ecr.Memory.
func (d *Drive) Load(ctx context.Context, line string) ([]byte, error) {
	return d.j.Load(ctx, intent.KeptName(d.db, line))
}

// Save implements ecr.Memory.
func (d *Drive) Save(ctx context.Context, line string, data []byte) error {
	return d.j.Save(ctx, intent.KeptName(d.db, line), data)
}
