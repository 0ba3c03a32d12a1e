package sqlite

import (
	"context"
	"errors"

	"posagent/store"
)

// Rewrap implements store.Store. Afterwards nothing of the old wrapping is left, in the log neither.
func (s *Store) Rewrap(ctx context.Context, to store.Wrapper, progress func(done, of int)) error {
	if s.opt.Wrapper == nil {
		return store.ErrNoWrapper
	}
	w := rewrapping(s.opt.Wrapper, to, progress)
	return errors.Join(w.Run(ctx, func(fn func(store.Tx) error) error { return s.Write(ctx, fn) }), s.Truncate(ctx))
}

func rewrapping(from, to store.Wrapper, progress func(done, of int)) *store.Rewrapping {
	return &store.Rewrapping{From: from, To: to, Progress: progress, Tables: func(tx store.Tx) (list []store.KeyTable, err error) {
		names, err := store.Column[string](tx, "SELECT m.name FROM sqlite_schema m, pragma_table_info(m.name) c WHERE m.type = 'table' AND c.name = 'data_key'")
		for _, name := range names {
			list = append(list, store.KeyTable{Name: name, Row: "rowid", None: int64(0)})
		}
		return list, err
	}}
}
