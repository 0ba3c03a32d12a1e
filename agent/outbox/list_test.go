package outbox_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent/outbox"
	"posagent/schemes/wire"
	"posagent/store"
)

// counted returns the sums as a count of all rows gives them, and as Report gives them, both of one moment.
func (r *rig) counted() (sums, report []outbox.Line) {
	r.t.Helper()
	require.NoError(r.t, r.db.Read(r.t.Context(), func(rd store.Reader) (err error) {
		err = store.Each(rd, func(row store.Row) error {
			var l outbox.Line
			err := row.Scan(&l.Kind, &l.Currency, &l.State, &l.Count, &l.Sum)
			sums = append(sums, l)
			return err
		}, `SELECT kind, currency, state, COUNT(*), SUM(amount) FROM outbox_ops GROUP BY kind, currency, state ORDER BY kind, currency, state`)
		if err != nil {
			return err
		}
		report, err = outbox.Report(rd)
		return err
	}))
	return sums, report
}

// agree fails unless Report says what a count of all rows says. A sender may run beside it.
func (r *rig) agree(where ...any) {
	r.t.Helper()
	sums, report := r.counted()
	require.Equal(r.t, sums, report, where...)
}

func (r *rig) report() []outbox.Line {
	r.t.Helper()
	_, report := r.counted()
	return report
}

// Few or many, a filter gives what it says, in order, page by page.
func TestListGivesWhatItSays(t *testing.T) {
	for _, many := range []int{40, 5600} { // by state, and by walking the ids
		t.Run(fmt.Sprint(many), func(t *testing.T) {
			b := &backend{}
			kinds := []outbox.Kind{b.kind("a"), b.kind("b"), b.kind("rare")}
			bubble(t, kinds, func(t *testing.T, r *rig) {
				var ops []outbox.New
				for i := range many {
					n := newOp([]string{"a", "b"}[i%2], fmt.Sprint(i/3))
					n.AmountMin = int64(i)
					ops = append(ops, n)
				}
				ops[many/2].Kind, ops[many/2].Currency = "rare", "JPY"
				r.accept(ops...)
				for i, n := range ops {
					switch {
					case i < min(many/4, 200):
						require.NoError(t, r.o.Hold(t.Context(), n.Key, "t"))
						require.NoError(t, r.o.Resolve(t.Context(), n.Key, outbox.Done, "t"))
					case i%17 == 0:
						require.NoError(t, r.o.Hold(t.Context(), n.Key, "t"))
					}
				}
				require.NoError(t, r.db.Write(t.Context(), func(tx store.Tx) error {
					_, err := tx.Exec(`DELETE FROM outbox_ops WHERE key = ?`, string(ops[1].Key))
					return err
				}))
				r.agree()
				all := r.list(outbox.Filter{Limit: 2 * many})
				require.Len(t, all, many-1)
				for _, kind := range []string{"", "a", "rare"} {
					for _, state := range []outbox.State{"", outbox.Pending, outbox.Held, outbox.Done, outbox.Doubt} {
						for _, open := range []bool{false, true} {
							for _, aggregate := range []string{"", "7"} {
								var want, got []wire.Key
								for _, op := range all {
									if (kind == "" || op.Kind == kind) && (state == "" || op.State == state) && !(open && op.State.Final()) &&
										(aggregate == "" || op.Aggregate == aggregate) {
										want = append(want, op.Key)
									}
								}
								f := outbox.Filter{Kind: kind, State: state, Open: open, Aggregate: aggregate, Limit: many/3 + 1}
								for page := r.list(f); len(page) > 0; page = r.list(f) {
									for _, op := range page {
										got = append(got, op.Key)
									}
									f.After = page[len(page)-1].ID
								}
								require.Equal(t, want, got, "%+v", f)
							}
						}
					}
				}
				n := 0
				require.NoError(t, r.db.Read(t.Context(), func(rd store.Reader) (err error) { n, err = outbox.Unfinished(rd); return err }))
				require.Len(t, r.list(outbox.Filter{Open: true, Limit: 2 * many}), n)
			})
		})
	}
}

// What was accepted since the clock was last stored shows how late it was.
func TestRunningTimeDoesNotGoBackInACrash(t *testing.T) {
	b := &backend{mode: unreachable}
	k := b.kind("k")
	k.MaxAge = time.Hour
	bubble(t, []outbox.Kind{k}, func(t *testing.T, r *rig) {
		const apart = 5 * time.Minute // ages are checked once a minute, or up to two
		pass(apart)                   // nothing runs: the clock is not stored
		n := newOp("k", "a")
		r.accept(newOp("k", "a"))
		pass(apart)
		r.accept(n)
		r.kill()
		r.start()
		pass(time.Hour - 5*time.Second)
		require.Equal(t, outbox.Pending, r.get(n.Key).State)
		require.Equal(t, outbox.Expired, r.list(outbox.Filter{Limit: 1})[0].State, "5 minutes older")
	})
}
