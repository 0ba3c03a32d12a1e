package postgres

import (
	"bytes"
	"context"
	"database/sql/driver"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"posagent/store"
)

// Statements of a transaction whose answers are not needed yet wait on their connection, and travel with the next question: BEGIN and
// what writes cost no turn on the network of their own. COMMIT never travels with others, so that an error of theirs is not taken for
// one of COMMIT. The first error of a transaction is the answer to every later question of it.

// canWait marks the context of a statement that may wait.
type canWait struct{}

func waits(ctx context.Context) context.Context { return context.WithValue(ctx, canWait{}, true) }

func mayWait(ctx context.Context) bool { return ctx.Value(canWait{}) != nil }

// statement is one that waits.
type statement struct {
	text   string
	args   []any
	answer *later
}

// later is the answer to a statement that waits. Asking for it sends what waits.
type later struct {
	of   *conn
	ctx  context.Context // of the statement
	done bool
	rows int64
	err  error
}

var _ driver.Result = (*later)(nil)

var (
	errNotSent    = errors.New("store: the transaction ended before this statement was sent")
	errRolledBack = errors.New("store: the server has rolled the transaction back")
	errUnsent     = errors.New("store: statements of the transaction were not sent")
	errLost       = errors.New("store: the connection to the server is lost")
)

// LastInsertId implements driver.Result.
func (*later) LastInsertId() (int64, error) { return 0, errors.ErrUnsupported }

// RowsAffected implements driver.Result.
func (l *later) RowsAffected() (int64, error) {
	if !l.done {
		if err := l.of.send(l.ctx); err != nil && !l.done {
			return 0, err
		}
	}
	return l.rows, l.err
}

func (l *later) tell(rows int64, err error) { l.done, l.rows, l.err = true, rows, err }

// begin opens a transaction with the next question.
func (c *conn) begin(ctx context.Context, text string) {
	c.forget()
	c.within = true
	c.wait(ctx, text, nil)
}

// wait lets a statement wait.
func (c *conn) wait(ctx context.Context, text string, args []any) *later {
	for i, a := range args {
		if b, is := a.([]byte); is && b != nil {
			args[i] = bytes.Clone(b) // it is the closure's to change
		}
	}
	l := &later{of: c, ctx: ctx}
	c.waiting = append(c.waiting, statement{text, args, l})
	return l
}

// forget ends a transaction on this side: what waits is not sent.
func (c *conn) forget() {
	for _, s := range c.waiting {
		s.answer.tell(0, errNotSent)
	}
	c.waiting, c.broke, c.within = nil, nil, false
}

// send sends what waits. It returns the first error of the transaction.
func (c *conn) send(ctx context.Context) error {
	if c.broke != nil || len(c.waiting) == 0 {
		return c.broke
	}
	_, err := c.together(ctx, nil)
	return err
}

// ask sends a question, and what waits before it.
func (c *conn) ask(ctx context.Context, text string, args []any) (*answer, error) {
	switch {
	case c.broke != nil:
		return nil, c.broke
	case len(c.waiting) > 0:
		return c.together(ctx, &statement{text: text, args: args})
	}
	ctx, over := c.by.question(ctx)
	defer over()
	rows, err := c.pg.Query(ctx, text, args...)
	var all *answer
	if err == nil {
		all, err = readAll(rows)
	}
	c.by.silent(ctx, err)
	return all, c.breaks(err)
}

// together sends what waits and, where it is not nil, a question behind it in one turn.
func (c *conn) together(ctx context.Context, question *statement) (all *answer, err error) {
	list := c.waiting
	c.waiting = nil
	batch := &pgx.Batch{}
	for _, s := range list {
		batch.Queue(s.text, s.args...)
	}
	if question != nil {
		batch.Queue(question.text, question.args...)
	}
	ctx, over := c.by.question(ctx)
	defer over()
	answers := c.pg.SendBatch(ctx, batch)
	for _, s := range list {
		tag, e := answers.Exec()
		if err == nil {
			err = e
		}
		s.answer.tell(tag.RowsAffected(), err)
	}
	if question != nil && err == nil {
		var rows pgx.Rows
		if rows, err = answers.Query(); err == nil {
			all, err = readAll(rows)
		}
	}
	if e := answers.Close(); err == nil {
		err = e
	}
	if err != nil {
		c.by.silent(ctx, err)
		return nil, c.breaks(err)
	}
	return all, nil
}

// breaks notes an error of a statement: the server takes no other one of the transaction after it. Where the connection is gone with it,
// nothing of the transaction was done.
func (c *conn) breaks(err error) error {
	if err == nil {
		return nil
	}
	if codeOf(err) == "" && c.pg.IsClosed() {
		err = fmt.Errorf("%w: %w: %w", store.ErrIO, errLost, err)
	}
	err = classify(err)
	if c.within && c.broke == nil {
		c.broke = err
	}
	return err
}

// readAll reads an answer whole.
func readAll(rows pgx.Rows) (*answer, error) {
	defer rows.Close()
	all := &answer{}
	for _, f := range rows.FieldDescriptions() {
		all.names = append(all.names, f.Name)
	}
	for rows.Next() {
		values, err := rows.Values()
		if err != nil {
			return nil, err
		}
		one := make([]driver.Value, len(values))
		for i, v := range values {
			if one[i], err = valueOf(v); err != nil {
				return nil, fmt.Errorf("column %s: %w", all.names[i], err)
			}
		}
		all.rows = append(all.rows, one)
	}
	return all, rows.Err()
}
