package payments

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/cross/need"
	"posagent/schemes/backend/scenario"
	"posagent/schemes/payments"
	"posagent/schemes/webhooks"
	"posagent/schemes/wire"
	"posagent/store"
)

// Every line of the table does what it says, and tells what it must.
func TestEveryTestCard(t *testing.T) {
	created := []string{"created", "reservation.created", "reservation.created.v2"}
	failed := []string{"created", "reservation.failed"}
	for _, row := range scenario.Cards() {
		t.Run(row.Name, func(t *testing.T) {
			b := newBank(t)
			require.True(t, wire.NewPAN(row.PAN).Valid())
			ctx := t.Context()
			key, req := wire.NewKey(), moto(t, row.Name, payments.ProcessAuthorize)
			out, err := b.Create(ctx, key, req)
			id := out.PaymentID
			switch row.Do {
			case scenario.HardDecline, scenario.NoFunds, scenario.ReserveFails, scenario.OldCard, scenario.SoftDecline:
				reason := map[scenario.Do]string{scenario.HardDecline: payments.HardDecline, scenario.OldCard: payments.CardExpired}[row.Do]
				if reason == "" {
					reason = payments.PaymentReserveMethodFailed
				}
				refusedFor(t, err, reason)
				require.Equal(t, failed, b.told())
				id = b.make(moto(t, row.Name, payments.ProcessNone))
				_, err = b.Authorize(ctx, "", id, payments.AuthorizeRequest{})
				refusedFor(t, err, reason)
				_, err = b.Authorize(ctx, "", id, payments.AuthorizeRequest{})
				if row.Do == scenario.SoftDecline {
					require.NoError(t, err)
				} else {
					refusedFor(t, err, reason)
					require.Equal(t, [3]int32{}, b.sums(id))
				}
				return
			case scenario.Cut, scenario.Garbage, scenario.SpoilInternal:
				code := wire.UnknownOutcome
				if row.Do == scenario.SpoilInternal {
					code = wire.Internal
				}
				require.Equal(t, code, wire.CodeOf(err))
				require.Equal(t, created, b.told())
				out, err = b.Create(ctx, key, req)
				require.NoError(t, err, "the same key again")
				require.Empty(t, b.told())
				require.Equal(t, [3]int32{10_000, 0, 0}, b.sums(out.PaymentID))
				return
			}
			require.NoError(t, err)
			require.Equal(t, created, b.told())
			require.Equal(t, [3]int32{10_000, 0, 0}, b.sums(id))
			switch row.Do {
			case scenario.CaptureFails:
				_, err = b.Capture(ctx, "", id, payments.CaptureRequest{})
				refusedFor(t, err, payments.PaymentMethodChargeFailed)
				require.Equal(t, []string{"charge.failed"}, b.told())
				_, err = b.Create(ctx, "", moto(t, row.Name, payments.ProcessSale))
				refusedFor(t, err, payments.PaymentMethodChargeFailed)
				require.Equal(t, []string{"created", "charge.failed"}, b.told())
			case scenario.CancelFails:
				_, err = b.Cancel(ctx, "", id, payments.CancelRequest{})
				refusedFor(t, err, "")
				require.Equal(t, []string{"cancel.failed"}, b.told())
				require.Equal(t, [3]int32{10_000, 0, 0}, b.sums(id))
			case scenario.Lapse:
				b.Pass(lapseTime)
				_, err = b.Capture(ctx, "", id, payments.CaptureRequest{})
				refusedFor(t, err, payments.ReservationExpired)
				require.Equal(t, [3]int32{}, b.sums(id))
			case scenario.RefundNo, scenario.RefundFails:
				_, err = b.Capture(ctx, "", id, payments.CaptureRequest{})
				require.NoError(t, err)
				b.told()
				_, err = b.Refund(ctx, "", id, payments.RefundRequest{Amount: amount(100)})
				if row.Do == scenario.RefundNo {
					refusedFor(t, err, payments.RefundFailed)
					require.Equal(t, []string{"refund.failed"}, b.told())
					return
				}
				require.NoError(t, err)
				require.Equal(t, [3]int32{10_000, 10_000, 100}, b.sums(id))
				b.Pass(refundTime)
				require.Equal(t, [3]int32{10_000, 10_000, 0}, b.sums(id))
				require.Equal(t, []string{"refund.initiated.v2", "refund.failed"}, b.told())
				p, err := b.Read(ctx, id)
				require.NoError(t, err)
				require.Empty(t, p.Refunds)
			}
			b.balanced(id)
		})
	}
}

