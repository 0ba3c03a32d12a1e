package outbox_test

import (
	"cmp"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent/outbox"
	"posagent/schemes/wire"
	"posagent/store"
)

// acceptOlder stores an operation as it was stored before rows kept their data keys and digests were made ahead.
func (r *rig) acceptOlder(n outbox.New, id int64) {
	r.t.Helper()
	require.NoError(r.t, r.db.Write(r.t.Context(), func(tx store.Tx) error {
		key := string(n.Key)
		sealed, err := r.db.Seal(tx, store.Cell{Table: "outbox_ops", Key: key, Column: "payload"}, n.Payload)
		if err != nil {
			return err
		}
		digest := r.db.MAC("outbox_accepted", key, n.Kind, n.Aggregate, n.Payload, n.AmountMin, n.Currency)
		mac := r.db.MAC("outbox_ops", key, id, n.Kind, n.Aggregate, "PENDING", "PENDING", n.AmountMin, n.Currency, digest, sealed, nil, nil, 0, -1)
		_, err = tx.Exec(`INSERT INTO outbox_ops (id, key, kind, aggregate, state, resume, note, amount, currency, digest, payload, reason, attempts,
			created_ms, settled_ms, accepted_run, next_run, sent_age, mac, open, ready)
			VALUES (?, ?, ?, ?, 'PENDING', 'PENDING', '', ?, ?, ?, ?, '', 0, 0, 0, 0, 0, -1, ?, 1, 1)`,
			id, key, n.Kind, n.Aggregate, n.AmountMin, n.Currency, digest, sealed, mac)
		return err
	}))
}

// What an older program accepted is known by its Key, and sent with its payload; its data key is destroyed at the end.
func TestWhatAnOlderProgramAccepted(t *testing.T) {
	b := &backend{}
	tries := 0
	b.mode = func(op outbox.Op) outbox.Verdict { // once with a memo
		if tries++; tries == 1 {
			return outbox.Verdict{State: outbox.Sent, Memo: []byte("once")}
		}
		if string(op.Memo) != "once" {
			return outbox.Verdict{State: outbox.Failed, Reason: "memo " + string(op.Memo)}
		}
		b.effect(op.Key)
		return outbox.Verdict{State: outbox.Done}
	}
	bubble(t, []outbox.Kind{b.kind("k")}, func(t *testing.T, r *rig) {
		n := newOp("k", "a")
		n.AmountMin = 700
		r.stop()
		r.open()
		r.acceptOlder(n, 1)
		r.accept(n)
		n.AmountMin++
		err := r.db.Write(t.Context(), func(tx store.Tx) error { return r.o.Accept(tx, n) })
		require.Equal(t, wire.KeyReused, wire.CodeOf(err))
		r.start()
		pass(time.Minute)
		require.Equal(t, outbox.Done, r.get(n.Key).State, r.get(n.Key).Reason)
		require.Equal(t, n.Payload, b.calls[0].Payload)
		left := 0
		require.NoError(t, r.db.Read(t.Context(), func(rd store.Reader) error { return rd.QueryRow(`SELECT COUNT(*) FROM store_keys`).Scan(&left) }))
		require.Zero(t, left)
		r.agree()
	})
}

// What is not committed takes no place in the order, and the sums are those of the rows whatever rolls back.
func TestField_U13NumbersAndSumsOverRollbacks(t *testing.T) {
	b := &backend{mode: unreachable}
	bubble(t, []outbox.Kind{b.kind("k")}, func(t *testing.T, r *rig) {
		no := errors.New("not this one")
		last := int64(0)
		var first wire.Key
		for i := range 300 {
			n := newOp("k", fmt.Sprint(i))
			n.AmountMin = int64(i)
			err := r.db.Write(t.Context(), func(tx store.Tx) error {
				if err := r.o.Accept(tx, n); err != nil {
					return err
				}
				if i%3 == 0 {
					return no
				}
				return nil
			})
			if i%3 == 0 {
				require.ErrorIs(t, err, no)
				continue
			}
			require.NoError(t, err)
			id := r.get(n.Key).ID
			require.Greater(t, id, last)
			last = id
			if i%10 == 1 {
				require.NoError(t, r.o.Hold(t.Context(), n.Key, "t"))
				first = cmp.Or(first, n.Key)
			}
			r.agree(i)
		}
		require.NoError(t, r.o.Resolve(t.Context(), first, outbox.Failed, "t")) // it was added to the sums long ago
		require.Contains(t, r.report(), outbox.Line{Kind: "k", Currency: "EUR", State: outbox.Failed, Count: 1, Sum: 1})
		r.agree()
		r.kill()
		r.start()
		n := newOp("k", "again")
		r.accept(n)
		require.Greater(t, r.get(n.Key).ID, last)
		r.agree()
	})
}
