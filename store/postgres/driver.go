package postgres

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
)

// connector makes connections for database/sql. Their answers are read whole at once: statements of a closure may overlap.
type connector struct {
	servers  []*pgx.ConnConfig // that the URL names
	tolerate Tolerated
	last     func() Primary                               // the one that is remembered
	met      func(context.Context, *pgx.Conn, seen) error // is told of each new connection
	queries  sync.Map                                     // text → text as PostgreSQL has it

	within, closure time.Duration // of one question of the store's own, and of a closure's, for which a caller waits
	hangs           func()        // is told of a question that has had no answer for a while
	broke           atomic.Int64  // unix ns: when a connection was found to answer no more; those that have not answered since may be like it
}

// silent says whether an error is that of a connection which did not answer in time, and remembers it.
func (c *connector) silent(ctx context.Context, err error) bool {
	if err == nil || !errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return false
	}
	c.broke.Store(time.Now().UnixNano())
	return true
}

// ofClosure marks the context of a closure's statements; its value is how long one may take.
type ofClosure struct{}

// question bounds one: a connection whose packets vanish has no error of its own. over ends it.
func (c *connector) question(ctx context.Context) (bounded context.Context, over func()) {
	within := c.within
	if most, yes := ctx.Value(ofClosure{}).(time.Duration); yes {
		within = most
	}
	bounded, cancel := context.WithTimeout(ctx, within)
	slow := time.AfterFunc(unanswered, c.hangs)
	return bounded, func() {
		slow.Stop()
		cancel()
	}
}

var (
	_ driver.Connector       = (*connector)(nil)
	_ driver.QueryerContext  = (*conn)(nil)
	_ driver.ExecerContext   = (*conn)(nil)
	_ driver.SessionResetter = (*conn)(nil)
	_ driver.Validator       = (*conn)(nil)
	_ driver.SessionResetter = (*conn)(nil)
)

// Connect implements driver.Connector.
func (c *connector) Connect(ctx context.Context) (driver.Conn, error) {
	one, at, err := c.choose(ctx)
	if err != nil {
		return nil, err
	}
	if err := c.met(ctx, one.pg, at); err != nil {
		return nil, errors.Join(err, one.Close())
	}
	return one, nil
}

// Driver implements driver.Connector.
func (*connector) Driver() driver.Driver { return nil }

func (c *connector) query(text string) string {
	if done, ok := c.queries.Load(text); ok {
		return done.(string)
	}
	done := query(text)
	c.queries.Store(text, done)
	return done
}

// conn is one connection.
type conn struct {
	by      *connector
	pg      *pgx.Conn
	at      Primary // the server, when it was met
	alone   bool    // the last commit may be on this machine alone
	changed bool    // the transaction has changed a row; see changed.go

	used time.Time // when it was given back

	// Of the transaction that is open; see wait.go.
	within  bool
	waiting []statement
	broke   error // of the first statement that failed
}

// Prepare implements driver.Conn. Statements are prepared by themselves.
func (*conn) Prepare(string) (driver.Stmt, error) {
	return nil, errors.New("store: statements are prepared by themselves")
}

// Begin implements driver.Conn. Transactions are begun by statements.
func (*conn) Begin() (driver.Tx, error) {
	return nil, errors.New("store: transactions are begun by statements")
}

// suspect says whether another connection was found to answer no more since this one last answered.
func (c *conn) suspect() bool { return !c.used.IsZero() && c.used.UnixNano() < c.by.broke.Load() }

// Close implements driver.Conn. One that may not answer is not asked.
func (c *conn) Close() error {
	if c.suspect() {
		return c.pg.PgConn().Conn().Close()
	}
	ctx, cancel := context.WithTimeout(context.Background(), closeWithin)
	defer cancel()
	return c.pg.Close(ctx)
}

// restless is how long a connection lies unused before it is asked whether its server is still there, echo how long it has to answer.
const (
	restless = 500 * time.Millisecond
	echo     = 2 * time.Second
)

// ResetSession implements driver.SessionResetter. After the end of a server, each connection that was not in use would fail one caller;
// after the end of a way whose packets vanish, each would hold one up.
func (c *conn) ResetSession(ctx context.Context) error {
	if c.suspect() {
		return driver.ErrBadConn
	}
	if time.Since(c.used) <= restless {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, echo)
	defer cancel()
	if err := c.pg.Ping(ctx); err != nil {
		c.by.silent(ctx, err)
		return driver.ErrBadConn
	}
	return nil
}

// IsValid implements driver.Validator.
func (c *conn) IsValid() bool {
	c.used = time.Now()
	return !c.pg.IsClosed() && c.pg.PgConn().TxStatus() == 'I' && len(c.waiting) == 0 && !c.left()
}

// ExecContext implements driver.ExecerContext.
func (c *conn) ExecContext(ctx context.Context, text string, args []driver.NamedValue) (driver.Result, error) {
	switch {
	case mayWait(ctx) && c.broke != nil:
		return nil, c.broke
	case mayWait(ctx):
		return c.wait(ctx, c.by.query(text), plain(args)), nil
	case len(c.waiting) > 0:
		return nil, errUnsent
	}
	over := func() {}
	if text != "COMMIT" { // which has a bound of its own: its standbys may be slow, and the way as good as ever
		ctx, over = c.by.question(ctx)
	}
	defer over()
	tag, err := c.pg.Exec(ctx, c.by.query(text), plain(args)...)
	if text != "COMMIT" {
		c.by.silent(ctx, err)
	}
	if err == nil && text == "COMMIT" && tag.String() != text { // it answers so where a statement had failed
		err = errRolledBack
	}
	if err != nil {
		return nil, err
	}
	return driver.RowsAffected(tag.RowsAffected()), nil
}

// QueryContext implements driver.QueryerContext.
func (c *conn) QueryContext(ctx context.Context, text string, args []driver.NamedValue) (driver.Rows, error) {
	all, err := c.ask(ctx, c.by.query(text), plain(args))
	if err != nil {
		return nil, err
	}
	return all, nil
}

func plain(args []driver.NamedValue) []any {
	list := make([]any, len(args))
	for i, a := range args {
		list[i] = a.Value
		if yes, is := a.Value.(bool); is { // columns hold numbers
			if list[i] = int64(0); yes {
				list[i] = int64(1)
			}
		}
	}
	return list
}

// valueOf is a value as the store's rooms know it: whole numbers, texts and bytes.
func valueOf(v any) (driver.Value, error) {
	switch v := v.(type) {
	case nil, int64, string, float64:
		return v, nil
	case []byte:
		return v, nil
	case int32:
		return int64(v), nil
	case int16:
		return int64(v), nil
	case bool:
		if v {
			return int64(1), nil
		}
		return int64(0), nil
	case pgtype.Numeric: // a sum
		n, err := v.Int64Value()
		return n.Int64, err
	}
	return nil, fmt.Errorf("a %T", v)
}

// answer is what a query has read.
type answer struct {
	names []string
	rows  [][]driver.Value
	at    int
}

// Columns implements driver.Rows.
func (a *answer) Columns() []string { return a.names }

// Close implements driver.Rows.
func (a *answer) Close() error { return nil }

// Next implements driver.Rows.
func (a *answer) Next(to []driver.Value) error {
	if a.at == len(a.rows) {
		return io.EOF
	}
	copy(to, a.rows[a.at])
	a.at++
	return nil
}
