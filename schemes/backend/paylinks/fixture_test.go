package paylinks_test

import (
	"context"
	"errors"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	links "posagent/schemes/backend/paylinks"
	"posagent/schemes/backend/room"
	"posagent/schemes/backend/room/roomtest"
	"posagent/schemes/backend/webhooks"
	"posagent/schemes/money"
	"posagent/schemes/paylinks"
	"posagent/schemes/wire"
	"posagent/store"
)

const (
	public  = "http://shop.example:8490"
	signKey = wire.Secret("sign-me")
)

// world is Links on a site of its own.
type world struct {
	*links.Links
	*roomtest.Site
	t   testing.TB
	n   int
	opt links.Options
}

// newWorld opens a room whose customers at a counter pay after 10 s.
func newWorld(t testing.TB) *world {
	t.Helper()
	w := &world{Site: roomtest.New(t, time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC), links.Schema()), t: t}
	w.opt = links.Options{Options: w.Options(public, "Demo Shop"), Deliver: &w.Mail, SignKey: signKey, Instance: "demo"}
	w.Setup(func() {
		w.opt.DB = w.DB
		var err error
		w.Links, err = links.New(w.opt)
		require.NoError(t, err)
	})
	return w
}

func (w *world) request(hundredths int64) paylinks.CreateRequest {
	w.n++
	return paylinks.CreateRequest{
		Title: "Order", Description: "Two chairs", ReferenceID: "R" + strconv.Itoa(w.n), Purpose: "Chairs", Amount: hundredths, Currency: "EUR",
	}
}

// link makes a link over an amount, changed by change where it is not nil.
func (w *world) link(hundredths int64, change func(*paylinks.CreateRequest)) paylinks.Created {
	w.t.Helper()
	req := w.request(hundredths)
	if change != nil {
		change(&req)
	}
	out, err := w.Create(context.Background(), "", req)
	require.NoError(w.t, err)
	return out
}

// paid makes a link and pays it; it gives the link and its transaction.
func (w *world) paid(hundredths int64, change func(*paylinks.CreateRequest)) (paylinks.Created, paylinks.Transaction) {
	w.t.Helper()
	l := w.link(hundredths, change)
	_, err := w.Pay(context.Background(), *l.Hash)
	require.NoError(w.t, err)
	return l, w.txns(l.ID)[0]
}

// txns are the transactions a link shows.
func (w *world) txns(id int64) []paylinks.Transaction {
	w.t.Helper()
	l, err := w.Read(context.Background(), id)
	require.NoError(w.t, err)
	var out []paylinks.Transaction
	for _, i := range l.Invoices {
		out = append(out, i.Transactions...)
	}
	return out
}

// is checks the words of a link and its newest transaction ("" = it has none).
func (w *world) is(id int64, link, txn paylinks.Status, at string) {
	w.t.Helper()
	l, err := w.Read(context.Background(), id)
	require.NoError(w.t, err)
	require.Equal(w.t, link, l.Status, at)
	var got paylinks.Status
	if list := w.txns(id); len(list) > 0 {
		got = list[len(list)-1].Status
	}
	require.Equal(w.t, txn, got, at)
}

// net is what the merchant has by the postings of everything, and checks the books on the way: each transaction sums to
// zero, each ledger's net is what its transaction says, nothing is held but under reserved.
func (w *world) net() money.Minor {
	w.t.Helper()
	var net money.Minor
	require.NoError(w.t, w.DB.Read(context.Background(), func(r store.Reader) error {
		lines, err := links.Report(r)
		require.NoError(w.t, err)
		net = roomtest.Sound(w.t, r, links.Service, lines, func(l room.Line) bool { return l.State == "reserved" })
		return nil
	}))
	return net
}

// told reads the webhooks emitted since the last call: status or event words, oldest first.
func (w *world) told() []string {
	w.t.Helper()
	var out []string
	for _, m := range w.Mail.Take() {
		body, err := paylinks.ParseEvent(m.ContentType, m.Body)
		require.NoError(w.t, err)
		require.Equal(w.t, [][2]string{{"X-Webhook-Signature", paylinks.SignHook(signKey, m.Body)}}, m.Headers)
		require.Equal(w.t, webhooks.Links, m.Schedule)
		if body.Transaction != nil {
			out = append(out, string(body.Transaction.Status))
		} else {
			out = append(out, m.Event+" "+body.Subscription.Status)
		}
	}
	return out
}

func refused(t testing.TB, err error, code wire.Code, reason string) {
	t.Helper()
	var e *wire.Error
	require.True(t, errors.As(err, &e), "%v", err)
	require.Equal(t, code, e.Code, "%v", err)
	require.Equal(t, reason, e.Reason, "%v", err)
}
