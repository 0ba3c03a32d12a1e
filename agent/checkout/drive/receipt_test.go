package drive_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent/checkout"
	"posagent/agent/checkout/drive"
	"posagent/agent/checkout/drive/journal"
	"posagent/device/display/scene"
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

// TestField2_S7TheMethodsNameIsNoMessage: a provider that has no message says the method's label (naa2Ecr.additionalInfo). It stands on screen and
// receipt already, and is not said twice.
func TestField2_S7TheMethodsNameIsNoMessage(t *testing.T) {
	terminal(t, func(r *rig) {
		end := approveAfter(r.world, 2)
		r.world.onStatus = func(x *txn) error {
			x.naa = &aapay.NAA2ECR{AdditionalInfo: "Swish", LoyaltyIDs: []string{"BC-1"}}
			return end(x)
		}
		s := r.sale(1250)
		out := <-s.Outcome
		r.Told(s, ecr.Told)
		require.Equal(t, []any{"Swish", "", []string{"BC-1"}}, []any{out.Label, out.Info, out.Loyalty})
		require.Equal(t, "Loyalty card BC-1", r.screen.last().Text)
	})
}

// What the backend says to a customer who has paid stands on the screen and on the receipt. A sale that was not paid says nothing of it.
func TestWhatTheBackendSaysReachesTheCustomer(t *testing.T) {
	terminal(t, func(r *rig) {
		says := func(end func(*txn) error) func(*txn) error {
			return func(x *txn) error {
				x.naa = &aapay.NAA2ECR{PayerID: "customer-00017890", AdditionalInfo: "12 points", LoyaltyIDs: []string{"BC-1"}}
				return end(x)
			}
		}
		r.world.onStatus = says(approveAfter(r.world, 2))
		s := r.sale(1250)
		told := <-s.Outcome
		r.Told(s, ecr.Told)
		require.Equal(t, scene.Paid, r.screen.last().Kind)
		require.Equal(t, "12 points, Loyalty card BC-1, Paid by *************7890", r.screen.last().Text)
		pass(time.Minute)
		r.Restart(true)
		printed, err := r.Receipt(context.Background(), wire.Key(s.ID))
		require.NoError(t, err)
		for _, out := range []ecr.Outcome{told, printed} {
			require.Equal(t, []any{"*************7890", "12 points", []string{"BC-1"}}, []any{out.Payer, out.Info, out.Loyalty})
		}

		r.world.onStatus = says(say(1, aapay.Rejected, ""))
		no := r.sale(300)
		out := <-no.Outcome
		r.Told(no, ecr.Told)
		require.Equal(t, []any{ecr.Declined, "", "", []string(nil)}, []any{out.Result, out.Payer, out.Info, out.Loyalty})
		require.Equal(t, scene.NotPaid, r.screen.last().Kind)
		require.Empty(t, r.screen.last().Text)
	})
}
