package gateway_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent/gateway"
	"posagent/schemes/paylinks"
	"posagent/schemes/wire"
)

// numbered is a service that has reached the numbers which the terminal gives to its own links: a transaction is of such a link.
type numbered struct {
	paylinks.Transactions
	id, link int64
}

func (n *numbered) Read(ctx context.Context, id int64) (paylinks.Transaction, error) {
	txn, err := n.Transactions.Read(ctx, id)
	if err == nil && id == n.id {
		txn.Invoice.PaymentRequestID = n.link
	}
	return txn, err
}

// A service's number of a link is compared with the service's numbers alone. A client's link that was stored has a number of the
// terminal's own; another shop's link of that number at the service is not the client's, nor is what its customers paid: the client read
// it and gave it back. The kind: whose a transaction is (reading, refund, capture, cancel), by the link that the service names with it; the
// service's own number of a link of the client's still says that it is the client's.
func TestField4_AServicesNumberIsNoLocalOne(t *testing.T) {
	n := &numbered{}
	inShop(t, gateway.Options{Transactions: n}, func(t *testing.T, s *shop) {
		n.Transactions = linkClient("http://backend.test", s.cable).Transactions()
		alpha := wire.WithCaller(t.Context(), wire.Caller{Name: "alpha", Own: true})
		links, txns := s.front.Links(), s.front.Transactions()
		s.cable.set(true, nil)
		own, err := links.Create(alpha, "l1", order())
		require.NoError(t, err)
		require.GreaterOrEqual(t, own.ID, int64(paylinks.FirstLocalID), "stored")
		s.cable.set(false, nil)
		s.pass(time.Minute)
		made, err := links.Read(alpha, own.ID)
		require.NoError(t, err)
		require.Nil(t, made.Operation)

		theirs := order()
		theirs.ReferenceID = "another-shop"
		other, err := s.backend.Links().Create(t.Context(), "", theirs)
		require.NoError(t, err)
		s.customer(other.ID)
		txn := s.txn(theirs.ReferenceID)
		n.id, n.link = txn.ID, own.ID
		_, err = txns.Read(alpha, txn.ID)
		require.Equal(t, wire.NotFound, wire.CodeOf(err), "%v", err)
		_, err = txns.Refund(alpha, "r1", txn.ID, paylinks.RefundRequest{})
		require.Equal(t, wire.NotFound, wire.CodeOf(err), "%v", err)
		_, err = txns.Capture(alpha, "c1", txn.ID)
		require.Equal(t, wire.NotFound, wire.CodeOf(err), "%v", err)
		_, err = txns.Delete(alpha, "d1", txn.ID)
		require.Equal(t, wire.NotFound, wire.CodeOf(err), "%v", err)
		require.Equal(t, paylinks.Confirmed, s.txn(theirs.ReferenceID).Status)
	})
}
