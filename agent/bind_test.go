package agent_test

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent"
	"posagent/store"
	"posagent/store/storetest"
)

// A journal belongs to one merchant and terminal for good: the receipts and batches in it are theirs.
func TestField_J6AJournalBelongsToOneTerminal(t *testing.T) {
	db := storetest.Open(t, agent.Schema()...)
	ctx := t.Context()
	require.NoError(t, agent.Bind(ctx, db, store.Beside{}, agent.Owner("https://a.example", "m", "1"), nil))
	var other *agent.OtherBackendError
	require.ErrorAs(t, agent.Bind(ctx, db, store.Beside{}, agent.Owner("https://a.example", "m", "2"), nil), &other)
	require.Equal(t, agent.OtherBackendError{Was: "https://a.example (merchant m, terminal 1)", Now: "https://a.example (merchant m, terminal 2)"}, *other)
	require.ErrorAs(t, agent.Bind(ctx, db, store.Beside{}, agent.Owner("https://a.example", "n", "1"), nil), &other)
	require.NoError(t, agent.Bind(ctx, db, store.Beside{}, agent.Owner("https://b.example", "m", "1"), nil), "the backend has moved")
	require.NoError(t, db.Write(ctx, agent.Unbind))
	require.NoError(t, agent.Bind(ctx, db, store.Beside{}, agent.Owner("https://b.example", "m", "2"), nil))
}

func TestAJournalBelongsToOneBackend(t *testing.T) {
	db := storetest.Open(t, agent.Schema()...)
	ctx := t.Context()
	require.NoError(t, agent.Bind(ctx, db, store.Beside{}, "a", nil))
	require.NoError(t, agent.Bind(ctx, db, store.Beside{}, "a", nil))
	require.NoError(t, agent.Bind(ctx, db, store.Beside{}, "b", nil), "nothing open: it may change hands")

	require.NoError(t, db.Write(ctx, func(tx store.Tx) error {
		_, err := tx.Exec(`INSERT INTO outbox_ops (key, kind, aggregate, state, resume, note, amount, currency, digest, reason, attempts,
			created_ms, settled_ms, accepted_run, next_run, sent_age, open, ready, mac)
			VALUES ('k', 'aapay.reversal', 'a', 'SENT', '', '', 300, 'EUR', x'00', '', 1, 0, 0, 0, 0, 0, 1, 1, x'00')`)
		return err
	}))
	var other *agent.OtherBackendError
	require.True(t, errors.As(agent.Bind(ctx, db, store.Beside{}, "c", nil), &other))
	require.Equal(t, agent.OtherBackendError{Was: "b", Now: "c", Ops: 1}, *other)
	require.NoError(t, agent.Bind(ctx, db, store.Beside{}, "b", nil), "the refusal changed nothing")
	require.NoError(t, db.Write(ctx, func(tx store.Tx) error {
		_, err := tx.Exec(`UPDATE outbox_ops SET open = 0, state = 'DONE'`)
		return err
	}))
	require.NoError(t, agent.Bind(ctx, db, store.Beside{}, "c", nil))
}