// All twelve events, each with everything its receivers rely on, of a payment that says as little as it can.
func TestEveryEventIsTold(t *testing.T) {
	b := newBank(t)
	ctx := t.Context()
	bare := func(amount int32) string {
		req := hosted(payments.ProcessAuthorize)
		req.Amount, req.Customer, req.Basket, req.RedirectURLs = amount, nil, nil, nil
		return b.make(req)
	}
	pay := func(id string) {
		_, err := b.pay(ctx, id, given{Card: plastic(t, "visa")}, nil)
		require.NoError(t, err)
	}
	good, declined, capture, refunds, late, cancels := bare(500), bare(91001), bare(91008), bare(91009), bare(91010), bare(91011)
	for _, id := range []string{good, declined, capture, refunds, late, cancels} {
		pay(id)
	}
	_, err := b.Capture(ctx, "", capture, payments.CaptureRequest{})
	refusedFor(t, err, payments.PaymentMethodChargeFailed)
	_, err = b.Cancel(ctx, "", cancels, payments.CancelRequest{})
	refusedFor(t, err, "")
	_, err = b.Cancel(ctx, "", capture, payments.CancelRequest{})
	require.NoError(t, err)
	for _, id := range []string{good, refunds, late} {
		_, err = b.Capture(ctx, "", id, payments.CaptureRequest{})
		require.NoError(t, err)
		_, err = b.Refund(ctx, "", id, payments.RefundRequest{})
		require.Equal(t, id == refunds, err != nil, "%v", err)
	}
	b.Pass(refundTime)
	_, err = b.sweep(ctx)
	require.NoError(t, err)
	seen := map[string]int{}
	for _, name := range b.told() {
		seen[name]++
	}
	require.Equal(t, map[string]int{"created": 6, "reservation.created": 5, "reservation.created.v2": 5, "reservation.failed": 1, "checkout.completed": 5,
		"charge.created.v2": 3, "charge.failed": 1, "refund.initiated.v2": 2, "refund.completed": 1, "refund.failed": 2, "cancel.created": 1, "cancel.failed": 1}, seen)
}

// An amount of the table does with a good card, a token and the page what the card of its line does.
func TestAmountsOfTheTable(t *testing.T) {
	b := newBank(t)
	for _, row := range scenario.Cards() {
		if row.Amount == 0 || row.Do.Spoils() || row.Do == scenario.Challenge || row.Do == scenario.ChallengeBad {
			continue
		}
		require.Equal(t, row.Do, scenario.CardDo("visa", row.Amount))
		require.Equal(t, scenario.HardDecline, scenario.CardDo("hard-decline", row.Amount), "a card's own line goes first")
	}
	req := hosted("")
	req.Amount, req.Basket = 91001, nil
	id := b.make(req)
	_, err := b.Authorize(t.Context(), "", id, payments.AuthorizeRequest{})
	refusedFor(t, err, payments.HardDecline)
	require.Equal(t, Fresh, b.state(id))
}

func TestTimeEndsThings(t *testing.T) {
	b := newBank(t)
	ctx := t.Context()
	id := b.make(moto(t, "visa", payments.ProcessAuthorize))
	_, err := b.Capture(ctx, "", id, payments.CaptureRequest{Amount: amount(3000)})
	require.NoError(t, err)
	_, err = b.Refund(ctx, "", id, payments.RefundRequest{Amount: amount(1000)})
	require.NoError(t, err)
	b.Pass(time.Millisecond)
	_, err = b.Refund(ctx, "", id, payments.RefundRequest{Amount: amount(500)})
	require.NoError(t, err)
	b.told()
	b.Pass(refundTime - time.Millisecond)
	require.Equal(t, [3]int32{10_000, 3000, 1500}, b.sums(id))
	require.Equal(t, []string{"refund.completed"}, b.told())
	b.Restart() // what is due survives a restart
	b.Pass(time.Hour)
	_, err = b.sweep(ctx)
	require.NoError(t, err)
	require.Equal(t, []string{"refund.completed"}, b.told())
	b.Pass(holdTime)
	_, err = b.Capture(ctx, "", id, payments.CaptureRequest{Amount: amount(1)})
	refusedFor(t, err, payments.ReservationExpired)
	require.Equal(t, [3]int32{3000, 3000, 1500}, b.sums(id))
	require.Equal(t, Lapsed, b.state(id))
	_, err = b.Cancel(ctx, "", id, payments.CancelRequest{})
	refusedFor(t, err, payments.AlreadyCharged)
	_, err = b.Refund(ctx, "", id, payments.RefundRequest{})
	require.NoError(t, err)
	require.Equal(t, [3]int32{3000, 3000, 3000}, b.sums(id))
	b.balanced(id)

	page := b.make(hosted(payments.ProcessSale))
	b.Pass(pageTime)
	_, err = b.Authorize(ctx, "", page, payments.AuthorizeRequest{})
	refusedFor(t, err, payments.PaymentExpired)
	v, err := b.look(ctx, page)
	require.NoError(t, err)
	require.Equal(t, nextClosed, v.Next)
	require.Equal(t, payments.PaymentExpired, v.Reason)
}

