package view_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent/inbox"
	"posagent/agent/records/events"
	"posagent/agent/view"
	"posagent/schemes/wire"
	"posagent/store"
	"posagent/store/storetest"
)

// The newest events come first, from both sources, and a caller sees those that it may see. What arrived is named, and not opened.
func TestLately(t *testing.T) {
	db := storetest.Open(t, append(events.Schema(), inbox.Schema()...)...)
	at := time.Date(2026, 11, 23, 14, 0, 0, 0, time.UTC)
	clock := func() time.Time { at = at.Add(time.Second); return at }
	log, in := events.New(events.Options{DB: db, Now: clock}), inbox.New(inbox.Options{DB: db, Now: clock})
	h := &view.Daemon{DB: db, Inbox: in, Happened: log, Now: clock}
	add := func(source, event, ref, owner, body string) {
		require.NoError(t, db.Write(t.Context(), func(tx store.Tx) error {
			return log.Add(tx, events.Item{Source: source, Ref: ref, Event: event, Body: []byte(body), Owner: owner})
		}))
	}
	none, err := h.Lately(t.Context(), 50)
	require.NoError(t, err)
	require.Empty(t, none)
	add(view.OfOperation, "operation.failed", "k1", "kiosk", `{"amount":1250,"currency":"EUR","reason":"not allowed"}`)
	add(view.OfOperation, "operation.done", "k2", "other", `{"amount":700,"currency":"SEK"}`)
	_, err = in.Take(t.Context(), inbox.Item{Source: inbox.Webhooks, Ref: "w1", Event: "payment.charge.created.v2", Body: []byte(`{"amount":99,"secret":"canary"}`)})
	require.NoError(t, err)
	add(view.OfSale, "sale.approved", "s1", "", `{"amount":300,"currency":"EUR","id":"s1"}`)
	add(view.OfOperation, "operation.odd", "k3", "kiosk", `[not json`)

	all := []view.Happening{
		{Source: view.OfOperation, Event: "operation.odd", Ref: "k3"},
		{Source: view.OfSale, Event: "sale.approved", Ref: "s1", Amount: 300, Currency: "EUR"},
		{Source: inbox.Webhooks, Event: "payment.charge.created.v2", Ref: "w1"},
		{Source: view.OfOperation, Event: "operation.done", Ref: "k2", Amount: 700, Currency: "SEK"},
		{Source: view.OfOperation, Event: "operation.failed", Ref: "k1", Amount: 1250, Currency: "EUR", Reason: "not allowed"},
	}
	seen := func(ctx context.Context, limit int) []view.Happening {
		list, err := h.Lately(ctx, limit)
		require.NoError(t, err)
		require.True(t, slices.IsSortedFunc(list, func(a, b view.Happening) int { return b.At.Compare(a.At) }), "the newest first")
		for i := range list {
			list[i].At = time.Time{}
		}
		return list
	}
	require.Equal(t, all, seen(t.Context(), 50))
	require.Equal(t, all[:2], seen(t.Context(), 2))
	mine := wire.WithCaller(t.Context(), wire.Caller{Name: "kiosk", Words: []string{"read"}, Own: true})
	require.Equal(t, []view.Happening{all[0], all[4]}, seen(mine, 50))
	_, err = h.Lately(wire.WithCaller(t.Context(), wire.Caller{Name: "deaf", Words: []string{"pay"}, Own: true}), 50)
	require.True(t, view.Denied(err))
	for range 300 {
		add(view.OfSale, "sale.settled", "s2", "", `{}`)
	}
	require.Len(t, seen(t.Context(), 50), 50)
}

// A screen has what its caller may see; a part that cannot be read says so, and no other one is missing for it.
func TestScreen(t *testing.T) {
	h := &view.Daemon{Examine: func(context.Context) (view.Checks, error) { return view.Checks{Passed: 3, Made: 3}, nil }}
	own := wire.WithCaller(t.Context(), wire.Caller{Name: "kiosk", Words: []string{"read"}, Own: true})
	_, err := h.Checks(own)
	require.True(t, view.Denied(err), "the checks name addresses and files")
	v, err := h.Checks(wire.WithCaller(t.Context(), wire.Caller{Name: "eyes", Words: []string{"read", "all"}}))
	require.NoError(t, err)
	require.Equal(t, 3, v.Made)
	v, err = (&view.Daemon{}).Checks(t.Context())
	require.NoError(t, err)
	require.Zero(t, v)
	s := view.Screen{NoDay: wire.Errorf(wire.Forbidden, "", "no"), NoAudit: errors.New("disk")}
	require.Equal(t, []error{s.NoAudit}, s.Faults())
}
