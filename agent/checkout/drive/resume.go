package drive

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"posagent/agent/checkout"
	"posagent/schemes/wire"
	"posagent/store"
)

// resume takes every sale of the journal up again. It asks nobody outside: a dead network does not keep the terminal from starting.
func (d *Drive) resume(ctx context.Context) error {
	var rows []*Row
	if err := d.db.Read(ctx, func(r store.Reader) error {
		var err error
		rows, err = d.active(r)
		return err
	}); err != nil {
		return fmt.Errorf("resume: %w", err)
	}
	for _, r := range rows {
		take := func() error { return d.resumeOne(ctx, r.Key) }
		if r.Aside != "" {
			continue
		}
		if r.Quarantined {
			take = func() error { return d.quarantine(ctx, r) }
		}
		for err := take(); err != nil; err = take() { // a full disk keeps the terminal waiting, not away
			if hopeless(err) || ctx.Err() != nil {
				return fmt.Errorf("resume %s: %w", r.Key, err)
			}
			d.log.Error("sale not resumed yet", "sale", r.Key, "error", err)
			pause(ctx, storeRetry, nil)
		}
	}
	return nil
}

// resumeOne counts the attempt durably before it does anything with the sale: one that brings the program down is left alone
// after 20 starts.
func (d *Drive) resumeOne(ctx context.Context, key wire.Key) error {
	var row *Row
	var effects []checkout.Effect
	var seq uint64
	parked := false
	err := d.db.Write(ctx, func(tx store.Tx) error {
		var err error
		if row, err = d.byKey(tx, key); err != nil {
			return err
		}
		tries := row.Resumes + 1
		parked = tries > maxResumes
		seq = d.nextSeq()
		e := checkout.Event{Name: checkout.Restarted, NewBoot: row.Boot != d.bootID}
		if parked {
			if tries == maxResumes+1 {
				if err := d.note(tx, key, true, title(row)+": resumed too often, left alone"); err != nil {
					return err
				}
			}
			if row.Resumes = tries; !checkout.Open(row.State) {
				return d.update(tx, row)
			}
			e.NewBoot = true // must not block the terminal: to its undo
		}
		effects, err = d.transit(tx, row, e)
		if err != nil {
			return err
		}
		row.Resumes = tries
		return d.update(tx, row)
	})
	switch {
	case err != nil:
		return err
	case parked:
		d.log.Error("sale left alone", "sale", key, "phase", row.State.Phase)
		return nil
	}
	d.perform(row, effects, seq)
	if row.State.Phase == checkout.Forward {
		d.later(func(ctx context.Context) { d.withdrawal(ctx, key) })
	}
	return nil
}

// stands forgets the resumes once a start has lasted: a box that is switched off every night does not loop.
func (d *Drive) stands(ctx context.Context) {
	for wait := standsAfter; pause(ctx, wait, nil); wait = storeRetry {
		err := d.db.Write(ctx, func(tx store.Tx) error {
			rows, err := d.active(tx)
			if err != nil {
				return err
			}
			for _, r := range rows {
				if r.Quarantined || r.Resumes == 0 || r.Resumes > maxResumes {
					continue
				}
				r.Resumes = 0
				if err := d.update(tx, r); err != nil {
					return err
				}
			}
			return nil
		})
		if err == nil || hopeless(err) {
			return
		}
		d.log.Error("resumes not forgotten yet", "error", err)
	}
}

// quarantine tells the merchant once about a row that does not verify.
func (d *Drive) quarantine(ctx context.Context, r *Row) error {
	d.log.Error("sale is quarantined", "sale", r.Key)
	err := d.db.Write(ctx, func(tx store.Tx) error {
		var said int
		if err := tx.QueryRow(`SELECT COUNT(*) FROM checkout_entries WHERE sale = ? AND text LIKE ?`, string(r.Key), quarantined+"%").Scan(&said); err != nil || said > 0 {
			return err
		}
		return d.note(tx, r.Key, true, fmt.Sprintf("%s: the row of sale %s was changed from outside", quarantined, r.Key))
	})
	if err != nil {
		return fmt.Errorf("quarantine %s: %w", r.Key, err)
	}
	return nil
}

// Load implements ecr.Memory.
func (d *Drive) Load(ctx context.Context, line string) ([]byte, error) {
	var data []byte
	err := d.db.Read(ctx, func(r store.Reader) error {
		err := r.QueryRow(`SELECT data FROM checkout_registers WHERE line = ?`, line).Scan(&data)
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("load register %s: %w", line, err)
	}
	return data, nil
}

// Save implements ecr.Memory.
func (d *Drive) Save(ctx context.Context, line string, data []byte) error {
	if data == nil {
		data = []byte{}
	}
	err := d.db.Write(ctx, func(tx store.Tx) error {
		_, err := tx.Exec(`INSERT INTO checkout_registers (line, data) VALUES (?, ?) ON CONFLICT (line) DO UPDATE SET data = excluded.data`, line, data)
		return err
	})
	if err != nil {
		return fmt.Errorf("save register %s: %w", line, err)
	}
	return nil
}
