package postgres

import (
	"context"
	"database/sql"
	"fmt"

	"posagent/store"
)

// lockNumber is that of the advisory lock under which a schema is brought up to date: one process does it.
const lockNumber = 7_240_117

// ownSteps are the store's own tables.
func ownSteps() []store.Step {
	return []store.Step{{
		Name: "store/1 keys",
		SQL: `CREATE TABLE store_keys (
			tbl     TEXT NOT NULL,
			key     TEXT NOT NULL,
			wrapped BLOB NOT NULL,
			PRIMARY KEY (tbl, key)
		) STRICT;
		CREATE TABLE store_meta (
			name  TEXT NOT NULL PRIMARY KEY,
			value BLOB NOT NULL
		) STRICT;`,
	}, numberStep(), serverStep(), beatStep(), guardedStep()}
}

// recorded maps the names of steps to their records. It fails where a name is used twice.
func recorded(steps []store.Step) (map[string]string, error) {
	known := make(map[string]string, len(steps))
	for _, st := range steps {
		if _, twice := known[st.Name]; twice || st.Name == "" {
			return nil, fmt.Errorf("migrate: step name %q is empty or used twice", st.Name)
		}
		known[st.Name] = st.Record()
	}
	return known, nil
}

// migrate applies the steps that the schema does not have yet, each in a transaction of its own together with the record of it.
func (s *Store) migrate(ctx context.Context, conn *sql.Conn) (version int, err error) {
	steps := append(ownSteps(), s.opt.Steps...)
	known, err := recorded(steps)
	if err != nil {
		return 0, err
	}
	if _, err := conn.ExecContext(ctx, "SELECT pg_advisory_lock(hashtext(current_schema()), ?)", lockNumber); err != nil {
		return 0, fmt.Errorf("migrate: %w", err)
	}
	defer func() {
		if _, e := conn.ExecContext(context.WithoutCancel(ctx), "SELECT pg_advisory_unlock(hashtext(current_schema()), ?)", lockNumber); err == nil && e != nil {
			err = fmt.Errorf("migrate: %w", e)
		}
	}()
	var there bool
	if err := conn.QueryRowContext(ctx, "SELECT to_regclass('store_steps') IS NOT NULL").Scan(&there); err != nil {
		return 0, fmt.Errorf("migrate: %w", err)
	}
	if !there { // an account that may make no tables can still serve where all are there
		if _, err := conn.ExecContext(ctx, step(`CREATE TABLE store_steps (version INTEGER NOT NULL PRIMARY KEY, name TEXT NOT NULL UNIQUE, sum TEXT NOT NULL) STRICT`)); err != nil {
			return 0, fmt.Errorf("migrate: %w", err)
		}
	}
	applied, err := appliedSteps(ctx, conn)
	if err != nil {
		return 0, fmt.Errorf("migrate: %w", err)
	}
	if err := store.Newer(known, applied); err != nil {
		return 0, err
	}
	version = len(applied)
	for _, st := range steps {
		switch record, done := applied[st.Name]; {
		case done && record != st.Record():
			s.log.Warn("a migration step was changed after it had been applied", "step", st.Name)
			continue
		case done:
			continue
		}
		version++
		if err := s.applyStep(ctx, conn, st, version); err != nil {
			return 0, fmt.Errorf("migrate %q: %w", st.Name, err)
		}
	}
	return version, nil
}

// appliedSteps maps the names of the applied steps to their records.
func appliedSteps(ctx context.Context, conn *sql.Conn) (map[string]string, error) {
	rows, err := conn.QueryContext(ctx, "SELECT name, sum FROM store_steps")
	if err != nil {
		return nil, err
	}
	return store.Applied(rows)
}

func (s *Store) applyStep(ctx context.Context, of *sql.Conn, st store.Step, version int) error {
	if _, err := of.ExecContext(ctx, "BEGIN"); err != nil {
		return err
	}
	err := of.Raw(func(c any) error { // several statements at once
		return c.(*conn).pg.PgConn().Exec(ctx, step(st.SQL)).Close()
	})
	if err == nil {
		_, err = of.ExecContext(ctx, "INSERT INTO store_steps (version, name, sum) VALUES (?, ?, ?)", version, st.Name, st.Record())
	}
	if err != nil {
		s.rollback(of)
		return err
	}
	_, err = of.ExecContext(ctx, "COMMIT")
	return err
}
