package postgres

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/jackc/pgx/v5"

	"posagent/store"
)

// serverStep keeps which server gave the last numbers, and makes them go on where another one does: it may be older than what was
// given, and a number that is given again would name two things. What a server may have lost is not known, so counts go on by a million.
// The account that serves may move them only so: the function runs as the owner, and looks for tables in the schema before it does so
// among the account's temporary ones.
func serverStep() store.Step {
	return store.Step{Name: "store/3 server", SQL: `
CREATE TABLE store_server (
	id   INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
	name TEXT NOT NULL
) STRICT;
CREATE FUNCTION store_numbers_by(server text, lost boolean) RETURNS boolean LANGUAGE plpgsql SECURITY DEFINER AS $$
DECLARE
	was text;
	met text := server || '/' || (SELECT oid FROM pg_database WHERE datname = current_database()) || '/' || 'store_server'::regclass::oid;
BEGIN
	IF NOT lost AND EXISTS (SELECT 1 FROM store_server s WHERE s.name = met) THEN
		RETURN false;
	END IF;
	INSERT INTO store_server (id, name) VALUES (1, met) ON CONFLICT (id) DO NOTHING;
	IF FOUND AND NOT lost THEN
		RETURN false;
	END IF;
	SELECT s.name INTO was FROM store_server s FOR UPDATE;
	IF was = met AND NOT lost THEN
		RETURN false;
	END IF;
	UPDATE store_server SET name = met;
	PERFORM setval(format('%I', 'store_number_' || n.name)::regclass, n.last + 1000000) FROM store_number n;
	RETURN true;
END $$;
DO $$ BEGIN
	EXECUTE format('ALTER FUNCTION store_numbers_by SET search_path = %I, pg_temp', current_schema());
END $$;`}
}

// onward says which server gives numbers from now on. It names the cluster, its timeline, the database and a table of the schema, so
// that a restored server, another one, and a schema that was put back are others. lost: what the server lacks is not known by these.
//
// Its commit is not waited for: whatever is committed later lies behind it in the log.
func (s *Store) onward(ctx context.Context, conn *pgx.Conn, at Primary, lost bool) error {
	var moved bool
	err := pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "SET LOCAL synchronous_commit = off"); err != nil {
			return err
		}
		return tx.QueryRow(ctx, "SELECT store_numbers_by($1, $2)", fmt.Sprintf("%s/%d", at.System, at.Timeline), lost).Scan(&moved)
	})
	if err != nil {
		return fmt.Errorf("numbers of another server: %w", err)
	}
	if moved {
		s.log.Warn("numbers go on a million further: the last ones were given by another server, or before a restore", "system", at.System, "timeline", at.Timeline)
	}
	s.counts.Store(&at)
	return nil
}

// onwardFirst is onward for the first connection, once the schema is up to date.
func (s *Store) onwardFirst(ctx context.Context, of *sql.Conn) error {
	if s.opt.Alone { // books that are copied give no numbers
		return nil
	}
	if err := of.Raw(func(c any) error {
		one := c.(*conn)
		return s.onward(ctx, one.pg, one.at, s.memory.forgot)
	}); err != nil {
		return err
	}
	return s.memory.wentOn()
}

// counted reports whether numbers are those of this server already. Before the first connection has asked there are none.
func (s *Store) counted(at Primary) bool {
	was := s.counts.Load()
	return was == nil || was.System == at.System && was.Timeline == at.Timeline
}
