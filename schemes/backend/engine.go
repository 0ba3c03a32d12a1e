package backend

import (
	"context"
	"path/filepath"
	"slices"

	"posagent/schemes/backend/books/journal"
	"posagent/schemes/backend/cards"
	"posagent/schemes/backend/cases"
	"posagent/schemes/backend/deliver"
	"posagent/schemes/backend/fleet"
	"posagent/schemes/backend/links"
	"posagent/schemes/backend/merchants"
	"posagent/schemes/backend/pages/form"
	"posagent/schemes/backend/room"
	"posagent/schemes/backend/sessions"
	"posagent/schemes/backend/wallets"
	"posagent/store"
	"posagent/store/sqlite"
)

const (
	dbName  = "backend.db"
	keyName = "backend.key"
)

func schema() []store.Step {
	return slices.Concat(journal.Schema(), form.Schema(), wallets.Schema(), deliver.Schema(), room.Schema(), links.Schema(), cards.Schema(), merchants.Schema(), sessions.Schema(), cases.Schema(), fleet.Schema())
}

// engine opens a backend's store: for work, or for reading beside a running backend or without one.
type engine struct {
	open func(ctx context.Context, cfg Config, keys store.Wrapper) (store.Store, error)
	read func(ctx context.Context, dir string) (store.Store, error)
}

// usual is the engine of a backend on one machine.
var usual = engine{openSQLite, readSQLite}

func openStore(ctx context.Context, cfg Config, keys store.Wrapper) (store.Store, error) {
	return usual.open(ctx, cfg, keys)
}

func readStore(ctx context.Context, dir string) (store.Store, error) { return usual.read(ctx, dir) }

// openSQLite opens the file in cfg.Dir. The engine is named here alone.
func openSQLite(ctx context.Context, cfg Config, keys store.Wrapper) (store.Store, error) {
	s, err := sqlite.Open(ctx, sqlite.Options{
		Path: filepath.Join(cfg.Dir, dbName), Steps: schema(), Wrapper: keys, Log: cfg.Log, Synchronous: cfg.Synchronous,
	})
	if err != nil {
		return nil, err
	}
	return s, nil
}

func readSQLite(ctx context.Context, dir string) (store.Store, error) {
	s, err := sqlite.OpenReader(ctx, filepath.Join(dir, dbName))
	if err != nil {
		return nil, err
	}
	return s, nil
}
