package paylinks_test

import (
	"context"
	"encoding/json"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	links "posagent/schemes/backend/paylinks"
	"posagent/schemes/paylinks"
	"posagent/schemes/wire"
)

func cents(n int64) *int64 { return &n }

func reserve(r *paylinks.CreateRequest)   { r.Reservation = true }
func authorize(r *paylinks.CreateRequest) { r.PreAuthorization = true }

// A reserved or pre-authorized transaction is charged, whole or in part, captured, or cancelled; each once.
func TestChargeCaptureCancel(t *testing.T) {
	for name, how := range map[string]func(*paylinks.CreateRequest){"reserved": reserve, "authorized": authorize} {
		t.Run(name, func(t *testing.T) {
			w, ctx := newWorld(t), t.Context()
			x := w.Transactions()
			status := paylinks.Status(name)

			l, a := w.paid(1000, how)
			w.is(l.ID, status, status, "")
			require.Zero(t, w.net())
			_, err := x.Refund(ctx, "", a.ID, paylinks.RefundRequest{})
			refused(t, err, wire.Conflict, paylinks.WrongStatus)
			_, err = x.Charge(ctx, "", a.ID, paylinks.ChargeRequest{Amount: cents(1001)})
			refused(t, err, wire.Conflict, paylinks.TooMuch)
			require.ErrorContains(t, err, "there is left, which is 1000")
			_, err = x.Charge(ctx, "", a.ID, paylinks.ChargeRequest{Amount: cents(0)})
			require.Equal(t, wire.Invalid, wire.CodeOf(err))
			out, err := x.Charge(ctx, "", a.ID, paylinks.ChargeRequest{Amount: cents(400), Purpose: "Part", ReferenceID: "other"})
			require.NoError(t, err)
			require.Equal(t, paylinks.Done{ID: a.ID, UUID: a.UUID, Time: a.Time, Status: "confirmed", Lang: "en", PSP: "Sandbox"}, out)
			require.EqualValues(t, 400, w.net())
			got, err := x.Read(ctx, a.ID)
			require.NoError(t, err)
			require.Equal(t, "other", got.ReferenceID)
			require.Equal(t, "Part", got.Invoice.Products[0].Name)
			for _, again := range []error{
				second(x.Charge(ctx, "", a.ID, paylinks.ChargeRequest{})), second(x.Capture(ctx, "", a.ID)), second(x.Delete(ctx, "", a.ID)),
			} {
				refused(t, again, wire.Conflict, paylinks.WrongStatus)
			}
			_, err = x.Refund(ctx, "", a.ID, paylinks.RefundRequest{Amount: cents(401)})
			refused(t, err, wire.Conflict, paylinks.TooMuch)
			_, err = x.Refund(ctx, "", a.ID, paylinks.RefundRequest{})
			require.NoError(t, err)
			require.Zero(t, w.net())

			l, b := w.paid(1000, how)
			_, err = x.Capture(ctx, "", b.ID)
			require.NoError(t, err)
			w.is(l.ID, "confirmed", "confirmed", "")
			require.EqualValues(t, 1000, w.net())

			l, c := w.paid(1000, how)
			for range 2 {
				gone, err := x.Delete(ctx, "", c.ID)
				require.NoError(t, err)
				require.Equal(t, c.ID, gone.ID)
			}
			w.is(l.ID, "waiting", "cancelled", "the link may be paid again")
			_, err = x.Capture(ctx, "", c.ID)
			refused(t, err, wire.Conflict, paylinks.WrongStatus)
			require.EqualValues(t, 1000, w.net())
			require.Equal(t, []string{name, "confirmed", "refunded", name, "confirmed", name, "cancelled"}, w.told())
		})
	}
}

