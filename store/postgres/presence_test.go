package postgres_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/store"
	"posagent/store/postgres"
)

// Who is to have a schema alone waits for nobody: it is refused while others work on it, and they while it does. Another schema is
// another matter.
func TestAlone(t *testing.T) {
	server := start(t)
	if server == nil {
		return
	}
	place := server.Place()
	alone := at(place, "")
	alone.Alone = true
	one, err := postgres.Open(t.Context(), at(place, ""))
	require.NoError(t, err)
	two, err := postgres.Open(t.Context(), at(place, ""))
	require.NoError(t, err)
	_, err = postgres.Open(t.Context(), alone)
	require.ErrorIs(t, err, store.ErrLocked)
	require.NoError(t, one.Close())
	_, err = postgres.Open(t.Context(), alone)
	require.ErrorIs(t, err, store.ErrLocked)
	require.NoError(t, two.Close())

	single, err := postgres.Open(t.Context(), alone)
	require.NoError(t, err)
	_, err = postgres.Open(t.Context(), at(place, ""))
	require.ErrorIs(t, err, store.ErrLocked)
	reader, err := postgres.OpenReader(t.Context(), at(place, ""))
	require.NoError(t, err)
	require.NoError(t, reader.Close())
	kept(t, at(server.Place(), ""))
	require.NoError(t, single.Close())
	kept(t, at(place, ""))

	_, err = postgres.Open(t.Context(), at(server.URL("nowhere"), ""))
	require.ErrorContains(t, err, "CREATE SCHEMA")
}
