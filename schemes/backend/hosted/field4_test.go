package hosted

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/schemes/backend/books"
	"posagent/schemes/hosted"
	"posagent/schemes/money"
	"posagent/schemes/wire"
)

// A cancel undoes an operation as a whole: asked for a part of it, it is refused, and nothing moves. Kind: the cancels of a capture, of an
// authorization and of a refund that is under way.
func TestField4_ACancelOfAPartIsRefused(t *testing.T) {
	for kind, operation := range map[string]func(w *world) string{
		"capture": func(w *world) string { return w.paid(request(), "visa").OperationID },
		"void":    func(w *world) string { return w.paid(explicit(), "visa").OperationID },
		"refund": func(w *world) string {
			back, err := w.Orders().Refund(w.t.Context(), wire.NewKey(), w.paid(request(), "visa").OperationID, hosted.PostRequest{})
			require.NoError(w.t, err)
			return back.OperationID
		},
	} {
		t.Run(kind, func(t *testing.T) {
			w := newWorld(t)
			id, before := operation(w), map[books.Account]money.Minor(nil)
			before = w.accounts()
			for _, amount := range []hosted.Text{"1", "4999", "5001", "2147483647"} {
				_, err := w.Orders().Cancel(t.Context(), wire.NewKey(), id, hosted.PostRequest{Amount: amount})
				require.ErrorIs(t, err, &wire.Error{Code: wire.Invalid, Reason: hosted.BadParameter}, amount)
				require.Equal(t, before, w.accounts(), amount)
			}
			_, err := w.Orders().Cancel(t.Context(), wire.NewKey(), id, hosted.PostRequest{Amount: "5000", Currency: "EUR"})
			require.NoError(t, err)
			require.NotEqual(t, before, w.accounts())
		})
	}
}

// What time has brought happens before an operation is judged, however late it is noticed: a reservation that is over takes no capture, a
// refund that has arrived is not taken back. Kind: what is due by itself (authorizations, refunds) × what may be asked about them.
func TestField4_WhatIsDueComesFirst(t *testing.T) {
	w := newWorld(t)
	op := w.paid(explicit(), "visa")
	w.Pass(8 * 24 * time.Hour) // nobody looked meanwhile
	_, err := w.Orders().Capture(t.Context(), wire.NewKey(), op.OperationID, hosted.PostRequest{})
	refused(t, hosted.VoidedNoCapture, err)
	_, err = w.Orders().Cancel(t.Context(), wire.NewKey(), op.OperationID, hosted.PostRequest{})
	refused(t, hosted.AlreadyVoided, err)
	require.Empty(t, w.accounts())

	for kind, req := range map[string]hosted.BuildRequest{"implicit": request(), "explicit": explicit()} {
		w := newWorld(t)
		op := w.paid(req, "visa")
		if kind == "explicit" {
			_, err := w.Orders().Capture(t.Context(), wire.NewKey(), op.OperationID, hosted.PostRequest{})
			require.NoError(t, err)
		}
		back, err := w.Orders().Refund(t.Context(), wire.NewKey(), op.OperationID, hosted.PostRequest{})
		require.NoError(t, err)
		w.Pass(time.Hour)
		_, err = w.Orders().Cancel(t.Context(), wire.NewKey(), back.OperationID, hosted.PostRequest{})
		refused(t, hosted.NotPossible, err)
		require.Empty(t, w.accounts(), "the customer has it")
	}
}