func TestRunMovesWhatNobodyTouches(t *testing.T) {
	b := newBank(t)
	id := b.make(moto(t, "lapse", payments.ProcessAuthorize))
	b.Pass(lapseTime)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- b.Run(ctx) }()
	need.Until(t, "the payment to expire", func() bool {
		var n int
		err := b.DB.Read(t.Context(), func(r store.Reader) error {
			return r.QueryRow(`SELECT COUNT(*) FROM cards_payment WHERE id = ? AND state = 'expired'`, id).Scan(&n)
		})
		return err == nil && n == 1
	})
	stop()
	require.ErrorIs(t, <-ended, context.Canceled)
}

// A page is paid once, however often the button is pressed and whatever happens beside it.
func TestThePage(t *testing.T) {
	b := newBank(t)
	ctx := t.Context()
	pay := func(id, name string) step {
		t.Helper()
		s, err := b.pay(ctx, id, given{Card: plastic(t, name), IP: "192.0.2.1"}, nil)
		require.NoError(t, err)
		return s
	}
	t.Run("pay", func(t *testing.T) {
		id := b.make(hosted(payments.ProcessSale))
		b.told()
		v, err := b.look(ctx, id)
		require.NoError(t, err)
		require.Equal(t, nextPay, v.Next)
		require.Equal(t, "Corner Shop", v.Merchant)
		require.Len(t, v.Methods, 10)
		require.Equal(t, step{Next: nextDone, Return: "https://shop.example/back"}, pay(id, "visa"))
		require.Equal(t, []string{"created", "reservation.created", "reservation.created.v2", "charge.created.v2", "checkout.completed"}, b.told())
		require.Equal(t, step{Next: nextDone, Return: "https://shop.example/back"}, pay(id, "visa"))
		require.Empty(t, b.told())
		require.Equal(t, [3]int32{10_000, 10_000, 0}, b.sums(id))
	})
	t.Run("double click", func(t *testing.T) {
		id := b.make(hosted(payments.ProcessSale))
		var wg sync.WaitGroup
		for range 16 {
			wg.Go(func() { _, _ = b.pay(ctx, id, given{Card: plastic(t, "visa")}, nil) }) // judged by the sums
		}
		wg.Wait()
		p, err := b.Read(ctx, id)
		require.NoError(t, err)
		require.Len(t, p.Captures, 1)
		require.EqualValues(t, 10_000, p.Summary.CapturedAmount)
	})
	t.Run("decline, then another card", func(t *testing.T) {
		id := b.make(hosted(payments.ProcessAuthorize))
		b.told()
		require.Equal(t, step{Next: nextPay, Reason: payments.HardDecline}, pay(id, "hard-decline"))
		require.Equal(t, step{Next: nextPay, Reason: payments.HardDecline}, pay(id, "hard-decline"))
		require.Equal(t, nextDone, pay(id, "visa").Next)
		require.Equal(t, []string{"created", "reservation.failed", "reservation.failed", "reservation.created", "reservation.created.v2", "checkout.completed"}, b.told())
		require.Equal(t, [3]int32{10_000, 0, 0}, b.sums(id))
	})
	t.Run("challenge", func(t *testing.T) {
		id := b.make(hosted(payments.ProcessSale))
		require.Equal(t, nextChallenge, pay(id, "challenge").Next)
		_, err := b.Authorize(ctx, "", id, payments.AuthorizeRequest{})
		refusedFor(t, err, payments.AuthenticationFailed)
		s, err := b.answer(ctx, id, b.asked(id), false, nil)
		require.NoError(t, err)
		require.Equal(t, step{Next: nextPay, Reason: payments.AuthenticationFailed}, s)
		require.Equal(t, nextChallenge, pay(id, "challenge").Next)
		s, err = b.answer(ctx, id, b.asked(id), true, nil)
		require.NoError(t, err)
		require.Equal(t, nextDone, s.Next)
		require.Equal(t, [3]int32{10_000, 10_000, 0}, b.sums(id))
		id = b.make(hosted(payments.ProcessSale))
		require.Equal(t, nextChallenge, pay(id, "challenge-bad").Next)
		s, err = b.answer(ctx, id, b.asked(id), true, nil)
		require.NoError(t, err)
		require.Equal(t, payments.AuthenticationFailed, s.Reason)
		require.Equal(t, [3]int32{}, b.sums(id))
	})
	t.Run("exemptions", func(t *testing.T) {
		for _, c := range []struct {
			exemption, card string
			amount          int32
			want            after
		}{
			{payments.ScaForce3DS, "visa", 10_000, nextChallenge}, {payments.ScaDelegated, "challenge", 10_000, nextDone},
			{payments.ScaLowValue, "challenge", lowValue, nextDone}, {payments.ScaLowValue, "challenge", lowValue + 1, nextChallenge},
			{"", "visa", 10_000, nextDone},
		} {
			req := hosted(payments.ProcessAuthorize)
			req.ScaExemption, req.Amount, req.Basket = c.exemption, c.amount, nil
			require.Equal(t, c.want, pay(b.make(req), c.card).Next, "%+v", c)
		}
	})
	t.Run("leave", func(t *testing.T) {
		id := b.make(hosted(payments.ProcessSale))
		s, err := b.leave(ctx, id, nil)
		require.NoError(t, err)
		require.Equal(t, nextClosed, s.Next)
		require.Equal(t, nextClosed, pay(id, "visa").Next)
		require.Equal(t, [3]int32{}, b.sums(id))
		paid := b.make(hosted(payments.ProcessSale))
		pay(paid, "visa")
		s, err = b.leave(ctx, paid, nil)
		require.NoError(t, err)
		require.Equal(t, nextDone, s.Next)
	})
	t.Run("cards it does not take", func(t *testing.T) {
		id := b.make(hosted(payments.ProcessSale))
		s, err := b.pay(ctx, id, given{Card: &payments.CardDetails{PAN: wire.NewPAN("4929000000006"), ExpiryYear: 2030, ExpiryMonth: 1}}, nil)
		require.NoError(t, err)
		require.Equal(t, step{Next: nextPay, Reason: payments.CardNotAccepted}, s)
		_, err = b.pay(ctx, id, given{Card: &payments.CardDetails{PAN: wire.NewPAN("4111111111111112"), ExpiryYear: 2030, ExpiryMonth: 1}}, nil)
		require.Equal(t, wire.Invalid, wire.CodeOf(err))
		old := plastic(t, "visa")
		old.ExpiryYear, old.ExpiryMonth = 2026, 12
		s, err = b.pay(ctx, id, given{Card: old}, nil)
		require.NoError(t, err)
		require.Equal(t, payments.CardExpired, s.Reason)
		s, err = b.pay(ctx, id, given{}, nil)
		require.NoError(t, err)
		require.Equal(t, payments.PaymentDetailsMissing, s.Reason)
	})
	t.Run("a form that was sent before", func(t *testing.T) {
		id, spent := b.make(hosted(payments.ProcessSale)), errors.New("spent")
		_, err := b.pay(ctx, id, given{Card: plastic(t, "visa")}, func(store.Tx) error { return spent })
		require.ErrorIs(t, err, spent)
		require.Equal(t, [3]int32{}, b.sums(id))
	})
	t.Run("other ways", func(t *testing.T) {
		for method, kind := range map[string]string{sepa: payments.KindDirectBankTransfer, sofort: payments.KindDirectBankTransfer, wallet: payments.KindPrepaid, invoice: payments.KindPrepaid} {
			id := b.make(hosted(payments.ProcessAuthorize))
			s, err := b.pay(ctx, id, given{Method: method, IBAN: "DE89370400440532013000"}, nil)
			require.NoError(t, err)
			require.Equal(t, nextDone, s.Next, method)
			p, err := b.Read(ctx, id)
			require.NoError(t, err)
			require.Equal(t, kind, *p.PaymentDetails.PaymentMethodType)
			_, err = b.Capture(ctx, "", id, payments.CaptureRequest{})
			if method != invoice {
				require.NoError(t, err)
				continue
			}
			refusedFor(t, err, payments.OrderItemsMissing)
			_, err = b.Capture(ctx, "", id, payments.CaptureRequest{Basket: hosted("").Basket})
			require.NoError(t, err)
			b.told()
			_, err = b.Refund(ctx, "", id, payments.RefundRequest{})
			require.NoError(t, err)
			b.Pass(refundTime)
			b.sums(id)
			require.Contains(t, string(b.Mail.Sent[1].Body), `"invoiceDetails"`)
		}
	})
	mail := b.make(moto(t, "visa", ""))
	v, err := b.look(ctx, mail)
	require.NoError(t, err)
	require.Equal(t, nextDone, v.Next, "a mail order is shown, and there is nothing to pay")
	require.Equal(t, nextDone, pay(mail, "visa").Next)
	require.Equal(t, [3]int32{}, b.sums(mail))
	_, err = b.look(ctx, "nobody's")
	require.Equal(t, wire.NotFound, wire.CodeOf(err))
}

