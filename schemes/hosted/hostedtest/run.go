package hostedtest

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/schemes/hosted"
	"posagent/schemes/wire"
	"posagent/schemes/wire/wiretest"
)

// Fixture is a service to be proven, with the knobs the suite turns. Every orderId and Key is fresh, so one service serves
// the whole run.
type Fixture struct {
	Sessions hosted.Sessions
	Orders   hosted.Orders
	Approved string // card number that every bank approves
	Declined string // card number that is declined
	Asks     string // card number whose owner is asked
	// Fill lets the customer fill in the card fields of a session, after choosing the card where there is a choice.
	Fill func(t *testing.T, sessionID, pan string)
	// Answer lets the customer answer the bank's challenge.
	Answer func(t *testing.T, sessionID string, pass bool)
	// Wire is the same service over HTTP; nil: this row has no wire.
	Wire *wiretest.Site
}

// Run proves the fixture's service.
func Run(t *testing.T, f Fixture) {
	require.NotNil(t, f.Sessions)
	require.NotNil(t, f.Orders)
	require.NotNil(t, f.Fill)
	require.NotNil(t, f.Answer)
	wiretest.Groups{
		{"build", f.build}, {"finalize", f.finalize}, {"challenge", f.challenge}, {"cancel", f.cancel},
		{"one order is paid once", f.oneOrder}, {"capture", f.capture}, {"refund", f.refund}, {"undo", f.undo},
		{"keys", f.keys}, {"unknown", f.unknown}, {"methods", f.methods}, {"validation", f.validation},
	}.Run(t, f.Wire != nil, f.wire)
}

// Good is a good request: 50 units are paid by card at once, the customer chooses nothing.
func Good() hosted.BuildRequest {
	id := strings.ReplaceAll(string(wire.NewKey()), "-", "")
	return hosted.BuildRequest{
		MerchantURL: "https://shop.example", Order: hosted.Order{OrderID: id[len(id)-27:], Amount: "5000", Currency: "EUR"},
		PaymentSession: hosted.Session{
			ActionType: hosted.Pay, Amount: "5000", Language: "eng", PaymentService: hosted.CardService,
			ResultURL: "https://shop.example/result", CancelURL: "https://shop.example/cancel",
		},
	}
}

func explicit() hosted.BuildRequest {
	req := Good()
	req.PaymentSession.CaptureType = hosted.Explicit
	return req
}

func (f Fixture) built(t *testing.T, req hosted.BuildRequest) hosted.Built {
	t.Helper()
	b, err := f.Sessions.Build(t.Context(), wire.NewKey(), req)
	require.NoError(t, err)
	require.NotEmpty(t, b.SessionID)
	require.NotEmpty(t, b.SecurityToken.Reveal())
	return b
}

// done brings a session to its end with a card.
func (f Fixture) done(t *testing.T, req hosted.BuildRequest, pan string) hosted.Operation {
	t.Helper()
	b := f.built(t, req)
	f.Fill(t, b.SessionID, pan)
	s, err := f.Sessions.Finalize(t.Context(), "", b.SessionID, "")
	require.NoError(t, err)
	require.Equal(t, hosted.Complete, s.State)
	require.NotNil(t, s.Operation)
	return *s.Operation
}

func refused(t *testing.T, reason string, err error) {
	t.Helper()
	require.ErrorIs(t, err, &wire.Error{Code: wire.Conflict, Reason: reason})
}

func (f Fixture) build(t *testing.T) {
	req := Good()
	b := f.built(t, req)
	require.NotEmpty(t, b.Fields)
	for _, field := range b.Fields {
		require.NotEmpty(t, field.Type)
		require.NotEmpty(t, field.Class)
		require.NotEmpty(t, field.ID)
		require.True(t, wire.WebURL(field.Src), field.Src)
	}
	require.Equal(t, "CARD_NUMBER", b.Fields[0].ID)
	s, err := f.Sessions.State(t.Context(), b.SessionID)
	require.NoError(t, err)
	require.Equal(t, hosted.CardCollection, s.State)
	require.Nil(t, s.Operation)

	req.PaymentSession.PaymentService = ""
	other := f.built(t, req) // once more for the same order
	require.NotEqual(t, b.SessionID, other.SessionID)
	require.NotEqual(t, b.SecurityToken, other.SecurityToken)
	s, err = f.Sessions.State(t.Context(), other.SessionID)
	require.NoError(t, err)
	require.Equal(t, hosted.MethodSelection, s.State)
	req.Order.Currency = "SEK"
	_, err = f.Sessions.Build(t.Context(), "", req)
	refused(t, hosted.OrderDiffers, err)
}

