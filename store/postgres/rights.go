package postgres

import (
	"context"
	"database/sql"
	"fmt"
	"regexp"
	"strings"

	"github.com/jackc/pgx/v5"

	"posagent/store"
)

// lackQuery names what an account needs on tables and counts, those that are there, and does not have.
const lackQuery = `WITH ours AS (SELECT * FROM pg_class WHERE relnamespace = to_regnamespace(current_schema()::text) AND relname = ANY ($1))
	SELECT p || ' on ' || c.relname FROM ours c CROSS JOIN unnest(ARRAY['SELECT', 'INSERT', 'UPDATE', 'DELETE']) p
	WHERE c.relkind = 'r' AND NOT has_table_privilege(c.oid, p) AND (c.relname NOT IN ('store_steps', 'store_server') OR p = 'SELECT')
	UNION ALL SELECT 'USAGE on ' || relname::text FROM ours WHERE CASE WHEN relkind = 'S' THEN NOT has_sequence_privilege(oid, 'USAGE') ELSE false END
	UNION ALL SELECT 'EXECUTE on ' || proname::text FROM pg_proc WHERE pronamespace = to_regnamespace(current_schema()::text)
		AND proname = 'store_numbers_by' AND NOT has_function_privilege(oid, 'EXECUTE')
	UNION ALL SELECT 'USAGE on the schema' WHERE current_schema() IS NULL ORDER BY 1`

// made finds the tables that a step makes.
var made = regexp.MustCompile(`CREATE TABLE (?:IF NOT EXISTS )?([a-z_0-9]+)`)

// needed names the tables of steps, those of the store, and the counts that are there now. Tables of another program, counts that one makes
// later, and whatever else an owner has made in the schema, are no affair of an account that works for this one.
func needed(ctx context.Context, conn *pgx.Conn, steps []store.Step) ([]string, error) {
	names := []string{"store_steps"}
	for _, st := range append(ownSteps(), steps...) {
		for _, found := range made.FindAllStringSubmatch(st.SQL, -1) {
			names = append(names, found[1])
		}
	}
	rows, err := conn.Query(ctx, `SELECT relname::text FROM pg_class WHERE relkind = 'S' AND relname LIKE 'store\_number\_%' AND relnamespace = to_regnamespace(current_schema()::text)`)
	if err != nil {
		return nil, err
	}
	counts, err := pgx.CollectRows(rows, pgx.RowTo[string])
	return append(names, counts...), err
}

// lacks lists the rights that this session's account needs and does not have.
func lacks(ctx context.Context, conn *pgx.Conn, needs []string) ([]string, error) {
	rows, err := conn.Query(ctx, lackQuery, needs)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[string])
}

// rights answers ErrRights where the account lacks some: without one on one table, some work would fail and other work would not.
func (s *Store) rights(ctx context.Context, conn *pgx.Conn) error {
	ctx, cancel := context.WithTimeout(ctx, openWithin)
	defer cancel()
	list, err := lacks(ctx, conn, s.needs)
	if err != nil || len(list) == 0 {
		return err
	}
	return fmt.Errorf("%w: %d are missing: %s", ErrRights, len(list), strings.Join(list[:min(3, len(list))], ", "))
}

// mayWork notes what the account needs from now on, and looks for its rights.
func (s *Store) mayWork(ctx context.Context, of *sql.Conn) error {
	return of.Raw(func(c any) (err error) {
		pg := c.(*conn).pg
		if s.needs, err = needed(ctx, pg, s.opt.Steps); err != nil {
			return err
		}
		return s.rights(ctx, pg)
	})
}
