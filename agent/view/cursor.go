package view

import (
	"strconv"
	"strings"

	"posagent/schemes/wire"
	"posagent/store"
)

// Cursor is how far a reader of events has come. What arrives and what happens here are numbered
// apart, so it is two numbers, "ARRIVED-HAPPENED", and "ARRIVED" alone is a reader of what arrived. A
// journal that took another's place gives numbers again that the other one has given, so there the
// generation that began then stands before them, "GENERATION:ARRIVED-HAPPENED".
type Cursor struct{ Generation, Inbox, Log int64 }

// ParseCursor reads a cursor that came over the wire. wire.Invalid.
func ParseCursor(s string) (c Cursor, err error) {
	rest := s
	if generation, behind, three := strings.Cut(s, ":"); three {
		rest = behind
		c.Generation, err = strconv.ParseInt(generation, 10, 64)
	}
	first, second, two := strings.Cut(rest, "-")
	if err == nil {
		c.Inbox, err = strconv.ParseInt(first, 10, 64)
	}
	if two && err == nil {
		c.Log, err = strconv.ParseInt(second, 10, 64)
	}
	if err != nil || c.Generation < 0 || c.Inbox < 0 || c.Log < 0 || strings.ContainsAny(s, "+") {
		return Cursor{}, wire.Errorf(wire.Invalid, "", "want the id of an event")
	}
	return c, nil
}

// String implements fmt.Stringer.
func (c Cursor) String() string {
	text := strconv.FormatInt(c.Inbox, 10) + "-" + strconv.FormatInt(c.Log, 10)
	if c.Generation > 0 {
		text = strconv.FormatInt(c.Generation, 10) + ":" + text
	}
	return text
}

// MarshalText implements encoding.TextMarshaler.
func (c Cursor) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (c *Cursor) UnmarshalText(b []byte) (err error) { *c, err = ParseCursor(string(b)); return err }

// begins says that a cursor is before everything that is kept, in any journal.
func (c Cursor) begins() bool { return c.Inbox == 0 && c.Log == 0 }

// Knows says that a cursor was given by the journal whose newest events are at newest, and is not ahead
// of it.
func (c Cursor) Knows(newest Cursor) bool {
	return c.begins() || c.Generation == newest.Generation && c.Inbox <= newest.Inbox && c.Log <= newest.Log
}

// generation is that of the journal's cursors: 0 = it never took another's place.
func generation(r store.Reader) (int64, error) {
	l, _, err := store.LostIn(r)
	return l.Generation, err
}
