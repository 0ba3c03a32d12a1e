package view

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"posagent/agent/checkout"
	"posagent/agent/checkout/drive/journal"
	"posagent/agent/events"
	"posagent/agent/inbox"
	"posagent/agent/outbox"
	"posagent/schemes/wire"
	"posagent/store"
)

// Event is something that happened here or arrived from the backend (posagent.event/1).
type Event struct {
	Schema   string          `json:"schema"`
	ID       int64           `json:"id"`     // its number at its source
	Resume   Cursor          `json:"resume"` // go on behind it
	Source   string          `json:"source"` // webhooks, operation, sale, terminal
	Ref      string          `json:"ref"`    // the source's own id
	Event    string          `json:"event"`
	Received time.Time       `json:"received"`
	Body     json.RawMessage `json:"body"`
}

// The sources of what happens at the terminal itself.
const (
	OfOperation = "operation"
	OfSale      = "sale"
)

// Cursor is how far a reader of events has come. What arrives and what happens here are numbered apart, so it is two numbers,
// "ARRIVED-HAPPENED", and "ARRIVED" alone is a reader of what arrived.
type Cursor struct{ Inbox, Log int64 }

// ParseCursor reads a cursor that came over the wire. wire.Invalid.
func ParseCursor(s string) (c Cursor, err error) {
	first, second, two := strings.Cut(s, "-")
	c.Inbox, err = strconv.ParseInt(first, 10, 64)
	if two && err == nil {
		c.Log, err = strconv.ParseInt(second, 10, 64)
	}
	if err != nil || c.Inbox < 0 || c.Log < 0 || strings.ContainsAny(s, "+") {
		return Cursor{}, wire.Errorf(wire.Invalid, "", "want the id of an event")
	}
	return c, nil
}

// String implements fmt.Stringer.
func (c Cursor) String() string {
	return strconv.FormatInt(c.Inbox, 10) + "-" + strconv.FormatInt(c.Log, 10)
}

// MarshalText implements encoding.TextMarshaler.
func (c Cursor) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (c *Cursor) UnmarshalText(b []byte) (err error) { *c, err = ParseCursor(string(b)); return err }

// Events is EventsOf for those who see everything.
func (h *Daemon) Events(from Cursor) func(ctx context.Context) (Event, error) {
	return h.EventsOf(wire.Caller{}, from)
}

// shows tells whether a caller may see an event.
func shows(c wire.Caller, source, owner string) bool {
	switch {
	case !c.Own || source == events.Own:
		return c.May(maySales) || source != OfSale
	case source == OfSale: // the register's
		return c.May(maySales)
	}
	return owner == c.Name
}

// EventsOf gives what happened and what arrived behind a cursor, each source oldest first, then waits for more; the zero value =
// everything kept. It gives what the caller may see. Each call waits for one.
func (h *Daemon) EventsOf(caller wire.Caller, from Cursor) func(ctx context.Context) (Event, error) {
	feed := h.Inbox.Subscribe(from.Inbox)
	return func(ctx context.Context) (Event, error) {
		for {
			committed, arrivals := h.DB.Committed(), feed.News() // before the reading: nothing in between is missed
			e, found, err := h.Happened.Next(ctx, from.Log)
			if err != nil {
				return Event{}, err
			}
			if found {
				if from.Log = e.ID; !shows(caller, e.Source, e.Owner) {
					continue
				}
				return Event{"posagent.event/1", e.ID, from, e.Source, e.Ref, e.Event, time.UnixMilli(e.At).UTC(), e.Body}, nil
			}
			in, found, err := feed.Try(ctx)
			if err != nil {
				return Event{}, err
			}
			if found {
				if from.Inbox = in.Row; !shows(caller, in.Source, in.Owner) {
					continue
				}
				return arrived(in, from)
			}
			for waits := true; waits; {
				select {
				case <-committed: // most commits tell of nothing
					committed = h.DB.Committed()
					waits = !h.Happened.Behind(from.Log)
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
		if c.Inbox, err = inbox.Newest(r); err == nil {
			_, c.Log, err = events.Bounds(r)
		}
		return err
	})
	return c, err
}

// Change is what an event says of an operation.
type Change struct {
	State     outbox.State `json:"state"`
	Key       wire.Key     `json:"key,omitempty"`
	LocalID   string       `json:"localId,omitempty"`   // of what it is about, as its caller was given it
	BackendID string       `json:"backendId,omitempty"` // the same, as the backend knows it
	Kind      string       `json:"kind"`
	Note      string       `json:"note,omitempty"`
	Amount    int64        `json:"amount"` // minor units, 0 where none
	Currency  string       `json:"currency,omitempty"`
	Attempts  int          `json:"attempts"`
	Reason    string       `json:"reason,omitempty"`
}

// ChangeOf reads it.
func ChangeOf(e Event) (c Change, err error) {
	if err = json.Unmarshal(e.Body, &c); err != nil {
		err = fmt.Errorf("event %d: %w", e.ID, err)
	}
	return c, err
}

// OperationEvent is the event of an operation's new state; none where it is of no interest: an attempt after the first, and
// its end without an answer. ids may be nil.
func OperationEvent(r store.Reader, was outbox.State, op outbox.Op, ids IDs) (it events.Item, ok bool) {
	word := strings.ToLower(string(op.State))
	switch {
	case was == "":
		word = "accepted"
	case (was == outbox.Held || was == outbox.Doubt) && (op.State == outbox.Pending || op.State == outbox.Sent):
		word = "released"
	case op.State == outbox.Pending, op.State == outbox.Sent && op.Attempts > 1:
		return it, false
	}
	c := Change{State: op.State, Key: op.Key, Kind: op.Kind, Note: op.Note, Amount: op.AmountMin, Currency: op.Currency, Attempts: op.Attempts, Reason: op.Reason}
	if ids != nil {
		c.LocalID, c.BackendID = ids(r, op)
	}
	body, err := json.Marshal(c)
	return events.Item{Source: OfOperation, Ref: string(op.Key), Event: OfOperation + "." + word, Body: body, Owner: op.Owner}, err == nil
}

// SaleEvent is the event of a sale's outcome, or of its end; none of anything else.
func SaleEvent(was, now *journal.Row) (it events.Item, ok bool) {
	word := ""
	switch {
	case now.State.Result != was.State.Result:
		word = string(now.State.Result)
	case now.State.Phase == checkout.Done && was.State.Phase != checkout.Done:
		word = "settled"
	}
	if word == "" {
		return it, false
	}
	body, err := json.Marshal(SaleOf(now))
	return events.Item{Source: OfSale, Ref: string(now.Key), Event: OfSale + "." + word, Body: body}, err == nil
}
