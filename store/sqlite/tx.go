package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"strings"

	"posagent/store"
)

var (
	_ store.Tx    = (*scope)(nil)
	_ store.Scope = (*scope)(nil)
)

// scope is one closure's use of a connection.
type scope struct {
	l        *link
	by       context.Context // of the Write, nil = none
	of       *Store          // nil = none that has a key
	readOnly bool
	open     []*sql.Rows
	single   []*sql.Row
	fatal    error // the transaction is gone; nothing more may run, or it would commit on its own
	over     bool
	changed  bool // a row may have been changed
}

// Keyed implements Scope.
func (t *scope) Keyed() store.DB {
	if t.of != nil && t.of.opt.Wrapper != nil {
		return t.of
	}
	return nil
}

// End implements Scope.
func (t *scope) End() (e store.End, known bool, err error) {
	if t.of == nil {
		return e, false, nil
	}
	row, err := t.of.readEnd(context.Background(), t.l.conn)
	return row.End, row.There && (row.OK || t.of.opt.Wrapper == nil), err
}

// Context implements Scope.
func (t *scope) Context() context.Context {
	if t.by != nil {
		return context.WithoutCancel(t.by)
	}
	return context.Background()
}

// ran notes what a statement has done. n is its RowsAffected where it was executed, -1 where its
// rows are read.
func (t *scope) ran(does effect, n int64) {
	t.changed = t.changed || does == anything || does == counted && n != 0
}

var (
	errOver       = errors.New("store: transaction used after its closure returned")
	errRolledBack = errors.New("store: transaction was rolled back")
)

// read notes what a query may have changed: it may be an INSERT with RETURNING.
func (t *scope) read(query string, p *prepared) {
	switch {
	case t.readOnly:
	case p != nil:
		t.ran(p.does, -1)
	default:
		t.ran(effectOf(query), -1)
	}
}

// ready refuses what must not reach SQLite.
func (t *scope) ready(query string, args []any) error {
	switch {
	case t.over:
		return errOver
	case t.fatal != nil:
		return t.fatal
	case t.l.rolledBack:
		return errRolledBack
	}
	if err := store.Allowed(args); err != nil {
		return err
	}
	if p, known := t.l.stmts[query]; known && !p.own {
		return nil
	}
	return t.allowed(query)
}

// allowed keeps a closure from ending or leaving its transaction.
func (t *scope) allowed(query string) error {
	word, _, _ := strings.Cut(strings.TrimLeft(query, " \t\r\n"), " ")
	switch strings.ToUpper(strings.TrimRight(word, ";\r\n\t")) {
	case "BEGIN", "COMMIT", "END", "ROLLBACK", "SAVEPOINT", "RELEASE", "PRAGMA", "ATTACH", "DETACH", "VACUUM":
		return fmt.Errorf("store: %s is not allowed in a closure", strings.ToUpper(word))
	}
	return nil
}

// note remembers an error after which the batch cannot go on.
func (t *scope) note(err error) error {
	if err == nil {
		return nil
	}
	if fatal(err) || t.l.rolledBack {
		t.fatal = classify(err)
		return t.fatal
	}
	return classify(err)
}

// Number implements Tx. The count's row is written in the same commit.
func (t *scope) Number(name string) (n int64, err error) {
	if t.readOnly {
		return 0, store.ErrReadOnly
	}
	err = t.QueryRow("UPDATE store_number SET last = last + 1 WHERE name = ? RETURNING last", name).Scan(&n)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, store.NoCount(name)
	}
	return n, err
}

// Exec implements Tx.
func (t *scope) Exec(query string, args ...any) (sql.Result, error) {
	if t.readOnly {
		return nil, store.ErrReadOnly
	}
	if err := t.ready(query, args); err != nil {
		return nil, err
	}
	p, err := t.l.prepare(query)
	if err != nil {
		return nil, t.note(err)
	}
	var res sql.Result
	does := anything
	if p == nil {
		res, err = t.l.conn.ExecContext(context.Background(), query, args...)
	} else {
		does = p.does
		res, err = p.ExecContext(context.Background(), args...)
	}
	if err != nil {
		return nil, t.note(err)
	}
	n, err := res.RowsAffected()
	if err != nil {
		n = -1
	}
	t.ran(does, n)
	return res, nil
}

// Query implements Reader. Rows left open are closed when the closure returns.
func (t *scope) Query(query string, args ...any) (*sql.Rows, error) {
	if err := t.ready(query, args); err != nil {
		return nil, err
	}
	p, err := t.l.prepare(query)
	if err != nil {
		return nil, t.note(err)
	}
	var rows *sql.Rows
	if p == nil {
		rows, err = t.l.conn.QueryContext(context.Background(), query, args...)
	} else if rows, err = p.QueryContext(context.Background(), args...); err == nil {
		p.rows = rows
	}
	if err != nil {
		return nil, t.note(err)
	}
	t.open = append(t.open, rows)
	t.read(query, p)
	return rows, nil
}

// QueryRow implements Reader. Its Scan returns whatever was wrong.
func (t *scope) QueryRow(query string, args ...any) *sql.Row {
	err := t.ready(query, args)
	if err == nil {
		var p *prepared
		if p, err = t.l.prepare(query); err == nil {
			var row *sql.Row
			if p == nil {
				row = t.l.conn.QueryRowContext(context.Background(), query, args...)
			} else {
				row = p.QueryRowContext(context.Background(), args...)
			}
			t.single = append(t.single, row)
			t.read(query, p)
			return row
		}
		err = t.note(err)
	}
	return t.l.conn.QueryRowContext(context.Background(), "SELECT ?", refusal{err})
}

// refusal is an argument that turns a QueryRow into its error.
type refusal struct{ err error }

// Value implements driver.Valuer.
func (r refusal) Value() (driver.Value, error) { return nil, r.err }

// end closes what the closure left open and reports what broke the transaction.
func (t *scope) end() error {
	t.over = true
	for _, row := range t.single {
		// A Row that was not scanned keeps its statement running; scanning twice is harmless.
		if err := row.Scan(); t.fatal == nil && fatal(err) {
			t.fatal = classify(err)
		}
	}
	for _, rows := range t.open {
		if err := rows.Close(); err != nil && t.fatal == nil && fatal(err) {
			t.fatal = classify(err)
		}
		if err := rows.Err(); err != nil && t.fatal == nil && fatal(err) {
			t.fatal = classify(err)
		}
	}
	if t.fatal == nil && t.l.rolledBack {
		t.fatal = errRolledBack
	}
	return t.fatal
}