func TestWaysAPageDoesNotOffer(t *testing.T) {
	b := newBank(t)
	plain, token, online := hosted(""), hosted(""), hosted("")
	plain.Basket, plain.Customer = nil, nil
	token.PaymentMethodDetails = &payments.PaymentMethodDetails{Type: payments.InitialToken}
	online.PaymentMethodDetails = &payments.PaymentMethodDetails{Type: payments.Sofort}
	for _, c := range []struct {
		req payments.CreateRequest
		how given
	}{
		{plain, given{Method: invoice}}, {token, given{Method: wallet}}, {token, given{Method: invoice}}, {online, given{Method: wallet}},
		{online, given{Card: plastic(t, "visa")}},
	} {
		s, err := b.pay(t.Context(), b.make(c.req), c.how, nil)
		require.NoError(t, err)
		require.Equal(t, step{Next: nextPay, Reason: payments.CardNotAccepted}, s)
	}
	s, err := b.pay(t.Context(), b.make(online), given{Method: sofort}, nil)
	require.NoError(t, err)
	require.Equal(t, nextDone, s.Next)
}

func TestActionListsAndFees(t *testing.T) {
	b := newBank(t)
	req := hosted(payments.ProcessAuthorize)
	req.PayPageConfiguration = &payments.PayPageConfiguration{PaymentMethodActionInfoList: []payments.MethodAction{
		{PaymentMethod: "Visa", CardType: "Debit", Action: "Reject"},
		{PaymentMethod: "Visa", Name: "Blue card", Fee: 250, Action: "Allow"},
		{PaymentMethod: "MasterCard", Bin: 555555, Action: "Allow"},
	}}
	id := b.make(req)
	v, err := b.look(t.Context(), id)
	require.NoError(t, err)
	require.Equal(t, []choice{{Method: "MasterCard"}, {Method: "Visa", Name: "Blue card", Fee: 250}, {Method: invoice}}, v.Methods)
	for name, want := range map[string]string{"visa-debit": payments.CardNotAccepted, "mastercard-debit": payments.CardNotAccepted, "jcb": payments.CardNotAccepted} {
		s, err := b.pay(t.Context(), id, given{Card: plastic(t, name)}, nil)
		require.NoError(t, err)
		require.Equal(t, want, s.Reason, name)
	}
	s, err := b.pay(t.Context(), id, given{Card: plastic(t, "visa")}, nil)
	require.NoError(t, err)
	require.Equal(t, nextDone, s.Next)
	p, err := b.Read(t.Context(), id)
	require.NoError(t, err)
	require.Equal(t, payments.Summary{PaymentAmount: 10_000, AuthorizedAmount: 10_000, Fee: 250}, p.Summary)
	_, err = b.Capture(t.Context(), "", id, payments.CaptureRequest{Amount: amount(4000)})
	require.NoError(t, err)
	b.balanced(id)
}

