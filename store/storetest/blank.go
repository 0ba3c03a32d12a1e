package storetest

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/store"
	"posagent/store/sqlite"
)

// Blank returns what lays a store with these steps at a path where there is none, to be opened there. The file is made
// once in a test binary and copied: tests that open hundreds of stores prove other things than the steps. Such stores
// share the key of their row MACs.
func Blank(steps func() []store.Step) func(tb testing.TB, path string) {
	content := sync.OnceValues(func() (content []byte, err error) {
		dir, err := os.MkdirTemp("", "posagent-blank")
		if err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
		return migrated(filepath.Join(dir, "blank.db"), steps())
	})
	return func(tb testing.TB, path string) {
		tb.Helper()
		if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
			require.NoError(tb, err)
			return
		}
		file, err := content()
		require.NoError(tb, err)
		require.NoError(tb, os.WriteFile(path, file, 0o600))
	}
}

// migrated is the content of a store's file after the steps.
func migrated(path string, steps []store.Step) ([]byte, error) {
	s, err := sqlite.Open(context.Background(), sqlite.Options{Path: path, Steps: steps, Wrapper: Wrapper{}, Ballast: -1, Synchronous: "OFF"})
	if err != nil {
		return nil, err
	}
	if err := s.Close(); err != nil {
		return nil, err
	}
	return os.ReadFile(path)
}
