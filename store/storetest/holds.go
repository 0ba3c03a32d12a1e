package storetest

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/store"
)

// Holds lists the columns of all tables that hold one of the texts, as "table.column".
func Holds(t testing.TB, r store.Reader, texts ...string) (list []string) {
	t.Helper()
	tables, err := store.Column[string](r, `SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name`)
	require.NoError(t, err)
	require.NotEmpty(t, tables)
	for _, table := range tables {
		rows, err := r.Query(`SELECT * FROM "` + table + `"`)
		require.NoError(t, err, table)
		columns, err := rows.Columns()
		require.NoError(t, err, table)
		found := make([]bool, len(columns))
		for rows.Next() {
			values, places := make([][]byte, len(columns)), make([]any, len(columns))
			for i := range values {
				places[i] = &values[i]
			}
			require.NoError(t, rows.Scan(places...), table)
			for i, v := range values {
				for _, text := range texts {
					found[i] = found[i] || bytes.Contains(v, []byte(text))
				}
			}
		}
		require.NoError(t, rows.Err(), table)
		require.NoError(t, rows.Close(), table)
		for i, yes := range found {
			if yes {
				list = append(list, table+"."+columns[i])
			}
		}
	}
	return list
}
