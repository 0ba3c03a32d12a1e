package view

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"posagent/agent/inbox"
	"posagent/agent/records/events"
	"posagent/schemes/wire"
	"posagent/store"
)

// Events is EventsOf for those who see everything.
func (h *Daemon) Events(from Cursor) func(ctx context.Context) (Event, error) {
	return h.EventsOf(wire.Caller{}, from)
}

// shows tells whether a caller may see an event.
func shows(c wire.Caller, source, owner string, given bool) bool {
	switch {
	case given && !c.Own: // it has it already
		return false
	case source == OfSale && !c.May(wire.MaySales):
		return false
	case !c.Own || source == events.Own:
		return true
	}
	return owner == c.Name // the register's sales have none
}

// EventsOf gives what happened and what arrived behind a cursor, each source oldest first, then
// waits for more; the zero value = everything kept. It gives what the caller may see. Each call
// waits for one.
func (h *Daemon) EventsOf(caller wire.Caller, from Cursor) func(ctx context.Context) (Event, error) {
	reads := func(owner string) bool { return shows(caller, inbox.Webhooks, owner, false) }
	feed, happened := h.Inbox.Resume(from.Inbox, reads), h.Happened.Resume(from.Log, reads)
	known := false
	return func(ctx context.Context) (Event, error) {
		if !known {
			if err := h.DB.Read(ctx, func(r store.Reader) (err error) { from.Generation, err = generation(r); return err }); err != nil {
				return Event{}, err
			}
			known = true
		}
		for {
			committed, arrivals := h.DB.Committed(), feed.News() // before the reading: nothing in between is missed
			e, found, err := happened.Next(ctx)
			if err != nil {
				return Event{}, err
			}
			if found {
				if from.Log = happened.At(); !shows(caller, e.Source, e.Owner, e.Given()) {
					continue
				}
				return Event{"posagent.event/1", e.ID, from, e.Source, e.Ref, e.Event, time.UnixMilli(e.At).UTC(), e.Body}, nil
			}
			in, found, err := feed.Try(ctx)
			if err != nil {
				return Event{}, err
			}
			if found && in.LostFrom > 0 {
				gone := events.Gone(in.LostFrom, in.Row, time.UnixMilli(in.Received))
				return Event{"posagent.event/1", gone.ID, from, gone.Source, gone.Ref, gone.Event, time.UnixMilli(gone.At).UTC(), gone.Body}, nil
			}
			if found {
				if from.Inbox = in.Row; !shows(caller, in.Source, in.Owner, in.Given) {
					continue
				}
				return arrived(in, from)
			}
			for waits := true; waits; {
				select {
				case <-committed: // most commits tell of nothing
					committed = h.DB.Committed()
					waits = !h.Happened.Behind(from.Log) && !h.Inbox.Behind(ctx, from.Inbox)
				case <-arrivals:
					waits = false
				case <-ctx.Done():
					return Event{}, ctx.Err()
				}
			}
		}
	}
}

func arrived(e inbox.Event, at Cursor) (Event, error) {
	v := Event{"posagent.event/1", e.Row, at, e.Source, e.Ref, e.Event, time.UnixMilli(e.Received).UTC(), e.Body}
	if !json.Valid(v.Body) {
		text, err := json.Marshal(string(e.Body))
		if err != nil {
			return Event{}, fmt.Errorf("event %d: %w", e.Row, err)
		}
		v.Body = text
	}
	return v, nil
}

// Newest is the cursor of a reader who wants only what comes.
func (h *Daemon) Newest(ctx context.Context) (c Cursor, err error) {
	err = h.DB.Read(ctx, func(r store.Reader) error {
		if c.Generation, err = generation(r); err != nil {
			return err
		}
		if c.Inbox, err = inbox.Newest(r); err == nil {
			_, c.Log, err = events.Bounds(r)
		}
		return err
	})
	return c, err
}
