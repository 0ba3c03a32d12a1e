package drive_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent/checkout"
	"posagent/agent/checkout/drive"
	"posagent/agent/checkout/drive/journal"
	"posagent/ecr"
	"posagent/schemes/aapay"
	"posagent/schemes/wire"
)

// TestWhatAPaperMaySay: only what no register can change any more.
func TestWhatAPaperMaySay(t *testing.T) {
	terminal(t, func(r *rig) {
		receipt := func(id string) (ecr.Outcome, error) { return r.Receipt(context.Background(), wire.Key(id)) }
		r.world.onStatus = approveAfter(r.world, 1)
		s := r.sale(1250)
		_, err := receipt(s.ID)
		require.ErrorIs(t, err, drive.ErrNotOver, "it is not decided")
		<-s.Outcome
		_, err = receipt(s.ID)
		require.ErrorIs(t, err, drive.ErrNotOver, "its register has not acknowledged it")
		r.Told(s, ecr.Told)
		out, err := receipt(s.ID)
		require.NoError(t, err)
		require.Equal(t, []any{ecr.Approved, 1, minor(1250), false}, []any{out.Result, out.Receipt, out.Amount, out.Repeat})

		lost := r.unconfirmed(500)
		_, err = receipt(lost.Sale)
		require.ErrorIs(t, err, drive.ErrNotOver, "it may be undone")
		row, _ := r.show(lost.Sale)
		require.Equal(t, checkout.Unconfirmed, row.State.Phase)

		r.world.onStatus = say(1, aapay.Rejected, "")
		no := r.sale(300)
		<-no.Outcome
		r.Told(no, ecr.Told)
		out, err = receipt(no.ID)
		require.NoError(t, err)
		require.Equal(t, []any{ecr.Declined, 0}, []any{out.Result, out.Receipt})
		out, err = receipt(lost.Sale)
		require.NoError(t, err, "the next sale has undone it")
		require.Equal(t, ecr.Aborted, out.Result)
		_, err = receipt("01900000-0000-7000-8000-000000000000")
		require.ErrorIs(t, err, journal.ErrUnknown)

		_, err = r.Report(context.Background(), 1)
		require.ErrorIs(t, err, journal.ErrUnknown, "the batch is open")
		pass(time.Hour)
		totals, err := r.Close(context.Background())
		require.NoError(t, err)
		report, err := r.Report(context.Background(), 1)
		require.NoError(t, err)
		require.Equal(t, []any{1, 1, minor(1250), 1}, []any{report.Batch, report.Count, report.Net, len(report.Methods)})
		require.Equal(t, totals.Exceptions, report.Exceptions)
	})
}
