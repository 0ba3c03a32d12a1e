package postgres

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"

	"posagent/store"
)

// Options say which database to open and how.
type Options struct {
	URL string // postgres://…, as libpq has it; search_path in it names the schema
	// Steps are the migrations of all rooms.
	Steps   []store.Step
	Wrapper store.Wrapper // required
	Log     *slog.Logger
	Conns   int // connections of this process, 0 = 16
	// StatementWithin bounds a statement, 0 = 30 s; CommitWithin a commit with what its standbys need, 0 = 15 s.
	StatementWithin, CommitWithin time.Duration
	// Dial connects; nil = as net.Dialer does. Tests only.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
}

const (
	defaultConns  = 16
	openWithin    = 10 * time.Second
	closeWithin   = 5 * time.Second
	migrateWithin = 10 * time.Minute
)

// Store is one open database.
type Store struct {
	opt Options
	log *slog.Logger
	db  *sql.DB
	mac []byte // key of the row MACs
	*store.Keyring

	alone   sync.RWMutex // taken whole by a closure that has met conflicts
	schema  int
	commits atomic.Int64
	latency atomic.Int64 // EMA of COMMIT, nanoseconds

	mu      sync.Mutex
	closed  bool
	state   store.State
	lastErr error
	lastAt  time.Time
	news    chan struct{}
}

var _ store.Store = (*Store)(nil)

// Open connects and brings the schema up to date. ctx bounds the opening only. It answers ErrIO, ErrNewer, ErrReadOnly (a standby) or
// ErrNoWrapper.
func Open(ctx context.Context, opt Options) (*Store, error) {
	if opt.Wrapper == nil {
		return nil, store.ErrNoWrapper
	}
	opt.Conns = cmp.Or(opt.Conns, defaultConns)
	opt.StatementWithin, opt.CommitWithin = cmp.Or(opt.StatementWithin, 30*time.Second), cmp.Or(opt.CommitWithin, 15*time.Second)
	if opt.Log == nil {
		opt.Log = slog.New(slog.DiscardHandler)
	}
	cfg, err := pgx.ParseConfig(opt.URL)
	if err != nil {
		return nil, fmt.Errorf("store: %w", err)
	}
	if opt.Dial != nil {
		cfg.DialFunc = opt.Dial
	}
	cfg.ConnectTimeout = cmp.Or(cfg.ConnectTimeout, openWithin)
	for name, value := range map[string]string{
		"application_name": "posagent", "statement_timeout": fmt.Sprint(opt.StatementWithin.Milliseconds()),
		"idle_in_transaction_session_timeout": fmt.Sprint(opt.StatementWithin.Milliseconds()), "timezone": "UTC",
	} {
		cfg.RuntimeParams[name] = cmp.Or(cfg.RuntimeParams[name], value)
	}
	s := &Store{opt: opt, log: opt.Log.With("sys", "store"), state: store.Ready, db: sql.OpenDB(&connector{cfg: cfg})}
	s.db.SetMaxOpenConns(opt.Conns)
	s.db.SetMaxIdleConns(opt.Conns)
	s.Keyring = store.NewKeyring(store.KeyringOptions{Wrapper: opt.Wrapper, MACKey: func() []byte { return s.mac }, Shredded: func() {}, Name: classify})
	if err := s.start(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("open %s: %w", s.path(), err), s.db.Close())
	}
	return s, nil
}

// path names the database without a password.
func (s *Store) path() string {
	cfg, err := pgx.ParseConfig(s.opt.URL)
	if err != nil {
		return "postgres"
	}
	return fmt.Sprintf("postgres://%s:%d/%s", cfg.Host, cfg.Port, cfg.Database)
}

func (s *Store) start(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, migrateWithin)
	defer cancel()
	conn, err := s.db.Conn(ctx)
	if err != nil {
		return s.met(ctx, err)
	}
	defer s.give(conn)
	var standby, version int
	if err := conn.QueryRowContext(ctx, "SELECT pg_is_in_recovery()::int, current_setting('server_version_num')::int").Scan(&standby, &version); err != nil {
		return classify(err)
	}
	switch {
	case standby != 0:
		return fmt.Errorf("%w: this is a standby: name the primary (target_session_attrs=read-write with several hosts finds it)", store.ErrReadOnly)
	case version < 150000:
		return fmt.Errorf("PostgreSQL %d is too old: it takes 15 or later", version/10000)
	}
	if s.schema, err = s.migrate(ctx, conn); err != nil {
		return classify(err)
	}
	return s.openMACKey(ctx)
}

// openMACKey reads the key of the row MACs, and makes it where there is none.
func (s *Store) openMACKey(ctx context.Context) error {
	return s.Write(ctx, func(tx store.Tx) (err error) {
		s.mac, err = store.MACKey(tx, s.opt.Wrapper)
		return err
	})
}

// Close implements store.Store.
func (s *Store) Close() error {
	s.mu.Lock()
	was := s.closed
	s.closed, s.state = true, store.Closed
	s.mu.Unlock()
	if was {
		return nil
	}
	s.alone.Lock() // the writes that run end first
	defer s.alone.Unlock()
	return s.db.Close()
}

func (s *Store) isClosed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.closed
}
