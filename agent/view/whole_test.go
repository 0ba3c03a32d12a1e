package view_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent/catalog"
	"posagent/agent/checkout"
	"posagent/agent/checkout/drive/journal"
	"posagent/agent/outbox"
	"posagent/agent/support/daily"
	"posagent/agent/view"
	"posagent/ecr"
	"posagent/schemes/wire"
	"posagent/store"
	"posagent/store/storetest"
)

// TestField2_L3WhatIsOpenIsShownWhateverCameSince: what is open was looked for among the newest N. The kind: the sales of the page (those
// of one client too), the sales that were changed from outside, the ends that no register has heard, and what waits of a client that sees
// its own alone. The others are whole: sales and operations of the port are pages with a cursor, alerts and differences say how many more
// there are, reconcile reads the journal page by page, a stream says what it has lost; the newest events of the page are no list of what is
// open. cmd/posagent has the verbs.
func TestField2_L3WhatIsOpenIsShownWhateverCameSince(t *testing.T) {
	db := storetest.Open(t, slices.Concat(catalog.Schema(), outbox.Schema(), journal.Schema(), daily.Schema())...)
	send := func(context.Context, outbox.Op) outbox.Verdict { return outbox.Verdict{State: outbox.Done} }
	box := outbox.NewOutbox(outbox.Options{DB: db, Kinds: []outbox.Kind{{Name: "payments.create", Send: send}}})
	h := &view.Daemon{DB: db, Outbox: box, Now: time.Now}
	j := journal.New(journal.Options{DB: db})
	insert := func(line string, phase checkout.Phase, count int) (keys []string) {
		t.Helper()
		require.NoError(t, db.Write(t.Context(), func(tx store.Tx) error {
			keys = nil
			for range count {
				row := &journal.Row{Key: wire.NewKey(), Kind: ecr.Payment, Line: line, Amount: 4711, Currency: "EUR", Batch: 1, State: checkout.State{Kind: ecr.Payment, Phase: phase, Sends: 1}}
				if err := j.Insert(tx, row); err != nil {
					return err
				}
				keys = append(keys, string(row.Key))
			}
			return nil
		}))
		return keys
	}
	ids := func(list []view.Sale) (keys []string) {
		for _, s := range list {
			keys = append(keys, s.ID)
		}
		return keys
	}
	kiosk := wire.WithCaller(t.Context(), wire.Caller{Name: "kiosk", Own: true, Words: []string{"read", "sales"}})
	oldest := insert("tcp", checkout.Reversing, 1)[0]
	own := insert(view.LineOf("kiosk"), checkout.Unconfirmed, 1)[0]
	altered := insert("tcp", checkout.Waiting, 1)[0]
	require.NoError(t, db.Write(t.Context(), func(tx store.Tx) error {
		_, err := tx.Exec(`UPDATE checkout_sales SET amount = 1 WHERE key = ?`, altered)
		return err
	}))
	v, err := h.Day(t.Context())
	require.NoError(t, err)
	require.Equal(t, []string{altered, own, oldest}, ids(v.Newest))
	require.Empty(t, v.Open, "each is shown once")

	insert(view.LineOf("kiosk"), checkout.Done, 20)
	insert("tcp", checkout.Done, 985)
	fresh := insert("tcp", checkout.Waiting, 1)[0]
	v, err = h.Day(t.Context())
	require.NoError(t, err)
	require.Equal(t, fresh, v.Newest[0].ID)
	require.Equal(t, []string{altered, own, oldest}, ids(v.Open))
	v, err = h.Day(kiosk)
	require.NoError(t, err)
	require.Len(t, v.Newest, 20)
	require.Equal(t, []string{own}, ids(v.Open), "its own")

	for range 12 {
		require.NoError(t, db.Write(t.Context(), func(tx store.Tx) error {
			return j.Insert(tx, &journal.Row{Key: wire.NewKey(), Kind: ecr.Refund, Line: "till", Amount: 500, Currency: "EUR", Batch: 1, Told: "lost", Original: "of a payment",
				State: checkout.State{Kind: ecr.Refund, Phase: checkout.Done, Result: ecr.Approved}})
		}))
	}
	screen := view.NewStatus(view.Status{})
	require.NoError(t, db.Read(t.Context(), func(r store.Reader) error { return screen.Read(r, false) }))
	require.Equal(t, []string{fresh, altered, own, oldest}, ids(screen.Open))
	require.Equal(t, "sale "+altered+" was changed from outside: posagent sale show "+altered, screen.Attention[0])
	require.Len(t, screen.Attention, 13)

	require.NoError(t, db.Write(t.Context(), func(tx store.Tx) error {
		for range 450 {
			if err := box.Accept(tx, outbox.New{Key: wire.NewKey(), Kind: "payments.create", Aggregate: string(wire.NewKey()), Owner: "kiosk", AmountMin: 100, Currency: "EUR", Payload: []byte("x")}); err != nil {
				return err
			}
		}
		return nil
	}))
	list, err := h.Waiting(kiosk)
	require.NoError(t, err)
	require.Len(t, list, 1)
	require.Equal(t, view.OpsCount{Kind: "payments.create", State: "PENDING", Currency: "EUR", Count: 450, Sum: 45_000}, list[0].OpsCount)
}