// What was paid with a SEPA mandate needs no page.
func TestSepa(t *testing.T) {
	b := newBank(t)
	req := hosted(payments.ProcessSale)
	req.PaymentMethodDetails = &payments.PaymentMethodDetails{Type: payments.SepaC, IBAN: "DE89370400440532013000", CustomerEmail: "a@b.example", MandateURL: "https://m.example/1"}
	out, err := b.Create(t.Context(), "", req)
	require.NoError(t, err)
	require.Equal(t, []string{"created", "reservation.created", "reservation.created.v2", "charge.created.v2"}, b.told())
	require.Equal(t, [3]int32{10_000, 10_000, 0}, b.sums(out.PaymentID))
}

// Nothing of a card but its mask can be read in the files, and nothing of its validation code is there at all.
func TestNoSecretReachesTheFiles(t *testing.T) {
	b := newBank(t)
	ctx := t.Context()
	b.make(moto(t, "visa", payments.ProcessSale))
	id := b.make(hosted(payments.ProcessSale))
	_, err := b.pay(ctx, id, given{Card: &payments.CardDetails{PAN: wire.NewPAN(pan(t, "amex")), ExpiryYear: 2030, ExpiryMonth: 1, ValidationCode: "8642"}}, nil)
	require.NoError(t, err)
	sepaReq := hosted(payments.ProcessSale)
	sepaReq.PaymentMethodDetails = &payments.PaymentMethodDetails{Type: payments.SepaA, IBAN: "DE89370400440532013000", CustomerEmail: "secret@mail.example"}
	b.make(sepaReq)
	tok := b.token(t, "mastercard", "tok-secret-canary")
	req := hosted(payments.ProcessSale)
	req.PaymentMethodDetails = &payments.PaymentMethodDetails{Type: payments.WithToken, Token: tok, TokenSecret: "tok-secret-canary"}
	b.make(req)
	_, err = b.Create(ctx, wire.NewKey(), moto(t, "hard-decline", payments.ProcessSale))
	require.Error(t, err)
	for _, m := range b.Mail.Sent {
		require.NotContains(t, string(m.Body), pan(t, "visa"))
	}
	text := b.Text()
	require.Contains(t, text, "411111******1111", "the search finds what is there")
	for _, canary := range []string{
		pan(t, "visa"), pan(t, "amex"), pan(t, "mastercard"), pan(t, "hard-decline"), "tok-secret-canary", tok.Reveal(), "DE89370400440532013000",
		"secret@mail.example", "ann@shop.example", "hook-secret", `"737"`, `"8642"`, "validationCode",
	} {
		require.NotContains(t, text, canary)
	}
}

