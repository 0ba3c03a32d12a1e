package hosted

import (
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/schemes/backend/books"
	"posagent/schemes/backend/scenario"
	"posagent/schemes/hosted"
	"posagent/schemes/money"
	"posagent/schemes/wire"
	"posagent/store"
)

// Every test card does what its line says, money moves where it says so, and the merchant is told.
func TestEveryTestCard(t *testing.T) {
	for _, row := range scenario.Cards() {
		t.Run(row.Name, func(t *testing.T) {
			w := newWorld(t)
			req := request()
			id, s, err := w.finalized(req, row.Name)
			want, moved := hosted.Executed, money.Minor(5000)
			switch row.Do {
			case scenario.Challenge, scenario.ChallengeBad:
				require.NoError(t, err)
				require.Equal(t, hosted.Redirected, s.State)
				require.Equal(t, public+"/away/"+id, s.URL)
				require.Equal(t, hosted.Pending, s.Operation.OperationResult)
				require.Equal(t, []string{"CAPTURE PENDING"}, w.told())
				require.NoError(t, w.Answer(t.Context(), id, true))
				told := []string{"CAPTURE THREEDS_VALIDATED", "CAPTURE EXECUTED"}
				if row.Do == scenario.ChallengeBad {
					want, moved, told = hosted.ThreeDSFailed, 0, []string{"CAPTURE THREEDS_FAILED"}
				}
				require.Equal(t, told, w.told())
			case scenario.Cut, scenario.Garbage:
				require.Equal(t, wire.UnknownOutcome, wire.CodeOf(err))
			case scenario.SpoilInternal:
				require.Equal(t, wire.Internal, wire.CodeOf(err))
			case scenario.HardDecline, scenario.NoFunds, scenario.OldCard, scenario.SoftDecline:
				want, moved = hosted.Declined, 0
				if row.Name == scenario.Risk {
					want = hosted.DeniedByRisk
				}
			case scenario.ReserveFails, scenario.CaptureFails:
				want, moved = hosted.Failed, 0
			}
			s, err = w.State(t.Context(), id)
			require.NoError(t, err)
			require.Equal(t, hosted.Complete, s.State)
			require.Equal(t, want, s.Operation.OperationResult)
			require.Equal(t, moved, w.accounts()[books.Merchant])
			if told := w.told(); len(told) > 0 {
				require.Equal(t, []string{"CAPTURE " + want}, told)
			}
			if row.Do == scenario.SoftDecline {
				require.Equal(t, hosted.Executed, w.paid(req, row.Name).OperationResult, "another session of the order")
			}
			w.clean(row.PAN, "shop.example/notify-secret")
		})
	}
}

// However many sessions an order has, and however often each is finalized at once, it is paid once.
func TestAnOrderIsPaidOnce(t *testing.T) {
	w := newWorld(t)
	req := request()
	var ids []string
	for range 4 {
		id := w.built(req)
		require.NoError(t, w.Fill(t.Context(), id, pan(t, "visa"), 2031, 6))
		ids = append(ids, id)
	}
	away := w.built(req)
	require.NoError(t, w.Fill(t.Context(), away, pan(t, "challenge"), 2031, 6))
	_, err := w.Finalize(t.Context(), "", away, "")
	require.NoError(t, err)
	var wg sync.WaitGroup
	for range 5 {
		for _, id := range ids {
			wg.Go(func() {
				if _, err := w.Finalize(t.Context(), "", id, ""); err != nil && wire.ReasonOf(err) != hosted.OrderPaid {
					t.Error(err)
				}
			})
		}
	}
	wg.Wait()
	require.NoError(t, w.Answer(t.Context(), away, true)) // the cardholder comes back too late
	s, err := w.State(t.Context(), away)
	require.NoError(t, err)
	require.Equal(t, hosted.Failed, s.Operation.OperationResult)
	require.Equal(t, map[books.Account]money.Minor{books.Consumer: -5000, books.Merchant: 5000}, w.accounts())
}

