package storetest

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/store"
)

func tableStep(n int) store.Step {
	return store.Step{Name: fmt.Sprintf("suite/t%d", n), SQL: fmt.Sprintf("CREATE TABLE suite_t%d (id INTEGER PRIMARY KEY) STRICT; INSERT INTO suite_t%d (id) VALUES (1);", n, n)}
}

// has reports whether the table of a tableStep is there, with its one row.
func has(t *testing.T, db store.DB, n int) bool {
	t.Helper()
	rows := 0
	err := db.Read(t.Context(), func(r store.Reader) error {
		return r.QueryRow(fmt.Sprintf("SELECT count(*) FROM suite_t%d", n)).Scan(&rows)
	})
	if err == nil {
		require.Equal(t, 1, rows, "a step was applied twice")
	}
	return err == nil
}

// steps are the cases of migrations.
var steps = []test{
	{"each step is applied once, in any order of the rooms", func(t *testing.T, s suite) {
		place := s.Place(t)
		before := 0
		for _, list := range [][]int{{1}, {1, 2}, {3, 1, 2}, {2, 3, 1}} {
			var all []store.Step
			for _, n := range list {
				all = append(all, tableStep(n))
			}
			db := s.at(t, place, all...)
			for _, n := range list {
				require.True(t, has(t, db, n))
			}
			schema := db.Health(t.Context()).Schema
			require.GreaterOrEqual(t, schema, before)
			before = schema
			require.NoError(t, db.Close())
		}
	}},
	{"a store of a newer program is refused", func(t *testing.T, s suite) {
		place := s.Place(t)
		require.NoError(t, s.at(t, place, tableStep(1), tableStep(2)).Close())
		_, err := s.Open(t.Context(), place, []store.Step{tableStep(1)}, Wrapper{})
		require.ErrorIs(t, err, store.ErrNewer)
		var newer *store.NewerError
		require.ErrorAs(t, err, &newer)
		require.Equal(t, newer.Known+1, newer.File)
		require.True(t, has(t, s.at(t, place, tableStep(1), tableStep(2)), 2), "nothing was changed")
	}},
	{"a step that fails leaves nothing of itself", func(t *testing.T, s suite) {
		place := s.Place(t)
		bad := tableStep(2)
		bad.SQL += "INSERT INTO suite_t2 (id) VALUES (1);" // taken
		_, err := s.Open(t.Context(), place, []store.Step{tableStep(1), bad}, Wrapper{})
		require.ErrorContains(t, err, "suite/t2")
		db := s.at(t, place, tableStep(1))
		require.True(t, has(t, db, 1), "the step before it stays")
		require.False(t, has(t, db, 2))
		require.NoError(t, db.Close())
		require.True(t, has(t, s.at(t, place, tableStep(1), tableStep(2)), 2))
	}},
	{"a name is one step's", func(t *testing.T, s suite) {
		twice := tableStep(2)
		twice.Name = tableStep(1).Name
		for _, list := range [][]store.Step{{tableStep(1), twice}, {{SQL: "SELECT 1"}}} {
			_, err := s.Open(t.Context(), s.Place(t), list, Wrapper{})
			require.ErrorContains(t, err, "name")
		}
	}},
	{"a store needs a wrapper", func(t *testing.T, s suite) {
		_, err := s.Open(t.Context(), s.Place(t), nil, nil)
		require.ErrorIs(t, err, store.ErrNoWrapper)
	}},
	{"a store that is open is healthy, and takes new work", func(t *testing.T, s suite) {
		db := s.open(t)
		require.NoError(t, db.Write(t.Context(), put(1, 0)))
		h := db.Health(t.Context())
		require.Equal(t, store.Ready, h.State)
		require.NoError(t, h.Err)
		require.Positive(t, h.Schema)
		require.Positive(t, h.Writes)
		require.Positive(t, h.Commits)
		require.NoError(t, db.Reserved(t.Context()))
		require.NoError(t, db.Check(t.Context()))
	}},
}
