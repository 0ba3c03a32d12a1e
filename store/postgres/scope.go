package postgres

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"strings"
	"time"

	"posagent/store"
)

var (
	_ store.Tx    = (*scope)(nil)
	_ store.Scope = (*scope)(nil)
)

// scope is one closure's use of a connection.
type scope struct {
	of       *Store
	conn     *sql.Conn
	by       context.Context // of the Write or Read
	readOnly bool
	most     time.Duration // of one question
	open     []*sql.Rows
	single   []*sql.Row
	failed   error // of the first statement that failed: nothing after it counts
	over     bool
}

var errOver = errors.New("store: transaction used after its closure returned")

// Keyed implements store.Scope.
func (t *scope) Keyed() store.DB {
	if t.of.opt.Wrapper == nil {
		return nil
	}
	return t.of
}

// End implements store.Scope: the end of a journal is not for a database of many.
func (t *scope) End() (e store.End, known bool, err error) { return e, false, nil }

// Context implements store.Scope.
func (t *scope) Context() context.Context {
	return context.WithValue(context.WithoutCancel(t.by), ofClosure{}, t.most)
}

// ready refuses what must not reach the server.
func (t *scope) ready(query string, args []any) error {
	switch {
	case t.over:
		return errOver
	case t.failed != nil:
		return t.failed
	}
	if err := store.Allowed(args); err != nil {
		return err
	}
	word, _, _ := strings.Cut(strings.TrimLeft(query, " \t\r\n"), " ")
	switch word = strings.ToUpper(strings.TrimRight(word, ";\r\n\t")); word {
	case "BEGIN", "START", "COMMIT", "END", "ROLLBACK", "ABORT", "SAVEPOINT", "RELEASE", "PREPARE", "SET", "RESET", "VACUUM", "LISTEN", "COPY":
		return fmt.Errorf("store: %s is not allowed in a closure", word)
	}
	return nil
}

// note remembers an error of a statement.
func (t *scope) note(err error) error {
	if err = classify(err); err != nil && t.failed == nil {
		t.failed = err
	}
	return err
}

// Exec implements store.Tx. The statement waits until the closure asks something; its error is the answer then, or the closure's end.
func (t *scope) Exec(query string, args ...any) (sql.Result, error) {
	if t.readOnly {
		return nil, store.ErrReadOnly
	}
	if err := t.ready(query, args); err != nil {
		return nil, err
	}
	res, err := t.conn.ExecContext(waits(t.Context()), query, args...)
	return res, t.note(err)
}

// Query implements store.Reader. Rows left open are closed when the closure returns.
func (t *scope) Query(query string, args ...any) (*sql.Rows, error) {
	if err := t.ready(query, args); err != nil {
		return nil, err
	}
	rows, err := t.conn.QueryContext(t.Context(), query, sought(query, args)...)
	if err != nil {
		return nil, t.note(err)
	}
	t.open = append(t.open, rows)
	return rows, nil
}

// QueryRow implements store.Reader. Its Scan returns whatever was wrong.
func (t *scope) QueryRow(query string, args ...any) *sql.Row {
	if err := t.ready(query, args); err != nil {
		return t.conn.QueryRowContext(context.Background(), "SELECT ?", refusal{err})
	}
	row := t.conn.QueryRowContext(t.Context(), query, sought(query, args)...)
	t.note(row.Err())
	t.single = append(t.single, row)
	return row
}

// refusal is an argument that turns a QueryRow into its error.
type refusal struct{ err error }

// Value implements driver.Valuer.
func (r refusal) Value() (driver.Value, error) { return nil, r.err }

// end closes what the closure left open, and returns what broke the transaction. send: what waits is sent first.
func (t *scope) end(send bool) error {
	t.over = true
	for _, row := range t.single {
		_ = row.Scan() // one that was scanned says so; one that was not holds its connection
	}
	for _, rows := range t.open {
		_ = rows.Close()
	}
	if t.failed != nil {
		return t.failed
	}
	return t.note(t.conn.Raw(func(c any) error {
		if send {
			return c.(*conn).send(t.Context())
		}
		return c.(*conn).broke
	}))
}