// A session keeps the end it was built with, also when a later setting is another.
func TestLifeIsTheBuilds(t *testing.T) {
	w := newWorld(t)
	five := w.built(request())
	w.opt.Life = 3 * time.Second
	short := w.built(request())
	w.Pass(3*time.Second - time.Millisecond)
	require.NoError(t, w.Fill(t.Context(), short, pan(t, "visa"), 2031, 6)) // stored again, with the same end
	w.opt.Life = time.Hour
	w.Pass(time.Millisecond)
	_, err := w.Finalize(t.Context(), "", short, "")
	refused(t, hosted.SessionExpired, err)
	w.opt.Life = time.Second
	w.Pass(5*time.Minute - 3*time.Second - time.Millisecond)
	_, err = w.State(t.Context(), five)
	require.NoError(t, err)
	w.Pass(time.Millisecond)
	_, err = w.State(t.Context(), five)
	refused(t, hosted.SessionExpired, err)
}

// A session is over after five minutes, wherever it stands; what is complete stays.
func TestFiveMinutes(t *testing.T) {
	w := newWorld(t)
	done := request()
	paid, _, err := w.finalized(done, "visa")
	require.NoError(t, err)
	away, _, err := w.finalized(request(), "challenge")
	require.NoError(t, err)
	ready := w.built(request())
	require.NoError(t, w.Fill(t.Context(), ready, pan(t, "visa"), 2031, 6))
	fresh := w.built(request())
	w.told()
	w.Pass(5*time.Minute - time.Millisecond)
	s, err := w.State(t.Context(), ready)
	require.NoError(t, err)
	require.Equal(t, hosted.Ready, s.State)
	w.Pass(time.Millisecond) // without any sweep
	for _, id := range []string{ready, fresh} {
		_, err = w.State(t.Context(), id)
		refused(t, hosted.SessionExpired, err)
		_, err = w.Finalize(t.Context(), "", id, "")
		refused(t, hosted.SessionExpired, err)
		_, err = w.Cancel(t.Context(), "", id)
		refused(t, hosted.SessionExpired, err)
		refused(t, hosted.SessionExpired, w.Fill(t.Context(), id, pan(t, "visa"), 2031, 6))
	}
	w.pass(0)
	require.Equal(t, []string{"CAPTURE FAILED"}, w.told())
	s, err = w.State(t.Context(), away)
	require.NoError(t, err)
	require.Equal(t, hosted.Failed, s.Operation.OperationResult)
	require.NoError(t, w.Answer(t.Context(), away, true))
	s, err = w.State(t.Context(), paid)
	require.NoError(t, err)
	require.Equal(t, hosted.Executed, s.Operation.OperationResult)
	require.EqualValues(t, 5000, w.accounts()[books.Merchant])
	require.Empty(t, w.told())
}

// A shop cannot take a cancelled session for a paid one.
func TestField_B4CancelledIsNoSuccess(t *testing.T) {
	w := newWorld(t)
	for _, state := range []string{"fields", "ready"} {
		req := request()
		req.Order.OrderID = state
		id := w.built(req)
		if state == "ready" {
			require.NoError(t, w.Fill(t.Context(), id, pan(t, "visa"), 2031, 6))
		}
		s, err := w.Cancel(t.Context(), "", id)
		require.NoError(t, err)
		require.Equal(t, "PAYMENT_COMPLETE", s.State)
		require.NotNil(t, s.Operation, "without one a shop takes it for paid")
		require.Equal(t, "CANCELED", s.Operation.OperationResult)
	}
}

// What a customer agreed to pay does not change below an open session.
func TestField_B4AnotherAmountWaitsForTheOpenSession(t *testing.T) {
	w := newWorld(t)
	req := request()
	first := w.built(req)
	w.built(req) // the same again is no change
	more := request()
	more.Order.OrderID, more.Order.Amount, more.PaymentSession.Amount = req.Order.OrderID, "9000", "9000"
	_, err := w.Build(t.Context(), "", more)
	refused(t, hosted.OrderDiffers, err)
	r, err := w.Orders().Order(t.Context(), req.Order.OrderID)
	require.NoError(t, err)
	require.Equal(t, hosted.Text("5000"), r.OrderStatus.Order.Amount, "a refusal changes nothing")

	_, err = w.Cancel(t.Context(), "", first)
	require.NoError(t, err)
	_, err = w.Build(t.Context(), "", more)
	refused(t, hosted.OrderDiffers, err) // the second session
	w.Pass(5 * time.Minute)
	id := w.built(more)
	require.NoError(t, w.Fill(t.Context(), id, pan(t, "visa"), 2031, 6))
	_, err = w.Finalize(t.Context(), "", id, "")
	require.NoError(t, err)
	require.EqualValues(t, 9000, w.accounts()["merchant"])
}

