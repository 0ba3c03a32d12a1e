package postgres

import (
	"context"
	"database/sql"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// A commit that changed no row asks neither the disk nor the standbys, so it says nothing of them. A connection notes by the tags of the
// server's answers whether its transaction has changed one.

var (
	_ pgx.QueryTracer = (*conn)(nil)
	_ pgx.BatchTracer = (*conn)(nil)
)

// note notes the answer to a statement. COMMIT leaves what was noted for the one who asks.
func (c *conn) note(tag pgconn.CommandTag) {
	if tag.String() == "BEGIN" {
		c.changed = false
	}
	if tag.Insert() || tag.Update() || tag.Delete() {
		c.changed = c.changed || tag.RowsAffected() > 0
	}
}

// TraceQueryStart implements pgx.QueryTracer.
func (*conn) TraceQueryStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceQueryStartData) context.Context {
	return ctx
}

// TraceQueryEnd implements pgx.QueryTracer.
func (c *conn) TraceQueryEnd(_ context.Context, _ *pgx.Conn, data pgx.TraceQueryEndData) {
	c.note(data.CommandTag)
}

// TraceBatchStart implements pgx.BatchTracer.
func (*conn) TraceBatchStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceBatchStartData) context.Context {
	return ctx
}

// TraceBatchQuery implements pgx.BatchTracer.
func (c *conn) TraceBatchQuery(_ context.Context, _ *pgx.Conn, data pgx.TraceBatchQueryData) {
	c.note(data.CommandTag)
}

// TraceBatchEnd implements pgx.BatchTracer.
func (*conn) TraceBatchEnd(context.Context, *pgx.Conn, pgx.TraceBatchEndData) {}

// changed reports whether the transaction that was committed last on a connection has changed a row.
func (s *Store) changed(of *sql.Conn) (yes bool) {
	_ = of.Raw(func(c any) error { // it fails only where the connection is gone
		yes = c.(*conn).changed
		return nil
	})
	return yes
}