func TestRefunds(t *testing.T) {
	w, ctx := newWorld(t), t.Context()
	x := w.Transactions()
	l, a := w.paid(1000, nil)
	for i, row := range []struct {
		amount *int64
		want   paylinks.Status
		left   int64
	}{{cents(300), "partially-refunded", 700}, {cents(200), "partially-refunded", 500}, {nil, "refunded", 0}} {
		out, err := x.Refund(ctx, "", a.ID, paylinks.RefundRequest{Amount: row.amount})
		require.NoError(t, err)
		require.Equal(t, paylinks.Refunded, out.Status, "S1 3.1: of the route")
		require.EqualValues(t, row.left, w.net())
		got, err := x.Read(ctx, a.ID)
		require.NoError(t, err)
		require.Equal(t, row.want, got.Status)
		require.EqualValues(t, 1000-row.left, *got.Invoice.RefundedAmount, i)
		require.EqualValues(t, 1000, *got.Invoice.OriginalAmount)
	}
	_, err := x.Refund(ctx, "", a.ID, paylinks.RefundRequest{Amount: cents(1)})
	refused(t, err, wire.Conflict, paylinks.WrongStatus)
	w.is(l.ID, "confirmed", "refunded", "a link that was paid stays so")
	_, err = w.Pay(ctx, *l.Hash)
	refused(t, err, wire.Conflict, "")

	// Each refund is told under a uuid of its own: two of the same status are two.
	seen := map[string]bool{}
	for _, m := range w.Mail.Sent {
		var body struct {
			Transaction struct {
				UUID, Status string
				Original     int64 `json:"originalTransactionId"`
			}
		}
		require.NoError(t, json.Unmarshal(m.Body, &body))
		key := body.Transaction.UUID + body.Transaction.Status
		require.False(t, seen[key], "%s", m.Body)
		seen[key] = true
		require.Equal(t, body.Transaction.Status == "refunded", body.Transaction.Original == a.ID)
	}
	require.Len(t, seen, 4)
	for _, id := range []int64{0, -1, 5, a.ID + 1} { // the refund itself is none of the routes' business
		_, err := x.Read(ctx, id)
		refused(t, err, wire.NotFound, "")
		_, err = x.Refund(ctx, "", id, paylinks.RefundRequest{})
		refused(t, err, wire.NotFound, "")
	}
}

func TestList(t *testing.T) {
	w, ctx := newWorld(t), t.Context()
	x := w.Transactions()
	at := func(s string) time.Time {
		v, err := time.Parse(paylinks.TimeLayout, s)
		require.NoError(t, err)
		return v
	}
	var all []int64
	for i := range 5 { // 12:00:00, 12:00:01.5, 12:00:03, …
		_, txn := w.paid(100+int64(i), nil)
		all = append(all, txn.ID)
		w.Pass(1500 * time.Millisecond)
	}
	_, err := x.Refund(ctx, "", all[0], paylinks.RefundRequest{Amount: cents(1)})
	require.NoError(t, err)
	for name, row := range map[string]struct {
		f    paylinks.Filter
		want []int64
	}{
		"all":     {paylinks.Filter{}, all},
		"after":   {paylinks.Filter{After: at("2026-11-21 12:00:01")}, all[2:]},
		"before":  {paylinks.Filter{Before: at("2026-11-21 12:00:03")}, all[:2]},
		"between": {paylinks.Filter{After: at("2026-11-21 12:00:00"), Before: at("2026-11-21 12:00:04")}, all[1:3]},
		"page":    {paylinks.Filter{Offset: 1, Limit: 2}, all[1:3]},
		"huge":    {paylinks.Filter{Limit: 1_000_000_000}, all},
		"beyond":  {paylinks.Filter{Offset: 5}, []int64{}},
	} {
		list, err := x.List(ctx, row.f)
		require.NoError(t, err, name)
		got := []int64{}
		for _, v := range list {
			got = append(got, v.ID)
		}
		require.Equal(t, row.want, got, name)
	}
	_, err = x.List(ctx, paylinks.Filter{Offset: -1})
	require.Equal(t, wire.Invalid, wire.CodeOf(err))
	w.link(100, counter)
	w.Pass(10 * time.Second)
	list, err := x.List(ctx, paylinks.Filter{})
	require.NoError(t, err)
	require.Len(t, list, 6, "what is due is on the list")
}