func (f Fixture) finalize(t *testing.T) {
	req := Good()
	b := f.built(t, req)
	_, err := f.Sessions.Finalize(t.Context(), "", b.SessionID, "")
	refused(t, hosted.SessionNotReady, err)
	_, err = f.Sessions.Card(t.Context(), b.SessionID)
	refused(t, hosted.SessionNotReady, err)
	f.Fill(t, b.SessionID, f.Approved)
	s, err := f.Sessions.State(t.Context(), b.SessionID)
	require.NoError(t, err)
	require.Equal(t, hosted.Ready, s.State)
	card, err := f.Sessions.Card(t.Context(), b.SessionID)
	require.NoError(t, err)
	require.Equal(t, f.Approved[:6], card.BIN)
	require.Equal(t, f.Approved[len(f.Approved)-4:], card.LastFourDigits)
	require.NotEmpty(t, card.Circuit)
	require.NotEmpty(t, card.ExpiringDate)

	s, err = f.Sessions.Finalize(t.Context(), "", b.SessionID, "")
	require.NoError(t, err)
	require.Equal(t, hosted.Complete, s.State)
	op := s.Operation
	require.NotNil(t, op)
	require.Equal(t, req.Order.OrderID, op.OrderID)
	require.Equal(t, hosted.Capture, op.OperationType)
	require.Equal(t, hosted.Executed, op.OperationResult)
	require.EqualValues(t, "5000", op.OperationAmount)
	require.Equal(t, "EUR", op.OperationCurrency)
	require.Equal(t, hosted.Card, op.PaymentMethod)
	require.Equal(t, hosted.Ecommerce, op.Channel)
	require.NotEmpty(t, op.OperationID)
	again, err := f.Sessions.Finalize(t.Context(), "", b.SessionID, "")
	require.NoError(t, err)
	require.Equal(t, op.OperationID, again.Operation.OperationID)
	read, err := f.Sessions.State(t.Context(), b.SessionID)
	require.NoError(t, err)
	require.Equal(t, hosted.Complete, read.State)
	require.Equal(t, op.OperationID, read.Operation.OperationID)
	f.sums(t, req.Order.OrderID, "5000", "5000", hosted.Capture)
	_, err = f.Sessions.Cancel(t.Context(), "", b.SessionID)
	refused(t, hosted.SessionComplete, err)

	t.Run("declined", func(t *testing.T) {
		req := Good()
		op := f.done(t, req, f.Declined)
		require.Equal(t, hosted.Declined, op.OperationResult)
		f.sums(t, req.Order.OrderID, "0", "0", op.OperationType)
		// Another session of the order may succeed.
		require.Equal(t, hosted.Executed, f.done(t, req, f.Approved).OperationResult)
		f.sums(t, req.Order.OrderID, "5000", "5000", op.OperationType, hosted.Capture)
	})
	t.Run("another amount", func(t *testing.T) {
		req := Good()
		b := f.built(t, req)
		f.Fill(t, b.SessionID, f.Approved)
		_, err := f.Sessions.Finalize(t.Context(), "", b.SessionID, "5001")
		require.ErrorIs(t, err, &wire.Error{Code: wire.Invalid, Reason: hosted.AmountAboveOrder})
		s, err := f.Sessions.Finalize(t.Context(), "", b.SessionID, "4000")
		require.NoError(t, err)
		require.EqualValues(t, "4000", s.Operation.OperationAmount)
		f.sums(t, req.Order.OrderID, "4000", "4000", hosted.Capture)
	})
	t.Run("verify", func(t *testing.T) {
		req := Good()
		req.PaymentSession.ActionType, req.PaymentSession.Amount, req.Order.Amount = hosted.Verify, "0", "0"
		require.Equal(t, hosted.Executed, f.done(t, req, f.Approved).OperationResult)
		f.sums(t, req.Order.OrderID, "0", "0", hosted.Authorization)
	})
}

