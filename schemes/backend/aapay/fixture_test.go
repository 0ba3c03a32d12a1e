package aapay_test

import (
	"context"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/schemes/aapay"
	wallets "posagent/schemes/backend/aapay"
	"posagent/schemes/backend/books/journal"
	"posagent/schemes/backend/room"
	"posagent/schemes/backend/room/roomtest"
	"posagent/schemes/money"
	"posagent/schemes/wire"
	"posagent/store"
)

// world is Wallets on a site of its own.
type world struct {
	*wallets.Wallets
	*roomtest.Site
	t   testing.TB
	n   int
	opt wallets.Options
}

const public = "http://shop.example:8490"

// newWorld opens a room whose wallets pay after the method's mean delay.
func newWorld(t testing.TB, seed string, delay *time.Duration) *world {
	t.Helper()
	s, err := wallets.ParseSeed([]byte(seed))
	require.NoError(t, err)
	w := &world{Site: roomtest.New(t, time.UnixMilli(1_800_000_000_000), wallets.Schema()), t: t}
	w.opt = wallets.Options{Options: w.Options(public, ""), Seed: s, Delay: delay}
	w.Setup(func() {
		w.opt.DB = w.DB
		var err error
		w.Wallets, err = wallets.New(w.opt)
		require.NoError(t, err)
	})
	return w
}

func (w *world) request(method string, hundredths int64) aapay.Request {
	w.n++
	ref := "T" + strconv.Itoa(w.n)
	return aapay.Request{
		MerchantID: "M1", Method: method, TerminalReference: ref, Trigger: aapay.TriggerQR,
		PurchaseAmount: &aapay.Amount{CurrencyCode: "EUR", NominalAmount: hundredths, TotalAmount: hundredths},
		Consumer:       &aapay.Consumer{ConsumerID: ref},
	}
}

func (w *world) undo(original string, method string, hundredths int64) aapay.Request {
	r := w.request(method, hundredths)
	r.Trigger, r.OriginalReference = "", original
	return r
}

// begin initializes under a fresh Key and wants an answer.
func (w *world) begin(typ aapay.Type, req aapay.Request) aapay.Reply {
	w.t.Helper()
	reply, err := w.InitializeWithIdempotency(context.Background(), wire.NewKey(), typ, req)
	require.NoError(w.t, err)
	return reply
}

// pay begins a payment that is accepted.
func (w *world) pay(method string, hundredths int64) aapay.Request {
	w.t.Helper()
	req := w.request(method, hundredths)
	require.Equal(w.t, 202, w.begin(aapay.Payment, req).HTTPStatus)
	return req
}

func (w *world) status(id string) aapay.Status {
	w.t.Helper()
	st, err := w.Status(context.Background(), id, "")
	require.NoError(w.t, err)
	return st
}

// is checks both words of a transaction.
func (w *world) is(id string, state aapay.State, account aapay.AccountState) {
	w.t.Helper()
	st := w.status(id)
	require.Equal(w.t, state, st.State)
	require.Equal(w.t, account, st.AccountState)
}

// net is what the merchant has of the payment with this reference, by the written postings.
func (w *world) net(ref string) money.Minor {
	w.t.Helper()
	var net money.Minor
	id := strconv.FormatInt(w.status(ref).TransactionID, 10)
	require.NoError(w.t, w.DB.Read(context.Background(), func(r store.Reader) error {
		var err error
		net, err = journal.NetOf(r, wallets.Service, id)
		return err
	}))
	return net
}

// sound checks all books: each transaction sums to zero, COMMIT stands exactly where the merchant's money moved.
func (w *world) sound() {
	w.t.Helper()
	require.NoError(w.t, w.DB.Read(context.Background(), func(r store.Reader) error {
		list, err := wallets.Report(r)
		require.NoError(w.t, err)
		roomtest.Sound(w.t, r, wallets.Service, list, func(l room.Line) bool { // money is held under these words only
			return l.State == "RESERVED" || l.State == "PAID" || l.State == "APPROVED"
		})
		return nil
	}))
}
