package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"posagent/store"
)

// ownSteps are the store's own tables.
func ownSteps() []store.Step {
	return []store.Step{{
		Name: "store/1 keys",
		SQL: `CREATE TABLE store_keys (
			tbl     TEXT NOT NULL,
			key     TEXT NOT NULL,
			wrapped BLOB NOT NULL,
			PRIMARY KEY (tbl, key)
		) STRICT, WITHOUT ROWID;
		CREATE TABLE store_meta (
			name  TEXT NOT NULL PRIMARY KEY,
			value BLOB NOT NULL
		) STRICT, WITHOUT ROWID;
		INSERT INTO store_meta (name, value) VALUES ('recoveries', CAST('0' AS BLOB));`,
	}, endStep()}
}

// migrate applies the steps the file does not have yet, each in a transaction of its own together
// with the record of it: a process killed anywhere has applied a step entirely or not at all.
// between runs after the store's own steps, which come first; each later one is a commit that the
// journal's end counts.
func (s *Store) migrate(ctx context.Context, l *link, between func() error) (version int, err error) {
	own, log := ownSteps(), s.log
	steps := append(own, s.opt.Steps...)
	known := make(map[string]string, len(steps))
	for _, st := range steps {
		if _, twice := known[st.Name]; twice || st.Name == "" {
			return 0, fmt.Errorf("migrate: step name %q is empty or used twice", st.Name)
		}
		known[st.Name] = st.Record()
	}
	applied, err := appliedSteps(ctx, l.conn)
	if err != nil {
		return 0, fmt.Errorf("migrate: %w", err)
	}
	if err := store.Newer(known, applied); err != nil {
		return 0, err
	}
	strange := 0 // steps of a newer program
	for name, sum := range applied {
		switch want, ok := known[name]; {
		case !ok:
			strange++
		case !store.SameText(sum, want):
			log.Warn("a migration step was changed after it had been applied", "step", name)
		}
	}
	if err := l.conn.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version); err != nil {
		return 0, fmt.Errorf("migrate: %w", err)
	}
	if version > len(steps)+strange {
		return 0, &store.NewerError{File: version, Known: len(steps)}
	}
	if version != len(applied) {
		return 0, fmt.Errorf("migrate: %w: schema version is %d, %d steps are recorded", store.ErrDamaged, version, len(applied))
	}
	for i, st := range steps {
		if i == len(own) {
			if err := between(); err != nil {
				return 0, err
			}
		}
		if _, done := applied[st.Name]; done {
			continue
		}
		if s.opt.Trial && len(applied) > 0 && !st.Open {
			if i < len(own) {
				return 0, fmt.Errorf("migrate %q: %w", st.Name, store.ErrTrial)
			}
			log.Warn("the program is on trial: what would shut the one before it out waits", "step", st.Name)
			break
		}
		version++
		if err := s.applyStep(ctx, l.conn, st, version); err != nil {
			return 0, fmt.Errorf("migrate %q: %w", st.Name, err)
		}
	}
	if len(steps) == len(own) {
		err = between()
	}
	return version, errors.Join(err, checkStrict(ctx, l.conn))
}

// appliedSteps maps the names of the applied steps to their records.
func appliedSteps(ctx context.Context, conn *sql.Conn) (map[string]string, error) {
	var tables int
	err := conn.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = 'store_steps'").Scan(&tables)
	if err != nil || tables == 0 {
		return nil, err
	}
	rows, err := conn.QueryContext(ctx, "SELECT name, sum FROM store_steps")
	if err != nil {
		return nil, err
	}
	return store.Applied(rows)
}

func (s *Store) applyStep(ctx context.Context, conn *sql.Conn, st store.Step, version int) error {
	if strings.Contains(strings.ToUpper(st.SQL), "INITIALLY DEFERRED") {
		return errors.New("a deferred constraint would fail every caller of a batch")
	}
	tx, err := conn.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	next, err := raised(s.end), stepIn(ctx, tx, st, version)
	if err == nil && s.counts() {
		_, err = tx.ExecContext(ctx, updateEnd, s.endArgs(next, s.flags)...)
	}
	if err != nil {
		return errors.Join(err, tx.Rollback())
	}
	if err := tx.Commit(); err != nil {
		return err
	}
	s.counted(next)
	return nil
}

func stepIn(ctx context.Context, tx *sql.Tx, st store.Step, version int) error {
	if version == 1 {
		if _, err := tx.ExecContext(ctx, `CREATE TABLE store_steps (
			version INTEGER PRIMARY KEY,
			name    TEXT NOT NULL UNIQUE,
			sum     TEXT NOT NULL
		) STRICT`); err != nil {
			return err
		}
	}
	if _, err := tx.ExecContext(ctx, st.SQL); err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, "INSERT INTO store_steps (version, name, sum) VALUES (?, ?, ?)", version, st.Name, st.Record()); err != nil {
		return err
	}
	_, err := tx.ExecContext(ctx, fmt.Sprintf("PRAGMA user_version = %d", version))
	return err
}

// checkStrict refuses a table whose columns would take a value of any type.
func checkStrict(ctx context.Context, conn *sql.Conn) error {
	rows, err := conn.QueryContext(ctx, `SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table' AND NOT strict AND name NOT LIKE 'sqlite\_%' ESCAPE '\' ORDER BY name`)
	if err != nil {
		return fmt.Errorf("migrate: %w", err)
	}
	defer rows.Close()
	var loose []string
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return fmt.Errorf("migrate: %w", err)
		}
		loose = append(loose, name)
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("migrate: %w", err)
	}
	if len(loose) > 0 {
		return fmt.Errorf("migrate: not STRICT: %s", strings.Join(loose, ", "))
	}
	return nil
}

// openMACKey reads the key of the row MACs, and makes it when the file is new.
func openMACKey(l *link, w store.Wrapper) ([]byte, error) {
	if err := l.begin("BEGIN IMMEDIATE"); err != nil {
		return nil, err
	}
	t := &scope{l: l}
	key, err := store.MACKey(t, w)
	if err = errors.Join(err, t.end()); err != nil {
		return nil, errors.Join(err, l.exec("ROLLBACK"))
	}
	return key, l.exec("COMMIT")
}
