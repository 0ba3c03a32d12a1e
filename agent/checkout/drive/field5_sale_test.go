package drive_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/ecr"
	"posagent/schemes/aapay"
)

// TestField5_AServiceIDIsJudgedByRunningTime: whether a ServiceID of nexo came with another content within 48
// hours was read off the wall clock. A box that boots with its clock ahead took a repeated payment for a new
// one: the customer paid twice; and it closed a second day under the id of one that it had closed. The kind:
// the id of a sale, of one that joined it, and of an end of day; a clock ahead and behind, in the same run and
// after a boot, and set right again. Of 48 hours that the box ran they are others; an id that only begins like
// another one, or is another till's, always was.
func TestField5_AServiceIDIsJudgedByRunningTime(t *testing.T) {
	const hours = 48 * time.Hour
	for clock, jump := range wrongClocks() {
		for _, boot := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/%t", clock, boot), func(t *testing.T) {
				t.Parallel()
				terminal(t, func(r *rig) {
					r.world.onStatus = approveAfter(r.world, 1)
					ask := func(line, id, order string) ecr.Request {
						return ecr.Request{Line: line, Sequence: id + "/" + order, Amount: 500, Reference: order, ByTCP: true, Reuse: hours}
					}
					const line = "nexo/till1"
					s := r.Accepted(ask(line, "S1", "order-7"))
					r.Listens(s.ID, true)
					require.Equal(t, ecr.Approved, (<-s.Outcome).Result)
					r.cut(0)
					r.Restart(true)
					joined := r.Accepted(ask(line, "S2", "order-7"))
					require.Equal(t, s.ID, joined.ID)
					r.Approved(joined, ecr.Told)
					day := ecr.Asker{Line: line, ID: "R1", Reuse: hours}
					closed, err := r.CloseFor(context.Background(), day)
					require.NoError(t, err)

					check := func(when string) {
						t.Helper()
						for _, id := range []string{"S1", "S2"} {
							_, err := r.Ask(ask(line, id, "order-8"))
							refused(t, err, ecr.Processing)
							again := r.Accepted(ask(line, id, "order-7"))
							require.Equal(t, s.ID, again.ID, when)
							r.Approved(again, ecr.Told)
						}
						again, err := r.CloseFor(context.Background(), day)
						require.NoError(t, err)
						require.Equal(t, closed.Batch, again.Batch, when)
						require.Len(t, r.world.sent(aapay.Payment), 1, when)
					}
					r.jump = jump
					check("the clock has jumped")
					r.Restart(boot)
					check("another clock")
					r.jump = 0
					r.Restart(boot)
					check("the right clock")
					r.runs(1)
					check("a day")
					for n, other := range []ecr.Request{ask(line, "S", "order-8"), ask(line, "S10", "order-8"), ask("nexo/till2", "S1", "order-8")} {
						r.Approved(r.Accepted(other), ecr.Told)
						require.Len(t, r.world.sent(aapay.Payment), 2+n)
					}

					r.runs(2)
					for _, id := range []string{"S1", "S2"} {
						r.Approved(r.Accepted(ask(line, id, "order-8")), ecr.Told)
						again := r.Accepted(ask(line, id, "order-7"))
						require.Equal(t, s.ID, again.ID, "a sale's own ids are its own for 90 days")
						r.Approved(again, ecr.Told)
					}
					again, err := r.CloseFor(context.Background(), day)
					require.NoError(t, err)
					require.Greater(t, again.Batch, closed.Batch)
					require.EqualValues(t, 6*500, r.world.net())
				})
			})
		}
	}
}
