package sqlite_test

import (
	"database/sql"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/store"
	"posagent/store/sqlite"
	"posagent/store/storetest"
)

// TestField2_D7APlantedSchemaIsNotAsked: whoever may write to a file can put a view in the place of a table, or in that of one that the store
// reads first, and its query would run for whoever looks, for ever. The schema is judged before anything else is read, by every way to
// open a file: what no step makes is damage. What steps make, triggers and indexes too, is not.
func TestField2_D7APlantedSchemaIsNotAsked(t *testing.T) {
	endless := "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i AS id, i AS text FROM n"
	step := store.Step{Name: "test/1 rows", SQL: rowsStep.SQL + `; CREATE INDEX rows_text ON rows (text); CREATE TRIGGER rows_kept AFTER DELETE ON rows BEGIN SELECT 1; END`}
	for name, plant := range map[string]string{
		"a table of a room":      "DROP TABLE rows; CREATE VIEW rows AS " + endless,
		"the list of the steps":  "DROP TABLE store_steps; CREATE VIEW store_steps AS " + endless,
		"the store's own values": "DROP TABLE store_meta; CREATE VIEW store_meta AS " + endless,
		"the end":                "DROP TABLE store_end; CREATE VIEW store_end AS " + endless,
		"beside the tables":      "CREATE VIEW other AS SELECT 1",
		"a virtual table":        "CREATE VIRTUAL TABLE other USING rtree(id, a, b)",
		"a computed column":      "ALTER TABLE rows ADD COLUMN more TEXT AS (hex(zeroblob(100000000)))",
		"":                       "",
	} {
		path := filepath.Join(t.TempDir(), "a.db")
		s := storetest.OpenAt(t, path, step)
		require.NoError(t, s.Write(t.Context(), insert(1, "one")))
		require.NoError(t, s.Close())
		db, err := sql.Open("sqlite", path)
		require.NoError(t, err)
		_, err = db.Exec(plant)
		require.NoError(t, err, name)
		require.NoError(t, db.Close())
		opt := sqlite.Options{Path: path, Steps: []store.Step{step}, Wrapper: storetest.Wrapper{}, Ballast: -1}
		ways := map[string]func() (*sqlite.Store, error){
			"for work": func() (*sqlite.Store, error) { return sqlite.Open(t.Context(), opt) },
			"to read":  func() (*sqlite.Store, error) { o := opt; o.ReadOnly = true; return sqlite.Open(t.Context(), o) },
			"a verb":   func() (*sqlite.Store, error) { return sqlite.OpenReaderOf(t.Context(), opt) },
		}
		for way, open := range ways {
			s, err := open()
			if name == "" {
				require.NoError(t, err, way)
				require.NoError(t, s.Close())
				continue
			}
			require.ErrorIs(t, err, store.ErrDamaged, name+" "+way)
			require.ErrorContains(t, err, "no step has made its", name+" "+way)
		}
	}
}
