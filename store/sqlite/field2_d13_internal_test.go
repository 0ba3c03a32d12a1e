package sqlite

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/store"
)

// TestField2_D13AStartHasAReserveOfItsOwn: where the disk has nothing left at a start, it gives up what the run before has kept, else what
// was kept for a start, which nothing else gives up; both are made again as soon as there is room for the work that they are kept for.
func TestField2_D13AStartHasAReserveOfItsOwn(t *testing.T) {
	dir, free := t.TempDir(), int64(1<<30)
	starts := func() *reserve {
		return &reserve{path: filepath.Join(dir, "b"), size: 64 << 10, free: func(string) (int64, error) { return free, nil }}
	}
	lies := func(b *reserve) [2]bool { return [2]bool{fileSize(b.path) > 0, fileSize(b.forStart()) > 0} }
	b := starts()
	require.False(t, b.begin(), "there is room")
	require.NoError(t, b.ensure())
	require.Equal(t, [2]bool{true, true}, lies(b))

	free = lowWater - 1
	b.releaseIfLow()
	require.False(t, b.release(), "a run has one")
	require.Equal(t, [2]bool{false, true}, lies(b))
	require.ErrorIs(t, b.ensure(), store.ErrFull, "nothing new is taken")

	b = starts() // the process was killed
	require.True(t, b.begin())
	require.Equal(t, [2]bool{false, false}, lies(b), "what is owed is ended in its place")
	require.ErrorIs(t, b.ensure(), store.ErrFull)
	require.False(t, starts().begin(), "and the next start has none")

	free = 2*b.size + lowWater
	require.NoError(t, b.ensure())
	require.Equal(t, [2]bool{true, true}, lies(b))
	free = 0
	b = starts()
	require.True(t, b.begin(), "killed before it met the full disk")
	require.Equal(t, [2]bool{false, true}, lies(b), "the run's own goes first")
	none := starts()
	none.size = -1
	require.False(t, none.begin())
}

// TestField2_D13TheReserveForAStartGoesWithTheJournal: no verb that takes a journal away leaves it behind.
func TestField2_D13TheReserveForAStartGoesWithTheJournal(t *testing.T) {
	for name, away := range map[string]func(path string) error{
		"removed":   func(path string) error { return Remove(t.Context(), path, false) },
		"put aside": func(path string) error { return PutAside(t.Context(), path, path+".aside") },
	} {
		s := openPlain(t, Options{Ballast: 32 << 10})
		require.NoError(t, s.Reserved(t.Context()))
		next := s.reserve.forStart()
		require.FileExists(t, next)
		require.NoError(t, s.Close())
		require.NoError(t, away(s.opt.Path))
		require.NoFileExists(t, next, name)
	}
}