// A subscription is charged on its days, a year in virtual time, and ends with its period or when its customer says so.
func TestSubscription(t *testing.T) {
	monthly := func(r *paylinks.CreateRequest) {
		r.SubscriptionState, r.SubscriptionInterval, r.SubscriptionPeriod, r.SubscriptionCancellationInterval = true, "P1M", "P1Y", "P3M"
	}
	days := func(w *world, id int64) (out []string) {
		for _, x := range w.txns(id) {
			out = append(out, x.Time)
			require.Equal(w.t, paylinks.Confirmed, x.Status)
		}
		return out
	}
	year := []string{}
	for i := range 12 {
		year = append(year, time.Date(2026, time.Month(11+i), 21, 12, 0, 0, 0, time.UTC).Format(paylinks.TimeLayout))
	}
	t.Run("a year", func(t *testing.T) {
		w := newWorld(t)
		l, _ := w.paid(1000, monthly)
		for range 60 {
			w.Pass(7 * 24 * time.Hour)
			_, err := w.Transactions().List(t.Context(), paylinks.Filter{})
			require.NoError(t, err)
		}
		require.Equal(t, year, days(w, l.ID))
		require.EqualValues(t, 12_000, w.net())
		require.Len(t, w.told(), 12)
	})
	t.Run("nobody looks for a year", func(t *testing.T) {
		w := newWorld(t)
		l, _ := w.paid(1000, monthly)
		w.Restart()
		w.Pass(400 * 24 * time.Hour)
		require.Equal(t, year, days(w, l.ID))
		require.EqualValues(t, 12_000, w.net())
	})
	t.Run("stopped", func(t *testing.T) {
		w := newWorld(t)
		l, _ := w.paid(1000, monthly)
		w.Pass(80 * 24 * time.Hour)
		for range 2 {
			out, err := w.Stop(t.Context(), *l.Hash)
			require.NoError(t, err)
			require.False(t, out.Subscribed)
		}
		w.Pass(400 * 24 * time.Hour)
		require.Equal(t, year[:3], days(w, l.ID))
		require.Equal(t, []string{"confirmed", "confirmed", "confirmed", "subscription cancelled"}, w.told())
	})
	t.Run("too late to stop", func(t *testing.T) {
		w := newWorld(t)
		l, _ := w.paid(1000, monthly)
		w.Pass(93 * 24 * time.Hour)
		_, err := w.Stop(t.Context(), *l.Hash)
		refused(t, err, wire.Conflict, "")
	})
	t.Run("endless", func(t *testing.T) {
		w := newWorld(t)
		l, _ := w.paid(100, func(r *paylinks.CreateRequest) { r.SubscriptionState, r.SubscriptionInterval = true, "P1D" })
		w.Pass(250 * 24 * time.Hour)
		for range 3 { // a commit lets at most a hundred things happen
			days(w, l.ID)
		}
		require.Len(t, days(w, l.ID), 251)
		require.EqualValues(t, 25_100, w.net())
	})
}

// Many at once pay, decline, delete and pay at the counter: one payment at most, and deleted means never paid.
func TestRacePayAndDelete(t *testing.T) {
	for round := range 20 {
		w := newWorld(t)
		l := w.link(1250, counter)
		w.Pass(10*time.Second - time.Millisecond)
		var wg sync.WaitGroup
		var deleted, paid int
		var mu sync.Mutex
		count := func(n *int, err error) {
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err == nil:
				*n++
			case wire.CodeOf(err) != wire.Conflict && wire.CodeOf(err) != wire.NotFound:
				t.Error(err)
			}
		}
		for i := range 16 {
			wg.Go(func() {
				switch (i + round) % 4 {
				case 0:
					_, err := w.Pay(context.Background(), *l.Hash)
					count(&paid, err)
				case 1:
					_, err := w.Delete(context.Background(), "", l.ID)
					count(&deleted, err)
				case 2:
					w.Pass(time.Millisecond)
					_, err := w.Transactions().List(context.Background(), paylinks.Filter{})
					count(new(int), err)
				default:
					_, err := w.Decline(context.Background(), *l.Hash)
					count(new(int), err)
				}
			})
		}
		wg.Wait()
		net := w.net()
		if deleted > 0 {
			require.Zero(t, net)
			require.Zero(t, paid)
		} else {
			require.EqualValues(t, 1250, net)
		}
	}
}

