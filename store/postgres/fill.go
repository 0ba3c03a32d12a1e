package postgres

import (
	"github.com/jackc/pgx/v5"

	"posagent/store"
)

var _ store.Filler = (*scope)(nil)

// Fill implements store.Filler with COPY.
func (t *scope) Fill(table store.Catalog, rows [][]any) error {
	switch {
	case t.readOnly:
		return store.ErrReadOnly
	case t.over:
		return errOver
	case t.failed != nil:
		return t.failed
	}
	return t.note(t.conn.Raw(func(c any) error {
		one := c.(*conn)
		if err := one.send(t.Context()); err != nil { // BEGIN, and what the rows are to take the place of
			return err
		}
		_, err := one.pg.CopyFrom(t.Context(), pgx.Identifier{table.Table}, table.Columns, pgx.CopyFromRows(rows))
		return one.breaks(err)
	}))
}
