package backend

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"posagent/store"
	"posagent/store/postgres"
	"posagent/store/postgres/pgtest"
)

// TestMain: on a server the suites of this package are the same. A schema takes the place of each file.
func TestMain(m *testing.M) {
	if os.Getenv(pgtest.Env) != "" {
		usual = onServer()
	}
	os.Exit(m.Run())
}

func onServer() Engine {
	open := func(ctx context.Context, opt StoreOptions) (store.Store, error) {
		url, err := pgtest.Instead(filepath.Join(opt.Dir, dbName))
		if err != nil {
			return nil, err
		}
		s, err := postgres.Open(ctx, postgres.Options{Tolerate: postgres.Tolerated{NoFsync: true}, URL: url, Steps: opt.Steps, Wrapper: opt.Wrapper, Wrote: opt.Wrote, Conns: 8})
		if err != nil {
			return nil, err
		}
		return s, nil
	}
	return Engine{
		Open: open,
		Read: func(ctx context.Context, dir string) (store.Store, error) {
			if _, err := os.Stat(filepath.Join(dir, KeyName)); err != nil { // none ran there
				return nil, err
			}
			keys, err := openKey(filepath.Join(dir, KeyName))
			if err != nil {
				return nil, err
			}
			return open(ctx, StoreOptions{Dir: dir, Steps: Schema(), Wrapper: keys})
		},
	}
}