// Sixteen refunds of a third: three arrive. Sixteen captures: one. Sixteen of each and a cancel: still whole books.
func TestRaceRefundAndCapture(t *testing.T) {
	w := newWorld(t)
	x := w.Transactions()
	each := func(n int, act func(i int) error) (done int) {
		var wg sync.WaitGroup
		var mu sync.Mutex
		for i := range n {
			wg.Go(func() {
				err := act(i)
				mu.Lock()
				defer mu.Unlock()
				if err == nil {
					done++
				} else if wire.CodeOf(err) != wire.Conflict {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		return done
	}
	_, a := w.paid(1000, nil)
	require.Equal(t, 3, each(16, func(int) error {
		_, err := x.Refund(context.Background(), "", a.ID, paylinks.RefundRequest{Amount: cents(300)})
		return err
	}))
	require.EqualValues(t, 100, w.net())
	_, b := w.paid(1000, reserve)
	require.Equal(t, 1, each(16, func(i int) error {
		if i%2 == 0 {
			return second(x.Capture(context.Background(), "", b.ID))
		}
		return second(x.Charge(context.Background(), "", b.ID, paylinks.ChargeRequest{}))
	}))
	require.EqualValues(t, 1100, w.net())
	_, c := w.paid(1000, authorize)
	ended := each(16, func(i int) error {
		if i%2 == 0 {
			return second(x.Capture(context.Background(), "", c.ID))
		}
		return second(x.Delete(context.Background(), "", c.ID))
	})
	require.Positive(t, ended)
	net := w.net()
	require.True(t, net == 1100 || net == 2100, "%d", net)
	require.Equal(t, 16, each(16, func(int) error {
		return second(x.Refund(context.Background(), "same", a.ID, paylinks.RefundRequest{Amount: cents(50)}))
	}), "one key, one refund, sixteen answers")
	require.Equal(t, net-50, w.net())
}

// The rows of the table that spoil or refuse a reply do it once, and asking again in the right way ends well.
func TestSpoiltReplies(t *testing.T) {
	w, ctx := newWorld(t), t.Context()
	create := func(amount int64) (paylinks.CreateRequest, error) {
		req := w.request(amount)
		_, err := w.Create(ctx, wire.Key("k"+req.ReferenceID), req)
		return req, err
	}
	for amount, code := range map[int64]wire.Code{90021: wire.UnknownOutcome, 90025: wire.Internal, 90024: wire.Internal, 90026: wire.TooMany, 90027: wire.UnknownOutcome} {
		req, err := create(amount)
		require.Equal(t, code, wire.CodeOf(err), amount)
		l, err := w.Create(ctx, wire.Key("k"+req.ReferenceID), req)
		require.NoError(t, err, amount)
		out, err := w.Pay(ctx, req.ReferenceID)
		require.NoError(t, err)
		require.Equal(t, l.ID, out.ID, "there is one link")
	}
	lost, err := w.Create(ctx, "", w.request(90022))
	require.NoError(t, err)
	_, err = w.Read(ctx, lost.ID)
	refused(t, err, wire.Unavailable, "")
	_, err = w.Read(ctx, lost.ID)
	require.NoError(t, err)
	gone := w.link(90023, nil)
	_, err = w.Delete(ctx, "d", gone.ID)
	refused(t, err, wire.UnknownOutcome, "")
	_, err = w.Read(ctx, gone.ID)
	refused(t, err, wire.NotFound, "")
	_, err = w.Delete(ctx, "d", gone.ID)
	require.NoError(t, err)
	before := w.net()
	_, txn := w.paid(90054, nil)
	_, err = w.Transactions().Refund(ctx, "r", txn.ID, paylinks.RefundRequest{})
	refused(t, err, wire.UnknownOutcome, "")
	_, err = w.Transactions().Refund(ctx, "r", txn.ID, paylinks.RefundRequest{})
	require.NoError(t, err)
	require.Equal(t, before, w.net())
}

func TestWebhookBody(t *testing.T) {
	w := newWorld(t)
	l, txn := w.paid(1250, func(r *paylinks.CreateRequest) { r.SKU, r.PM = "P1", []string{"visa", "swish"} })
	require.Len(t, w.Mail.Sent, 1)
	m := w.Mail.Sent[0]
	require.Equal(t, links.EventTransaction, m.Event)
	var body map[string]map[string]any
	require.NoError(t, json.Unmarshal(m.Body, &body))
	got := body["transaction"]
	for key, want := range map[string]any{
		"id": float64(txn.ID), "uuid": txn.UUID, "amount": 1250.0, "referenceId": l.ReferenceID, "status": "confirmed", "mode": "TEST", "psp": "Sandbox",
		"time": "2026-11-21 12:00:00", "lang": "en", "pageUuid": txn.PageUUID, "refundable": true,
	} {
		require.Equal(t, want, got[key], key)
	}
	inv := got["invoice"].(map[string]any)
	require.Equal(t, map[string]any{"hash": *l.Hash, "referenceId": l.ReferenceID}, inv["paymentLink"])
	require.Equal(t, "swish", got["payment"].(map[string]any)["brand"])
	require.Equal(t, "demo", got["instance"].(map[string]any)["name"])
}

// What was charged is said wherever the charged transaction is told: the transaction, its list, the link's invoice, the
// page, the webhook, and what went back of it. What was reserved stands beside it as the original amount.
func TestField2_S12_ChargedAmountIsSaid(t *testing.T) {
	for name, how := range map[string]func(*paylinks.CreateRequest){"reserved": reserve, "authorized": authorize} {
		t.Run(name, func(t *testing.T) {
			w, ctx := newWorld(t), t.Context()
			x := w.Transactions()
			l, a := w.paid(1000, how)
			require.EqualValues(t, 1000, a.Invoice.TotalAmount, "nothing is charged yet")
			w.Mail.Take()
			said := func(back int64) {
				t.Helper()
				one, err := x.Read(ctx, a.ID)
				require.NoError(t, err)
				list, err := x.List(ctx, paylinks.Filter{})
				require.NoError(t, err)
				require.Len(t, list, 1)
				link, err := w.Read(ctx, l.ID)
				require.NoError(t, err)
				for _, got := range []paylinks.Transaction{one, list[0], link.Invoices[0].Transactions[0]} {
					require.EqualValues(t, 300, got.Invoice.TotalAmount)
					require.EqualValues(t, 1000, *got.Invoice.OriginalAmount)
					require.EqualValues(t, back, *got.Invoice.RefundedAmount)
				}
				require.EqualValues(t, 300, link.Invoices[0].Amount)
				require.EqualValues(t, 1000, link.Amount, "what the link asks for")
				slip, err := w.Show(ctx, *l.Hash)
				require.NoError(t, err)
				require.EqualValues(t, 300, slip.Amount)
			}
			told := func(amount int64) {
				t.Helper()
				mail := w.Mail.Take()
				require.Len(t, mail, 1)
				e, err := paylinks.ParseEvent(mail[0].ContentType, mail[0].Body)
				require.NoError(t, err)
				require.EqualValues(t, amount, e.Transaction.Amount)
				require.EqualValues(t, 1000, e.Transaction.Invoice.OriginalAmount)
			}
			_, err := x.Charge(ctx, "", a.ID, paylinks.ChargeRequest{Amount: cents(300)})
			require.NoError(t, err)
			said(0)
			told(300)
			_, err = x.Refund(ctx, "", a.ID, paylinks.RefundRequest{Amount: cents(100)})
			require.NoError(t, err)
			said(100)
			told(100)
			_, err = x.Refund(ctx, "", a.ID, paylinks.RefundRequest{})
			require.NoError(t, err)
			said(300)
			told(200)
		})
	}
}
