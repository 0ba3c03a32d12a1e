package sqlite

import (
	"context"
	"errors"
	"fmt"

	"posagent/store"
)

// rewrapBatch is how many data keys change their wrapping in one commit.
const rewrapBatch = 256

// Rewrap wraps the row key, the secrets and every data key under to instead of the store's own
// Wrapper, some hundred per commit. What is wrapped under to already stays, so it can be broken off
// and done again; until it has ended the store's Wrapper must open both. Afterwards nothing of the
// old wrapping is left, in the log neither. progress may be nil.
func (s *Store) Rewrap(ctx context.Context, to store.Wrapper, progress func(done, of int)) error {
	if s.opt.Wrapper == nil {
		return store.ErrNoWrapper
	}
	r := rewrapping{from: s.opt.Wrapper, to: to, progress: progress}
	return errors.Join(r.run(ctx, func(fn func(store.Tx) error) error { return s.Write(ctx, fn) }), s.Truncate(ctx))
}

// rewrapping walks over all wrapped keys in their order.
type rewrapping struct {
	from, to store.Wrapper
	progress func(done, of int)

	table, key string   // the last one seen
	own        []string // tables whose rows keep their data keys themselves and are not done yet
	row        int64    // the last one seen of the first of them
	done, of   int
}

func (w *rewrapping) run(ctx context.Context, write func(func(store.Tx) error) error) error {
	for last := false; !last; {
		if err := ctx.Err(); err != nil {
			return err
		}
		err := write(func(tx store.Tx) error {
			var err error
			if w.of == 0 {
				if err := w.find(tx); err != nil {
					return err
				}
				return w.meta(tx)
			}
			if len(w.own) > 0 {
				return w.ownBatch(tx)
			}
			last, err = w.batch(tx)
			return err
		})
		if err != nil {
			return fmt.Errorf("rewrap: %w", err)
		}
		if w.progress != nil {
			w.progress(w.done, w.of)
		}
	}
	return nil
}

// change gives a key its new wrapping; nil = it has it already.
func (w *rewrapping) change(wrapped []byte) ([]byte, error) {
	w.done++
	if _, err := w.to.Unwrap(wrapped); err == nil {
		return nil, nil
	}
	plain, err := w.from.Unwrap(wrapped)
	if err != nil {
		return nil, err
	}
	return w.to.Wrap(plain)
}

// meta rewraps the row key and the secrets.
func (w *rewrapping) meta(tx store.Tx) error {
	found := map[string][]byte{}
	if err := store.Each(tx, func(row store.Row) error {
		var name string
		var old []byte
		err := row.Scan(&name, &old)
		found[name] = old
		return err
	}, "SELECT name, value FROM store_meta WHERE name = 'mac_key' OR substr(name, 1, ?) = ?", len(store.MetaSecrets), store.MetaSecrets); err != nil {
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

func (w *rewrapping) batch(tx store.Tx) (last bool, err error) {
	type wrappedKey struct {
		table, key string
		wrapped    []byte
	}
	var found []wrappedKey
	if err := store.Each(tx, func(row store.Row) error {
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
func (w *rewrapping) find(tx store.Tx) error {
	if err := tx.QueryRow("SELECT count(*) + (SELECT count(*) FROM store_meta WHERE name = 'mac_key' OR substr(name, 1, ?) = ?) FROM store_keys",
		len(store.MetaSecrets), store.MetaSecrets).Scan(&w.of); err != nil {
		return err
	}
	tables, err := store.Column[string](tx, "SELECT m.name FROM sqlite_schema m, pragma_table_info(m.name) c WHERE m.type = 'table' AND c.name = 'data_key'")
	if err != nil {
		return err
	}
	for _, table := range tables {
		n := 0
		if err := tx.QueryRow(`SELECT count(data_key) FROM "` + table + `"`).Scan(&n); err != nil {
			return err
		}
		w.own, w.of = append(w.own, table), w.of+n
	}
	return nil
}

// ownBatch is a batch of the keys that the rows of a table keep themselves.
func (w *rewrapping) ownBatch(tx store.Tx) error {
	name := `"` + w.own[0] + `"`
	ids := make([]int64, 0, rewrapBatch)
	keys := make([][]byte, 0, rewrapBatch)
	if err := store.Each(tx, func(row store.Row) error {
		var id int64
		var key []byte
		err := row.Scan(&id, &key)
		ids, keys = append(ids, id), append(keys, key)
		return err
	}, "SELECT rowid, data_key FROM "+name+" WHERE data_key IS NOT NULL AND rowid > ? ORDER BY rowid LIMIT ?", w.row, rewrapBatch); err != nil {
		return err
	}
	for i, old := range keys {
		wrapped, err := w.change(old)
		if err != nil {
			return fmt.Errorf("data key of %s: %w", w.own[0], err)
		}
		if wrapped != nil {
			if _, err := tx.Exec("UPDATE "+name+" SET data_key = ? WHERE rowid = ?", wrapped, ids[i]); err != nil {
				return err
			}
		}
		w.row = ids[i]
	}
	if len(ids) < rewrapBatch {
		w.own, w.row = w.own[1:], 0
	}
	return nil
}
