package paylinks_test

import (
	"context"
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	links "posagent/schemes/backend/paylinks"
	"posagent/schemes/paylinks"
	"posagent/schemes/wire"
)

func counter(r *paylinks.CreateRequest) { r.Name = links.CounterName + " 20000001" }

// moment is what a link looks like at a time after its creation.
type moment struct {
	at   time.Duration
	link paylinks.Status
	txn  paylinks.Status
	net  int64 // the merchant's, in amounts of the row
}

// The rows that mean something to a link at a counter, one millisecond before, at and after each of their moments.
func TestRowsInTime(t *testing.T) {
	const ms, s, m = time.Millisecond, time.Second, time.Minute
	for name, row := range map[string]struct {
		amount  int64
		moments []moment
	}{
		"approve":      {1250, []moment{{10*s - ms, "waiting", "", 0}, {10 * s, "confirmed", "confirmed", 1}, {time.Hour, "confirmed", "confirmed", 1}}},
		"declined":     {90003, []moment{{10*s - ms, "waiting", "", 0}, {10 * s, "waiting", "declined", 0}, {time.Hour, "waiting", "declined", 0}}},
		"cancelled":    {90004, []moment{{10 * s, "waiting", "cancelled", 0}}},
		"failed":       {90005, []moment{{10 * s, "waiting", "error", 0}}},
		"slow":         {90006, []moment{{10 * s, "waiting", "waiting", 0}, {30*s - ms, "waiting", "waiting", 0}, {30 * s, "confirmed", "confirmed", 1}}},
		"stale-commit": {90007, []moment{{10 * s, "waiting", "waiting", 0}, {10*s + 3*m - ms, "waiting", "waiting", 0}, {10*s + 3*m, "confirmed", "confirmed", 1}}},
		"never":        {90008, []moment{{time.Hour, "waiting", "", 0}, {1000 * time.Hour, "waiting", "", 0}}},
		"late-commit":  {90012, []moment{{10*s + 3*m - ms, "waiting", "waiting", 0}, {10*s + 3*m, "confirmed", "confirmed", 1}}},
	} {
		t.Run(name, func(t *testing.T) {
			for _, lazy := range []bool{false, true} { // read at every moment, or only at the last
				w := newWorld(t)
				l := w.link(row.amount, counter)
				begun := w.Now()
				for i, m := range row.moments {
					if lazy && i < len(row.moments)-1 {
						continue
					}
					w.Set(begun.Add(m.at))
					at := fmt.Sprintf("lazy %t after %s", lazy, m.at)
					w.is(l.ID, m.link, m.txn, at)
					require.EqualValues(t, m.net*row.amount, w.net(), at)
				}
			}
		})
	}
}

// A link of the back office waits for its customer; one at a counter that expired, was deleted or paid meanwhile is not paid again.
func TestWhoPaysByHimself(t *testing.T) {
	w := newWorld(t)
	w.Pass(12*time.Hour - 5*time.Second) // five seconds to midnight
	office := w.link(1250, nil)
	gone := w.link(1250, counter)
	late := w.link(1250, func(r *paylinks.CreateRequest) { counter(r); r.ExpirationDate = "2026-11-21" })
	terminal := w.link(1250, func(r *paylinks.CreateRequest) { r.HideFields, r.ExpirationDate = true, "2026-11-23" })
	shop := w.link(1250, func(r *paylinks.CreateRequest) {
		r.HideFields, r.ExpirationDate, r.SuccessRedirectURL = true, "2026-11-23", "https://shop.example/"
	})
	quick, _ := w.paid(1250, counter)
	_, err := w.Delete(t.Context(), "", gone.ID)
	require.NoError(t, err)
	w.Pass(time.Hour)
	w.is(office.ID, "waiting", "", "")
	w.is(late.ID, "waiting", "", "")
	w.is(shop.ID, "waiting", "", "")
	w.is(terminal.ID, "confirmed", "confirmed", "")
	require.Len(t, w.txns(quick.ID), 1)
	_, err = w.Read(t.Context(), gone.ID)
	refused(t, err, wire.NotFound, "")
	require.EqualValues(t, 2500, w.net())
}

