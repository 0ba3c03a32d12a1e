package drive_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent/checkout/drive/journal"
	"posagent/ecr"
	"posagent/store"
)

// keeps begins, or goes on with, the open batch in a currency, as a start does.
func (r *rig) keeps(currency string) error {
	return r.DB.Write(context.Background(), func(tx store.Tx) error { return journal.KeepCurrency(tx, currency) })
}

// batch is the open one.
func (r *rig) batch() int {
	r.t.Helper()
	totals, err := r.Turnover(context.Background())
	require.NoError(r.t, err)
	return totals.Batch
}

// A batch has one currency: a terminal does not start with another one while the batch has receipts,
// or a sale that may get one. The kind: what may stand in the batch, and which program began it.
func TestField2_M27ABatchHasOneCurrency(t *testing.T) {
	taken := func(r *rig) { r.approved(1000) }
	for name, c := range map[string]struct {
		do    func(r *rig)
		sales int // that stand in the way
	}{
		"nothing":        {func(*rig) {}, 0},
		"a decline":      {func(r *rig) { r.declined() }, 0},
		"a sale":         {taken, 1},
		"unacknowledged": {func(r *rig) { r.unconfirmed(500) }, 1},
		"a sale that runs": {func(r *rig) {
			r.world.onStatus = func(*txn) error { return nil }
			r.sale(500)
		}, 1},
		"a refund that runs": {func(r *rig) {
			o := r.approved(1000)
			_, err := r.Close(context.Background())
			require.NoError(r.t, err)
			r.world.lock(func() { r.world.mute = true })
			r.Accepted(refundOf(o, 300))
		}, 1},
		"a sale and a refund": {func(r *rig) { r.Approved(r.Accepted(refundOf(r.approved(1000), 300)), ecr.Told) }, 2},
		"a closed day":        {func(r *rig) { taken(r); _, err := r.Close(context.Background()); require.NoError(r.t, err) }, 0},
	} {
		for _, older := range []bool{false, true} { // an older program has not noted the currency
			terminal(t, func(r *rig) {
				if !older {
					require.NoError(t, r.keeps("EUR"))
				}
				c.do(r)
				batch := r.batch()
				require.NoError(t, r.keeps("EUR"), name)
				err := r.keeps("JPY")
				if c.sales == 0 {
					require.NoError(t, err, name)
					return
				}
				var other *journal.OtherCurrencyError
				require.ErrorAs(t, err, &other, name)
				require.Equal(t, journal.OtherCurrencyError{Batch: batch, Was: "EUR", Now: "JPY", Sales: c.sales}, *other, name)
				require.NoError(t, r.keeps("EUR"), "it was not changed")
				r.world.lock(func() { r.world.mute = false })
				pass(30 * time.Minute)
				_, err = r.Close(context.Background())
				require.NoError(t, err, name)
				require.NoError(t, r.keeps("JPY"), name)
			})
		}
	}
}

// Where a program before this one has taken two currencies in one batch, each is summed by itself: the
// count, the net, the methods, the closing and its report. The batch can be closed in either.
func TestField2_M27SumsAreKeptOnePerCurrency(t *testing.T) {
	ctx := context.Background()
	terminal(t, func(r *rig) {
		euro := r.approved(1000)
		r.Approved(r.Accepted(refundOf(euro, 300)), ecr.Told)
		r.cfg.Currency = "JPY"
		r.Restart(false)
		r.approved(500)
		require.NoError(t, r.keeps("JPY"), "nobody noted which one it was begun in")

		const apart = "2 transaction(s) in EUR besides, 7.00 EUR in all: not in the sum"
		check := func(totals ecr.Totals) {
			require.Equal(t, []any{"JPY", 1, minor(500)}, []any{totals.Currency, totals.Count, totals.Net})
			require.Contains(t, totals.Exceptions, apart)
			require.Len(t, totals.Methods, 2)
			require.Equal(t, []any{"EUR", 1, minor(1000), 1, minor(300)}, []any{totals.Methods[0].Currency, totals.Methods[0].Payments,
				totals.Methods[0].PaymentSum, totals.Methods[0].Refunds, totals.Methods[0].RefundSum})
			require.Equal(t, []any{"JPY", 1, minor(500), 0}, []any{totals.Methods[1].Currency, totals.Methods[1].Payments, totals.Methods[1].PaymentSum,
				totals.Methods[1].Refunds})
		}
		totals, err := r.Turnover(ctx)
		require.NoError(t, err)
		check(totals)
		_, err = r.Ask(refundOf(euro, 100)) // the ledger of a payment is in its own currency
		refused(t, err, ecr.WrongCurrency)
		totals, err = r.Close(ctx)
		require.NoError(t, err)
		check(totals)
		require.NoError(t, r.DB.Read(ctx, func(rd store.Reader) error {
			report, err := journal.Report(rd, totals.Batch)
			check(report)
			return err
		}))
	})
}
