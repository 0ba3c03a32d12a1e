package main

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/cmd/usage"
	"posagent/schemes/backend"
	"posagent/store"
	"posagent/store/postgres"
	"posagent/store/postgres/pgtest"
	"posagent/store/sqlite"
)

// older is what books had given before the store counted: each of the last numbers differs.
var older = []string{
	`UPDATE wallets_seq SET last = 10000042`,
	`UPDATE links_seq SET last = 100007 WHERE name = 'link'`,
	`UPDATE links_seq SET last = 500009 WHERE name = 'txn'`,
	`INSERT INTO cases_case (number, grp, queue, card, purchase, created_day, modified_day, data) VALUES (500011, 700003, 1, 'c', 'p', '2026-11-01', '2026-11-01', '{}')`,
	`INSERT INTO merchants_application (id, status, reason, reference, merchant, created_ms, updated_ms) VALUES (100013, '', '', '', '', 1, 1)`,
}

// counts are the backend's, with the first number of new books and the one after older.
var counts = []struct {
	name         string
	first, after int64
}{
	{"wallets_txn", 10_000_001, 10_000_043},
	{"links_link", 100_001, 100_008},
	{"links_txn", 500_001, 500_010},
	{"cases_case", 500_001, 500_012},
	{"cases_group", 700_001, 700_004},
	{"merchants_application", 100_001, 100_014},
}

// take takes one number of each count: the one that was to be the first of all, and so many more.
func take(t *testing.T, db store.Store, upgraded bool, more int64) {
	t.Helper()
	for _, c := range counts {
		want := c.first + more
		if upgraded {
			want = c.after + more
		}
		require.NoError(t, db.Write(t.Context(), func(tx store.Tx) error {
			n, err := tx.Number(c.name)
			require.Equal(t, want, n, c.name)
			return err
		}))
	}
}

// before is the schema without counts.
func before() []store.Step {
	return slices.DeleteFunc(backend.Schema(), func(st store.Step) bool { return strings.HasSuffix(st.Name, " numbers of the store") })
}

// seed writes what older books have.
func seed(t *testing.T, db store.Store) {
	t.Helper()
	require.NoError(t, db.Write(t.Context(), func(tx store.Tx) error {
		for _, statement := range older {
			if _, err := tx.Exec(statement); err != nil {
				return err
			}
		}
		return nil
	}))
	require.NoError(t, db.Close())
}

// TestUpgradeAndMigrationKeepNumbers: of books from before the counts, and of books that move from a file to a server and back, no number
// is given twice.
func TestUpgradeAndMigrationKeepNumbers(t *testing.T) {
	dir := t.TempDir()
	keys, err := backend.OpenKey(dir)
	require.NoError(t, err)
	file := func(dir string, steps []store.Step) store.Store {
		db, err := sqlite.Open(t.Context(), sqlite.Options{Path: filepath.Join(dir, "backend.db"), Steps: steps, Wrapper: keys, Synchronous: "OFF"})
		require.NoError(t, err)
		return db
	}
	place := func(url string, steps []store.Step) store.Store {
		db, err := postgres.Open(t.Context(), postgres.Options{URL: url, Steps: steps, Wrapper: keys, Tolerate: postgres.Tolerated{NoFsync: true}})
		require.NoError(t, err)
		return db
	}

	t.Run("older books in a file", func(t *testing.T) {
		at := t.TempDir()
		seed(t, file(at, before()))
		for more := range int64(2) { // and opened again
			db := file(at, backend.Schema())
			take(t, db, true, more)
			require.NoError(t, db.Close())
		}
	})
	t.Run("new books in a file", func(t *testing.T) {
		db := file(t.TempDir(), backend.Schema())
		take(t, db, false, 0)
		require.NoError(t, db.Close())
	})
	t.Run("older books on a server", func(t *testing.T) {
		server := pgtest.Open(t)
		url := server.Place()
		seed(t, place(url, before()))
		server.Exec(url, `DROP VIEW store_number; DROP FUNCTION store_number_set; DROP TABLE store_server; DROP FUNCTION store_numbers_by;
			DELETE FROM store_steps WHERE name IN ('store/2 numbers', 'store/3 server');
			UPDATE store_steps SET version = version + 1000; UPDATE store_steps SET version = version - 1000 - 2 * (version > 1001)::int`)
		for more := range int64(2) { // and opened again
			db := place(url, backend.Schema())
			take(t, db, true, more)
			require.NoError(t, db.Close())
		}
	})
	t.Run("older books in a file, to a server and back", func(t *testing.T) {
		url, state, back := pgtest.Open(t).Place(), t.TempDir(), t.TempDir()
		seed(t, file(dir, before()))
		db := file(dir, backend.Schema())
		take(t, db, true, 0)
		require.NoError(t, db.Close())
		move := func(from, to string) {
			code, _, talk := ask("migrate", "--from", from, "--to", to, "--state", state, "--tolerate", "no-fsync", "--json")
			require.Equal(t, usage.ExitOK, code, talk)
		}
		move("sqlite:"+dir, url)
		db = place(url, backend.Schema())
		take(t, db, true, 1)
		take(t, db, true, 2)
		require.NoError(t, db.Close())
		move(url, "sqlite:"+back)
		db = file(back, backend.Schema())
		take(t, db, true, 3)
		require.NoError(t, db.Close())
	})
	t.Run("new books on a server", func(t *testing.T) {
		db := place(pgtest.Open(t).Place(), backend.Schema())
		take(t, db, false, 0)
		require.NoError(t, db.Close())
	})
}
