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
