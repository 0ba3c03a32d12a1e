package gateway_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent/gateway"
	"posagent/agent/inbox"
	"posagent/agent/outbox"
	"posagent/schemes/payments"
	"posagent/schemes/webhooks"
	"posagent/schemes/wire"
	"posagent/store"
	"posagent/store/storetest"
)

// speller is a payment service whose ids differ in large and small letters.
type speller struct {
	payments.Service
	refunds []string
	keys    []wire.Key
}

func (*speller) Create(context.Context, wire.Key, payments.CreateRequest) (payments.Created, error) {
	return payments.Created{PaymentID: "web1003"}, nil
}

func (*speller) Read(_ context.Context, id string) (payments.Payment, error) {
	return payments.Payment{PaymentID: id, CurrencyCode: "EUR"}, nil
}

func (s *speller) Refund(_ context.Context, key wire.Key, id string, _ payments.RefundRequest) (payments.Done, error) {
	s.refunds, s.keys = append(s.refunds, id), append(s.keys, key)
	return payments.Done{PaymentID: id, TransactionRef: "R" + id}, nil
}

// web1003 is not WEB1003: whose it is, what orders its operations, which operation a client's key names, what is found by its name, and
// whose the events about it are.
func TestField2_M36APaymentsIDIsComparedAsItIsSpelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db := storetest.Open(t, append(append(outbox.Schema(), gateway.Schema()...), inbox.Schema()...)...)
		svc := &speller{}
		f := gateway.NewFront(gateway.Options{DB: db, Payments: svc, Named: func(tx store.Tx, about, id, owner string) error { return inbox.Own(db, tx, about, id, "", owner) }})
		box := outbox.NewOutbox(outbox.Options{DB: db, Kinds: f.Kinds(), Watch: f.Watch})
		f.Attach(box)
		arrived := inbox.New(inbox.Options{DB: db, Owner: func(r store.Reader, about, id string) (string, bool, error) { return gateway.OwnerOf(r, about, id) }})
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- box.Run(ctx) }()
		time.Sleep(time.Second)
		alpha := wire.WithCaller(t.Context(), wire.Caller{Name: "alpha", Own: true})
		all := wire.WithCaller(t.Context(), wire.Caller{Name: "office"})
		event := func(ref, id string) {
			require.NoError(t, arrived.Receive(t.Context(), webhooks.Event{ID: ref, Name: webhooks.ChargeCreated, Data: &webhooks.Movement{PaymentID: id}, Body: []byte("{}")}))
		}
		event("1", "WEB1003") // before the create is answered
		event("2", "web1003")
		req := moto(payments.ProcessSale, 1000)
		c, err := f.Payments().Create(alpha, "c1", req)
		require.NoError(t, err)
		require.Equal(t, "web1003", c.PaymentID)
		event("3", "WEB1003")
		event("4", "web1003")

		part := payments.RefundRequest{Amount: some(100)}
		_, err = f.Payments().Refund(alpha, "r1", "WEB1003", part)
		require.Equal(t, wire.NotFound, wire.CodeOf(err), "%v", err)
		_, err = f.Payments().Read(alpha, "WEB1003")
		require.Equal(t, wire.NotFound, wire.CodeOf(err), "%v", err)
		_, err = f.Payments().Refund(alpha, "r1", "web1003", part)
		require.NoError(t, err)
		_, err = f.Payments().Refund(all, "r1", "OTHER", part)
		require.NoError(t, err)
		_, err = f.Payments().Refund(all, "r1", "other", part)
		require.NoError(t, err)
		_, err = f.Payments().Refund(all, "r1", "OTHER", part)
		require.NoError(t, err)
		require.Equal(t, []string{"web1003", "OTHER", "other"}, svc.refunds)
		require.NotEqual(t, svc.keys[1], svc.keys[2], "one key of a client on two things is two operations")

		feed, owners := arrived.Subscribe(0), []string{}
		for range 5 {
			e, err := feed.Next(t.Context())
			require.NoError(t, err)
			owners = append(owners, e.Owner)
		}
		require.Equal(t, []string{"", "", "alpha", "", "alpha"}, owners, "what came before the answer comes again, for its client alone")
		require.NoError(t, db.Read(t.Context(), func(r store.Reader) error {
			_, found, err := gateway.OwnerOf(r, "payment", "WEB1003")
			require.NoError(t, err)
			require.False(t, found)
			for name, want := range map[string]bool{"web1003": true, "WEB1003": false, "OTHER": true, "Other": false} {
				_, err := gateway.Find(r, wire.Caller{}, name)
				require.Equal(t, want, err == nil, "%s: %v", name, err)
			}
			ops, err := box.List(r, outbox.Filter{Aggregate: "payment/OTHER"})
			require.Len(t, ops, 1)
			return err
		}))

		// An older program kept all ids in lower case: what it has stored under a client's key is found.
		require.NoError(t, db.Write(t.Context(), func(tx store.Tx) error {
			_, err := tx.Exec(`UPDATE offline_purged SET spelled = (SELECT MAX(id) FROM outbox_ops)`)
			return err
		}))
		_, err = f.Payments().Refund(all, "r1", "Other", part)
		require.NoError(t, err)
		require.Len(t, svc.refunds, 3, "it may be what was asked for then")
		_, err = f.Payments().Refund(all, "r1", "Other", payments.RefundRequest{Amount: some(101)})
		require.Equal(t, wire.KeyReused, wire.CodeOf(err), "%v", err)
		cancel()
		require.NoError(t, <-done)
	})
}
