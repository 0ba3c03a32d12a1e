package view

import (
	"strconv"
	"strings"

	"posagent/schemes/wire"
)

// Cursor is how far a reader of events has come. What arrives and what happens here are numbered
// apart, so it is two numbers, "ARRIVED-HAPPENED", and "ARRIVED" alone is a reader of what arrived.
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
