package view_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent/inbox"
	"posagent/agent/records/events"
	"posagent/agent/view"
	"posagent/schemes/wire"
	"posagent/store"
	"posagent/store/storetest"
)

// An event is told as soon as its commit is over, and not a quarter of a second later; other commits wake nobody up for nothing.
func TestEventsAreToldAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db := storetest.Open(t, append(append(events.Schema(), inbox.Schema()...), store.Step{Name: "test/1", SQL: `CREATE TABLE a (n INTEGER) STRICT`})...)
		log, in := events.New(events.Options{DB: db}), inbox.New(inbox.Options{DB: db})
		h := &view.Daemon{DB: db, Inbox: in, Happened: log, Now: time.Now}
		next := h.EventsOf(wire.Caller{Name: "beta", Own: true}, view.Cursor{})
		got, ended := make(chan view.Event), make(chan error, 1)
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			for {
				e, err := next(ctx)
				if err != nil {
					ended <- err
					return
				}
				got <- e
			}
		}()
		add := func(ref, owner string) {
			require.NoError(t, db.Write(t.Context(), func(tx store.Tx) error {
				return log.Add(tx, events.Item{Source: view.OfOperation, Ref: ref, Event: "operation.done", Body: []byte("{}"), Owner: owner})
			}))
		}
		for i, ref := range []string{"one", "two", "three"} {
			synctest.Wait()
			began := time.Now()
			require.NoError(t, db.Write(t.Context(), func(tx store.Tx) error { _, err := tx.Exec(`INSERT INTO a VALUES (?)`, i); return err }))
			add("another's", "alpha")
			add(ref, "beta")
			require.Equal(t, ref, (<-got).Ref)
			require.Zero(t, time.Since(began))
		}
		_, err := in.Take(t.Context(), inbox.Item{Source: inbox.Webhooks, Ref: "terminal's", Event: "x", Body: []byte("{}")})
		require.NoError(t, err)
		add("last", "beta")
		require.Equal(t, "last", (<-got).Ref, "what arrived is not beta's")
		cancel()
		require.ErrorIs(t, <-ended, context.Canceled)
	})
}
