package postgres

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
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
	// Memory is the file that remembers the server outside of it (ErrBackwards); one process at a time has it. "" = none.
	Memory   string
	Alone    bool // no other process works on the schema meanwhile
	Tolerate Tolerated
	// Wrote is told of each Write that has ended: how long its caller waited, how often its closure ran, and its error. nil = nothing is.
	Wrote func(took time.Duration, runs int, err error)
	Beat  time.Duration // from one look at the server to the next, 0 = 10 s, negative = none: for tests that count commits
	// StatementWithin bounds a statement, at the server and on this side, 0 = 30 s, and 10 s on this side of a closure; CommitWithin a commit with what its standbys need, 0 = 15 s.
	StatementWithin, CommitWithin time.Duration
	// Dial connects; nil = as net.Dialer does. Tests only.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
}

const (
	defaultConns  = 16
	openWithin    = 10 * time.Second
	closeWithin   = 5 * time.Second
	migrateWithin = 10 * time.Minute

	closureWithin = 10 * time.Second // of a closure's statement on this side: a caller waits for it
	late          = 2 * time.Second  // an answer that takes longer than the server allows is lost
)

// Store is one open database.
type Store struct {
	opt      Options
	log      *slog.Logger
	db       *sql.DB
	name     string // of the database
	home     string // the schema of its tables
	mac      []byte // key of the row MACs
	memory   *memory
	needs    []string  // tables and counts that the account needs rights on
	presence *sql.Conn // holds the lock of those who work on the schema
	by       *connector
	barred   atomic.Pointer[error]   // why nothing is read or written: what the last look at the server found
	counts   atomic.Pointer[Primary] // the server that gives the numbers; see onward
	asked    chan error              // of a commit of its own that has no answer yet; see confirm
	stop     context.CancelFunc      // of watch
	watched  chan struct{}
	*store.Keyring

	alone    sync.RWMutex // of serial
	ownAlone sync.RWMutex // of own
	schema   int
	commits  atomic.Int64
	latency  atomic.Int64 // EMA of COMMIT, nanoseconds

	mu      sync.Mutex
	closed  bool
	state   store.State
	lastErr error
	lastAt  time.Time
	news    chan struct{}
}

var _ store.Store = (*Store)(nil)

// Open connects and brings the schema up to date. ctx bounds the opening only. It answers ErrIO, ErrNewer, ErrReadOnly (a standby),
// ErrUnsafe, ErrPooler, ErrBackwards, ErrRights, ErrLocked (another process has the memory, or the schema alone) or ErrNoWrapper.
func Open(ctx context.Context, opt Options) (*Store, error) {
	if opt.Wrapper == nil {
		return nil, store.ErrNoWrapper
	}
	s, err := connect(opt, nil)
	if err != nil {
		return nil, err
	}
	err = s.start(ctx)
	if err == nil {
		err = s.openMACKey(ctx)
	}
	if err != nil {
		s.depart()
		return nil, errors.Join(fmt.Errorf("open %s: %w", s.name, err), s.db.Close(), s.memory.close())
	}
	ctx, s.stop = context.WithCancel(context.WithoutCancel(ctx))
	s.tell(ctx, s.confirm(ctx, min(s.opt.CommitWithin, unanswered))) // it is ready once something was confirmed
	go s.watch(ctx)
	return s, nil
}

// OpenReader opens a database for reading beside those that write to it. It applies no step and remembers no server. It answers the
// errors of Open, and fs.ErrNotExist where the schema has no tables.
func OpenReader(ctx context.Context, opt Options) (*Store, error) {
	opt.Memory = ""
	s, err := connect(opt, map[string]string{"default_transaction_read_only": "on"})
	if err != nil {
		return nil, err
	}
	s.stop, s.state = func() {}, store.Ready
	close(s.watched)
	if err := s.known(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("open %s: %w", s.name, err), s.db.Close())
	}
	return s, nil
}

// known refuses a schema that a newer program wrote, and one that is not there.
func (s *Store) known(ctx context.Context) error {
	conn, err := s.take(ctx)
	if err != nil {
		return err
	}
	defer s.give(conn)
	applied, err := appliedSteps(ctx, conn)
	if codeOf(err) == undefinedTable {
		return fmt.Errorf("%w: the schema of search_path is not there, or has no tables", fs.ErrNotExist)
	}
	if err != nil {
		return s.met(ctx, err)
	}
	known, err := recorded(append(ownSteps(), s.opt.Steps...))
	if err != nil {
		return err
	}
	return store.Newer(known, applied)
}

