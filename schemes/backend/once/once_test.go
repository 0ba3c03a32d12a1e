package once_test

import (
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/schemes/backend/once"
	"posagent/schemes/wire"
	"posagent/store"
	"posagent/store/sqlite"
)

type openKey struct{}

func (openKey) Wrap(p []byte) ([]byte, error)   { return p, nil }
func (openKey) Unwrap(p []byte) ([]byte, error) { return p, nil }

func open(t *testing.T) (store.Store, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "b.db")
	db, err := sqlite.Open(t.Context(), sqlite.Options{Path: path, Steps: once.Schema(), Wrapper: openKey{}, Synchronous: "OFF"})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	return db, path
}

type answer struct{ N int }

func TestAnswersAreGivenAgain(t *testing.T) {
	db, path := open(t)
	ran := 0
	do := func(scope string, key wire.Key, body string, fails error) (got answer, refusal *wire.Error, err error) {
		err = db.Write(t.Context(), func(tx store.Tx) error {
			var err error
			refusal, err = once.Do(tx, db, scope, key, []byte(body), &got, func() error {
				ran++
				got.N = ran
				return fails
			})
			return err
		})
		return got, refusal, err
	}
	first, refusal, err := do("a", "k", "secret-body", nil)
	require.NoError(t, err)
	require.Nil(t, refusal)
	again, _, err := do("a", "k", "secret-body", nil)
	require.NoError(t, err)
	require.Equal(t, first, again)
	require.Equal(t, 1, ran)
	_, _, err = do("a", "k", "other", nil)
	require.Equal(t, wire.KeyReused, wire.CodeOf(err))
	other, _, err := do("b", "k", "other", nil)
	require.NoError(t, err)
	require.Equal(t, 2, other.N)
	_, _, err = do("a", "", "x", nil)
	require.NoError(t, err)
	_, _, err = do("a", "", "x", nil)
	require.NoError(t, err)
	require.Equal(t, 4, ran)

	no := &wire.Error{Code: wire.Conflict, Reason: "OverCharge", Op: "op", Msg: "more than is there"}
	for range 2 {
		_, refusal, err = do("a", "no", "b", no)
		require.NoError(t, err)
		require.Equal(t, no, refusal)
	}
	require.Equal(t, 5, ran)
	for i, fails := range []error{wire.Errorf(wire.NotFound, "", ""), wire.Errorf(wire.Invalid, "", ""), errors.New("disk")} {
		_, _, err = do("a", "bad", "b", fails)
		require.ErrorIs(t, err, fails)
		require.Equal(t, 6+i, ran)
	}
	for _, suffix := range []string{"", "-wal"} {
		data, err := os.ReadFile(path + suffix)
		require.NoError(t, err)
		require.NotContains(t, string(data), "secret-body")
	}
}

func TestOneEffectHoweverManyAsk(t *testing.T) {
	db, _ := open(t)
	var wg sync.WaitGroup
	var mu sync.Mutex
	seen, ran := map[int]int{}, 0
	for range 64 {
		wg.Go(func() {
			var got answer
			err := db.Write(t.Context(), func(tx store.Tx) error {
				_, err := once.Do(tx, db, "s", "k", nil, &got, func() error {
					ran++ // inside the one writer
					got.N = 7
					return nil
				})
				return err
			})
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				seen[got.N]++
			}
		})
	}
	wg.Wait()
	require.Equal(t, map[int]int{7: 64}, seen)
	require.Equal(t, 1, ran)
}
