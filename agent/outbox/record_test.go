package outbox_test

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent/outbox"
	"posagent/store"
)

// Every change of an operation's state is recorded once, in its commit: what the commit loses, the record loses.
func TestRecord(t *testing.T) {
	b := &backend{mode: unreachable}
	full := errors.New("no room for the record")
	var refuse error
	bubble(t, []outbox.Kind{b.kind("k")}, func(t *testing.T, r *rig) {
		r.opts.Record = func(tx store.Tx, was outbox.State, op outbox.Op) error {
			if refuse != nil {
				return refuse
			}
			_, err := tx.Exec(`INSERT INTO settled (key, state) VALUES (?, ?)`, "record "+string(op.Key), string(was)+">"+string(op.State))
			return err
		}
		require.NoError(t, r.db.Close())
		r.open()
		r.start()
		n := newOp("k", "a")
		refuse = full
		require.ErrorIs(t, r.db.Write(t.Context(), func(tx store.Tx) error { return r.o.Accept(tx, n) }), full)
		require.NoError(t, r.db.Read(t.Context(), func(rd store.Reader) error {
			_, err := r.o.Get(rd, n.Key)
			require.ErrorIs(t, err, outbox.ErrUnknown)
			return nil
		}))
		refuse = nil
		r.accept(n)
		pass(time.Second / 2)
		require.NoError(t, r.o.Hold(t.Context(), n.Key, "later"))
		b.set(nil)
		pass(time.Minute)
		require.NoError(t, r.o.Release(t.Context(), n.Key))
		pass(time.Minute)
		require.Equal(t, outbox.Done, r.get(n.Key).State)
		require.Equal(t, []string{">PENDING", "PENDING>SENT", "SENT>PENDING", "PENDING>HELD", "HELD>PENDING", "PENDING>SENT", "SENT>DONE"},
			r.settled("record "+n.Key))
	})
}
