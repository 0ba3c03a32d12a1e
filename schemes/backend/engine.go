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

// openStore opens the backend's store for work. The engine is named here alone.
func openStore(ctx context.Context, cfg Config, keys store.Wrapper) (store.Store, error) {
	s, err := sqlite.Open(ctx, sqlite.Options{
		Path: filepath.Join(cfg.Dir, dbName), Steps: schema(), Wrapper: keys, Log: cfg.Log, Synchronous: cfg.Synchronous,
	})
	if err != nil {
		return nil, err
	}
	return s, nil
}

// readStore opens the store of the backend in dir for reading, beside a running backend or without one.
func readStore(ctx context.Context, dir string) (store.Store, error) {
	s, err := sqlite.OpenReader(ctx, filepath.Join(dir, dbName))
	if err != nil {
		return nil, err
	}
	return s, nil
}
