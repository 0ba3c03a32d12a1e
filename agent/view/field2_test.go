package view_test

import (
	"context"
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

// TestField2_M47ACursorCarriesTheJournal: a journal that took another's place gives the numbers of
// events again. A cursor of the one before, and one of a program that knew no generations, names
// nothing in it, however far its lists have grown; its own cursors do, and so does a reader that
// begins. What is lost of arrivals is an event.
func TestField2_M47ACursorCarriesTheJournal(t *testing.T) {
	for name, c := range map[string]struct {
		lost  *store.Lost
		knows map[string]bool
	}{
		"never replaced": {nil, map[string]bool{"3-2": true, "3": true, "0": true, "9-2": false, "2:3-2": false}},
		"replaced":       {&store.Lost{Before: store.Before{Kind: store.WasRestored}, Generation: 2}, map[string]bool{"3-2": false, "3": false, "0": true, "2:3-2": true, "1:3-2": false, "2:3-9": false}},
	} {
		t.Run(name, func(t *testing.T) {
			db := storetest.Open(t, append(events.Schema(), inbox.Schema()...)...)
			log, in := events.New(events.Options{DB: db}), inbox.New(inbox.Options{DB: db, Keep: 2})
			h := &view.Daemon{DB: db, Inbox: in, Happened: log, Now: time.Now}
			require.NoError(t, db.Write(t.Context(), func(tx store.Tx) error {
				if c.lost != nil {
					require.NoError(t, store.KeepLost(tx, *c.lost))
				}
				for range 2 {
					require.NoError(t, log.Add(tx, events.Item{Source: view.OfOperation, Ref: "r", Event: "operation.done", Body: []byte("{}")}))
				}
				return nil
			}))
			for _, ref := range []string{"a", "b", "c", "d"} {
				_, err := in.Take(t.Context(), inbox.Item{Source: inbox.Webhooks, Ref: ref, Event: "x", Body: []byte("{}")})
				require.NoError(t, err)
			}
			newest, err := h.Newest(t.Context())
			require.NoError(t, err)
			for text, want := range c.knows {
				cursor, err := view.ParseCursor(text)
				require.NoError(t, err)
				require.Equal(t, want, cursor.Knows(newest), text)
			}
			from := newest
			from.Inbox, from.Log = 1, 2
			next := h.EventsOf(wire.Caller{}, from)
			e, err := next(context.Background())
			require.NoError(t, err)
			require.Equal(t, []any{"events.lost", "terminal", from}, []any{e.Event, e.Source, e.Resume})
			require.JSONEq(t, `{"first":2,"next":3}`, string(e.Body))
			e, err = next(context.Background())
			require.NoError(t, err)
			require.Equal(t, []any{"c", int64(3)}, []any{e.Ref, e.Resume.Inbox})
			require.True(t, e.Resume.Knows(newest))
		})
	}
}