// sums reads an order: what is authorized and captured, and the types of its operations in order.
func (f Fixture) sums(t *testing.T, id, authorized, captured string, types ...string) hosted.Report {
	t.Helper()
	r, err := f.Orders.Order(t.Context(), id)
	require.NoError(t, err)
	require.Equal(t, id, r.OrderStatus.Order.OrderID)
	require.EqualValues(t, authorized, r.OrderStatus.AuthorizedAmount)
	require.EqualValues(t, captured, r.OrderStatus.CapturedAmount)
	var got []string
	for _, op := range r.Operations {
		require.Equal(t, id, op.OrderID)
		got = append(got, op.OperationType)
	}
	require.Equal(t, types, got)
	require.Equal(t, types[len(types)-1], r.OrderStatus.LastOperationType)
	require.NotEmpty(t, r.OrderStatus.LastOperationTime)
	return r
}

func (f Fixture) challenge(t *testing.T) {
	for _, pass := range []bool{true, false} {
		req := Good()
		b := f.built(t, req)
		f.Fill(t, b.SessionID, f.Asks)
		s, err := f.Sessions.Finalize(t.Context(), "", b.SessionID, "")
		require.NoError(t, err)
		require.Equal(t, hosted.Redirected, s.State)
		require.True(t, wire.WebURL(s.URL), s.URL)
		again, err := f.Sessions.Finalize(t.Context(), "", b.SessionID, "")
		require.NoError(t, err)
		require.Equal(t, s.URL, again.URL)
		f.Answer(t, b.SessionID, pass)
		s, err = f.Sessions.State(t.Context(), b.SessionID)
		require.NoError(t, err)
		require.Equal(t, hosted.Complete, s.State)
		require.Equal(t, map[bool]string{true: hosted.Executed, false: hosted.ThreeDSFailed}[pass], s.Operation.OperationResult)
	}
}

func (f Fixture) cancel(t *testing.T) {
	b := f.built(t, Good())
	f.Fill(t, b.SessionID, f.Approved)
	key := wire.NewKey()
	first, err := f.Sessions.Cancel(t.Context(), key, b.SessionID)
	require.NoError(t, err)
	again, err := f.Sessions.Cancel(t.Context(), key, b.SessionID)
	require.NoError(t, err)
	for _, s := range []hosted.SessionState{first, again} {
		require.Equal(t, hosted.Complete, s.State, "one of the five states of S2 3")
		require.NotNil(t, s.Operation)
		require.Equal(t, hosted.Canceled, s.Operation.OperationResult)
		require.Equal(t, first.Operation.OperationID, s.Operation.OperationID)
	}
	_, err = f.Sessions.Cancel(t.Context(), "", b.SessionID)
	refused(t, hosted.SessionCanceled, err)
	_, err = f.Sessions.Finalize(t.Context(), "", b.SessionID, "")
	refused(t, hosted.SessionCanceled, err)
	_, err = f.Sessions.State(t.Context(), b.SessionID)
	refused(t, hosted.SessionCanceled, err)
	_, err = f.Sessions.Card(t.Context(), b.SessionID)
	refused(t, hosted.SessionCanceled, err)
}

func (f Fixture) oneOrder(t *testing.T) {
	req := Good()
	first, second := f.built(t, req), f.built(t, req)
	f.Fill(t, first.SessionID, f.Approved)
	f.Fill(t, second.SessionID, f.Approved)
	_, err := f.Sessions.Finalize(t.Context(), "", first.SessionID, "")
	require.NoError(t, err)
	_, err = f.Sessions.Finalize(t.Context(), "", second.SessionID, "")
	refused(t, hosted.OrderPaid, err)
	_, err = f.Sessions.Build(t.Context(), "", req)
	refused(t, hosted.OrderPaid, err)
	f.sums(t, req.Order.OrderID, "5000", "5000", hosted.Capture)
}

type post func(ctx context.Context, key wire.Key, id string, req hosted.PostRequest) (hosted.Posted, error)