// TestField2_S7ACancelAnswersAStateOfS2: PAYMENT_COMPLETE with an operation whose result is CANCELED, whatever the session was at. The
// kind: each state that can be cancelled, and the same answer under the same key.
func TestField2_S7ACancelAnswersAStateOfS2(t *testing.T) {
	w := newWorld(t)
	away, _, err := w.finalized(request(), "challenge")
	require.NoError(t, err)
	other := request()
	other.Order.OrderID = "another1"
	collecting := w.built(other)
	other.Order.OrderID = "another2"
	ready := w.built(other)
	require.NoError(t, w.Fill(t.Context(), ready, pan(t, "visa"), 2031, 6))
	for name, id := range map[string]string{"away": away, "collecting": collecting, "ready": ready} {
		key := wire.NewKey()
		first, err := w.Cancel(t.Context(), key, id)
		require.NoError(t, err, name)
		require.Equal(t, hosted.Complete, first.State, name)
		require.NotNil(t, first.Operation, name)
		require.Equal(t, hosted.Canceled, first.Operation.OperationResult, name)
		again, err := w.Cancel(t.Context(), key, id)
		require.NoError(t, err, name)
		require.Equal(t, first, again, name)
		_, err = w.Finalize(t.Context(), "", id, "")
		refused(t, hosted.SessionCanceled, err)
	}
	require.Empty(t, w.accounts())
}

func TestCancelWhileAway(t *testing.T) {
	w := newWorld(t)
	id, _, err := w.finalized(request(), "challenge")
	require.NoError(t, err)
	s, err := w.Cancel(t.Context(), "", id)
	require.NoError(t, err)
	require.Equal(t, hosted.Canceled, s.Operation.OperationResult)
	require.NoError(t, w.Answer(t.Context(), id, true))
	_, err = w.State(t.Context(), id)
	refused(t, hosted.SessionCanceled, err)
	require.Empty(t, w.accounts())
	require.Equal(t, []string{"CAPTURE PENDING", "CAPTURE CANCELED"}, w.told())
}

// An alternative method has a place of its own and knows no explicit capture.
func TestAlternativeMethod(t *testing.T) {
	for said, want := range map[string]string{sayYes: hosted.Executed, sayNo: hosted.Declined, sayCancel: hosted.Canceled} {
		w := newWorld(t)
		req := explicit()
		req.PaymentSession.PaymentService = "paypal"
		b, err := w.Build(t.Context(), "", req)
		require.NoError(t, err)
		require.Equal(t, hosted.Redirected, b.State)
		require.Empty(t, b.Fields)
		require.NoError(t, w.answer(t.Context(), b.SessionID, said, nil))
		s, err := w.State(t.Context(), b.SessionID)
		require.NoError(t, err)
		require.Equal(t, want, s.Operation.OperationResult)
		require.Equal(t, hosted.APM, s.Operation.PaymentMethod)
		require.Equal(t, "PAYPAL", s.Operation.PaymentCircuit)
		require.Equal(t, []string{"CAPTURE PENDING", "CAPTURE " + want}, w.told())
	}
	w := newWorld(t)
	req := request()
	req.PaymentSession.PaymentService = "BARTER"
	_, err := w.Build(t.Context(), "", req)
	require.ErrorIs(t, err, &wire.Error{Code: wire.Invalid, Reason: hosted.BadParameter})
}

func TestChallengeRequested(t *testing.T) {
	w := newWorld(t)
	req := explicit()
	req.PaymentSession.Exemptions = hosted.ChallengeRequested
	id, s, err := w.finalized(req, "visa")
	require.NoError(t, err)
	require.Equal(t, hosted.Redirected, s.State)
	require.NoError(t, w.Answer(t.Context(), id, true))
	s, err = w.State(t.Context(), id)
	require.NoError(t, err)
	require.Equal(t, hosted.Authorized, s.Operation.OperationResult)
	require.Equal(t, `"FULL_SECURE"`, string(s.Operation.AdditionalData["threeDS"]))
}

