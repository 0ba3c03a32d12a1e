package sqlite

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"posagent/store"
	"posagent/store/marks"
)

// Options say which file to open and how.
type Options struct {
	Path string // the database file; its directory is made (0700) when it is missing
	// Steps are the migrations of all rooms. A step is known by its name: lists of rooms may be
	// joined in any order as long as every room only appends to its own.
	Steps    []store.Step
	Wrapper  store.Wrapper // required unless ReadOnly
	Log      *slog.Logger
	VFS      string // a registered SQLite VFS, "" = the system's; tests only
	ReadOnly bool   // no lock, no migration, every Write is refused; works beside a running owner
	// Synchronous is FULL when empty. Anything less loses acknowledged writes: tests only.
	Synchronous string
	Readers     int   // connections for Read, 0 = 3
	Ballast     int64 // bytes of the reserve beside the file, for finishing what was begun, 0 = 256 KiB, < 0 = none
	// CheckpointEvery is the least time between two foldings of the log into the file, 0 = 50 ms;
	// CheckpointWrites is how many Writes are worth one, 0 = 384. Fewer wait for more, 1200 times as
	// long at most.
	CheckpointEvery  time.Duration
	CheckpointWrites int64
	// AtCommit runs once in each batch of Writes that has something to commit: on the batch's
	// transaction, after all callers' savepoints were released, right before COMMIT. What it writes
	// is committed with the batch. It returns the head of the audit chain as of this commit. Its
	// error, or panic, rolls the batch back and is every caller's answer. It must not block, must
	// take nothing from memory that a rolled back closure may have left there, and may run again
	// over the same rows after a COMMIT that failed. nil = none. Steps, recoveries and the store's
	// own commits do not run it.
	AtCommit func(store.Tx) (head [32]byte, err error)
	// Note runs after AtCommit and returns what the journal's end and its marks carry for the
	// owner: the highest numbers in use. last is what it returned before. nil = the last one stays.
	Note func(r store.Reader, last [32]byte) ([32]byte, error)
	// Marks are the files that remember where the journal ends; the first lies beside it
	// (MarkPath), the others on other media. Where one of them has seen more than the journal
	// holds, Open answers *CutError. None = ends are not compared.
	Marks []string
	// Accept, a reason, opens a cut journal as it is and begins its next generation: Before tells
	// the owner what is missing. ErrNotCut where the journal is whole.
	Accept string
	// IgnoreMark reads a journal that is cut, for what is left in it. With ReadOnly only.
	IgnoreMark bool
	// OpenMark opens a mark, and makes it where create says so; nil = a file of the system. Tests
	// only.
	OpenMark func(path string, create bool) (store.MarkFile, error)
}

const (
	defaultReaders = 3
	defaultBallast = 256 << 10
	queueLength    = 256
)

// Store is one open database file.
type Store struct {
	opt  Options
	set  settings
	log  *slog.Logger
	lock *os.File
	mac  []byte // key of the row MACs

	*store.Keyring

	queue   chan *request
	ctl     chan func()
	dirty   chan struct{}
	news    news
	closing chan struct{}
	stopped chan struct{} // the writer has ended
	idle    chan struct{} // the checkpointer has ended
	readers chan *link    // nil elements are connections not opened yet
	close1  func() error

	// Owned by the writer goroutine.
	w     *link
	want  int          // callers expected in the next batch
	end   store.End    // as the last commit left it
	flags int64        // of the endRow
	marks *marks.Files // nil = none

	foldMu sync.Mutex // held while one log is folded; locked on the writer goroutine
	kept   *link      // in a log that the marks may still name; guarded by foldMu

	// Owned by the checkpointer goroutine.
	ckpt   *link
	folded int64 // writes at the last checkpoint

	reserve *reserve
	schema  int

	commits atomic.Int64
	writes  atomic.Int64
	latency atomic.Int64 // EMA of COMMIT, nanoseconds
	shred   atomic.Bool  // a data key was deleted since the last truncation

	mu      sync.Mutex
	state   store.State
	lastErr error
	lastAt  time.Time
}

var _ store.Journal = (*Store)(nil)

// Open opens or makes the file, brings its schema up to date and starts the writer. ctx bounds the
// opening only. It answers ErrLocked, ErrNewer, ErrDamaged, ErrFull, ErrIO, ErrReadOnly or
// ErrNoWrapper.
func Open(ctx context.Context, opt Options) (*Store, error) {
	if opt.ReadOnly {
		return openReadOnly(ctx, opt)
	}
	if opt.Wrapper == nil {
		return nil, store.ErrNoWrapper
	}
	s, err := newStore(opt)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Dir(s.opt.Path), 0o700); err != nil {
		return nil, fmt.Errorf("store: %w", err)
	}
	if s.lock, err = lockFile(ctx, s.opt.Path); err != nil {
		return nil, err
	}
	if err := s.start(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("open %s: %w", s.opt.Path, err), s.release())
	}
	return s, nil
}