func good(t *testing.T, do post, id, amount string) string {
	t.Helper()
	p, err := do(t.Context(), wire.NewKey(), id, hosted.PostRequest{Amount: hosted.Text(amount), Currency: "EUR"})
	require.NoError(t, err)
	require.NotEmpty(t, p.OperationID)
	require.NotEmpty(t, p.OperationTime)
	return p.OperationID
}

func bad(t *testing.T, reason string, do post, id, amount string) {
	t.Helper()
	_, err := do(t.Context(), wire.NewKey(), id, hosted.PostRequest{Amount: hosted.Text(amount)})
	refused(t, reason, err)
}

func (f Fixture) capture(t *testing.T) {
	for _, preauth := range []bool{false, true} {
		req := explicit()
		if preauth {
			req.PaymentSession.CaptureType, req.PaymentSession.ActionType = "", hosted.Preauth
		}
		op := f.done(t, req, f.Approved)
		require.Equal(t, hosted.Authorization, op.OperationType)
		require.Equal(t, hosted.Authorized, op.OperationResult)
		f.sums(t, req.Order.OrderID, "5000", "0", hosted.Authorization)
		bad(t, hosted.ExecutedNoCapture, f.Orders.Capture, op.OperationID, "5001")
		good(t, f.Orders.Capture, op.OperationID, "2000")
		bad(t, hosted.ExecutedNoCapture, f.Orders.Capture, op.OperationID, "3001")
		good(t, f.Orders.Capture, op.OperationID, "")
		bad(t, hosted.ExecutedNoCapture, f.Orders.Capture, op.OperationID, "")
		r := f.sums(t, req.Order.OrderID, "5000", "5000", hosted.Authorization, hosted.Capture, hosted.Capture)
		require.EqualValues(t, "3000", r.Operations[2].OperationAmount)
		require.Equal(t, hosted.Executed, r.Operations[2].OperationResult)
	}
	_, err := f.Orders.Capture(t.Context(), wire.NewKey(), f.done(t, explicit(), f.Approved).OperationID, hosted.PostRequest{Amount: "1", Currency: "SEK"})
	require.ErrorIs(t, err, &wire.Error{Code: wire.Invalid, Reason: hosted.BadCurrency})
	bad(t, hosted.NotPossible, f.Orders.Capture, f.done(t, explicit(), f.Declined).OperationID, "")
}

func (f Fixture) refund(t *testing.T) {
	req := Good()
	op := f.done(t, req, f.Approved)
	good(t, f.Orders.Refund, op.OperationID, "1000")
	bad(t, hosted.RefundAboveCaptured, f.Orders.Refund, op.OperationID, "4001")
	good(t, f.Orders.Refund, op.OperationID, "")
	bad(t, hosted.AlreadyRefunded, f.Orders.Refund, op.OperationID, "1")
	bad(t, hosted.AlreadyRefunded, f.Orders.Refund, op.OperationID, "")
	r := f.sums(t, req.Order.OrderID, "5000", "5000", hosted.Capture, hosted.Refund, hosted.Refund)
	require.EqualValues(t, "4000", r.Operations[2].OperationAmount)
	require.Equal(t, hosted.Refunded, r.Operations[2].OperationResult)
	bad(t, hosted.RefundAboveCaptured, f.Orders.Refund, f.done(t, explicit(), f.Approved).OperationID, "1")
	bad(t, hosted.NotPossible, f.Orders.Refund, f.done(t, Good(), f.Declined).OperationID, "")
}

func (f Fixture) undo(t *testing.T) {
	req := explicit()
	op := f.done(t, req, f.Approved)
	good(t, f.Orders.Cancel, op.OperationID, "")
	bad(t, hosted.AlreadyVoided, f.Orders.Cancel, op.OperationID, "")
	bad(t, hosted.VoidedNoCapture, f.Orders.Capture, op.OperationID, "1")
	r := f.sums(t, req.Order.OrderID, "5000", "0", hosted.Authorization, hosted.Void)
	require.Equal(t, hosted.Voided, r.Operations[1].OperationResult)
	require.Equal(t, op.OperationID, r.Operations[1].CancelledOperationID)

	req = Good()
	op = f.done(t, req, f.Approved)
	good(t, f.Orders.Cancel, op.OperationID, "")
	bad(t, hosted.AlreadyVoided, f.Orders.Cancel, op.OperationID, "")
	bad(t, hosted.AlreadyRefunded, f.Orders.Refund, op.OperationID, "1")
	r = f.sums(t, req.Order.OrderID, "5000", "0", hosted.Capture, hosted.Cancel)
	require.Equal(t, op.OperationID, r.Operations[1].CancelledOperationID)

	op = f.done(t, explicit(), f.Approved)
	good(t, f.Orders.Capture, op.OperationID, "1")
	bad(t, hosted.NotPossible, f.Orders.Cancel, op.OperationID, "")
}

