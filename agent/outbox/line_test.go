package outbox_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent/outbox"
	"posagent/store"
)

// An aggregate that is named after its first operation's Key is one line like any other: in its order, in a list, for its owner, where
// the first fails, and in the purge. Whether an older program stored the first makes no difference.
func TestALineLedByItsKey(t *testing.T) {
	for name, older := range map[string]bool{"this program": false, "an older one": true} {
		t.Run(name, func(t *testing.T) {
			b := &backend{mode: unreachable}
			create := b.kind("create")
			create.Breaks = true
			bubble(t, []outbox.Kind{create, b.kind("k")}, func(t *testing.T, r *rig) {
				r.stop()
				r.opts.Retention = 3 * time.Hour
				r.open()
				lead := func() (first, second outbox.New) {
					first = newOp("create", "")
					first.Aggregate = "thing/L" + string(first.Key)
					second = newOp("k", first.Aggregate)
					r.accept(first)
					if older {
						require.NoError(t, r.db.Write(t.Context(), func(tx store.Tx) error {
							_, err := tx.Exec(`UPDATE outbox_ops SET leads = 0`)
							return err
						}))
					}
					r.accept(second)
					return first, second
				}
				r.start()
				good, follow := lead()
				bad, broken := lead()
				pass(time.Minute)
				for _, op := range b.calls {
					require.Equal(t, "create", op.Kind, "the one behind is not sent first")
				}
				for _, first := range []outbox.New{good, bad} {
					list := r.list(outbox.Filter{Aggregate: first.Aggregate})
					require.Len(t, list, 2)
					require.Equal(t, first.Key, list[0].Key)
				}
				require.NoError(t, r.db.Read(t.Context(), func(rd store.Reader) error {
					op, err := outbox.Look(rd, follow.Key)
					require.NoError(t, err)
					ahead, err := outbox.Ahead(rd, op)
					require.Equal(t, good.Key, ahead.Key)
					return err
				}))
				require.NoError(t, r.db.Write(t.Context(), func(tx store.Tx) error {
					ops, err := r.o.SetOwner(tx, follow.Aggregate, "alpha")
					require.Len(t, ops, 2)
					return err
				}))
				b.set(func(op outbox.Op) outbox.Verdict {
					if op.Key == bad.Key {
						return outbox.Verdict{State: outbox.Failed, Reason: "no"}
					}
					return outbox.Verdict{}
				})
				pass(5 * time.Minute)
				require.Equal(t, outbox.Done, r.get(good.Key).State)
				require.Equal(t, outbox.Done, r.get(follow.Key).State)
				require.Equal(t, outbox.Failed, r.get(bad.Key).State)
				require.Equal(t, outbox.Failed, r.get(broken.Key).State)
				require.Contains(t, r.get(broken.Key).Reason, string(bad.Key))
				b.set(unreachable)
				late := newOp("k", good.Aggregate) // the whole line waits for its retention
				r.accept(late)
				pass(5 * time.Hour)
				require.Len(t, r.list(outbox.Filter{Aggregate: good.Aggregate}), 3)
				require.Empty(t, r.list(outbox.Filter{Aggregate: bad.Aggregate}))
			})
		})
	}
}
