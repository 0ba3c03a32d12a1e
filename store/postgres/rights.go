package postgres

import (
	"context"
	"database/sql"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
)

// oursQuery lists the tables and sequences that the store's owner has made.
const oursQuery = `SELECT oid FROM pg_class WHERE relkind IN ('r', 'S') AND relnamespace = to_regnamespace(current_schema()::text)
	AND relowner = (SELECT o.relowner FROM pg_class o WHERE o.oid = to_regclass('store_steps'))`

// lackQuery names what an account needs on some of them, and does not have; NULL = all.
const lackQuery = `WITH ours AS (SELECT * FROM pg_class WHERE oid IN (` + oursQuery + `) AND ($1::oid[] IS NULL OR oid = ANY ($1)))
	SELECT p || ' on ' || c.relname FROM ours c CROSS JOIN unnest(ARRAY['SELECT', 'INSERT', 'UPDATE', 'DELETE']) p
	WHERE c.relkind = 'r' AND NOT has_table_privilege(c.oid, p) AND (c.relname NOT IN ('store_steps', 'store_server') OR p = 'SELECT')
	UNION ALL SELECT 'USAGE on ' || relname::text FROM ours WHERE CASE WHEN relkind = 'S' THEN NOT has_sequence_privilege(oid, 'USAGE') ELSE false END
	UNION ALL SELECT 'EXECUTE on ' || proname::text FROM pg_proc WHERE pronamespace = to_regnamespace(current_schema()::text)
		AND proname = 'store_numbers_by' AND NOT has_function_privilege(oid, 'EXECUTE') ORDER BY 1`

// lacks lists the rights that this session's account needs and does not have.
func lacks(ctx context.Context, conn *pgx.Conn, known []uint32) ([]string, error) {
	rows, err := conn.Query(ctx, lackQuery, known)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[string])
}

// rights answers ErrRights where the account lacks some: without one on one table, some work would fail and other work would not. Tables
// that a newer program makes beside this one are not known to it, and no affair of its.
func (s *Store) rights(ctx context.Context, conn *pgx.Conn) error {
	list, err := lacks(ctx, conn, s.ours)
	if err != nil || len(list) == 0 {
		return err
	}
	return fmt.Errorf("%w: %d are missing: %s", ErrRights, len(list), strings.Join(list[:min(3, len(list))], ", "))
}

// mayWork notes which tables there are, and looks for rights on them.
func (s *Store) mayWork(ctx context.Context, of *sql.Conn) error {
	return of.Raw(func(c any) error {
		pg := c.(*conn).pg
		rows, err := pg.Query(ctx, oursQuery)
		if err == nil {
			s.ours, err = pgx.CollectRows(rows, pgx.RowTo[uint32])
		}
		if err != nil {
			return err
		}
		return s.rights(ctx, pg)
	})
}
