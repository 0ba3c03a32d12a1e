package view

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"posagent/agent/inbox"
	"posagent/agent/records/events"
	"posagent/schemes/wire"
	"posagent/store"
)

// Happening is an event as a page shows it.
type Happening struct {
	At       time.Time
	Source   string // webhooks, operation, sale, reconcile, terminal
	Event    string
	Ref      string
	Amount   int64 // minor units, 0 = none
	Currency string
	Reason   string
}

// What Lately looks through: events that the caller may not see count too.
const (
	happenedSeen = 200
	arrivedSeen  = 20
)

// Lately is the newest events that the caller may see, the newest first, at most limit. wire.Forbidden.
func (h *Daemon) Lately(ctx context.Context, limit int) (list []Happening, err error) {
	if err := wire.Allow(ctx, "", wire.MayRead); err != nil {
		return nil, err
	}
	caller := wire.CallerOf(ctx)
	var newest int64
	err = h.DB.Read(ctx, func(r store.Reader) error {
		list = nil // the read may run again
		found, err := events.Newest(r, happenedSeen)
		for _, e := range found {
			if shows(caller, e.Source, e.Owner, e.Given()) {
				list = append(list, happening(e))
			}
		}
		if err == nil {
			newest, err = inbox.Newest(r)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	feed := h.Inbox.Subscribe(max(newest-arrivedSeen, 0))
	for range 2 * arrivedSeen { // more may arrive meanwhile
		e, found, err := feed.Try(ctx)
		if err != nil {
			return nil, err
		}
		if !found {
			break
		}
		if shows(caller, e.Source, e.Owner, e.Given) {
			list = append(list, Happening{At: time.UnixMilli(e.Received).UTC(), Source: e.Source, Event: e.Event, Ref: e.Ref})
		}
	}
	slices.SortStableFunc(list, func(a, b Happening) int { return b.At.Compare(a.At) })
	return list[:min(len(list), limit)], nil
}

// happening is what a page shows of an event of the terminal itself. A body that is not understood
// leaves its fields empty.
func happening(e events.Event) Happening {
	v := Happening{At: time.UnixMilli(e.At).UTC(), Source: e.Source, Event: e.Event, Ref: e.Ref}
	var body struct {
		Amount   int64
		Currency string
		Reason   string
	}
	if (e.Source == OfOperation || e.Source == OfSale) && json.Unmarshal(e.Body, &body) == nil {
		v.Amount, v.Currency, v.Reason = body.Amount, body.Currency, body.Reason
	}
	return v
}