func with(r hosted.Recurrence) hosted.BuildRequest {
	req := request()
	req.PaymentSession.Recurrence = &r
	return req
}

// A contract keeps a card: for the merchant, or for a customer who comes back.
// A build that a contract forbids leaves no order, and leaves one that is there as it was.
func TestARefusedBuildChangesNoOrder(t *testing.T) {
	w := newWorld(t)
	req := with(hosted.Recurrence{Action: hosted.SubsequentPayment, ContractID: "none"})
	_, err := w.Build(t.Context(), "", req)
	refused(t, hosted.BadContract, err)
	_, err = w.Orders().Order(t.Context(), req.Order.OrderID)
	require.Equal(t, wire.NotFound, wire.CodeOf(err))
	good := req
	good.PaymentSession.Recurrence = nil
	_, err = w.Build(t.Context(), "", good)
	require.NoError(t, err)
	req.Order.Amount, req.PaymentSession.Amount = "1", "1"
	_, err = w.Build(t.Context(), "", req)
	refused(t, hosted.BadContract, err)
	was, err := w.Orders().Order(t.Context(), req.Order.OrderID)
	require.NoError(t, err)
	require.Equal(t, good.Order.Amount, was.OrderStatus.Order.Amount)
}

func TestContracts(t *testing.T) {
	w := newWorld(t)
	create := hosted.Recurrence{Action: hosted.ContractCreation, ContractID: "C1", ContractType: hosted.Scheduled, ContractFrequency: "30", ContractExpiryDate: "2027-02-01"}
	require.Equal(t, hosted.Declined, w.paid(with(create), "hard-decline").OperationResult)
	later := hosted.Recurrence{Action: hosted.SubsequentPayment, ContractID: "C1"}
	_, err := w.Build(t.Context(), "", with(later))
	refused(t, hosted.BadContract, err) // a card that was declined is not kept
	require.Equal(t, hosted.Executed, w.paid(with(create), "visa").OperationResult)
	_, err = w.Build(t.Context(), "", with(create))
	refused(t, hosted.BadContract, err) // there is one already
	_, err = w.Build(t.Context(), "", with(later))
	refused(t, hosted.BadContract, err) // too early
	w.Pass(30 * 24 * time.Hour)
	req := with(later)
	b, err := w.Build(t.Context(), "", req)
	require.NoError(t, err)
	require.Empty(t, b.Fields)
	s, err := w.Finalize(t.Context(), "", b.SessionID, "")
	require.NoError(t, err)
	require.Equal(t, hosted.Executed, s.Operation.OperationResult)
	require.Equal(t, hosted.Backoffice, s.Operation.Channel)
	_, err = w.Build(t.Context(), "", with(later))
	refused(t, hosted.BadContract, err) // its days begin again

	swap := hosted.Recurrence{Action: hosted.CardSubstitution, ContractID: "C1"}
	req = with(swap)
	req.PaymentSession.ActionType, req.PaymentSession.Amount, req.Order.Amount = hosted.Verify, "0", "0"
	require.Equal(t, hosted.Executed, w.paid(req, "mastercard").OperationResult)
	w.Pass(30 * 24 * time.Hour)
	b, err = w.Build(t.Context(), "", with(later))
	require.NoError(t, err)
	s, err = w.Finalize(t.Context(), "", b.SessionID, "")
	require.NoError(t, err)
	require.Equal(t, "MC", s.Operation.PaymentCircuit, "the other card")
	w.Pass(31 * 24 * time.Hour) // past its expiry
	_, err = w.Build(t.Context(), "", with(later))
	refused(t, hosted.BadContract, err)

	// A customer who comes back is asked, the merchant is not.
	for _, kind := range []string{hosted.CIT, hosted.Unscheduled} {
		first := with(hosted.Recurrence{Action: hosted.ContractCreation, ContractID: kind, ContractType: kind})
		id, _, err := w.finalized(first, "challenge")
		require.NoError(t, err)
		require.NoError(t, w.Answer(t.Context(), id, true))
		b, err := w.Build(t.Context(), "", with(hosted.Recurrence{Action: hosted.SubsequentPayment, ContractID: kind}))
		require.NoError(t, err)
		s, err := w.Finalize(t.Context(), "", b.SessionID, "")
		require.NoError(t, err)
		require.Equal(t, kind == hosted.CIT, s.State == hosted.Redirected)
		_, err = w.Build(t.Context(), "", with(hosted.Recurrence{Action: hosted.SubsequentPayment, ContractID: kind, ContractType: hosted.Scheduled}))
		refused(t, hosted.BadContract, err)
	}
}