// A journal with operations of a real backend is never a sandbox's, whatever numbers its configuration has; an untouched one may be.
func TestARealJournalIsNoSandboxs(t *testing.T) {
	db := storetest.Open(t, agent.Schema()...)
	ctx := t.Context()
	live, play := agent.Owner("https://a.example", "m", "1"), agent.Owner(agent.Sandbox, "m", "1")
	require.NoError(t, agent.Bind(ctx, db, store.Beside{}, live, nil))
	require.NoError(t, agent.Bind(ctx, db, store.Beside{}, play, nil), "nothing is in it")
	require.NoError(t, agent.Bind(ctx, db, store.Beside{}, live, nil), "a sandbox becomes a terminal")
	require.NoError(t, db.Write(ctx, func(tx store.Tx) error {
		_, err := tx.Exec(`INSERT INTO outbox_ops (key, kind, aggregate, state, resume, note, amount, currency, digest, reason, attempts,
			created_ms, settled_ms, accepted_run, next_run, sent_age, open, ready, mac)
			VALUES ('k', 'aapay.reversal', 'a', 'DONE', '', '', 300, 'EUR', x'00', '', 1, 0, 0, 0, 0, 0, 0, 0, x'00')`)
		return err
	}))
	var other *agent.OtherBackendError
	require.ErrorAs(t, agent.Bind(ctx, db, store.Beside{}, play, nil), &other)
	require.True(t, other.ToSandbox())
	require.False(t, other.Foreign())
	require.NoError(t, agent.Bind(ctx, db, store.Beside{}, agent.Owner("https://b.example", "m", "1"), nil), "the backend has moved")
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
	require.NoError(t, agent.Bind(ctx, db, store.Beside{}, "a", nil))
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

// TestField2_M20AServiceIsBoundToItsBooks: the journal was bound to the schemes' address alone; a payment whose answer was lost at
// one acquirer was sent again, under its Key, to another. The kind: address and account of each service that operations are stored
// for, at start, reload and revision (all ask Fits or Bind), while an operation or a sale by link is open there; and a person's word.
func TestField2_M20AServiceIsBoundToItsBooks(t *testing.T) {
	const owner = "https://a.example (merchant m, terminal 1)"
	for service, kind := range map[string]string{"payments": "payments.create", "tokens": "tokens.recurring", "paylinks": "paylink.reversal"} {
		for what, to := range map[string]string{"address": agent.Place("https://b.example", "x"), "account": agent.Place("https://a.example", "y")} {
			t.Run(service+" "+what, func(t *testing.T) {
				db := storetest.Open(t, agent.Schema()...)
				ctx := t.Context()
				from := agent.Place("https://a.example", "x")
				at := func(place string) agent.Places {
					all := agent.Places{"payments": from, "tokens": from, "paylinks": from}
					all[service] = place
					return all
				}
				fits := func(places agent.Places) error {
					return db.Read(ctx, func(r store.Reader) error { return agent.Fits(r, owner, places) })
				}
				require.NoError(t, agent.Bind(ctx, db, store.Beside{}, owner, at(from)))
				require.NoError(t, agent.Bind(ctx, db, store.Beside{}, owner, at(to)), "nothing is open")
				require.NoError(t, agent.Bind(ctx, db, store.Beside{}, owner, at(from)))
				require.NoError(t, db.Write(ctx, func(tx store.Tx) error {
					_, err := tx.Exec(`INSERT INTO outbox_ops (key, kind, aggregate, state, resume, note, amount, currency, digest, reason, attempts,
						created_ms, settled_ms, accepted_run, next_run, sent_age, open, ready, mac)
						VALUES ('k', ?, 'a', 'SENT', '', '', 300, 'EUR', x'00', '', 1, 0, 0, 0, 0, 0, 1, 1, x'00')`, kind)
					return err
				}))
				var other *agent.OtherBackendError
				require.ErrorAs(t, agent.Bind(ctx, db, store.Beside{}, owner, at(to)), &other)
				require.Equal(t, agent.OtherBackendError{Service: service, Was: service + " at " + from, Now: to, Ops: 1}, *other)
				require.ErrorAs(t, fits(at(to)), &other)
				require.False(t, other.Foreign(), "it is the same terminal")
				require.NoError(t, fits(at(from)), "the refusal changed nothing")
				others := agent.Move{Service: service, Others: true, Reason: "another acquirer"}
				require.ErrorAs(t, agent.Moved(ctx, db, store.Beside{}, time.UnixMilli(1), others, owner, at(to)), &other, "what is open is not abandoned")
				require.Equal(t, 1, other.Ops)

				require.NoError(t, agent.Moved(ctx, db, store.Beside{}, time.UnixMilli(1), agent.Move{Service: service, Reason: "a new host name"}, owner, at(to)))
				require.NoError(t, agent.Bind(ctx, db, store.Beside{}, owner, at(to)))
				require.ErrorIs(t, agent.Moved(ctx, db, store.Beside{}, time.UnixMilli(1), agent.Move{Service: service, Reason: "again"}, owner, at(to)), agent.ErrNotMoved)
				require.NoError(t, db.Read(ctx, func(r store.Reader) error {
					detail := ""
					require.NoError(t, r.QueryRow(`SELECT detail FROM audit_log WHERE deed = 'journal.moved'`).Scan(&detail))
					require.Contains(t, detail, "a new host name")
					return nil
				}))
			})
		}
	}
}
