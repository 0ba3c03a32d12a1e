package agent_test

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent"
	"posagent/agent/checkout/drive/journal"
	"posagent/agent/outbox"
	"posagent/schemes/wire"
	"posagent/store"
	"posagent/store/sqlite"
	"posagent/store/storetest"
)

// However an old journal was put back, nothing of it is sent again by itself.
func TestMoneyC3_AJournalPutBackIsHeld(t *testing.T) {
	path := filepath.Join(t.TempDir(), "agent.db")
	boot := func() time.Duration { return time.Hour }
	opt := sqlite.Options{Path: path, Wrapper: storetest.Wrapper{}, Ballast: -1, Marks: []string{store.MarkPath(path)}}
	start := func() (store.Journal, agent.Recovered) {
		db, err := agent.Open(t.Context(), opt)
		require.NoError(t, err)
		opt.Accept = ""
		r, err := agent.Recover(t.Context(), db, time.Now, boot, slog.New(slog.DiscardHandler))
		require.NoError(t, err)
		return db, r
	}
	states := func(db store.Journal) (list []string) {
		require.NoError(t, db.Read(t.Context(), func(r store.Reader) (err error) {
			list, err = store.Column[string](r, `SELECT state || ' ' || resume FROM outbox_ops ORDER BY id`)
			return err
		}))
		return list
	}
	db, r := start()
	require.Equal(t, agent.Recovered{}, r)
	box := outbox.NewOutbox(outbox.Options{DB: db, Kinds: []outbox.Kind{{Name: "k", Send: neverSent}}})
	require.NoError(t, db.Write(t.Context(), func(tx store.Tx) error {
		return box.Accept(tx, outbox.New{Key: wire.NewKey(), Kind: "k", Aggregate: "a", Payload: []byte("x"), AmountMin: 5, Currency: "EUR"})
	}))
	require.NoError(t, db.Close())
	old, err := os.ReadFile(path)
	require.NoError(t, err)

	db, r = start()
	require.Empty(t, r.Why, "a kill between start and end is no restore")
	require.Equal(t, []string{"PENDING PENDING"}, states(db))
	require.NoError(t, db.Write(t.Context(), func(tx store.Tx) error {
		_, err := tx.Exec(`INSERT INTO checkout_counters (name, value) VALUES ('trace', 41), ('receipt', 7), ('batch', 3)`)
		return err
	}))
	require.NoError(t, db.Close())

	require.NoError(t, os.WriteFile(path, old, 0o600))
	_, err = agent.Open(t.Context(), opt)
	require.ErrorIs(t, err, store.ErrCut, "a person has to look first")
	opt.Accept = "looked"
	db, r = start()
	require.Equal(t, 1, r.Ops)
	require.NotEmpty(t, r.Why)
	require.Equal(t, []string{"HELD SENT"}, states(db))
	given := func(r store.Reader) error {
		n, err := journal.Given(r)
		require.Equal(t, journal.Numbers{Receipt: 7, Trace: 41, Batch: 4}, n, "a new batch, and receipts go on behind all that were given")
		return err
	}
	require.NoError(t, db.Read(t.Context(), given))
	require.NoError(t, db.Close())
	db, r = start()
	require.Equal(t, agent.Recovered{}, r, "said once")
	require.Equal(t, []string{"HELD SENT"}, states(db))
	require.NoError(t, db.Close())
}

func neverSent(context.Context, outbox.Op) outbox.Verdict { panic("nothing runs here") }

// TestField2_U5ASandboxLeavesNothingBehind: its journal held no money, so the next one holds nothing for
// it, and neither status nor doctor speaks of it. After a terminal's reset both do, as before.
func TestField2_U5ASandboxLeavesNothingBehind(t *testing.T) {
	for why, alarm := range map[string]bool{store.OfSandbox: false, "": true} {
		path := filepath.Join(t.TempDir(), "agent.db")
		marks := []string{store.MarkPath(path)}
		opt := sqlite.Options{Path: path, Wrapper: storetest.Wrapper{}, Ballast: -1, Marks: marks}
		start := func() (past string) {
			db, err := agent.Open(t.Context(), opt)
			require.NoError(t, err)
			_, err = agent.Recover(t.Context(), db, time.Now, func() time.Duration { return time.Hour }, slog.New(slog.DiscardHandler))
			require.NoError(t, err)
			require.NoError(t, db.Read(t.Context(), func(r store.Reader) (err error) { past, err = outbox.Past(r); return err }))
			require.NoError(t, db.Close())
			return past
		}
		require.Empty(t, start())
		require.NoError(t, sqlite.Ended(path, marks, false, store.WasReset, why))
		require.NoError(t, sqlite.Remove(t.Context(), path, false))
		require.NoError(t, sqlite.Ended(path, marks, true, store.WasReset, why))
		require.Equal(t, alarm, start() != "", "%q", why)
		require.Equal(t, alarm, start() != "", "%q: it stays", why)
	}
}
