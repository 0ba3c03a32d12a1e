package backend

import (
	"context"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"posagent/store"
	"posagent/store/postgres"
	"posagent/store/postgres/pgtest"
)

// TestMain: on a server the suites of this package are the same. A schema takes the place of each file, or a copy of books that are there.
func TestMain(m *testing.M) {
	if os.Getenv(pgtest.Env) != "" {
		usual = onServer()
	}
	os.Exit(m.Run())
}

// directories are those whose books were opened before.
type directories struct{ sync.Map }

// key gives a directory the key of the books that its suite begins with.
func (d *directories) key(dir string, own store.Wrapper) (store.Wrapper, error) {
	from := os.Getenv(pgtest.EnvKey)
	if from == "" {
		return own, nil
	}
	if _, before := d.LoadOrStore(dir, true); before {
		return own, nil
	}
	key, err := os.ReadFile(from)
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(dir, KeyName), key, 0o600); err != nil {
		return nil, err
	}
	return openKey(filepath.Join(dir, KeyName))
}

func onServer() Engine {
	begun := new(directories)
	open := func(ctx context.Context, opt StoreOptions) (store.Store, error) {
		url, err := pgtest.Instead(filepath.Join(opt.Dir, dbName))
		if err != nil {
			return nil, err
		}
		keys, err := begun.key(opt.Dir, opt.Wrapper)
		if err != nil {
			return nil, err
		}
		s, err := postgres.Open(ctx, postgres.Options{Tolerate: postgres.Tolerated{NoFsync: true}, URL: url, Steps: opt.Steps, Wrapper: keys, Wrote: opt.Wrote, Conns: 8})
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