// connect makes a store that has met no server yet. Sessions have these parameters beside their usual ones.
func connect(opt Options, session map[string]string) (*Store, error) {
	opt.Conns, opt.Beat = cmp.Or(opt.Conns, defaultConns), cmp.Or(opt.Beat, 10*time.Second)
	closure := cmp.Or(opt.StatementWithin, closureWithin)
	opt.StatementWithin, opt.CommitWithin = cmp.Or(opt.StatementWithin, 30*time.Second), cmp.Or(opt.CommitWithin, 15*time.Second)
	if opt.Log == nil {
		opt.Log = slog.New(slog.DiscardHandler)
	}
	cfg, err := pgx.ParseConfig(opt.URL)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrURL, err)
	}
	if opt.Dial != nil {
		cfg.DialFunc = opt.Dial
	}
	cfg.ConnectTimeout = cmp.Or(cfg.ConnectTimeout, openWithin)
	for name, value := range map[string]string{
		"application_name": "posagent", "statement_timeout": fmt.Sprint(opt.StatementWithin.Milliseconds()),
		"idle_in_transaction_session_timeout": fmt.Sprint(opt.StatementWithin.Milliseconds()), "timezone": "UTC",
		// Of a small table the server would read all, and a SERIALIZABLE closure then conflicts with every row of it. The price that
		// keeps it from that looks like a large query, for which it would compile code.
		"enable_seqscan": "off", "jit": "off",
	} {
		cfg.RuntimeParams[name] = cmp.Or(cfg.RuntimeParams[name], value)
	}
	maps.Copy(cfg.RuntimeParams, session)
	if err := encrypted(cfg, opt.Tolerate); err != nil {
		return nil, fmt.Errorf("open %s: %w", name(cfg), err)
	}
	s := &Store{opt: opt, log: opt.Log.With("sys", "store"), state: store.Broken, lastErr: errFirst, name: name(cfg), watched: make(chan struct{})}
	if s.memory, err = openMemory(opt.Memory); err != nil {
		return nil, fmt.Errorf("open %s: %w", s.name, err)
	}
	s.by = &connector{servers: servers(cfg), tolerate: opt.Tolerate, last: s.memory.remembers, met: s.meets, within: opt.StatementWithin + late, closure: closure + late}
	s.by.hangs = func() { s.saw(fmt.Errorf("%w: a statement has had no answer for %v", store.ErrIO, unanswered)) }
	s.db = sql.OpenDB(s.by)
	s.db.SetMaxOpenConns(opt.Conns + 1) // and the one of its lock
	s.db.SetMaxIdleConns(opt.Conns + 1)
	s.Keyring = store.NewKeyring(store.KeyringOptions{Wrapper: opt.Wrapper, MACKey: func() []byte { return s.mac }, Shredded: func() {}, Name: classify})
	return s, nil
}

// meets remembers the server behind a new connection: after a change of the primary it is another one.
func (s *Store) meets(ctx context.Context, conn *pgx.Conn, at seen) error {
	if err := s.memory.meet(at.Primary); err != nil {
		return err
	}
	if err := at.durably(ctx, conn, s.opt.Tolerate); err != nil || s.counted(at.Primary) {
		return err
	}
	return s.onward(ctx, conn, at.Primary, false)
}

// name is the database without a password.
func name(cfg *pgx.ConnConfig) string {
	return fmt.Sprintf("postgres://%s:%d/%s", cfg.Host, cfg.Port, cfg.Database)
}

// start takes the lock and brings the schema up to date.
func (s *Store) start(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, migrateWithin)
	defer cancel()
	conn, err := s.db.Conn(ctx)
	if err != nil {
		return s.met(ctx, err)
	}
	defer s.give(conn)
	var home *string
	if err := conn.QueryRowContext(ctx, "SELECT current_schema()").Scan(&home); err != nil {
		return classify(err)
	}
	if home == nil {
		return errors.New("store: the schema of search_path is not there (CREATE SCHEMA makes it), or this account has no right to use it")
	}
	s.home = *home
	if err := s.present(ctx); err != nil {
		return err
	}
	if err := s.pooled(ctx); err != nil {
		return err
	}
	if s.schema, err = s.migrate(ctx, conn); err != nil {
		return classify(err)
	}
	if err := s.mayWork(ctx, conn); err != nil {
		return classify(err)
	}
	return classify(s.onwardFirst(ctx, conn))
}

// Place is the schema of the tables, and how many steps were applied to it.
func (s *Store) Place() (schema string, steps int) { return s.home, s.schema }

// openMACKey reads the key of the row MACs, and makes it where there is none.
func (s *Store) openMACKey(ctx context.Context) error {
	at := s.serial()
	at.here = false // a copy that is not complete has its key, too
	return s.run(ctx, at, func(tx store.Tx) (err error) {
		s.mac, err = store.MACKey(tx, s.opt.Wrapper)
		return err
	})
}

// Close implements store.Store.
func (s *Store) Close() error {
	s.stop()
	<-s.watched
	s.depart()
	s.mu.Lock()
	was := s.closed
	s.closed, s.state = true, store.Closed
	s.mu.Unlock()
	if was {
		return nil
	}
	s.alone.Lock() // the writes that run end first
	defer s.alone.Unlock()
	s.ownAlone.Lock()
	defer s.ownAlone.Unlock()
	return errors.Join(s.db.Close(), s.memory.close())
}

func (s *Store) isClosed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.closed
}
