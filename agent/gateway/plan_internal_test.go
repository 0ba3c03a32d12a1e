package gateway

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/agent/outbox"
	"posagent/store"
	"posagent/store/sqlite"
	"posagent/store/storetest"
)

// What an accept asks is found by indexes, however long the tables are.
func TestAnAcceptScansNoTable(t *testing.T) {
	db, err := sqlite.Open(t.Context(), sqlite.Options{
		Path: filepath.Join(t.TempDir(), "agent.db"), Steps: append(outbox.Schema(), Schema()...), Wrapper: storetest.Wrapper{}, Ballast: -1, Synchronous: "OFF",
	})
	require.NoError(t, err)
	defer db.Close()
	half := make([]byte, nameBytes)
	for _, c := range []struct {
		name, query string
		args        []any
	}{{"a client's key", knownKey, []any{half, half, ""}}, {"a client's key by name", namedKeys, []any{half, half, maxNamed, true, ""}},
		{"what an operation makes", youngThing, []any{"", ""}}, {"the ids of a thing", shownIDs, []any{"", ""}}} {
		require.NoError(t, db.Read(t.Context(), func(r store.Reader) error {
			rows, err := r.Query("EXPLAIN QUERY PLAN "+c.query, c.args...)
			require.NoError(t, err)
			defer rows.Close()
			steps := 0
			for rows.Next() {
				var id, parent, none int
				var text string
				require.NoError(t, rows.Scan(&id, &parent, &none, &text))
				require.NotContains(t, text, "SCAN", c.name)
				steps++
			}
			require.Greater(t, steps, 1, c.name)
			return rows.Err()
		}))
	}
}
