package drive_test

import (
	"context"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent/checkout/drive/journal"
	"posagent/ecr"
	"posagent/schemes/aapay"
	"posagent/store"
)

// soldAs is what SoldAs says of an id that the backend has given.
func (r *rig) soldAs(id string) (name string) {
	r.t.Helper()
	require.NoError(r.t, r.DB.Read(context.Background(), func(rd store.Reader) (err error) { name, err = journal.SoldAs(rd, id, true); return err }))
	return name
}

// TestField2_M28ASaleIsKnownByEveryName: what takes a register's sale back past the checkout is refused
// by the names of a sale that anything of ours tells or is told. The members of the kind: the
// terminalReference and the transactionId (field_test.go), the ppref of the answer and of a status, the
// reference, the transactionId and the ppref of a refund, the reference and the transactionId of an
// undo. What was another's answer names nothing.
func TestField2_M28ASaleIsKnownByEveryName(t *testing.T) {
	terminal(t, func(r *rig) {
		r.world.named()
		o := r.approved(1000)
		for _, id := range []string{"pp-1", " PP-1", o.TransactionID} {
			require.Equal(t, "receipt 1 of batch 1", r.soldAs(id), id)
		}
		back := r.Accepted(refundOf(o, 300))
		out := <-back.Outcome
		r.Told(back, ecr.Told)
		require.Equal(t, ecr.Approved, out.Result)
		require.Equal(t, "receipt 2 of batch 1", r.soldAs(out.TransactionID), "a refund")

		lost := r.unconfirmed(500)
		pass(20 * time.Minute) // it is undone
		undo := r.world.sent(aapay.Reversal)
		require.Len(t, undo, 1)
		require.Contains(t, r.soldAs(undo[0].req.TerminalReference), "receipt", "an undo")
		require.NotEmpty(t, r.soldAs(lost.TransactionID))
		require.NotEmpty(t, r.soldAs(strconv.Itoa(len(r.world.order))), "the transaction of the undo")
		for _, id := range []string{"pp-", "pp-77", "", "0", "-1", strings.Repeat("a", 32)} {
			require.Empty(t, r.soldAs(id), id)
		}
	})
}

// TestField2_M28AnothersAnswerNamesNoSale: the answer to initialize was the neighbour's. Once a status
// has shown that, the sale has that name no more.
func TestField2_M28AnothersAnswerNamesNoSale(t *testing.T) {
	terminal(t, func(r *rig) {
		r.world.named()
		own := r.world.onReply
		r.world.onReply = func(x *txn, reply *aapay.Reply) {
			own(x, reply)
			reply.Response.NAA2ECR = &aapay.NAA2ECR{PPRef: "neighbour"}
		}
		r.world.onStatus = approveAfter(r.world, 3)
		s := r.sale(700)
		<-s.Outcome
		r.Told(s, ecr.Told)
		pass(time.Minute)
		row, _ := r.show(s.ID)
		if row.State.PPRef != "neighbour" {
			require.Empty(t, r.soldAs("neighbour"))
		}
		require.NotEmpty(t, r.soldAs(row.Reference))
	})
}