// A link asks for a text where S1 4.1 requires one, for one provider beside an order id of its own, and for a day that is not over.
func TestField_B5WhatALinkNeeds(t *testing.T) {
	w := newWorld(t)
	good := func() paylinks.CreateRequest {
		return paylinks.CreateRequest{Title: "t", Description: "d", ReferenceID: "r", Purpose: "p", Amount: 1250, Currency: "EUR"}
	}
	for name, change := range map[string]func(*paylinks.CreateRequest){
		"title": func(r *paylinks.CreateRequest) { r.Title = "" }, "description": func(r *paylinks.CreateRequest) { r.Description = " \n" },
		"referenceId": func(r *paylinks.CreateRequest) { r.ReferenceID = " " }, "purpose": func(r *paylinks.CreateRequest) { r.Purpose = "" },
		"providerOrderId": func(r *paylinks.CreateRequest) { r.ProviderOrderID, r.PSP = "o1", []int64{36, 44} },
		"expirationDate":  func(r *paylinks.CreateRequest) { r.ExpirationDate = "2026-11-20" },
	} {
		req := good()
		change(&req)
		_, err := w.Links.Create(t.Context(), "", req)
		require.Equal(t, wire.Invalid, wire.CodeOf(err), name)
		require.ErrorContains(t, err, name+": want ")
	}
	req := good()
	req.ProviderOrderID, req.PSP, req.ExpirationDate = "o1", []int64{36}, "2026-11-21"
	key := wire.NewKey()
	first, err := w.Links.Create(t.Context(), key, req)
	require.NoError(t, err)
	w.Pass(48 * time.Hour)
	again, err := w.Links.Create(t.Context(), key, req)
	require.NoError(t, err, "the same request again is answered as it was, whatever day it is")
	require.Equal(t, first.ID, again.ID)
}

func TestRecordOfALink(t *testing.T) {
	w := newWorld(t)
	yes, no := true, false
	l := w.link(1250, func(r *paylinks.CreateRequest) {
		r.VatRate, r.PSP, r.PM, r.SKU, r.Name, r.Reservation = "7.7", []int64{44, 36}, []string{"visa", "twint"}, "P1", "inside", true
		r.Fields = map[string]paylinks.Contact{
			"email": {Mandatory: true}, "phone": {Active: &yes}, "company": {Active: &no},
			"custom_field_2": {Names: &paylinks.Names{De: "Tisch", En: "Table", Fr: "Table", It: "Tavolo"}}, "privacy_policy": {Mandatory: true},
		}
	})
	require.Equal(t, public+"/pay/"+*l.Hash, *l.Link.Link)
	got, err := w.Read(t.Context(), l.ID)
	require.NoError(t, err)
	require.Equal(t, l.Link, got, "what was made is what is read")
	require.Equal(t, paylinks.Field{Active: true, Mandatory: true}, got.Fields.Email)
	require.Equal(t, paylinks.Field{Active: true}, got.Fields.Phone)
	require.Equal(t, paylinks.Field{}, got.Fields.Company)
	require.Equal(t, paylinks.Names{De: "Tisch", En: "Table", Fr: "Table", It: "Tavolo"}, got.Fields.CustomField2.Names)
	require.Equal(t, &paylinks.Field{Active: true, Mandatory: true}, got.Fields.PrivacyPolicy)
	require.EqualValues(t, "7.7", got.VatRate)
	require.EqualValues(t, 44, got.PSP)
	require.Equal(t, paylinks.Waiting, got.Status)
	require.True(t, got.API)
	w.Restart()
	again, err := w.Read(t.Context(), l.ID)
	require.NoError(t, err)
	require.Equal(t, got, again)
}

