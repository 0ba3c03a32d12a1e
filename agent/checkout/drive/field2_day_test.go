package drive_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/ecr"
)

// An end of day whose answer is lost is asked for again: the register hears the day that was closed, and no second one is closed.
// The kind: a request with an id (JSON lines, nexo), which is that request for good or until ids come again; one without (ZVT), until its
// totals were acknowledged or something was sold; one that joined another register's end of day; each over a restart. Another line's,
// another id, and whoever could not ask again close the next day.
func TestField2_R3_AnEndOfDayIsAskedForAgain(t *testing.T) {
	terminal(t, func(r *rig) {
		close := func(line, id string) []any {
			t.Helper()
			got, err := r.CloseFor(context.Background(), ecr.Asker{Line: line, ID: id, Reuse: 48 * time.Hour})
			require.NoError(t, err)
			return []any{got.Batch, int64(got.Net)}
		}
		day := func(batch int, net int64) []any { return []any{batch, net} }
		r.approved(1000)
		require.Equal(t, day(1, 1000), close("json", "z1"))
		require.Equal(t, day(1, 1000), close("json", "z1"))
		r.Restart(false)
		r.approved(500)
		require.Equal(t, day(1, 1000), close("json", "z1"), "also when the next day has begun")
		require.Equal(t, day(2, 500), close("json", "z2"))
		require.Equal(t, day(3, 0), close("other", "z2"), "an id is of its line")

		r.approved(700)
		require.Equal(t, day(4, 700), close("tcp", ""))
		r.Restart(true)
		require.Equal(t, day(4, 700), close("tcp", ""), "nobody has acknowledged it")
		require.Equal(t, day(5, 0), close("serial", ""), "another register's is its own")
		require.NoError(t, r.DayTold(context.Background(), "serial", 5))
		require.Equal(t, day(6, 0), close("tcp", ""), "and is the newest now")
		require.Equal(t, day(6, 0), close("tcp", ""))
		r.approved(300)
		require.Equal(t, day(7, 300), close("tcp", ""), "something was sold")
		require.NoError(t, r.DayTold(context.Background(), "tcp", 7))
		require.Equal(t, day(8, 0), close("tcp", ""), "it was told")
		require.Equal(t, day(9, 0), close("", ""), "a person, who reads it")
		require.Equal(t, day(10, 0), close("", ""))

		newest, err := r.ClosedBy(context.Background(), ecr.Asker{})
		require.NoError(t, err)
		require.Equal(t, 10, newest.Batch)
		_, err = r.ClosedBy(context.Background(), ecr.Asker{Line: "json", ID: "never"})
		require.ErrorIs(t, err, ecr.ErrNone)
		pass(49 * time.Hour)
		_, err = r.ClosedBy(context.Background(), ecr.Asker{Line: "json", ID: "z1", Reuse: 48 * time.Hour})
		require.ErrorIs(t, err, ecr.ErrNone, "ids that are drawn at random come again")
		kept, err := r.ClosedBy(context.Background(), ecr.Asker{Line: "json", ID: "z1"})
		require.NoError(t, err)
		require.Equal(t, 1, kept.Batch, "others do not")
	})
}

// Two registers ask at once: one day is closed, and each is told it again under its own name.
func TestField2_R3_WhoJoinsAnEndOfDayMayAskAgain(t *testing.T) {
	terminal(t, func(r *rig) {
		r.approved(1000)
		told := make(chan closed, 2)
		for _, id := range []string{"a", "b"} {
			go func() {
				var c closed
				c.totals, c.err = r.CloseFor(context.Background(), ecr.Asker{Line: "json", ID: id})
				told <- c
			}()
		}
		first, second := <-told, <-told
		require.NoError(t, first.err)
		require.NoError(t, second.err)
		batch := r.batch()
		for _, id := range []string{"a", "b"} {
			got, err := r.CloseFor(context.Background(), ecr.Asker{Line: "json", ID: id})
			require.NoError(t, err)
			require.Contains(t, []int{first.totals.Batch, second.totals.Batch}, got.Batch, id)
		}
		require.Equal(t, batch, r.batch(), "nothing more was closed")
	})
}
