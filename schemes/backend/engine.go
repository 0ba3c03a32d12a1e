package backend

import (
	"context"
	"path/filepath"

	"posagent/store"
	"posagent/store/sqlite"
)

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
