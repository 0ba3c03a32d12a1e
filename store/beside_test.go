package store_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/store"
)

// What lies beside a database is read by its own secret alone; what was changed from outside is taken for nothing.
func TestBesideIsReadByItsSecretAlone(t *testing.T) {
	b := store.Beside{Path: filepath.Join(t.TempDir(), "known"), Secret: []byte("one secret")}
	load := func(b store.Beside) []byte {
		t.Helper()
		plain, err := b.Load()
		require.NoError(t, err)
		return plain
	}
	require.Nil(t, load(b))
	require.NoError(t, b.Keep([]byte("first")))
	require.NoError(t, b.Keep([]byte("second")))
	require.Equal(t, "second", string(load(b)))
	require.Nil(t, load(store.Beside{Path: b.Path, Secret: []byte("another")}))
	fi, err := os.Stat(b.Path)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), fi.Mode())

	sealed, err := os.ReadFile(b.Path)
	require.NoError(t, err)
	require.NotContains(t, string(sealed), "second")
	for i := range sealed {
		changed := append([]byte(nil), sealed...)
		changed[i] ^= 1
		require.NoError(t, os.WriteFile(b.Path, changed, 0o600))
		require.Nil(t, load(b), i)
		require.NoError(t, os.WriteFile(b.Path, sealed[:i], 0o600))
		require.Nil(t, load(b), i)
	}
	require.Error(t, store.Beside{Path: filepath.Join(b.Path, "none"), Secret: b.Secret}.Keep([]byte("x")))
	require.NoError(t, store.Beside{}.Keep([]byte("x")))
	require.Nil(t, load(store.Beside{}))
	require.NoError(t, os.Remove(b.Path))
	require.NoError(t, os.Mkdir(b.Path, 0o700))
	_, err = b.Load()
	require.Error(t, err)
}