// What was judged before a customer is sent to his bank is judged again when he is back. The members: the contract that
// another session has made since, the contract's card that was substituted, its next payment that was taken, its expiry,
// the order that was paid. Each ends FAILED, without money, and the contract stays as it was.
func TestField2_S10_JudgedAgainWhenTheCustomerIsBack(t *testing.T) {
	of := func(order string, r hosted.Recurrence) hosted.BuildRequest {
		req := request()
		req.Order.OrderID, req.PaymentSession.Recurrence = order, &r
		return req
	}
	create := hosted.Recurrence{Action: hosted.ContractCreation, ContractID: "C1", ContractType: hosted.CIT}
	later := hosted.Recurrence{Action: hosted.SubsequentPayment, ContractID: "C1"}
	swap := hosted.Recurrence{Action: hosted.CardSubstitution, ContractID: "C1"}
	away := func(w *world, req hosted.BuildRequest, card string) string {
		req.PaymentSession.Exemptions = hosted.ChallengeRequested
		id := w.built(req)
		if card != "" {
			require.NoError(t, w.Fill(t.Context(), id, pan(t, card), 2031, 6))
		}
		s, err := w.Finalize(t.Context(), "", id, "")
		require.NoError(t, err)
		require.Equal(t, hosted.Redirected, s.State)
		return id
	}
	back := func(w *world, id string) string {
		require.NoError(t, w.Answer(t.Context(), id, true))
		s, err := w.State(t.Context(), id)
		require.NoError(t, err)
		return s.Operation.OperationResult
	}
	circuit := func(w *world) string {
		var c *contract
		require.NoError(t, w.DB.Read(t.Context(), func(r store.Reader) (err error) {
			c, err = findContract(r, "C1")
			return err
		}))
		return c.Card.Circuit
	}
	t.Run("made by another session", func(t *testing.T) {
		w := newWorld(t)
		one, two := away(w, of("O1", create), "visa"), away(w, of("O2", create), "mastercard")
		require.Equal(t, hosted.Executed, back(w, one))
		had := w.accounts()
		require.Equal(t, hosted.Failed, back(w, two))
		require.Equal(t, "VISA", circuit(w))
		require.Equal(t, had, w.accounts())
	})
	t.Run("another card was put in", func(t *testing.T) {
		w := newWorld(t)
		require.Equal(t, hosted.Executed, back(w, away(w, of("O1", create), "visa")))
		asked := away(w, of("O2", later), "")
		change := of("O3", swap)
		change.PaymentSession.ActionType, change.PaymentSession.Amount, change.Order.Amount = hosted.Verify, "0", "0"
		require.Equal(t, hosted.Executed, w.paid(change, "mastercard").OperationResult)
		had := w.accounts()
		require.Equal(t, hosted.Failed, back(w, asked), "the question was about the card of before")
		require.Equal(t, had, w.accounts())
	})
	t.Run("expired meanwhile", func(t *testing.T) {
		w := newWorld(t)
		w.Pass(12*time.Hour - time.Minute)
		ends := create
		ends.ContractExpiryDate = w.Now().UTC().Format(time.DateOnly)
		asked := away(w, of("O1", ends), "visa")
		w.Pass(2 * time.Minute)
		require.Equal(t, hosted.Failed, back(w, asked))
		require.Empty(t, w.accounts())
	})
	t.Run("the order was paid", func(t *testing.T) {
		w := newWorld(t)
		plain := request()
		asked := away(w, plain, "visa")
		require.Equal(t, hosted.Executed, w.paid(plain, "visa").OperationResult)
		had := w.accounts()
		require.Equal(t, hosted.Failed, back(w, asked))
		require.Equal(t, had, w.accounts())
	})
}