func (f Fixture) keys(t *testing.T) {
	key, req := wire.NewKey(), Good()
	first, err := f.Sessions.Build(t.Context(), key, req)
	require.NoError(t, err)
	again, err := f.Sessions.Build(t.Context(), key, req)
	require.NoError(t, err)
	require.Equal(t, first, again)
	req.Order.Description = "other"
	_, err = f.Sessions.Build(t.Context(), key, req)
	require.Equal(t, wire.KeyReused, wire.CodeOf(err), "%v", err)

	op := f.done(t, explicit(), f.Approved)
	for _, do := range []post{f.Orders.Capture, f.Orders.Refund} {
		key := wire.NewKey()
		first, err := do(t.Context(), key, op.OperationID, hosted.PostRequest{Amount: "100"})
		require.NoError(t, err)
		for range 3 {
			again, err := do(t.Context(), key, op.OperationID, hosted.PostRequest{Amount: "100"})
			require.NoError(t, err)
			require.Equal(t, first, again)
		}
		_, err = do(t.Context(), key, op.OperationID, hosted.PostRequest{Amount: "50"})
		require.Equal(t, wire.KeyReused, wire.CodeOf(err), "%v", err)
	}
	f.sums(t, op.OrderID, "5000", "100", hosted.Authorization, hosted.Capture, hosted.Refund)
}

func (f Fixture) unknown(t *testing.T) {
	ctx := t.Context()
	_, err := f.Sessions.Finalize(ctx, "", "nothing", "")
	require.Equal(t, wire.NotFound, wire.CodeOf(err), "%v", err)
	_, err = f.Sessions.Cancel(ctx, "", "nothing")
	require.Equal(t, wire.NotFound, wire.CodeOf(err), "%v", err)
	_, err = f.Sessions.State(ctx, "nothing")
	require.Equal(t, wire.NotFound, wire.CodeOf(err), "%v", err)
	_, err = f.Sessions.Card(ctx, "nothing")
	require.Equal(t, wire.NotFound, wire.CodeOf(err), "%v", err)
	_, err = f.Orders.Order(ctx, "nothing")
	require.Equal(t, wire.NotFound, wire.CodeOf(err), "%v", err)
	for _, do := range []post{f.Orders.Capture, f.Orders.Refund, f.Orders.Cancel} {
		_, err = do(ctx, wire.NewKey(), "nothing", hosted.PostRequest{})
		require.Equal(t, wire.NotFound, wire.CodeOf(err), "%v", err)
	}
}

func (f Fixture) methods(t *testing.T) {
	list, err := f.Orders.Methods(t.Context())
	require.NoError(t, err)
	require.NotEmpty(t, list.PaymentMethods)
	for _, m := range list.PaymentMethods {
		require.Contains(t, []string{hosted.Card, hosted.APM}, m.PaymentMethodType)
		require.NotEmpty(t, m.Circuit)
	}
}

func (f Fixture) validation(t *testing.T) {
	for _, c := range Broken() {
		req := Good()
		c.Break(&req)
		_, err := f.Sessions.Build(t.Context(), "", req)
		require.ErrorIs(t, err, &wire.Error{Code: wire.Invalid, Reason: c.Reason}, c.Name)
	}
	for _, amount := range []string{"0", "-1", "05", "1.5", "x", "2147483648"} {
		op := f.done(t, explicit(), f.Approved)
		_, err := f.Orders.Capture(t.Context(), wire.NewKey(), op.OperationID, hosted.PostRequest{Amount: hosted.Text(amount)})
		require.ErrorIs(t, err, &wire.Error{Code: wire.Invalid, Reason: hosted.AmountNotNumeric}, amount)
		f.sums(t, op.OrderID, "5000", "0", hosted.Authorization)
	}
}
