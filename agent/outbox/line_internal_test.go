package outbox

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/store"
	"posagent/store/sqlite"
	"posagent/store/storetest"
)

// Each question about an aggregate is answered by an index, and what is first of many without sorting them.
func TestQuestionsAboutALineAreSeeks(t *testing.T) {
	db, err := sqlite.Open(t.Context(), sqlite.Options{
		Path: filepath.Join(t.TempDir(), "agent.db"), Steps: Schema(), Wrapper: storetest.Wrapper{}, Ballast: -1, Synchronous: "OFF",
	})
	require.NoError(t, err)
	defer db.Close()
	few := `SELECT id FROM outbox_ops a WHERE state = 'DONE' AND kind = 'k' AND accepted_run <= 1 AND` + finalForLong + ` ORDER BY accepted_run LIMIT 1`
	for query, c := range map[string]struct {
		args   int
		sorted bool // it sorts an aggregate
	}{
		openBefore: {2, false}, openAfter: {2, false}, openAhead: {2, false}, nextPending: {2, false}, markFirst: {1, false}, nextInLine: {2, true},
		insertRow: {18, false}, updateRow: {17, false}, few: {1, false},
	} {
		args := make([]any, c.args)
		for i := range args {
			args[i] = "x"
		}
		require.NoError(t, db.Read(t.Context(), func(r store.Reader) error {
			rows, err := r.Query("EXPLAIN QUERY PLAN "+query, args...)
			require.NoError(t, err, query)
			defer rows.Close()
			line, byKey := 0, 0
			for rows.Next() {
				var id, parent, none int
				var text string
				require.NoError(t, rows.Scan(&id, &parent, &none, &text))
				require.NotRegexp(t, `^SCAN (outbox_ops|a|b)\b`, text, query)
				require.Equal(t, c.sorted, strings.Contains(text, "TEMP B-TREE") || c.sorted, "%s: %s", query, text)
				if strings.Contains(text, "outbox_ops_line (aggregate=?") {
					line++
				}
				if strings.Contains(text, "(key=?") {
					byKey++
				}
			}
			require.Equal(t, 1, line, query)
			require.Equal(t, 1, byKey, query)
			return rows.Err()
		}))
	}
}
