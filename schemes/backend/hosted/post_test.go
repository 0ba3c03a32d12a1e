package hosted

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"posagent/schemes/backend/books"
	"posagent/schemes/hosted"
	"posagent/schemes/money"
	"posagent/schemes/wire"
)

type post1 func(context.Context, wire.Key, string, hosted.PostRequest) (hosted.Posted, error)

func capture(o hosted.Orders) post1 { return o.Capture }
func refund(o hosted.Orders) post1  { return o.Refund }
func undo(o hosted.Orders) post1    { return o.Cancel }

func (w *world) do(verb func(hosted.Orders) post1, id, amount string) (string, error) {
	w.t.Helper()
	p, err := verb(w.Orders())(w.t.Context(), wire.NewKey(), id, hosted.PostRequest{Amount: hosted.Text(amount)})
	return p.OperationID, err
}

// What the bank refuses, and what it refuses later.
func TestRefusalsOfTheBank(t *testing.T) {
	w := newWorld(t)
	op := w.paid(explicit(), "capture-fails")
	_, err := w.do(capture, op.OperationID, "")
	refused(t, hosted.BankRefused, err)
	op = w.paid(request(), "refund-refused")
	_, err = w.do(refund, op.OperationID, "")
	refused(t, hosted.BankRefused, err)
	op = w.paid(explicit(), "cancel-fails")
	_, err = w.do(undo, op.OperationID, "")
	refused(t, hosted.BankRefused, err)
	w.told()
	req := request()
	op = w.paid(req, "refund-fails")
	_, err = w.do(refund, op.OperationID, "1000")
	require.NoError(t, err)
	before := w.accounts()
	require.EqualValues(t, 1000, before[books.Returning])
	require.Equal(t, []string{"CAPTURE EXECUTED", "REFUND PENDING"}, w.told())
	w.pass(2 * time.Second)
	require.Equal(t, []string{"REFUND FAILED"}, w.told())
	require.Zero(t, w.accounts()[books.Returning])
	require.Equal(t, before[books.Merchant]+1000, w.accounts()[books.Merchant])
}

// A refund can be taken back while it is in clearing, once.
func TestARefundIsTakenBack(t *testing.T) {
	w := newWorld(t)
	op := w.paid(request(), "visa")
	first, err := w.do(refund, op.OperationID, "1000")
	require.NoError(t, err)
	_, err = w.do(undo, first, "")
	require.NoError(t, err)
	_, err = w.do(undo, first, "")
	refused(t, hosted.AlreadyVoided, err)
	require.EqualValues(t, 5000, w.accounts()[books.Merchant])
	second, err := w.do(refund, op.OperationID, "")
	require.NoError(t, err)
	w.pass(time.Minute)
	require.Zero(t, w.accounts()[books.Returning])
	_, err = w.do(undo, second, "")
	refused(t, hosted.NotPossible, err)
	_, err = w.do(capture, op.OperationID, "")
	refused(t, hosted.RefundedNoCapture, err)
	require.Empty(t, w.accounts())
	require.Equal(t, []string{"CAPTURE EXECUTED", "REFUND REFUNDED", "CANCEL EXECUTED", "REFUND REFUNDED"}, w.told())
}

// A reservation ends by itself: whole, or what is left of it.
func TestReservationsLapse(t *testing.T) {
	w := newWorld(t)
	whole, part := w.paid(explicit(), "lapse"), w.paid(explicit(), "lapse")
	_, err := w.do(capture, part.OperationID, "2000")
	require.NoError(t, err)
	w.told()
	w.pass(5 * time.Second)
	require.Equal(t, []string{"VOID VOIDED"}, w.told())
	require.Equal(t, map[books.Account]money.Minor{books.Consumer: -2000, books.Merchant: 2000}, w.accounts())
	_, err = w.do(capture, whole.OperationID, "")
	refused(t, hosted.VoidedNoCapture, err)
	_, err = w.do(capture, part.OperationID, "1")
	refused(t, hosted.ExecutedNoCapture, err)
	w.pass(time.Hour)
	require.Empty(t, w.told())
}

// Whatever is done in whatever order: the books balance, nothing goes back that did not come, and an order is paid once.
func TestAnyOrderOfOperations(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w := newWorld(t)
		defer func() { require.NoError(t, w.DB.Close()) }()
		req := explicit()
		if rapid.Bool().Draw(rt, "implicit") {
			req = request()
		}
		ids := []string{w.paid(req, "visa").OperationID}
		verbs := []func(hosted.Orders) post1{capture, refund, undo}
		for range rapid.IntRange(1, 12).Draw(rt, "steps") {
			verb := rapid.IntRange(0, 3).Draw(rt, "verb")
			if verb == 3 {
				w.pass(30 * time.Second)
				continue
			}
			amount := string(hosted.TextOf(money.Minor(rapid.IntRange(1, 6000).Draw(rt, "amount"))))
			if verb == 2 { // which is always of all
				amount = ""
			}
			id, err := w.do(verbs[verb], rapid.SampledFrom(ids).Draw(rt, "of"), amount)
			if err == nil {
				ids = append(ids, id)
			} else if wire.CodeOf(err) != wire.Conflict {
				rt.Fatal(err)
			}
			sums := w.accounts()
			if sums[books.Merchant] < 0 || sums[books.Merchant] > 5000 || sums[books.Consumer] > 0 || sums[books.Reserved] < 0 || sums[books.Returning] < 0 {
				rt.Fatal(sums)
			}
		}
	})
}

// The captured amount of an order is what stays captured: a capture that was cancelled is none, a refund is told beside it.
func TestField2_S12_CapturedAmountAfterACancel(t *testing.T) {
	for _, kind := range []string{hosted.Explicit, hosted.Implicit} {
		t.Run(kind, func(t *testing.T) {
			w := newWorld(t)
			req := request()
			req.PaymentSession.CaptureType = kind
			paid := w.paid(req, "visa")
			captured := func() string {
				r, err := w.Orders().Order(t.Context(), paid.OrderID)
				require.NoError(t, err)
				return string(r.OrderStatus.CapturedAmount)
			}
			last, whole := paid.OperationID, "5000"
			if kind == hosted.Explicit {
				first, err := w.Orders().Capture(t.Context(), wire.NewKey(), paid.OperationID, hosted.PostRequest{Amount: "1000", Currency: "EUR"})
				require.NoError(t, err)
				second, err := w.Orders().Capture(t.Context(), wire.NewKey(), paid.OperationID, hosted.PostRequest{Amount: "500", Currency: "EUR"})
				require.NoError(t, err)
				require.Equal(t, "1500", captured())
				_, err = w.Orders().Cancel(t.Context(), wire.NewKey(), first.OperationID, hosted.PostRequest{})
				require.NoError(t, err)
				last, whole = second.OperationID, "500"
			}
			require.Equal(t, whole, captured())
			back, err := w.Orders().Refund(t.Context(), wire.NewKey(), last, hosted.PostRequest{Amount: "100", Currency: "EUR"})
			require.NoError(t, err)
			require.Equal(t, whole, captured(), "a refund is no cancel")
			_, err = w.Orders().Cancel(t.Context(), wire.NewKey(), back.OperationID, hosted.PostRequest{})
			require.NoError(t, err)
			require.Equal(t, whole, captured())
			_, err = w.Orders().Cancel(t.Context(), wire.NewKey(), last, hosted.PostRequest{})
			require.NoError(t, err)
			require.Equal(t, "0", captured())
		})
	}
}
