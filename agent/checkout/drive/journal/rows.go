package journal

import (
	"context"
	"errors"
	"fmt"

	"posagent/schemes/wire"
	"posagent/store"
)

// Insert stores a sale that has just begun.
func (j *Journal) Insert(tx store.Tx, r *Row) error {
	if err := tx.QueryRow(`SELECT MAX(COALESCE((SELECT MAX(id) FROM checkout_sales), 0), ?) + 1`, j.opt.LastSale).Scan(&r.ID); err != nil {
		return fmt.Errorf("store sale %s: %w", r.Key, err)
	}
	s, err := r.pack(j.db)
	if err != nil {
		return err
	}
	err = errors.Join(ownRows.Insert(tx, &line{Row: *r, stored: s}), j.useID(tx, r))
	if err == nil {
		_, err = tx.Exec(`DELETE FROM checkout_joined WHERE line = ? AND sequence = ''`, r.Line)
	}
	if err == nil {
		_, err = tx.Exec(`INSERT INTO checkout_requests (id, method, request) VALUES (?,?,?)`, r.ID, s.method, r.request)
	}
	if err == nil && j.opt.Record != nil {
		err = j.opt.Record(tx, "", &Row{}, r)
	}
	if err != nil {
		return fmt.Errorf("store sale %s: %w", r.Key, err)
	}
	return nil
}

// Update writes what a sale has become. A statement that names a column of an index writes the
// index's page whether or not the value is another one, so those have statements of their own,
// which find nothing where nothing changed.
func (j *Journal) Update(tx store.Tx, r *Row) error {
	s, err := r.pack(j.db)
	if err != nil {
		return err
	}
	if err := saveOwn(tx, &line{Row: *r, stored: s}); err != nil {
		return fmt.Errorf("store sale %s: %w", r.Key, err)
	}
	undo := string(r.UndoKey)
	for _, one := range []struct {
		query string
		args  []any
	}{
		{`UPDATE checkout_sales SET active = ? WHERE id = ? AND active != ?`, []any{s.active, r.ID, s.active}},
		{`UPDATE checkout_sales SET transaction_id = ? WHERE id = ? AND transaction_id != ?`, []any{s.transaction, r.ID, s.transaction}},
		{`UPDATE checkout_sales SET receipt = ?, batch = ? WHERE id = ? AND (receipt != ? OR batch != ?)`, []any{r.Receipt, r.Batch, r.ID, r.Receipt, r.Batch}},
		{`UPDATE checkout_sales SET undo_key = ? WHERE id = ? AND undo_key != ?`, []any{undo, r.ID, undo}},
		{`UPDATE checkout_requests SET method = ?, request = ? WHERE id = ? AND (method IS NOT ? OR request IS NOT ?)`, []any{s.method, r.request, r.ID, s.method, r.request}},
	} {
		if _, err := tx.Exec(one.query, one.args...); err != nil {
			return fmt.Errorf("store sale %s: %w", r.Key, err)
		}
	}
	return nil
}

// one reads the sale a condition names; ErrUnknown, ErrQuarantined.
func (j *Journal) one(r store.Reader, where string, args ...any) (*Row, error) {
	row, err := scan(j.db, r.QueryRow(`SELECT `+saleColumns+` FROM `+saleTables+` WHERE `+where, args...))
	if err == nil && row.Quarantined {
		err = fmt.Errorf("sale %s: %w", row.Key, ErrQuarantined)
	}
	return row, err
}

// ByKey reads a sale. It returns ErrUnknown and ErrQuarantined.
func (j *Journal) ByKey(r store.Reader, key wire.Key) (*Row, error) {
	return j.one(r, `key = ?`, string(key))
}

// Active reads the sales something can still happen to.
func (j *Journal) Active(r store.Reader) ([]*Row, error) {
	return j.many(r, active+` ORDER BY id`)
}

// many is the same of the journal's own store.
func (j *Journal) many(r store.Reader, where string, args ...any) ([]*Row, error) {
	return many(j.db, r, where, args...)
}

// Sale reads one sale outside a transaction. It returns ErrUnknown, ErrQuarantined, and errors of
// the store.
func (j *Journal) Sale(ctx context.Context, key wire.Key) (row *Row, err error) {
	err = j.db.Read(ctx, func(r store.Reader) error {
		row, err = j.ByKey(r, key)
		return err
	})
	return row, err
}