// One key, many callers: one effect.
func TestOneKeyOneEffect(t *testing.T) {
	b := newBank(t)
	ctx, key := t.Context(), wire.NewKey()
	ids := make([]string, 32)
	var wg sync.WaitGroup
	for i := range ids {
		wg.Go(func() {
			out, err := b.Create(ctx, key, moto(t, "visa", payments.ProcessSale))
			if err == nil {
				ids[i] = out.PaymentID
			}
		})
	}
	wg.Wait()
	for _, id := range ids {
		require.Equal(t, ids[0], id)
	}
	require.NotEmpty(t, ids[0])
	require.Len(t, b.told(), 4, "one payment's events")
	other := moto(t, "visa", payments.ProcessSale)
	other.Amount++
	_, err := b.Create(ctx, key, other)
	require.Equal(t, wire.KeyReused, wire.CodeOf(err))
}

// Endpoints are registered as sent, once per payment, and only for events there are.
func TestHooks(t *testing.T) {
	b := newBank(t)
	req := moto(t, "visa", "")
	req.Notifications.WebHooks = []payments.WebHook{{EventName: string(webhooks.ChargeFailed), URL: "https://x.example/", Authorization: "s",
		Headers: []map[string]string{{"B": "2", "A": "1"}}}}
	id := b.make(req)
	hooks := b.Mail.Hooks[Service+" "+id]
	require.Len(t, hooks, 1)
	require.Equal(t, [][2]string{{"A", "1"}, {"B", "2"}}, hooks[0].Headers)
	require.Equal(t, "s", hooks[0].Authorization.Reveal())
	req.Notifications.WebHooks[0].EventName = "payment.exploded"
	_, err := b.Create(t.Context(), "", req)
	require.Equal(t, wire.Invalid, wire.CodeOf(err))
	req.Notifications = nil
	b.told()
	b.make(req)
	require.Empty(t, b.told())
}