func TestCreateRefuses(t *testing.T) {
	w := newWorld(t)
	for name, change := range map[string]func(*paylinks.CreateRequest){
		"zero":            func(r *paylinks.CreateRequest) { r.Amount = 0 },
		"negative":        func(r *paylinks.CreateRequest) { r.Amount = -1 },
		"half a yen":      func(r *paylinks.CreateRequest) { r.Currency = "JPY" },
		"no currency":     func(r *paylinks.CreateRequest) { r.Currency = "EUX" },
		"a metal":         func(r *paylinks.CreateRequest) { r.Currency = "XAU" },
		"no interval":     func(r *paylinks.CreateRequest) { r.SubscriptionState = true },
		"broken interval": func(r *paylinks.CreateRequest) { r.SubscriptionState, r.SubscriptionInterval = true, "monthly" },
		"broken period": func(r *paylinks.CreateRequest) {
			r.SubscriptionState, r.SubscriptionInterval, r.SubscriptionPeriod = true, "P1M", "P0D"
		},
	} {
		req := w.request(1250)
		change(&req)
		_, err := w.Create(t.Context(), "", req)
		require.Equal(t, wire.Invalid, wire.CodeOf(err), name)
	}
	whole := w.link(120000, func(r *paylinks.CreateRequest) { r.Currency = "JPY" }) // 1200 yen
	_, err := w.Pay(t.Context(), whole.ReferenceID)
	require.NoError(t, err)
	require.EqualValues(t, 1200, w.net())
}

// Without a Key two creates are two links; with one they are one, and another body is refused.
func TestKeys(t *testing.T) {
	w, ctx := newWorld(t), t.Context()
	req := w.request(1250)
	a, err := w.Create(ctx, "", req)
	require.NoError(t, err)
	b, err := w.Create(ctx, "", req)
	require.NoError(t, err)
	require.NotEqual(t, a.ID, b.ID)
	require.NotEqual(t, *a.Hash, *b.Hash)
	c, err := w.Create(ctx, "k", req)
	require.NoError(t, err)
	d, err := w.Create(ctx, "k", req)
	require.NoError(t, err)
	require.Equal(t, c, d)
	req.Amount++
	_, err = w.Create(ctx, "k", req)
	refused(t, err, wire.KeyReused, "")

	_, txn := w.paid(1000, nil)
	part := int64(400)
	x := w.Transactions()
	for range 3 {
		out, err := x.Refund(ctx, "r1", txn.ID, paylinks.RefundRequest{Amount: &part})
		require.NoError(t, err)
		require.Equal(t, paylinks.Refunded, out.Status)
	}
	_, err = x.Refund(ctx, "r1", txn.ID, paylinks.RefundRequest{})
	refused(t, err, wire.KeyReused, "")
	big := int64(601)
	for range 2 { // a final refusal is kept as well
		_, err = x.Refund(ctx, "r2", txn.ID, paylinks.RefundRequest{Amount: &big})
		refused(t, err, wire.Conflict, paylinks.TooMuch)
	}
	require.EqualValues(t, 600, w.net())
}

func TestDelete(t *testing.T) {
	w, ctx := newWorld(t), t.Context()
	l := w.link(1250, nil)
	for range 2 {
		out, err := w.Delete(ctx, "d", l.ID)
		require.NoError(t, err)
		require.Equal(t, l.ID, out.ID)
	}
	for _, err := range []error{
		second(w.Read(ctx, l.ID)), second(w.Pay(ctx, *l.Hash)), second(w.Pay(ctx, l.ReferenceID)), second(w.Show(ctx, *l.Hash)),
		second(w.Delete(ctx, "", l.ID)), second(w.Delete(ctx, "", 77)), second(w.Read(ctx, 77)),
	} {
		refused(t, err, wire.NotFound, "")
	}
	paid, txn := w.paid(1250, nil)
	_, err := w.Delete(ctx, "", paid.ID)
	refused(t, err, wire.Conflict, paylinks.WrongStatus)
	_, err = w.Transactions().Refund(ctx, "", txn.ID, paylinks.RefundRequest{})
	require.NoError(t, err)
	_, err = w.Delete(ctx, "", paid.ID)
	refused(t, err, wire.Conflict, paylinks.WrongStatus)

	// What was due before is done before: the customer at the counter was there first.
	due := w.link(1250, counter)
	w.Pass(10 * time.Second)
	_, err = w.Delete(ctx, "", due.ID)
	refused(t, err, wire.Conflict, paylinks.WrongStatus)

	// While the provider thinks nobody knows how it ends: not yet, then never or at once.
	thinking := w.link(90012, nil)
	_, err = w.Pay(ctx, *thinking.Hash)
	require.NoError(t, err)
	_, err = w.Delete(ctx, "", thinking.ID)
	refused(t, err, wire.Conflict, paylinks.WrongStatus)
	w.Pass(time.Hour)
	_, err = w.Delete(ctx, "", thinking.ID)
	refused(t, err, wire.Conflict, paylinks.WrongStatus)
	w.is(thinking.ID, "confirmed", "confirmed", "")
	turned := w.link(90003, nil)
	_, err = w.Pay(ctx, *turned.Hash)
	require.NoError(t, err)
	_, err = w.Delete(ctx, "", turned.ID)
	require.NoError(t, err)
	require.EqualValues(t, 90012+1250, w.net())
}

