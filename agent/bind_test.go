package agent_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/agent"
	"posagent/store"
	"posagent/store/storetest"
)

// A journal belongs to one merchant and terminal for good: the receipts and batches in it are theirs.
func TestField_J6AJournalBelongsToOneTerminal(t *testing.T) {
	db := storetest.Open(t, agent.Schema()...)
	ctx := t.Context()
	require.NoError(t, agent.Bind(ctx, db, agent.Owner("https://a.example", "m", "1")))
	var other *agent.OtherBackendError
	require.ErrorAs(t, agent.Bind(ctx, db, agent.Owner("https://a.example", "m", "2")), &other)
	require.Equal(t, agent.OtherBackendError{Was: "https://a.example (merchant m, terminal 1)", Now: "https://a.example (merchant m, terminal 2)"}, *other)
	require.ErrorAs(t, agent.Bind(ctx, db, agent.Owner("https://a.example", "n", "1")), &other)
	require.NoError(t, agent.Bind(ctx, db, agent.Owner("https://b.example", "m", "1")), "the backend has moved")
	require.NoError(t, db.Write(ctx, agent.Unbind))
	require.NoError(t, agent.Bind(ctx, db, agent.Owner("https://b.example", "m", "2")))
}

func TestAJournalBelongsToOneBackend(t *testing.T) {
	db := storetest.Open(t, agent.Schema()...)
	ctx := t.Context()
	require.NoError(t, agent.Bind(ctx, db, "a"))
	require.NoError(t, agent.Bind(ctx, db, "a"))
	require.NoError(t, agent.Bind(ctx, db, "b"), "nothing open: it may change hands")

	require.NoError(t, db.Write(ctx, func(tx store.Tx) error {
		_, err := tx.Exec(`INSERT INTO outbox_ops (key, kind, aggregate, state, resume, note, amount, currency, digest, reason, attempts,
			created_ms, settled_ms, accepted_run, next_run, sent_age, open, ready, mac)
			VALUES ('k', 'aapay.reversal', 'a', 'SENT', '', '', 300, 'EUR', x'00', '', 1, 0, 0, 0, 0, 0, 1, 1, x'00')`)
		return err
	}))
	var other *agent.OtherBackendError
	require.True(t, errors.As(agent.Bind(ctx, db, "c"), &other))
	require.Equal(t, agent.OtherBackendError{Was: "b", Now: "c", Ops: 1}, *other)
	require.NoError(t, agent.Bind(ctx, db, "b"), "the refusal changed nothing")
	require.NoError(t, db.Write(ctx, func(tx store.Tx) error {
		_, err := tx.Exec(`UPDATE outbox_ops SET open = 0, state = 'DONE'`)
		return err
	}))
	require.NoError(t, agent.Bind(ctx, db, "c"))
}

// A journal with operations of a real backend is never a sandbox's, whatever numbers its configuration has; an untouched one may be.
func TestARealJournalIsNoSandboxs(t *testing.T) {
	db := storetest.Open(t, agent.Schema()...)
	ctx := t.Context()
	live, play := agent.Owner("https://a.example", "m", "1"), agent.Owner(agent.Sandbox, "m", "1")
	require.NoError(t, agent.Bind(ctx, db, live))
	require.NoError(t, agent.Bind(ctx, db, play), "nothing is in it")
	require.NoError(t, agent.Bind(ctx, db, live), "a sandbox becomes a terminal")
	require.NoError(t, db.Write(ctx, func(tx store.Tx) error {
		_, err := tx.Exec(`INSERT INTO outbox_ops (key, kind, aggregate, state, resume, note, amount, currency, digest, reason, attempts,
			created_ms, settled_ms, accepted_run, next_run, sent_age, open, ready, mac)
			VALUES ('k', 'aapay.reversal', 'a', 'DONE', '', '', 300, 'EUR', x'00', '', 1, 0, 0, 0, 0, 0, 0, 0, x'00')`)
		return err
	}))
	var other *agent.OtherBackendError
	require.ErrorAs(t, agent.Bind(ctx, db, play), &other)
	require.True(t, other.ToSandbox())
	require.False(t, other.Foreign())
	require.NoError(t, agent.Bind(ctx, db, agent.Owner("https://b.example", "m", "1")), "the backend has moved")
}

// A journal is untouched until something is in it, and never again.
func TestAJournalIsUntouchedOnce(t *testing.T) {
	db := storetest.Open(t, agent.Schema()...)
	ctx := t.Context()
	untouched := func() (yes bool) {
		require.NoError(t, db.Read(ctx, func(r store.Reader) (err error) { yes, err = agent.Untouched(r); return err }))
		return yes
	}
	require.True(t, untouched())
	require.NoError(t, agent.Bind(ctx, db, "a"))
	require.True(t, untouched())
	require.NoError(t, db.Write(ctx, func(tx store.Tx) error {
		_, err := tx.Exec(`INSERT INTO outbox_ops (key, kind, aggregate, state, resume, note, amount, currency, digest, reason, attempts,
			created_ms, settled_ms, accepted_run, next_run, sent_age, open, ready, mac)
			VALUES ('k', 'aapay.reversal', 'a', 'DONE', '', '', 300, 'EUR', x'00', '', 1, 0, 0, 0, 0, 0, 0, 0, x'00')`)
		return err
	}))
	require.False(t, untouched(), "though it has ended")
	other := storetest.Open(t, agent.Schema()...)
	require.NoError(t, other.Write(ctx, func(tx store.Tx) error {
		_, err := tx.Exec(`INSERT INTO checkout_counters (name, value) VALUES ('receipt', 7)`)
		return err
	}))
	require.NoError(t, other.Read(ctx, func(r store.Reader) error {
		yes, err := agent.Untouched(r)
		require.False(t, yes, "receipts were given")
		return err
	}))
}