// OpenReader opens the file for reading, without a lock, also while another process owns it.
func OpenReader(ctx context.Context, path string) (*Store, error) {
	return Open(ctx, Options{Path: path, ReadOnly: true})
}

func newStore(opt Options) (*Store, error) {
	path, err := filepath.Abs(opt.Path)
	if err != nil {
		return nil, fmt.Errorf("store: %w", err)
	}
	opt.Path = path
	if opt.Synchronous == "" {
		opt.Synchronous = "FULL"
	}
	if opt.Readers <= 0 {
		opt.Readers = defaultReaders
	}
	if opt.Ballast == 0 {
		opt.Ballast = defaultBallast
	}
	if opt.CheckpointEvery <= 0 {
		opt.CheckpointEvery = checkpointEvery
	}
	if opt.CheckpointWrites <= 0 {
		opt.CheckpointWrites = checkpointWrites
	}
	if opt.Log == nil {
		opt.Log = slog.New(slog.DiscardHandler)
	}
	s := &Store{
		opt:     opt,
		set:     settings{path: path, vfs: opt.VFS, synchronous: opt.Synchronous, readOnly: opt.ReadOnly},
		log:     opt.Log.With("sys", "store"),
		queue:   make(chan *request, queueLength),
		ctl:     make(chan func()),
		dirty:   make(chan struct{}, 1),
		closing: make(chan struct{}),
		stopped: make(chan struct{}),
		idle:    make(chan struct{}),
		readers: make(chan *link, opt.Readers),
		reserve: &reserve{path: path + ".ballast", size: opt.Ballast, free: freeBytes},
	}
	s.Keyring = store.NewKeyring(store.KeyringOptions{
		Wrapper: opt.Wrapper, MACKey: func() []byte { return s.mac }, Shredded: func() { s.shred.Store(true) }, Name: classify,
	})
	s.close1 = sync.OnceValue(s.shutdown)
	for range opt.Readers {
		s.readers <- nil
	}
	return s, nil
}

// start does everything between the lock and the first Write.
func (s *Store) start(ctx context.Context) error {
	var seen sighting
	if err := s.lookForMarks(&seen); err != nil {
		return err
	}
	if err := createFile(s.opt.Path); err != nil {
		return err
	}
	w, err := openLink(ctx, s.set)
	if err != nil {
		return err
	}
	s.w = w
	if err := s.compare(ctx, &seen); err != nil {
		s.leaveAlone(ctx)
		return err
	}
	between := func() error {
		// The way into WAL mode leads over a rollback journal. Were its removal lost with the
		// power, it would be played back over everything that came later.
		if err := store.SyncDir(filepath.Dir(s.opt.Path)); err != nil {
			return fmt.Errorf("%w: %w", store.ErrIO, err)
		}
		return s.settle(ctx, seen)
	}
	if s.schema, err = s.migrate(ctx, w, between); err != nil {
		if s.marks != nil { // they may still say that the log is being folded
			s.leaveAlone(ctx)
		}
		return classify(err)
	}
	if s.ckpt, err = openLink(ctx, s.set); err != nil {
		return err
	}
	if err := s.reserve.ensure(); err != nil {
		// Without it nothing new may be accepted, but what is open must still be finished.
		s.log.Warn("no space is reserved", "err", err)
	}
	go s.writeLoop()
	go s.checkpointLoop()
	return nil
}

func openReadOnly(ctx context.Context, opt Options) (*Store, error) {
	s, err := newStore(opt)
	if err != nil {
		return nil, err
	}
	close(s.stopped)
	close(s.idle)
	mark, err := lookAtMark(s.opt.Path)
	if err == nil && !opt.IgnoreMark {
		var v marks.Verdict
		if v, err = missing(s.opt.Path, mark); err == nil {
			err = v.Err(s.opt.Path, mark)
		}
	}
	if err != nil {
		return nil, err
	}
	if _, err := os.Lstat(s.opt.Path); err != nil {
		return nil, fmt.Errorf("store: %w", err)
	}
	err = s.Read(ctx, func(r store.Reader) error {
		if err := s.compareBeside(ctx, r.(*scope).l.conn, mark); err != nil {
			return err
		}
		if err := r.QueryRow("SELECT count(*) FROM store_steps").Scan(&s.schema); err != nil {
			return err
		}
		if opt.Wrapper == nil {
			// No row may verify by accident where there is no key.
			s.mac = make([]byte, 32)
			rand.Read(s.mac)
			return nil
		}
		if s.mac, err = readMACKey(r, opt.Wrapper); errors.Is(err, sql.ErrNoRows) {
			err = nil // nothing is in it yet
		}
		return err
	})
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open %s: %w", s.opt.Path, err), s.Close())
	}
	return s, nil
}

