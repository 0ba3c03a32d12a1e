package backend

import (
	"context"
	"log/slog"
	"path/filepath"
	"slices"
	"time"

	"posagent/schemes/backend/aapay"
	"posagent/schemes/backend/books/journal"
	"posagent/schemes/backend/disputes"
	"posagent/schemes/backend/fleet"
	"posagent/schemes/backend/hosted"
	"posagent/schemes/backend/lease"
	"posagent/schemes/backend/onboarding"
	"posagent/schemes/backend/pages/form"
	"posagent/schemes/backend/paylinks"
	"posagent/schemes/backend/payments"
	"posagent/schemes/backend/room"
	"posagent/schemes/backend/webhooks"
	"posagent/store"
	"posagent/store/sqlite"
)

const (
	dbName = "backend.db"
	// KeyName is the file of the key in a backend's directory.
	KeyName = "backend.key"
)

// Schema is the migrations of all rooms.
func Schema() []store.Step {
	return slices.Concat(journal.Schema(), form.Schema(), aapay.Schema(), webhooks.Schema(), room.Schema(), paylinks.Schema(), payments.Schema(), onboarding.Schema(), hosted.Schema(), disputes.Schema(), fleet.Schema(), lease.Schema())
}

// Engine opens a backend's store: for work, or for reading beside a running backend or without one. The zero value is a file in the
// backend's directory.
type Engine struct {
	Open func(ctx context.Context, opt StoreOptions) (store.Store, error)
	Read func(ctx context.Context, dir string) (store.Store, error)
	// Held says whether a process works with a directory, and its number where it is known. It changes nothing.
	Held func(dir string) (pid int, held bool, err error)
	// Shared says that other processes work on the same books: what one of them is to do at a time is shared out by leases.
	Shared bool
}

// StoreOptions are what an engine opens the store with.
type StoreOptions struct {
	Dir         string       // of the backend
	Steps       []store.Step // the migrations of all rooms
	Wrapper     store.Wrapper
	Log         *slog.Logger
	Synchronous string // as Config has it
	// Wrote is told of each write that has ended: how long its caller waited, how often its closure ran, and its error. May be nil.
	Wrote func(took time.Duration, runs int, err error)
}

// usual is the engine of a backend that was given none.
var usual = Engine{Open: openSQLite, Read: readSQLite, Held: heldSQLite}

func (e Engine) orUsual() Engine {
	if e.Open == nil {
		return usual
	}
	return e
}

// Place is where a backend keeps its books.
type Place struct {
	Dir    string // of the backend
	Engine Engine
}

// read opens the books for reading.
func (p Place) read(ctx context.Context) (store.Store, error) {
	return p.Engine.orUsual().Read(ctx, p.Dir)
}

// openSQLite opens the file in the directory. The engine is named here alone.
func openSQLite(ctx context.Context, opt StoreOptions) (store.Store, error) {
	s, err := sqlite.Open(ctx, sqlite.Options{
		Path: filepath.Join(opt.Dir, dbName), Steps: opt.Steps, Wrapper: opt.Wrapper, Log: opt.Log, Synchronous: opt.Synchronous, Wrote: opt.Wrote,
	})
	if err != nil {
		return nil, err
	}
	return s, nil
}

// OpenFile opens the file in a directory for what copies all of it, and returns what lists its tables.
func OpenFile(ctx context.Context, opt StoreOptions) (store.Store, func(store.Reader) ([]store.Catalog, error), error) {
	s, err := openSQLite(ctx, opt)
	return s, sqlite.Catalog, err
}

func readSQLite(ctx context.Context, dir string) (store.Store, error) {
	s, err := sqlite.OpenReader(ctx, filepath.Join(dir, dbName))
	if err != nil {
		return nil, err
	}
	return s, nil
}

func heldSQLite(dir string) (pid int, held bool, err error) {
	return sqlite.Owner(filepath.Join(dir, dbName))
}

// Held says whether a process works with the directory, and its number where it is known.
func (p Place) Held() (pid int, held bool, err error) { return p.Engine.orUsual().Held(p.Dir) }
