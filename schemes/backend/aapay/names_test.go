package aapay_test

import (
	"context"
	"fmt"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/schemes/aapay"
	wallets "posagent/schemes/backend/aapay"
	"posagent/schemes/wire"
	"posagent/store"
)

// A status is asked by ppref, transactionId or terminalReference. One text names one transaction for ever, whichever came
// first. The names of a transaction: its number (given now, given later, written with leading zeros), its ppref, its
// reference, the reference of a reversal that came before its payment.
func TestField2_S11_OneNameOneTransaction(t *testing.T) {
	id := func(w *world, ref string) int64 { return w.status(ref).TransactionID }
	text := func(n int64) string { return strconv.FormatInt(n, 10) }

	t.Run("a number that is a reference is given to no other", func(t *testing.T) {
		w := newWorld(t, "", nil)
		mine := w.request(swish, 90_008)
		mine.TerminalReference = text(id(w, w.pay(swish, 100).TerminalReference) + 3)
		require.Equal(t, 202, w.begin(aapay.Payment, mine).HTTPStatus)
		before := id(w, mine.TerminalReference)
		for range 5 {
			other := w.pay(swish, 1111)
			require.NotEqual(t, mine.TerminalReference, text(id(w, other.TerminalReference)))
		}
		require.Equal(t, before, id(w, mine.TerminalReference))
	})
	t.Run("a number that was reversed before it arrived is given to none", func(t *testing.T) {
		w := newWorld(t, "", nil)
		lost := text(id(w, w.pay(swish, 100).TerminalReference) + 3)
		require.Equal(t, 202, w.begin(aapay.Reversal, w.undo(lost, swish, 1111)).HTTPStatus)
		for range 5 {
			require.NotEqual(t, lost, text(id(w, w.pay(swish, 1111).TerminalReference)))
		}
		again := w.undo(lost, swish, 1111)
		require.Equal(t, 202, w.begin(aapay.Reversal, again).HTTPStatus)
		w.is(again.TerminalReference, "REVERSED", "")
	})
	t.Run("an id that exists is no new reference", func(t *testing.T) {
		w := newWorld(t, "", nil)
		st := w.status(w.pay(swish, 100).TerminalReference)
		for _, name := range []string{text(st.TransactionID), st.NAA2ECR.PPRef} {
			for _, typ := range []aapay.Type{aapay.Payment, aapay.Reversal, aapay.Refund} {
				req := w.request(swish, 90_008)
				req.TerminalReference = name
				if typ != aapay.Payment {
					req.Trigger, req.OriginalReference = "", "another"
				}
				require.Equal(t, 201, w.begin(typ, req).HTTPStatus, "%s %s", typ, name)
			}
			require.Equal(t, st.TransactionID, id(w, name))
		}
	})
	t.Run("a number with leading zeros is a reference only", func(t *testing.T) {
		w := newWorld(t, "", nil)
		_, err := w.Status(context.Background(), "00"+text(id(w, w.pay(swish, 100).TerminalReference)), "")
		require.Equal(t, wire.NotFound, wire.CodeOf(err), "%v", err)
	})
	t.Run("a reference that never arrived reverses nobody's payment", func(t *testing.T) {
		w := newWorld(t, "", nil)
		theirs := w.pay(swish, 1111)
		w.Pass(10 * second)
		require.EqualValues(t, 1111, w.net(theirs.TerminalReference))
		mine := w.undo(text(id(w, theirs.TerminalReference)), swish, 1111)
		require.Equal(t, 201, w.begin(aapay.Reversal, mine).HTTPStatus)
		require.EqualValues(t, 1111, w.net(theirs.TerminalReference))
		w.sound()
	})
	t.Run("in older books a text that two have names neither", func(t *testing.T) {
		w := newWorld(t, "", nil)
		mine, other := w.pay(swish, 90_008), w.pay(swish, 1111)
		w.Pass(10 * second)
		two := text(id(w, other.TerminalReference))
		require.NoError(t, w.DB.Write(context.Background(), func(tx store.Tx) error {
			_, err := tx.Exec(`UPDATE wallets_txn SET terminal_ref = ? WHERE terminal_ref = ?`, two, mine.TerminalReference)
			return err
		}))
		_, err := w.Status(context.Background(), two, "")
		require.Equal(t, wire.Conflict, wire.CodeOf(err), "%v", err)
		for what, act := range map[string]func(context.Context, string) (wallets.Purse, error){"pay": w.Pay, "decline": w.Decline} {
			_, err := act(context.Background(), two)
			require.Equal(t, wire.Conflict, wire.CodeOf(err), "%s: %v", what, err)
		}
		req := w.request(swish, 5)
		req.TerminalReference = two
		require.Equal(t, 201, w.begin(aapay.Payment, req).HTTPStatus)
		require.Equal(t, 202, w.begin(aapay.Reversal, w.undo(two, swish, 90_008)).HTTPStatus, "a reversal names the reference (S1 2.4)")
		require.Equal(t, 202, w.begin(aapay.Refund, w.undo(two, swish, 1111)).HTTPStatus, "a refund names the id (S1 2.4)")
		require.EqualValues(t, "0 0", fmt.Sprint(w.net(w.status(other.TerminalReference).NAA2ECR.PPRef), " ", w.net(other.TerminalReference)))
		w.sound()
	})
}
