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
	"sync"

	"posagent/device/file"
	"posagent/store"
	"posagent/store/marks"
)

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
		place:   &place{},
		reserve: &reserve{path: path + ".ballast", size: opt.Ballast, free: file.Free},
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
	if s.reserve.begin() {
		s.log.Warn("no space left: what was reserved is used to end what is owed", "path", s.opt.Path)
	}
	if err := createFile(s.opt.Path); err != nil {
		return err
	}
	var err error
	if s.own, err = lockJournal(s.opt.Path); err != nil {
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
		if err := file.SyncDir(filepath.Dir(s.opt.Path)); err != nil {
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
	if s.opt.VFS == "" {
		var page int64 // none of a journal without marks
		if s.counts() {
			if err := w.conn.QueryRowContext(ctx, "SELECT rootpage FROM sqlite_schema WHERE name = 'store_end'").Scan(&page); err != nil {
				return classify(err)
			}
		}
		s.place = takePlace(s.opt.Path, s.own, page)
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
	if err := plain(s.opt.Path); err != nil {
		return nil, err
	}
	mark, err := lookAtMarks(s.opt.Path, s.opt.Marks)
	if err == nil && !opt.IgnoreMark {
		var v marks.Verdict
		if v, err = missing(s.opt.Path, s.opt.Outlived, mark); err == nil {
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
		if s.mac, err = store.ReadMACKey(r, opt.Wrapper); errors.Is(err, sql.ErrNoRows) {
			err = nil // nothing is in it yet
		}
		return err
	})
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open %s: %w", s.opt.Path, err), s.Close())
	}
	return s, nil
}