// createFile makes an empty file with private permissions, durably. It must not touch an existing
// one: closing a descriptor of it would drop SQLite's locks in this process.
func createFile(path string) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if errors.Is(err, os.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	return store.SyncDir(filepath.Dir(path))
}

// Owner holds the lock for a moment when it looks; an owner that starts just then must not take it
// for a rival.
const (
	lockTries = 5
	lockPause = 20 * time.Millisecond
)

// lockFile takes the one-process lock beside the database.
func lockFile(ctx context.Context, path string) (*os.File, error) {
	f, err := os.OpenFile(path+".lock", os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("store: lock: %w", err)
	}
	err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	for try := 1; errors.Is(err, unix.EWOULDBLOCK) && try < lockTries && ctx.Err() == nil; try++ {
		select {
		case <-time.After(lockPause):
		case <-ctx.Done():
		}
		err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	}
	if err != nil {
		locked := &store.LockedError{Path: path}
		_, _ = fmt.Fscanf(f, "%d", &locked.PID)
		_ = f.Close()
		if errors.Is(err, unix.EWOULDBLOCK) {
			return nil, locked
		}
		return nil, fmt.Errorf("store: lock %s: %w", path, err)
	}
	// The number only helps a reader; a full disk must not keep the store shut.
	if err := f.Truncate(0); err == nil {
		_, _ = f.WriteAt(fmt.Appendf(nil, "%d\n", os.Getpid()), 0)
	}
	return f, nil
}

// Read implements DB. fn runs on the caller's goroutine; ctx bounds the wait for a connection.
func (s *Store) Read(ctx context.Context, fn func(store.Reader) error) (err error) {
	var l *link
	select {
	case <-s.closing:
		return store.ErrClosed
	default:
	}
	select {
	case l = <-s.readers:
	case <-s.closing:
		return store.ErrClosed
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { s.readers <- l }()
	if l == nil {
		if l, err = s.openReader(ctx); err != nil {
			return fmt.Errorf("reader: %w", err)
		}
	}
	if err := l.begin("BEGIN"); err != nil {
		l = discard(l)
		return fmt.Errorf("reader: %w", classify(err))
	}
	t := &scope{l: l, readOnly: true, of: s}
	defer func() {
		if e := errors.Join(t.end(), l.exec("ROLLBACK")); e != nil {
			l = discard(l)
			if err == nil {
				err = classify(e)
			}
		}
	}()
	return fn(t)
}

// Truncate empties the write-ahead log, so that nothing deleted is left in it. It waits for readers
// until ctx ends and then answers ErrBusy.
func (s *Store) Truncate(ctx context.Context) error {
	for {
		var busy bool
		err := s.exclusive(ctx, func() (err error) {
			busy, err = s.truncate()
			return err
		})
		if err != nil || !busy {
			return err
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-ctx.Done():
			return fmt.Errorf("%w: truncate: %w", store.ErrBusy, ctx.Err())
		}
	}
}

// exclusive runs fn on the writer goroutine between two batches.
func (s *Store) exclusive(ctx context.Context, fn func() error) error {
	if s.opt.ReadOnly {
		return store.ErrReadOnly
	}
	done := make(chan error, 1)
	select {
	case s.ctl <- func() { done <- fn() }:
		return <-done
	case <-s.stopped:
		return store.ErrClosed
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Check runs SQLite's integrity check and the foreign key check; it takes time in proportion to the
// file. It answers ErrDamaged with what was found.
func (s *Store) Check(ctx context.Context) error {
	return s.Read(ctx, func(r store.Reader) error {
		l := r.(*scope).l
		return checkFile(ctx, l.conn, "integrity_check")
	})
}

// QuickCheck finds damaged pages and rows that lack what their table demands, in a fraction of
// Check's time. ErrDamaged.
func (s *Store) QuickCheck(ctx context.Context) error {
	return s.Read(ctx, func(r store.Reader) error {
		return checkFile(ctx, r.(*scope).l.conn, "quick_check")
	})
}

func checkFile(ctx context.Context, conn *sql.Conn, kind string) error {
	var found string
	if err := conn.QueryRowContext(ctx, "PRAGMA "+kind+"(1)").Scan(&found); err != nil {
		return classify(err)
	}
	if found != "ok" {
		return fmt.Errorf("%w: %s", store.ErrDamaged, strings.ReplaceAll(found, "\n", " "))
	}
	var table string
	var row, parent, id any
	err := conn.QueryRowContext(ctx, "PRAGMA foreign_key_check").Scan(&table, &row, &parent, &id)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return nil
	case err != nil:
		return classify(err)
	}
	return fmt.Errorf("%w: table %s row %v has no parent", store.ErrDamaged, table, row)
}
