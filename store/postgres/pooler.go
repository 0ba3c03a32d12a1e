package postgres

import (
	"context"
	"errors"
	"net"
	"sync/atomic"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"posagent/store"
)

// PoolerError is the word of a pooler that stands before the server, in place of the server's own.
type PoolerError struct {
	Says string // in the pooler's words; "" = it takes the connection and says nothing
	err  error
}

// Error implements error.
func (e *PoolerError) Error() string {
	return e.Word() + " (PgBouncer's pgbouncer.ini, or name the server itself)"
}

// Word is what it says, in a sentence.
func (e *PoolerError) Word() string {
	if e.Says == "" {
		return "what takes the connection says nothing: a pooler that has no session of the server to give, or a way that swallows packets"
	}
	return "a pooler before the server says: " + e.Says
}

// Unwrap makes errors.Is find what it was.
func (e *PoolerError) Unwrap() error { return e.err }

// ofPooler names an error of a new connection that no PostgreSQL gives: PgBouncer refuses by the code of a protocol's violation, and lets
// a client wait while its server is away. reached: something took the connection.
func ofPooler(err error, reached bool) error {
	var pg *pgconn.PgError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &pg) && pg.Code == "08P01":
		return &PoolerError{pg.Message, err}
	case pg == nil && reached && errors.Is(err, context.DeadlineExceeded):
		return &PoolerError{"", errors.Join(err, store.ErrIO)}
	}
	return err
}

// watched notes in reached that something took a connection.
func watched(cfg *pgx.ConnConfig, reached *atomic.Bool) {
	dial := cfg.DialFunc
	cfg.DialFunc = func(ctx context.Context, network, address string) (net.Conn, error) {
		c, err := dial(ctx, network, address)
		if err == nil {
			reached.Store(true)
		}
		return c, err
	}
}

// pooled reports the pooler before a server that a survey has met, where it keeps no sessions; see Store.pooled. by makes the second
// connection.
func (s *server) pooled(ctx context.Context, by *connector, cfg *pgx.ConnConfig, last Primary) error {
	var own int64
	if err := s.conn.pg.QueryRow(ctx, process).Scan(&own); err != nil {
		return named(err)
	}
	if own == int64(s.conn.pg.PgConn().PID()) {
		return nil
	}
	other := by.meet(ctx, s.name, cfg, last)
	if other.err != nil {
		return other.err
	}
	defer func() { _ = other.conn.Close() }() // it was only read
	return named(shared(func() (own, others int64, err error) {
		if err = other.conn.pg.QueryRow(ctx, process).Scan(&others); err == nil {
			err = s.conn.pg.QueryRow(ctx, process).Scan(&own)
		}
		return own, others, err
	}))
}
