package drive_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/agent/checkout"
	"posagent/agent/checkout/drive/journal"
	"posagent/ecr"
	"posagent/schemes/aapay"
	"posagent/store"
)

// TestField4_TillsAnIdThatJoinedASaleIsItsOwn: the terminal lost power as an approval left, the till asked
// for the same purchase under another id and joined that sale (MONEY F.5). That id was forgotten: asked for
// by it the till heard "not found", and asked again under it the customer paid a second time. The kind: the
// Idempotency-Key of HTTP and the ServiceID of nexo, which is asked for by its beginning; joined and told,
// or not heard; then a start, a boot, a closed day; asked for, asked again, and begun with another body.
// Another line's is its own, and an id of 90 days ago may be used anew.
func TestField4_TillsAnIdThatJoinedASaleIsItsOwn(t *testing.T) {
	for name, c := range map[string]struct {
		line, first, second, asked string
		keep                       bool
	}{
		"http": {"http/kiosk", "K1", "K2", "K2", true},
		"nexo": {"nexo/till1", "S1/order-7", "S2/order-7", "S2/" + ecr.AnyEnd, false},
	} {
		for how, what := range map[string]ecr.Delivery{"told": ecr.Told, "not heard": ecr.Lost} {
			t.Run(name+"/"+how, func(t *testing.T) {
				t.Parallel()
				terminal(t, func(r *rig) {
					ask := func(id string) ecr.Request {
						return ecr.Request{Line: c.line, Sequence: id, Amount: 500, Reference: "order-7", ByTCP: true, Keep: c.keep}
					}
					r.world.onStatus = approveAfter(r.world, 1)
					s := r.Accepted(ask(c.first))
					r.Listens(s.ID, true)
					require.Equal(t, ecr.Approved, (<-s.Outcome).Result)
					r.cut(0)
					r.Restart(true)
					joined := r.Accepted(ask(c.second))
					require.Equal(t, s.ID, joined.ID)
					r.Approved(joined, what)

					hears := func(when string) {
						t.Helper()
						for _, id := range []string{c.first, c.second} {
							again := r.Accepted(ask(id))
							require.Equal(t, s.ID, again.ID, "%s: %s", when, id)
							r.Approved(again, what)
							other := ask(id)
							other.Amount = 700
							_, err := r.Ask(other)
							refused(t, err, ecr.Processing)
						}
						found, err := r.Find(context.Background(), c.line, c.asked)
						require.NoError(t, err, when)
						require.Equal(t, s.ID, found.ID, when)
						r.Approved(found, what)
						require.NoError(t, r.DB.Read(context.Background(), func(rd store.Reader) error {
							row, err := journal.Named(rd, c.line, c.second)
							require.NoError(t, err)
							require.Equal(t, s.ID, string(row.Key), when)
							return nil
						}))
						_, err = r.Find(context.Background(), "http/other", c.asked)
						require.ErrorIs(t, err, ecr.ErrNone, "another line's is its own")
					}
					hears("at once")
					r.Restart(false)
					hears("after a start")
					r.Restart(true)
					hears("after a boot")
					_, err := r.Close(context.Background())
					require.NoError(t, err)
					hears("past the end of day")
					require.Len(t, r.world.sent(aapay.Payment), 1, "paid once")
					require.EqualValues(t, 500, r.world.net())

					r.runs(91)
					r.Approved(r.Accepted(ask(c.second)), ecr.Told)
					require.EqualValues(t, 1000, r.world.net(), "used anew")
					require.Equal(t, checkout.Done, r.phase(s.ID))
				})
			})
		}
	}
}
