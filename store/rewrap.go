package store

import (
	"context"
	"fmt"
)

// rewrapBatch is how many data keys change their wrapping in one commit.
const rewrapBatch = 256

// Rewrapping wraps the row key, the secrets and every data key under To instead of From, some hundred
// per commit. What is wrapped under To already stays, so it can be broken off and done again.
type Rewrapping struct {
	From, To Wrapper
	Progress func(done, of int) // nil = nobody is told
	// Tables lists the tables whose rows keep their data keys themselves, in a column data_key.
	Tables func(Tx) ([]KeyTable, error)

	table, key string // the last one seen
	own        []KeyTable
	row        any // the last one seen of the first of them
	done, of   int
}

// KeyTable is a table whose rows keep their data keys themselves.
type KeyTable struct {
	Name string
	Row  string // an expression that names a row, and by which rows are walked over
	None any    // what is before every row
}

// Run walks over all wrapped keys in their order; write is an engine's Write.
func (w *Rewrapping) Run(ctx context.Context, write func(func(Tx) error) error) error {
	for last := false; !last; {
		if err := ctx.Err(); err != nil {
			return err
		}
		var next Rewrapping
		if err := write(func(tx Tx) (err error) {
			next = *w // an engine may run it again
			last, err = next.part(tx)
			return err
		}); err != nil {
			return fmt.Errorf("rewrap: %w", err)
		}
		if *w = next; w.Progress != nil {
			w.Progress(w.done, w.of)
		}
	}
	return nil
}

// part is one commit.
func (w *Rewrapping) part(tx Tx) (last bool, err error) {
	switch {
	case w.of == 0:
		if err := w.find(tx); err != nil {
			return false, err
		}
		return false, w.meta(tx)
	case len(w.own) > 0:
		return false, w.ownBatch(tx)
	}
	return w.batch(tx)
}

// change gives a key its new wrapping; nil = it has it already.
func (w *Rewrapping) change(wrapped []byte) ([]byte, error) {
	w.done++
	if _, err := w.To.Unwrap(wrapped); err == nil {
		return nil, nil
	}
	plain, err := w.From.Unwrap(wrapped)
	if err != nil {
		return nil, err
	}
	return w.To.Wrap(plain)
}

// meta rewraps the row key and the secrets.
func (w *Rewrapping) meta(tx Tx) error {
	found := map[string][]byte{}
	if err := Each(tx, func(row Row) error {
		var name string
		var old []byte
		err := row.Scan(&name, &old)
		found[name] = old
		return err
	}, "SELECT name, value FROM store_meta WHERE name = 'mac_key' OR substr(name, 1, ?) = ?", len(MetaSecrets), MetaSecrets); err != nil {
		return err
	}
	for name, old := range found {
		wrapped, err := w.change(old)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if wrapped == nil {
			continue
		}
		if _, err := tx.Exec("UPDATE store_meta SET value = ? WHERE name = ?", wrapped, name); err != nil {
			return err
		}
	}
	return nil
}

func (w *Rewrapping) batch(tx Tx) (last bool, err error) {
	type wrappedKey struct {
		table, key string
		wrapped    []byte
	}
	var found []wrappedKey
	if err := Each(tx, func(row Row) error {
		var k wrappedKey
		err := row.Scan(&k.table, &k.key, &k.wrapped)
		found = append(found, k)
		return err
	}, "SELECT tbl, key, wrapped FROM store_keys WHERE (tbl, key) > (?, ?) ORDER BY tbl, key LIMIT ?", w.table, w.key, rewrapBatch); err != nil {
		return false, err
	}
	for _, k := range found {
		wrapped, err := w.change(k.wrapped)
		if err != nil {
			return false, fmt.Errorf("data key of %s: %w", k.table, err)
		}
		if wrapped != nil {
			if _, err := tx.Exec("UPDATE store_keys SET wrapped = ? WHERE tbl = ? AND key = ?", wrapped, k.table, k.key); err != nil {
				return false, err
			}
		}
		w.table, w.key = k.table, k.key
	}
	return len(found) < rewrapBatch, nil
}

// find learns which tables have data keys, and counts these, the row key and the secrets.
func (w *Rewrapping) find(tx Tx) error {
	if err := tx.QueryRow("SELECT count(*) + (SELECT count(*) FROM store_meta WHERE name = 'mac_key' OR substr(name, 1, ?) = ?) FROM store_keys",
		len(MetaSecrets), MetaSecrets).Scan(&w.of); err != nil {
		return err
	}
	tables, err := w.Tables(tx)
	if err != nil {
		return err
	}
	for _, table := range tables {
		n := 0
		if err := tx.QueryRow(`SELECT count(data_key) FROM "` + table.Name + `"`).Scan(&n); err != nil {
			return err
		}
		w.own, w.of = append(w.own, table), w.of+n
	}
	return nil
}

// ownBatch is a batch of the keys that the rows of a table keep themselves.
func (w *Rewrapping) ownBatch(tx Tx) error {
	of := w.own[0]
	name := `"` + of.Name + `"`
	if w.row == nil {
		w.row = of.None
	}
	rows := make([]any, 0, rewrapBatch)
	keys := make([][]byte, 0, rewrapBatch)
	if err := Each(tx, func(row Row) error {
		var at any
		var key []byte
		err := row.Scan(&at, &key)
		rows, keys = append(rows, at), append(keys, key)
		return err
	}, "SELECT "+of.Row+", data_key FROM "+name+" WHERE data_key IS NOT NULL AND "+of.Row+" > ? ORDER BY 1 LIMIT ?", w.row, rewrapBatch); err != nil {
		return err
	}
	for i, old := range keys {
		wrapped, err := w.change(old)
		if err != nil {
			return fmt.Errorf("data key of %s: %w", of.Name, err)
		}
		if wrapped != nil {
			if _, err := tx.Exec("UPDATE "+name+" SET data_key = ? WHERE "+of.Row+" = ?", wrapped, rows[i]); err != nil {
				return err
			}
		}
		w.row = rows[i]
	}
	if len(rows) < rewrapBatch {
		w.own, w.row = w.own[1:], nil
	}
	return nil
}
