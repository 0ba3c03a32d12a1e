package drive_test

import (
	"context"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/agent/checkout/drive/journal"
	"posagent/agent/gateway"
	"posagent/ecr"
	"posagent/schemes/wire"
	"posagent/store"
)

// After a change of provider the numbers of the one before are other customers' payments: a receipt of then is not given back, by
// whatever name, and the refusal says where it was paid. The number itself names the new provider's payment, which may have it. Where
// the provider comes back its payments are known again, and the other's are not.
func TestField2_M41AReceiptOfTheProviderBeforeIsNotGivenBack(t *testing.T) {
	terminal(t, func(r *rig) {
		at := func(do func(tx store.Tx, service, place string) error, place string) {
			t.Helper()
			require.NoError(t, r.DB.Write(context.Background(), func(tx store.Tx) error { return do(tx, gateway.Schemes, place) }))
		}
		back := func(kind ecr.Kind, original string, receipt int) (ecr.Sale, error) {
			return r.Ask(ecr.Request{Kind: kind, Line: "one", Original: original, Receipt: receipt, Amount: minor(100), Currency: "EUR"})
		}
		no := func(o ecr.Outcome, place string) {
			t.Helper()
			for _, original := range []string{"R" + strconv.Itoa(o.Receipt), "R1/" + strconv.Itoa(o.Receipt)} {
				_, err := back(ecr.Refund, original, 0)
				refused(t, err, ecr.NotReversible)
				require.ErrorContains(t, err, place)
			}
			_, err := r.Ask(ecr.Request{Kind: ecr.Reversal, Line: "one", Receipt: o.Receipt})
			refused(t, err, ecr.NotReversible)
			require.ErrorContains(t, err, place)
		}
		given := func(receipt int) {
			t.Helper()
			s, err := back(ecr.Refund, "T1", 0)
			require.NoError(t, err)
			row, _ := r.show(s.ID)
			require.Contains(t, row.Title(), "1.00")
			of, _ := r.show(string(row.Original))
			require.Equal(t, receipt, of.Receipt)
			r.Approved(s, ecr.Told)
		}
		soldAs := func(id string) (name string) {
			require.NoError(t, r.DB.Read(context.Background(), func(rd store.Reader) (err error) { name, err = journal.SoldAs(rd, id, true); return err }))
			return name
		}

		old := r.approved(300)
		require.Equal(t, "1", old.TransactionID)
		at(journal.Leave, "https://a.example")
		require.Empty(t, soldAs("1"))
		_, err := back(ecr.Refund, "T1", 0)
		refused(t, err, ecr.NotReversible)
		order, byRef, byKey := []*txn(nil), map[string]*txn{}, map[wire.Key]*txn{} // of the other provider, which counts from 1 as well
		swap := func() {
			w := r.world
			w.lock(func() {
				w.order, w.byRef, w.byKey, order, byRef, byKey = order, byRef, byKey, w.order, w.byRef, w.byKey
			})
		}
		swap()
		anew := r.approved(500)
		require.Equal(t, "1", anew.TransactionID, "an id of other books is no other sale's of these")
		no(old, "https://a.example")
		given(anew.Receipt)
		require.Contains(t, soldAs("1"), "receipt "+strconv.Itoa(anew.Receipt))

		at(journal.Leave, "https://b.example")
		at(journal.Return, "https://a.example")
		swap()
		no(anew, "https://b.example")
		given(old.Receipt)
		at(journal.Leave, "https://a.example")
		no(old, "https://a.example")
		no(anew, "https://b.example")
	})
}
