package sqlite_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/store"
	"posagent/store/marks"
	"posagent/store/sqlite"
)

var (
	boxOne = marks.Box{"serial number": {"s1"}, "card": {"c1"}, "network card": {"n1"}, "machine id": {"m1"}}
	boxTwo = marks.Box{"serial number": {"s2"}, "card": {"c2"}, "network card": {"n2"}, "machine id": {"m1"}} // of a copied card
)

func openOn(path string, box marks.Box, accept string) (*sqlite.Store, error) {
	opt := marked(path)
	opt.Box, opt.Accept = box, accept
	return sqlite.Open(context.Background(), opt)
}

func onBox(t *testing.T, path string, box marks.Box, use func(s *sqlite.Store)) {
	t.Helper()
	s, err := openOn(path, box, "")
	require.NoError(t, err)
	if use != nil {
		use(s)
	}
	require.NoError(t, s.Close())
}

func refusedOn(t *testing.T, path string, box marks.Box) {
	t.Helper()
	_, err := openOn(path, box, "")
	var cut *store.CutError
	require.ErrorAs(t, err, &cut)
	require.Equal(t, "it was last written on another box, with another card and network card and serial number", cut.Why)
	require.False(t, cut.Missing)
	opt := marked(path)
	opt.Box, opt.ReadOnly, opt.Wrapper = box, true, nil
	_, err = sqlite.Open(t.Context(), opt)
	require.ErrorAs(t, err, &cut, "nor is it shown as the journal of this box")
	opt.IgnoreMark = true
	s, err := sqlite.Open(t.Context(), opt)
	require.NoError(t, err, "what is in it can be read")
	require.NoError(t, s.Close())
}

// copied copies a state directory, as the card of a box is copied.
func copied(t *testing.T, path string) string {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.CopyFS(dir, os.DirFS(filepath.Dir(path))))
	return filepath.Join(dir, filepath.Base(path))
}

// TestField2_M52AJournalKnowsItsBox: one card image was started in two boxes, and both sold under one
// journal, one secret and the same ids.
func TestField2_M52AJournalKnowsItsBox(t *testing.T) {
	path := filepath.Join(t.TempDir(), "agent.db")
	onBox(t, path, boxOne, func(s *sqlite.Store) { require.NoError(t, s.Write(t.Context(), insert(1, "sold on one"))) })
	clone := copied(t, path)
	refusedOn(t, clone, boxTwo)
	refusedOn(t, clone, boxTwo) // and at each start after it
	onBox(t, path, boxOne, nil)
	onBox(t, clone, boxOne, nil) // the same box under another directory

	s, err := openOn(clone, boxTwo, "the shop has both boxes")
	require.NoError(t, err)
	before, err := s.Before(t.Context())
	require.NoError(t, err)
	require.Equal(t, store.WasAccepted, before.Kind)
	require.Contains(t, before.Why, "another box")
	require.NoError(t, s.Advance(t.Context()))
	require.NoError(t, s.Close())
	onBox(t, clone, boxTwo, nil)
	_, err = openOn(clone, boxTwo, "again")
	require.ErrorIs(t, err, store.ErrNotCut)
	refusedOn(t, clone, boxOne)
}

// TestField2_M52APartIsNoOtherBox: parts are changed one after the other, each between two starts.
func TestField2_M52APartIsNoOtherBox(t *testing.T) {
	path := filepath.Join(t.TempDir(), "agent.db")
	onBox(t, path, boxOne, nil)
	now := marks.Box{}
	for name, values := range boxOne {
		now[name] = values
	}
	for _, name := range []string{"network card", "card", "serial number", "machine id"} {
		now[name] = []string{"new " + name}
		onBox(t, path, now, nil)
		onBox(t, path, marks.Box{}, nil)                // nothing can be read at this start
		onBox(t, path, marks.Box{name: now[name]}, nil) // nor all of it at this one
	}
	_, err := openOn(path, boxOne, "")
	require.ErrorIs(t, err, store.ErrCut)
}

// TestField2_M52JournalsOfAnOlderProgramLearnTheirBox: they have none yet.
func TestField2_M52JournalsOfAnOlderProgramLearnTheirBox(t *testing.T) {
	path := filepath.Join(t.TempDir(), "agent.db")
	onBox(t, path, nil, func(s *sqlite.Store) { require.NoError(t, s.Write(t.Context(), insert(1, "of before"))) })
	onBox(t, path, boxOne, nil)
	refusedOn(t, copied(t, path), boxTwo)
	onBox(t, path, nil, nil)
	refusedOn(t, copied(t, path), boxTwo)
}

// TestField2_M52ARestoredJournalIsOfTheBoxItIsRestoredTo: its person has said so, and the box it comes
// from may go on.
func TestField2_M52ARestoredJournalIsOfTheBoxItIsRestoredTo(t *testing.T) {
	path := filepath.Join(t.TempDir(), "agent.db")
	onBox(t, path, boxOne, func(s *sqlite.Store) { require.NoError(t, s.Write(t.Context(), insert(1, "sold on one"))) })
	to := filepath.Join(t.TempDir(), "agent.db")
	opt := marked(to)
	require.NoError(t, sqlite.Snapshot(t.Context(), path, to, opt.Wrapper, opt.Wrapper, nil))
	require.NoError(t, sqlite.Stage(t.Context(), opt, opt.Wrapper, "restored from a backup"))
	onBox(t, to, boxTwo, func(s *sqlite.Store) {
		before, err := s.Before(t.Context())
		require.NoError(t, err)
		require.Equal(t, store.WasRestored, before.Kind)
	})
	onBox(t, to, boxTwo, nil)
	refusedOn(t, to, boxOne)
	onBox(t, path, boxOne, nil)
}

// TestField2_M32ASecretComesWithItsJournal: one that a journal made is known where the journal is
// restored, or accepted after a cut, and new where the journal begins anew.
func TestField2_M32ASecretComesWithItsJournal(t *testing.T) {
	path := filepath.Join(t.TempDir(), "agent.db")
	made := func(s *sqlite.Store) (yes bool) {
		_, err := s.Secret(t.Context(), "callers", path+".secret")
		require.NoError(t, err)
		require.NoError(t, s.Read(t.Context(), func(r store.Reader) (err error) { yes, err = store.SecretMade(r); return err }))
		return yes
	}
	onBox(t, path, boxOne, func(s *sqlite.Store) { require.True(t, made(s)) })
	onBox(t, path, boxOne, func(s *sqlite.Store) { require.True(t, made(s)) })
	to := filepath.Join(t.TempDir(), "agent.db")
	opt := marked(to)
	require.NoError(t, sqlite.Snapshot(t.Context(), path, to, opt.Wrapper, opt.Wrapper, nil))
	require.NoError(t, sqlite.Stage(t.Context(), opt, opt.Wrapper, "restored from a backup"))
	onBox(t, to, boxOne, func(s *sqlite.Store) { require.False(t, made(s)) })
	s, err := openOn(path, boxTwo, "one box, a new board")
	require.NoError(t, err)
	require.False(t, made(s))
	require.NoError(t, s.Close())
	other := filepath.Join(t.TempDir(), "agent.db")
	onBox(t, other, boxOne, func(s *sqlite.Store) { require.False(t, made(s), "the file beside the key outlived the journal") })
}
