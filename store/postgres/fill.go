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
		_, err := c.(*conn).pg.CopyFrom(t.Context(), pgx.Identifier{table.Table}, table.Columns, pgx.CopyFromRows(rows))
		return err
	}))
}