func second[T any](_ T, err error) error { return err }

func TestPayAndDecline(t *testing.T) {
	w, ctx := newWorld(t), t.Context()
	l := w.link(1250, nil)
	out, err := w.Decline(ctx, *l.Hash)
	require.NoError(t, err)
	require.Equal(t, links.Turned, out.State)
	for range 2 {
		out, err = w.Pay(ctx, fmt.Sprint(l.ID))
		require.NoError(t, err)
		require.Equal(t, links.Paid, out.State)
	}
	_, err = w.Decline(ctx, *l.Hash)
	refused(t, err, wire.Conflict, "")
	require.Equal(t, []string{"declined", "confirmed"}, w.told())
	old := w.link(1250, func(r *paylinks.CreateRequest) { r.ExpirationDate = "2026-11-21" })
	w.Pass(12*time.Hour - time.Millisecond)
	show, err := w.Show(ctx, *old.Hash)
	require.NoError(t, err)
	require.Equal(t, links.Open, show.State)
	w.Pass(time.Millisecond)
	show, err = w.Show(ctx, *old.Hash)
	require.NoError(t, err)
	require.Equal(t, links.Expired, show.State)
	_, err = w.Pay(ctx, *old.Hash)
	refused(t, err, wire.Conflict, "")
	require.EqualValues(t, 1250, w.net())
}

// A restart changes nothing, and what was due meanwhile happens at its own moment.
func TestRestart(t *testing.T) {
	w := newWorld(t)
	l := w.link(90012, counter)
	w.Pass(15 * time.Second)
	w.is(l.ID, "waiting", "waiting", "")
	w.Restart()
	w.Pass(time.Hour)
	w.is(l.ID, "confirmed", "confirmed", "")
	require.Equal(t, "2026-11-21 12:00:10", w.txns(l.ID)[0].Time)
	require.EqualValues(t, 90012, w.net())
}

// A webhook that cannot be queued takes the payment with it: both or none.
func TestWebhookAndMoneyAreOneCommit(t *testing.T) {
	w := newWorld(t)
	l := w.link(1250, nil)
	w.Mail.Broken = context.DeadlineExceeded
	_, err := w.Pay(t.Context(), *l.Hash)
	require.Error(t, err)
	w.is(l.ID, "waiting", "", "")
	require.Zero(t, w.net())
	w.Mail.Broken = nil
	_, err = w.Pay(t.Context(), *l.Hash)
	require.NoError(t, err)
	require.Equal(t, []string{"confirmed"}, w.told())
}

// A customer's name for a link is its hash, its id or its reference. A text that two links have names neither; one that
// was deleted has no name any more.
func TestField2_S11_OneNameOneLink(t *testing.T) {
	w := newWorld(t)
	first := w.link(1000, nil)
	id := strconv.FormatInt(first.ID, 10)
	for _, name := range []string{id, *first.Hash, "R1"} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			first := w.link(1000, nil)
			if len(name) > 10 {
				name = *first.Hash
			}
			second := w.link(90_000, func(r *paylinks.CreateRequest) { r.ReferenceID = name })
			for _, act := range []func(context.Context, string) (links.Slip, error){w.Pay, w.Decline, w.Stop} {
				_, err := act(context.Background(), name)
				require.Equal(t, wire.Conflict, wire.CodeOf(err), "%v", err)
			}
			w.is(first.ID, paylinks.Waiting, "", "first")
			w.is(second.ID, paylinks.Waiting, "", "second")
			_, err := w.Delete(context.Background(), "", first.ID)
			require.NoError(t, err)
			slip, err := w.Pay(context.Background(), name)
			require.NoError(t, err)
			require.Equal(t, second.ID, slip.ID)
		})
	}
	_, err := w.Pay(context.Background(), "0"+id)
	require.Equal(t, wire.NotFound, wire.CodeOf(err), "%v", err)
}
