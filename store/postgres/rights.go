package postgres

import (
	"context"
	"database/sql"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
)

// lackQuery names what an account needs on the tables that the store's owner has made, and does not have.
const lackQuery = `WITH ours AS (SELECT c.* FROM pg_class c WHERE c.relnamespace = to_regnamespace(current_schema()::text)
		AND c.relowner = (SELECT o.relowner FROM pg_class o WHERE o.oid = to_regclass('store_steps')))
	SELECT p || ' on ' || c.relname FROM ours c CROSS JOIN unnest(ARRAY['SELECT', 'INSERT', 'UPDATE', 'DELETE']) p
	WHERE c.relkind = 'r' AND NOT has_table_privilege(c.oid, p) AND (c.relname NOT IN ('store_steps', 'store_server') OR p = 'SELECT')
	UNION ALL SELECT 'USAGE on ' || relname::text FROM ours WHERE CASE WHEN relkind = 'S' THEN NOT has_sequence_privilege(oid, 'USAGE') ELSE false END
	UNION ALL SELECT 'EXECUTE on ' || proname::text FROM pg_proc WHERE pronamespace = to_regnamespace(current_schema()::text)
		AND proname = 'store_numbers_by' AND NOT has_function_privilege(oid, 'EXECUTE') ORDER BY 1`

// lacks lists the rights that this session's account needs and does not have.
func lacks(ctx context.Context, conn *pgx.Conn) ([]string, error) {
	rows, err := conn.Query(ctx, lackQuery)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[string])
}

// rights answers ErrRights where the account lacks some: without one on one table, some work would fail and other work would not.
func rights(ctx context.Context, conn *pgx.Conn) error {
	list, err := lacks(ctx, conn)
	if err != nil || len(list) == 0 {
		return err
	}
	return fmt.Errorf("%w: %d are missing: %s", ErrRights, len(list), strings.Join(list[:min(3, len(list))], ", "))
}

func mayWork(ctx context.Context, of *sql.Conn) error {
	return of.Raw(func(c any) error { return rights(ctx, c.(*conn).pg) })
}
