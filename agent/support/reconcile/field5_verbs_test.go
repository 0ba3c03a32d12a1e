package reconcile_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/agent/checkout/drive/journal"
	"posagent/agent/gateway"
	"posagent/agent/support/reconcile"
	"posagent/ecr"
	"posagent/schemes/aapay"
	"posagent/store"
)

// On the day on which a terminal went to another provider the sales of the morning were asked of the new one, which has none of them: each
// was "journal and backend differ: do not repeat and do not refund it", or one of another customer. What was sold at other books is not
// asked there (law IV): till and journal are compared, and the finding says where the money is. The kind: wallets and payment links, paid
// and not paid, listed and not; the service that stands there again is asked again.
func TestField5_TheProviderOfNowIsNotAskedForSalesOfTheOneBefore(t *testing.T) {
	for service, method := range map[string]string{gateway.Schemes: "SWISH_E_COM", gateway.Paylinks: gateway.MethodPaylink} {
		t.Run(service, func(t *testing.T) {
			w := newWorld(t, 1)
			before := []*journal.Row{w.sell(ecr.Payment, approved, 100), w.sell(ecr.Payment, approved, 200), w.sell(ecr.Payment, approved, 300), w.sell(ecr.Payment, declined, 400)}
			for _, r := range before {
				r.Method.Name = method
			}
			w.store()
			leave := func(do func(tx store.Tx, service, place string) error) {
				require.NoError(t, w.db.Write(t.Context(), func(tx store.Tx) error { return do(tx, service, "https://a.example") }))
			}
			leave(journal.Leave)
			sold := w.sold
			w.sold = nil
			now := w.sell(ecr.Payment, approved, 500)
			now.Method.Name, now.Sequence = method, "order-now"
			w.store()
			statuses := w.books.status
			w.books.status = map[string]aapay.Status{now.Reference: statuses[now.Reference]}
			for _, r := range append(sold[:2:2], sold[3], now) {
				w.rows = append(w.rows, w.row(r, 0))
			}
			w.rows[1].Paid = false

			v, err := w.compare(reconcile.Options{Lines: []string{"tcp"}}, w.list())
			require.NoError(t, err)
			require.Equal(t, 1, v.Asked, "of the sale that was made there")
			found := map[string]string{}
			for _, f := range v.Findings {
				found[string(f.Journal.Sale)] = string(f.Class)
				require.Contains(t, f.Says(), "backend: not asked: sold at https://a.example, before the provider changed")
			}
			require.Equal(t, map[string]string{string(sold[1].Key): string(reconcile.PaidTillNo), string(sold[2].Key): string(reconcile.PaidTillNo)}, found)

			leave(journal.Return)
			v, err = w.compare(reconcile.Options{Lines: []string{"tcp"}}, w.list())
			require.NoError(t, err)
			require.Greater(t, v.Asked, 4)
			require.Equal(t, 3, v.Counts[reconcile.Differ], "it is asked, and has none of them")
		})
	}
}
