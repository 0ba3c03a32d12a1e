package main

import (
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/device"
	"posagent/store"
)

func sealedCell(i int) store.Cell {
	return store.Cell{Table: "t", Key: fmt.Sprintf("%04d", i), Column: "c"}
}

func callOn(t *testing.T, state string) *call {
	return &call{std: std{strings.NewReader(""), io.Discard, io.Discard}, global: global{state: state}, ctx: t.Context()}
}

// image copies a state directory as a kill leaves it: what was written is there, whoever wrote it.
func image(t *testing.T, state string) string {
	t.Helper()
	to := filepath.Join(t.TempDir(), "s")
	require.NoError(t, os.CopyFS(to, os.DirFS(state)))
	require.NoError(t, os.Chmod(filepath.Join(to, "keys"), 0o700))
	files, err := filepath.Glob(filepath.Join(to, "keys", "*"))
	require.NoError(t, err)
	for _, f := range files {
		require.NoError(t, os.Chmod(f, 0o600))
	}
	return to
}

// journalOf opens a journal as the next start does.
func journalOf(t *testing.T, state string) (store.Journal, *device.Keys) {
	t.Helper()
	keys, err := openKeys(callOn(t, state))
	require.NoError(t, err)
	db, err := openJournal(t.Context(), callOn(t, state), keys, slog.New(slog.DiscardHandler), "")
	require.NoError(t, err)
	return db, keys
}

// Whenever a change of the key is killed, everything can be read by the next start, which ends it: then the old key opens nothing.
func TestRotationIsEndedAfterAKillAtAnyStep(t *testing.T) {
	t.Parallel()
	const rows = 600 // several commits
	state := filepath.Join(t.TempDir(), "s")
	db, old := journalOf(t, state)
	sealed := make([][]byte, rows)
	require.NoError(t, db.Write(t.Context(), func(tx store.Tx) (err error) {
		for i := range sealed {
			if sealed[i], err = db.Seal(tx, sealedCell(i), fmt.Appendf(nil, "secret %d", i)); err != nil {
				return err
			}
		}
		return nil
	}))
	mac := db.MAC("t", "k", "field")
	caller, err := db.Secret(t.Context(), callerSecret, secretFile(callOn(t, state)))
	require.NoError(t, err)
	require.NoError(t, db.Close())
	before, err := os.ReadFile(filepath.Join(state, "keys", "device.key"))
	require.NoError(t, err)

	var steps, images []string
	id, err := rotateKey(t.Context(), callOn(t, state), func(step string, done, of int) {
		steps, images = append(steps, fmt.Sprintf("%s %d/%d", step, done, of)), append(images, image(t, state))
	})
	require.NoError(t, err)
	require.NotEqual(t, old.ID(), id)
	require.Greater(t, len(steps), 5, "%v", steps)
	require.Equal(t, "old key forgotten 1/1", steps[len(steps)-1])

	for i, state := range append(images, state) {
		name := "the end"
		if i < len(steps) {
			name = steps[i]
		}
		db, keys := journalOf(t, state)
		require.Equal(t, id, keys.ID(), name)
		readable := func(when string) {
			t.Helper()
			require.Equal(t, mac, db.MAC("t", "k", "field"), "%s: %s", name, when)
			require.NoError(t, db.Read(t.Context(), func(r store.Reader) error {
				for i := range sealed {
					plain, err := db.Unseal(r, sealedCell(i), sealed[i])
					if err != nil {
						return fmt.Errorf("row %d: %w", i, err)
					}
					require.Equal(t, fmt.Sprintf("secret %d", i), string(plain))
				}
				return nil
			}), "%s: %s", name, when)
		}
		readable("both keys")
		require.NoError(t, endRotation(t.Context(), callOn(t, state), db, keys, func(string, int, int) {}), name)
		readable("the same run")
		require.NoError(t, db.Close())
		_, err := os.Lstat(filepath.Join(state, "keys", "device.key.next"))
		require.ErrorIs(t, err, os.ErrNotExist, name)
		after, err := os.ReadFile(filepath.Join(state, "keys", "device.key"))
		require.NoError(t, err)
		require.NotEqual(t, before, after, name)

		db, keys = journalOf(t, state)
		_, changing := keys.Changing()
		require.False(t, changing)
		readable("the new key alone")
		require.NoError(t, db.Read(t.Context(), func(r store.Reader) error {
			keys, err := store.Column[[]byte](r, `SELECT wrapped FROM store_keys UNION ALL SELECT value FROM store_meta WHERE name IN ('mac_key', 'secret:callers')`)
			for _, wrapped := range keys {
				_, err := old.Unwrap(wrapped)
				require.ErrorIs(t, err, device.ErrWrongKey, name)
			}
			return err
		}))
		secret, err := db.Secret(t.Context(), callerSecret, secretFile(callOn(t, state)))
		require.NoError(t, err)
		require.Equal(t, caller, secret, name)
		beside, err := os.ReadFile(secretFile(callOn(t, state)))
		require.NoError(t, err)
		beside, err = keys.Unwrap(beside)
		require.NoError(t, err, "%s: the new key opens what lies beside it", name)
		require.Equal(t, caller, beside, name)
		require.NoError(t, db.Close())
	}
}

// TestField_J6NoKeyIsMadeBesideAJournal: a new key would open nothing of it, and hide that the right one is only mislaid.
func TestField_J6NoKeyIsMadeBesideAJournal(t *testing.T) {
	state := filepath.Join(t.TempDir(), "s")
	db, _ := journalOf(t, state)
	require.NoError(t, db.Close())
	key := filepath.Join(state, "keys", "device.key")
	require.NoError(t, os.Remove(key))
	_, err := openKeys(callOn(t, state))
	require.ErrorIs(t, err, device.ErrNoKey)
	require.NoFileExists(t, key)
	require.NoError(t, os.Remove(filepath.Join(state, "agent.db")))
	_, err = openKeys(callOn(t, state))
	require.ErrorContains(t, err, "journal cut", "nor where one is missing")
	require.NoFileExists(t, key)
}
