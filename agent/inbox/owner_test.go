package inbox_test

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent/inbox"
	"posagent/schemes/webhooks"
	"posagent/store"
	"posagent/store/storetest"
)

// What arrives belongs to whoever made its payment, also where it comes before the answer to that; of what nobody here made it is the
// terminal's, at once.
func TestField_P1WhatArrivesHasAnOwner(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var known, making atomic.Bool
		b := inbox.New(inbox.Options{DB: storetest.Open(t, inbox.Schema()...), Making: func(about string) bool { return making.Load() && about == inbox.AboutPayment },
			Owner: func(_ store.Reader, about, id string) (string, bool, error) {
				return "beta", known.Load() && about == inbox.AboutPayment && id == "P1", nil
			}})
		event := func(id string) webhooks.Event {
			return webhooks.Event{ID: id, Name: webhooks.ChargeCreated, Data: &webhooks.Movement{PaymentID: "P1"}, Body: []byte("{}")}
		}
		making.Store(true)
		time.AfterFunc(time.Second, func() { known.Store(true) })
		began := time.Now()
		require.NoError(t, b.Receive(t.Context(), event("1")))
		require.InDelta(t, 1, time.Since(began).Seconds(), 0.1, "until the answer is there")
		known.Store(false)
		began = time.Now()
		require.NoError(t, b.Receive(t.Context(), event("2")))
		require.InDelta(t, 3, time.Since(began).Seconds(), 0.1, "a sender does not wait for ever")
		making.Store(false)
		began = time.Now()
		require.NoError(t, b.Receive(t.Context(), event("3")))
		require.Zero(t, time.Since(began))
		feed := b.Subscribe(0)
		for _, want := range []string{"beta", "", ""} {
			e, err := feed.Next(t.Context())
			require.NoError(t, err)
			require.Equal(t, want, e.Owner)
		}
	})
}
